"""Scores of every dataset with their error bars, who is tied with its best, and whether its test set is large "
"enough."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.charts import standings as charts
from analysis.inputs.tables import Dataset
from analysis.measures import bootstrap
from analysis.measures.bootstrap import Bools, interval, subsample_factor
from analysis.results import Block, Cell, Column, Figure, Heading, Note, Table
from analysis.sections.standings.places import cut, seed_of, warnings_of
from analysis.sections.standings.view import View, counted, listed
from datasets.checks.difficulty import rows_needed

TIED = "not told apart from the best"
REGRESSION = "regression"
BARS = (
    "The standard error is the deviation of the bootstrap replicates of the test rows, the interval their 2.5 "
    "and 97.5 "
    "percentiles. The subsample spread, which the challenge's authors gave as error bars, is the deviation over "
    "10 % "
    "subsamples without replacement: sqrt(0.9 / 0.1) = 3 times the standard error, so 3 times too wide for the "
    "score of the whole test set."
)


def blocks(view: View, facts: dict[str, Any]) -> list[Block]:
    """Ranks by dataset with ties; leaders with intervals; the datasets' test sets; all scores."""
    found: list[Block] = [Heading("Dataset by dataset", "Ranks, scores and how sure each of them is.")]
    tied = _tied(view)
    found.append(_ranks(view, tied))
    if view.moves and view.count > 1:
        found.append(_leaders(view, tied))
    if not view.board.measure:
        found += _sizes(view, facts)
    return [*found, *_scores(view)]


def _tied(view: View) -> Bools:
    """Who is not told apart from the best of each dataset, by the paired interval of the difference; n x T."""
    found = np.zeros(view.scores.shape, dtype=bool)
    for task in range(view.tasks):
        column = view.scores[:, task]
        present = np.flatnonzero(~np.isnan(column))
        if not present.size:
            continue
        best = int(np.nanargmax(column))
        draws = view.drawn.values[present, task].astype(np.float64)
        alike = bootstrap.not_told_apart(-draws, int(np.flatnonzero(present == best)[0]))
        found[present, task] = alike
    return found


def _ranks(view: View, tied: Bools) -> Figure:
    names, datasets = view.names, view.datasets
    cells = [(row, task) for row in range(view.count) for task in range(view.tasks)]
    shown = [(row, task) for row, task in cells if row < view.shown]
    frame = pd.DataFrame(
        [
            (
                names[row],
                row,
                datasets[task],
                task,
                int(view.ranks[row, task]),
                _number(view.scores[row, task] * view.board.sign),
                TIED if tied[row, task] else "missing" if np.isnan(view.scores[row, task]) else "",
            )
            for row, task in shown
        ],
        columns=["entrant", "place", "dataset", "column", "rank", "score", "remark"],
    )
    columns = (
        Column("entrant", "Entrant"),
        *(Column(f"rank{t + 1}", name, "integer") for t, name in enumerate(datasets)),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (names[row], *(int(rank) for rank in view.ranks[row])) for row in range(view.count)
    )
    alike = tied.sum(axis=0)
    several = int((alike > 1).sum())
    sentence = (
        f"On {several} of {counted(view.tasks, 'dataset')} somebody else is not told apart from the best"
        + (f"; on {datasets[int(alike.argmax())]} {int(alike.max()) - 1} are not." if several else ".")
        if view.moves
        else f"Dense ranks on {counted(view.tasks, 'dataset')}; the scores have no error bars."
    )
    return Figure(
        key="ranks",
        title="Ranks by dataset",
        sentence=sentence,
        spec=charts.by_dataset(frame, TIED),
        columns=columns,
        rows=rows,
        n=view.sample + cut(view),
        method="Dense ranks. A point marks a score whose paired bootstrap interval of the difference to the best "
        "of the dataset covers 0 (same test rows for both).",
        seed=seed_of(view),
        warnings=warnings_of(view),
    )


def _leaders(view: View, tied: Bools) -> Figure:
    rows, unclear = [], []
    sign = view.board.sign
    for task, dataset in enumerate(view.datasets):
        column = view.scores[:, task]
        by_score = [int(row) for row in np.argsort(-np.nan_to_num(column, nan=-np.inf), kind="stable")]
        first_two = [row for row in by_score[:2] if not np.isnan(column[row])]
        for who, row in zip(("best", "second"), first_two, strict=False):
            low, high = (float(end) for end in interval(sign * view.drawn.values[row, task].astype(np.float64)))
            rows.append((dataset, task, who, view.names[row], sign * float(column[row]), low, high))
        if len(first_two) == 2 and tied[first_two[1], task]:
            unclear.append(dataset)
    columns = (
        Column("dataset", "Dataset"),
        Column("who", "Which"),
        Column("entrant", "Entrant"),
        Column("score", "Score", "number", view.board.digits),
        Column("low", "From", "number", 4),
        Column("high", "To", "number", 4),
    )
    frame = pd.DataFrame(rows, columns=["dataset", "column", "who", "entrant", "score", "low", "high"])
    sentence = (
        f"On {len(unclear)} of {counted(view.tasks, 'dataset')} the best is not told apart from the second"
        + (f": {listed(unclear)}." if unclear else ".")
    )
    return Figure(
        key="leaders",
        title="The two best of every dataset",
        sentence=sentence,
        spec=charts.leaders(frame),
        columns=columns,
        rows=tuple((row[0], *row[2:]) for row in rows),
        n=view.sample,
        method="Intervals of each score by itself; whether two are told apart, the paired interval of their "
        "difference says, which is narrower than the two bars suggest. " + BARS,
        seed=seed_of(view),
        warnings=warnings_of(view),
    )


