"""Few configurations of which one is good on every dataset."""

import numpy as np
import pandas as pd

from analysis.benchmarks.grid import Grid
from analysis.benchmarks.views.base import MEMENTO, View, Wish, algorithm_field, chosen, many, nothing
from analysis.charts import benchmarks as charts
from analysis.measures.portfolio import A_SMFO, CANE, Portfolio, portfolio
from analysis.results import Column, Figure, Result, Table, rows_of
from analysis.sections.base import Choice

SIZE = 10
RULES = ((CANE, "lowest normalised error (CANE)"), (A_SMFO, "lowest summed rank (A-SMFO)"))
METHOD = (
    "Greedy: each step adds the configuration that makes the mean over datasets of the portfolio's lowest "
    "normalised "
    "error, (best - AUC) / (best - worst), or of its lowest rank, smallest; it ends where none lowers it. "
    "Regret: the "
    "best AUC of a dataset less the best of the portfolio. Left out: the portfolio is chosen on the other "
    "datasets, "
    "for each dataset in turn. Missing scores count as the worst of their dataset."
)
REFERENCES = (
    MEMENTO,
    "Wistuba, M., Schilling, N., Schmidt-Thieme, L.: Sequential model-free hyperparameter tuning. IEEE "
    "International "
    "Conference on Data Mining, 2015.",
    "Woźnica, K., Grzyb, M., Trafas, Z., Biecek, P.: Consolidated learning: a domain-specific model-free "
    "optimization "
    "strategy with validation on metaMIMIC benchmarks. Machine Learning, 2023.",
)


def fields(grid: Grid, wish: Wish) -> tuple[Choice, ...]:
    """Whose configurations, and by which rule."""
    return algorithm_field(grid, with_all=True), Choice("rule", "Add what gives the", RULES)


def build(grid: Grid, wish: Wish) -> Result:
    """The portfolio, and how good it is as it grows."""
    algorithms = chosen(grid, wish)
    scores = np.concatenate([grid.means(one) for one in algorithms], axis=1)
    labels = [grid.label(one, at) for one in algorithms for at in range(len(one.index))]
    found = portfolio(scores, SIZE, rule=wish.get("rule", CANE))
    if not len(found.chosen):
        return nothing("No dataset has a score.")
    names = [labels[at] for at in found.chosen]
    sentence = _sentence(names, found)
    columns = (
        Column("size", "Size", "integer"),
        Column("configuration", "Adds"),
        Column("loss", "Rule's loss", "number", 4),
        Column("regret", "Mean regret", "number", 4),
        Column("left_out", "Left out", "number", 4, title="mean regret on a dataset that it was not chosen on"),
    )
    table = Table(
        "portfolio", "The portfolio", columns,
        rows_of(range(1, len(names) + 1), names, found.loss, found.regret, found.left_out),
    )  # fmt: skip
    n = f"{many(len(labels), 'configuration')} on {many(len(scores), 'dataset')}"
    return Result(sentence, (table, _figure(found, sentence, n)), METHOD, REFERENCES)


def _sentence(names: list[str], found: Portfolio) -> str:
    text = f"{names[0]} alone has a mean regret of {found.regret[0]:.4f} AUC"
    if len(names) > 1:
        text += f", {len(names)} configurations together {found.regret[-1]:.4f}"
    if np.isfinite(found.left_out[-1]):
        text += f"; on a dataset that they were not chosen on it is {found.left_out[-1]:.4f}"
    return f"{text}."


def _figure(found: Portfolio, sentence: str, n: str) -> Figure:
    sizes = np.arange(1, len(found.chosen) + 1)
    drawn = pd.concat(
        [
            pd.DataFrame({"size": sizes, "regret": regret, "on": on})
            for on, regret in (("the same datasets", found.regret), ("a dataset left out", found.left_out))
        ]
    ).dropna()
    return Figure(
        key="portfolio_regret",
        title="How good the portfolio is as it grows",
        sentence=sentence,
        spec=charts.portfolio(drawn),
        columns=(
            Column("size", "Size", "integer"),
            Column("on", "On"),
            Column("regret", "Mean regret", "number", 4),
        ),
        rows=rows_of(drawn["size"], drawn["on"], drawn["regret"]),
        n=n,
        method=METHOD,
    )


VIEW = View("portfolio", "Portfolio", "Which few configurations suffice for every dataset?", fields, build)
