"""What tuning gains over the defaults, and over the best single configuration."""

import numpy as np
import pandas as pd

from analysis.benchmarks.grid import Algorithm, Grid
from analysis.benchmarks.views.base import MEMENTO, View, Wish, algorithm_field, many, nothing
from analysis.charts import benchmarks as charts
from analysis.measures.tunability import Tunability, tunability
from analysis.results import Block, Column, Figure, Note, Result, Table, rows_of

METHOD = (
    "Best: the configuration of the highest mean AUC of each dataset, chosen on the same scores, so it is "
    "optimistic. Best single: the configuration of the lowest regret, best less own AUC, averaged over the "
    "datasets. "
    "A missing score counts as the worst of its dataset (Probst, Boulesteix, Bischl, 2019, section 3)."
)
REFERENCES = (
    MEMENTO,
    "Probst, P., Boulesteix, A.-L., Bischl, B.: Tunability: importance of hyperparameters of machine learning "
    "algorithms. Journal of Machine Learning Research 20(53), 1-32, 2019.",
)


def build(grid: Grid, wish: Wish) -> Result:
    """All algorithms in a line each, and every dataset for the chosen one."""
    algorithm = grid.named(wish.get("algorithm", "")) or grid.algorithms[0]
    found = {one.name: tunability(grid.means(one), one.default) for one in grid.algorithms}
    own = found[algorithm.name]
    if own.single < 0:
        return nothing(f"{algorithm.name} has no score.")
    blocks: list[Block] = [_algorithms(grid, found), _figure(grid, algorithm, own)]
    if not np.isfinite(own.default).any():
        text = (
            f"The defaults of {algorithm.name} (param_index 1001) were not run, so gains over them are not known."
        )
        blocks.insert(0, Note(text))
    if own.missing:
        blocks.append(Note(f"{many(own.missing, 'score')} of {algorithm.name} are missing."))
    return Result(_sentence(grid, algorithm, own), tuple(blocks), METHOD, REFERENCES)


def _sentence(grid: Grid, algorithm: Algorithm, own: Tunability) -> str:
    text = (
        f"The best single configuration of {algorithm.name} is {algorithm.index[own.single]}: its AUC is on "
        "average "
        f"{own.regret[own.single]:.4f} below the best of each of {many(len(grid.datasets), 'dataset')}."
    )
    if np.isfinite(own.gain).any():
        text += f" Tuning gains {np.nanmean(own.gain):.4f} over the defaults."
    return text


def _algorithms(grid: Grid, found: dict[str, Tunability]) -> Table:
    ready = [(grid.named(name), one) for name, one in found.items() if one.single >= 0]
    columns = (
        Column("algorithm", "Algorithm"),
        Column("best", "Mean best AUC", "number", 4),
        Column("gain", "Gain over defaults", "number", 4),
        Column("single", "Best single", title="its param_index"),
        Column("regret", "Its mean regret", "number", 4),
    )
    rows = rows_of(
        [one.name for one, _ in ready if one],
        [np.nanmean(own.best) for _, own in ready],
        [np.nanmean(own.gain) if np.isfinite(own.gain).any() else None for _, own in ready],
        [str(one.index[own.single]) for one, own in ready if one],
        [own.regret[own.single] for _, own in ready],
    )
    return Table("tunability", "Every algorithm", columns, rows)


def _figure(grid: Grid, algorithm: Algorithm, own: Tunability) -> Figure:
    order = np.argsort(-np.nan_to_num(own.gain_over_single, nan=-1.0), kind="stable")
    names = [grid.datasets[place] for place in order]
    drawn = pd.concat(
        [
            pd.DataFrame({"dataset": names, "place": range(len(order)), "over": over, "gain": gain[order]})
            for over, gain in (("the defaults", own.gain), ("the best single configuration", own.gain_over_single))
        ]
    ).dropna()
    largest = names[0]
    columns = (
        Column("dataset", "Dataset"),
        Column("best_index", "Best", title="the param_index of its best configuration"),
        Column("best", "Best AUC", "number", 4),
        Column("default", "Defaults", "number", 4),
        Column("gain", "Gain", "number", 4, title="of the best over the defaults"),
        Column("single", "Best single", "number", 4),
        Column("regret", "Regret", "number", 4, title="of the best single configuration"),
        Column("spread", "Spread", "number", 4, title="interquartile range of all configurations"),
    )
    rows = rows_of(
        names,
        [str(algorithm.index[at]) if at >= 0 else None for at in own.best_at[order]],
        *(
            one[order]
            for one in (own.best, own.default, own.gain, own.single_scores, own.gain_over_single, own.spread)
        ),
    )
    return Figure(
        key="gains",
        title=f"What tuning {algorithm.name} gains",
        sentence=f"{_sentence(grid, algorithm, own)} It matters most on dataset {largest}.",
        spec=charts.gains(drawn),
        columns=columns,
        rows=rows,
        n=f"{many(len(algorithm.index), 'configuration')} on {many(len(grid.datasets), 'dataset')}",
        method=METHOD,
    )


VIEW = View(
    "tunability",
    "Tunability",
    "What does tuning gain over defaults and over one good configuration?",
    lambda grid, wish: (algorithm_field(grid),),
    build,
)