@dataclass(frozen=True)
class _Size:
    """Of a dataset's test set: rows, error of the best and what it is made of, rows that it asks for."""

    rows: int
    error: float
    how: str

    @property
    def needed(self) -> int | None:
        return rows_needed(self.error) if self.error > 0 else None

    @property
    def is_enough(self) -> bool:
        return self.needed is None or self.rows >= self.needed

    @property
    def formula(self) -> float:
        return bootstrap.accuracy_error(self.error, self.rows)


def size_of(dataset: Dataset, best: float, facts: dict[str, Any]) -> _Size | None:
    """What is known of the test set of a classification, given its best score; None where its rows are not "
    "known."""
    known = facts.get("rows", {}).get(dataset.task_id)
    if not known or not known["rows"] or REGRESSION in dataset.kind or not dataset.kind or math.isnan(best):
        return None
    balanced = facts.get("balanced", {}).get(dataset.task_id)
    if balanced is None:
        return _Size(known["rows"], min(1.0, max(0.0, 1 - best)), "1 - best score")
    guess = 1 / known["labels"] if "multiclass" in dataset.kind and known["labels"] > 1 else 0.5
    raw = balanced * (1 - guess) + guess
    return _Size(known["rows"], min(1.0, max(0.0, 1 - raw)), "1 - best balanced accuracy")


def _sizes(view: View, facts: dict[str, Any]) -> list[Block]:
    rows: list[tuple[Any, ...]] = []
    enough, classified = 0, 0
    for task, dataset in enumerate(view.board.datasets):
        column = view.scores[:, task]
        known = ~np.isnan(column)
        best = int(np.nanargmax(column)) if known.any() else 0
        size = size_of(dataset, float(column[best]), facts)
        error = _number(view.board.stderr[best, task])
        classified += size is not None
        enough += size is not None and size.is_enough
        rows.append(
            (
                view.datasets[task],
                dataset.metric,
                facts.get("rows", {}).get(dataset.task_id, {}).get("rows"),
                view.names[best] if known.any() else None,
                _number(column[best]) if known.any() else None,
                error,
                None if error is None else error * subsample_factor(),
                size.formula if size else None,
                size.error if size else None,
                size.how if size else None,
                size.needed if size else None,
                size.is_enough if size else None,
            )
        )
    columns = (
        Column("dataset", "Dataset"),
        Column("metric", "Metric"),
        Column("rows", "Rows", "integer", title="Of the part that decides."),
        Column("best", "Best"),
        Column("score", "Score", "number", 4),
        Column("stderr", "SE", "number", 4, "Standard error by the bootstrap."),
        Column(
            "subsample_spread", "Subsample spread", "number", 4, "3 times the SE: the authors' recipe, too wide."
        ),
        Column("formula", "√(E(1-E)/N)", "number", 4, "Of an error rate E on N rows."),
        Column("error", "E", "number", 4),
        Column("error_is", "E is"),
        Column("needed", "50/E", "integer", title="Rows that tell E with a relative error of 14 %."),
        Column("is_enough", "Enough"),
    )
    if classified:
        sentence = (
            f"{enough} of {counted(classified, 'classification set')} have at least 50/E rows. E should be the "
            "error of "
            "the smallest class, which the scores do not tell; the error of the best stands for it."
        )
    else:
        sentence = "The rule N = 50/E is about classifications whose rows are known; there is none."
    return [Table("error_bars", "Error bars and the rule N = 50/E", columns, tuple(rows), sentence), Note(BARS)]


def _scores(view: View) -> list[Block]:
    digits = view.board.digits
    columns = (
        Column("entrant", "Entrant"),
        *(Column(f"score{task + 1}", name, "number", digits) for task, name in enumerate(view.datasets)),
    )
    values = view.board.sign * view.scores
    rows = tuple((name, *map(_number, own)) for name, own in zip(view.names, values, strict=True))
    found: list[Block] = [Table("scores", "All scores", columns, rows, _missing(view))]
    if np.isfinite(view.board.stderr).any():
        rows = tuple((name, *map(_number, own)) for name, own in zip(view.names, view.board.stderr, strict=True))
        sentence = "Standard errors of all scores, by the bootstrap of test rows."
        found.append(Table("standard_errors", "All standard errors", columns, rows, sentence))
    return found


def _missing(view: View) -> str:
    if not view.missing:
        return f"All {view.count * view.tasks:,} scores are there."
    worst = np.isnan(view.scores).sum(axis=0)
    at = int(worst.argmax())
    verb = "is" if view.missing == 1 else "are"
    return (
        f"{view.missing} of {view.count * view.tasks:,} scores {verb} missing, most on {view.datasets[at]} "
        f"({int(worst[at])})."
    )


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)
