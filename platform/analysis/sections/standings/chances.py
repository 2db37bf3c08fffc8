"""Could the order be chance? Who leads in draws of test rows and of datasets, who is ahead of whom."""

import numpy as np
import pandas as pd

from analysis.charts import standings as charts
from analysis.measures import bootstrap
from analysis.measures.ranks import Floats
from analysis.results import Block, Column, Figure, Heading, Note, rows_of
from analysis.sections.standings.places import warnings_of
from analysis.sections.standings.view import SEED, View, counted

CANDIDATES = 15  # entrants in the picture of who leads
PAIRS = 20  # entrants in the picture of pairs
MOST_PAIRS = 40  # entrants whose pairs are in the data
BY_ROWS, BY_DATASETS = "test rows", "datasets, then test rows"
QUESTIONS = (
    "Two questions, two answers. Drawing test rows anew asks: on these very datasets, would the same entrant lead "
    "with other test samples? Drawing datasets anew, then rows, asks: would it lead on other datasets of the "
    "kind? "
    "The second is what a winner's name is taken to mean, and is answered with less certainty."
)

LEADS = (
    "Share of draws in which ⟨R⟩ of dense ranks is smallest; who shares the first place shares the draw. By rows: "
    "the replicates behind the scores, the same rows for all entrants. By datasets, then rows: as many datasets "
    "as there are, drawn with replacement, and a replicate of each (two-stage bootstrap, Davison and Hinkley "
    "1997, section 3.8)."
)
AHEAD = (
    "Paired bootstrap: the share of draws in which the one's ⟨R⟩ is smaller, equal ones counted half; so that "
    "P(i ahead of j) + P(j ahead of i) = 1."
)


def blocks(view: View) -> list[Block]:
    """Of chance; a sentence where no score has an error bar."""
    found: list[Block] = [Heading("Could it be chance?", QUESTIONS)]
    if view.count < 2:
        return [*found, Note("One entrant alone leads in every draw.")]
    if not view.moves:
        return [*found, Note("The scores have no error bars, so nothing can be said of chance on their rows.")]
    return [*found, _leads(view), _pairs(view)]


def chance_of_leader(view: View) -> tuple[float, float]:
    """P(rank = 1) of the first of the board, by rows and by datasets then rows."""
    return float(bootstrap.wins(view.draws[0])[0]), float(bootstrap.wins(view.dataset_draws)[0])


def _leads(view: View) -> Figure:
    by_rows, by_datasets = bootstrap.wins(view.draws[0]), bootstrap.wins(view.dataset_draws)
    rows = [
        (int(view.places[row]), view.names[row], drawn, float(chances[row]))
        for row in range(view.count)
        for drawn, chances in ((BY_ROWS, by_rows), (BY_DATASETS, by_datasets))
    ]
    likely = set(np.argsort(-np.maximum(by_rows, by_datasets), kind="stable")[:CANDIDATES].tolist())
    frame = pd.DataFrame(
        [(row[1], index // 2, row[2], row[3]) for index, row in enumerate(rows) if index // 2 in likely],
        columns=["entrant", "place", "drawn", "chance"],
    )
    columns = (
        Column("place", "Place", "integer"),
        Column("entrant", "Entrant"),
        Column("drawn", "Drawn anew"),
        Column("chance", "P(rank = 1)", "percent", 1),
    )
    return Figure(
        key="first",
        title="Chance to lead",
        sentence=_leads_sentence(view),
        spec=charts.chances(frame),
        columns=columns,
        rows=tuple(rows),
        n=f"{view.sample}; {counted(view.draws[0].shape[1], 'draw')} of rows, "
        + f"{bootstrap.DRAWS:,} of datasets and rows"
        + (f"; the picture has the {len(likely)} most likely" if len(likely) < view.count else ""),
        method=LEADS,
        seed=SEED,
        warnings=_warnings(view),
    )


def _leads_sentence(view: View) -> str:
    rows, datasets = chance_of_leader(view)
    first = view.names[0]
    return (
        f"{first} leads in {rows:.0%} of the draws of test rows on these {counted(view.tasks, 'dataset')}, and in "
        f"{datasets:.0%} of the draws of datasets of the kind."
    )


def _warnings(view: View) -> tuple[str, ...]:
    found = list(warnings_of(view))
    if view.tasks == 1:
        found.append("With one dataset, drawing datasets anew says nothing: it is always drawn again.")
    elif view.tasks < 5:
        found.append(f"{view.tasks} datasets hardly stand for their kind; drawn anew they repeat each other.")
    return tuple(found)


def _pairs(view: View) -> Figure:
    count = min(view.count, MOST_PAIRS)
    found = bootstrap.win_probabilities(view.draws[0][:count])
    by_datasets = bootstrap.win_probabilities(view.dataset_draws[:count])
    names = view.names
    pairs = [(i, j) for i in range(count) for j in range(count) if i != j]
    columns = (
        Column("first", "Entrant"),
        Column("second", "ahead of"),
        Column("rows", "in draws of rows", "percent", 1),
        Column("datasets", "in draws of datasets, then rows", "percent", 1),
        Column("gap", "⟨S⟩ differs by", "number", 4),
        Column("low", "from", "number", 4, "95 % interval, same test rows for both."),
        Column("high", "to", "number", 4),
    )
    scores = view.mean_scores[:count]
    low, high = _gaps(view, count)
    at = tuple(np.array(pairs).T)
    rows = rows_of(
        [names[i] for i, _ in pairs],
        [names[j] for _, j in pairs],
        *(one[at].round(6) for one in (found, by_datasets, np.subtract.outer(scores, scores), low, high)),
    )
    frame = pd.DataFrame(
        [(names[i], names[j], i, j, float(found[i, j])) for i, j in pairs if max(i, j) < PAIRS],
        columns=["first", "second", "row", "column", "chance"],
    )
    sure = [i for i in range(count - 1) if found[i, i + 1] >= 0.975]
    keep = "keeps its" if len(sure) == 1 else "keep their"
    sentence = (
        f"{names[0]} is ahead of the next, {names[1]}, in {found[0, 1]:.0%} of the draws of test rows; of "
        f"{counted(count - 1, 'pair')} of neighbours {len(sure)} {keep} order in 97.5 % of them."
    )
    return Figure(
        key="pairs",
        title="Who is ahead of whom",
        sentence=sentence,
        spec=charts.win_chances(frame),
        columns=columns,
        rows=rows,
        n=view.sample
        + (f"; pairs of the first {count}" if count < view.count else "")
        + (f", of which the picture has {PAIRS}" if count > PAIRS else ""),
        method=AHEAD,
        seed=SEED,
        warnings=_warnings(view),
    )


def _gaps(view: View, count: int) -> tuple[Floats, Floats]:
    """The paired intervals of differences of ⟨S⟩ between the first so many entrants: two arrays count x count."""
    draws = view.board.sign * view.draws[1][:count]
    ends = [bootstrap.interval(own - draws) for own in draws]
    return np.stack([low for low, _ in ends]), np.stack([high for _, high in ends])
