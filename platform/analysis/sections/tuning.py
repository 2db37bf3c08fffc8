"""Tuning: what a search for hyper-parameters within the budget gains over a library's defaults."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.charts import difficulty as charts
from analysis.inputs.basic import METHODS, WAITS, BasicRow, basic_scores, load_with_basic, pair
from analysis.inputs.boards import BoardTable, Floats, Loaded
from analysis.inputs.datasets import by_dataset
from analysis.measures.difficulty import FOUR_BASIC
from analysis.measures.tuned import Tuning, tuning
from analysis.references import CHAPTER
from analysis.results import Block, Column, Figure, Note, Result, Table, plain
from analysis.sections.base import Section, Tell

NOTHING = "No basic method has a score both tuned and with its defaults. Organizers can let the platform run both."
METHOD = (
    "The same method on the same dataset under the same budget, with its library's defaults and after a "
    "random search for hyper-parameters; pairs with a score on both sides, p of the two-sided Wilcoxon "
    "signed-rank test. Chapter 10.5.4 (Guyon et al. 2019). In the picture, scores below -0.1 are drawn at -0.1."
)
FLOOR = -0.1  # of the picture
OUTCOMES = ("better", "equal", "worse", "without a score")


@dataclass(frozen=True)
class Pairs:
    """Scores of the four methods on every dataset, datasets x methods; NaN where one is missing.

    `ran` says on which pairs both sides ran, with a score or without.
    """

    datasets: list[str]
    rounds: list[int]
    default: Floats
    tuned: Floats
    ran: Any

    @property
    def methods(self) -> list[str]:
        """The names of the columns."""
        return [METHODS[method] for method in FOUR_BASIC]


def paired(boards: Sequence[BoardTable], rows: Sequence[BasicRow]) -> Pairs:
    """The scores of the basic methods with defaults and tuned, on the datasets where one of them ran both ways."""
    names, rounds, scores, ran = [], [], [], []
    for column in by_dataset(boards):
        basic = basic_scores(column, boards, rows)
        both = [{(method, False), (method, True)} <= basic.keys() for method in FOUR_BASIC]
        if any(both):
            names.append(column.dataset.name)
            rounds.append(column.dataset.round)
            scores.append([pair(basic, method) for method in FOUR_BASIC])
            ran.append(both)
    shape = (len(names), len(FOUR_BASIC))
    values = np.array(scores, dtype=float).reshape(*shape, 2)
    return Pairs(names, rounds, values[..., 0], values[..., 1], np.array(ran, dtype=bool).reshape(shape))


def build(loaded: Loaded, tell: Tell) -> Result:
    """Tuned against default, all methods together and each by itself."""
    pairs = paired(loaded.boards, loaded.facts["basic"])
    if not (np.isfinite(pairs.default) & np.isfinite(pairs.tuned)).any():
        return Result(NOTHING, (Note(NOTHING),))
    total = tuning(pairs.default[pairs.ran], pairs.tuned[pairs.ran])
    blocks: tuple[Block, ...] = (_scatter(pairs, total), _outcomes(pairs), _table(pairs, total), _failures(total))
    return Result(
        headline=_sentence(total),
        blocks=blocks,
        methods=(
            "The four basic methods were run by the platform twice on every dataset, with their library's default "
            "hyper-parameters and with a random search judged on rows held out of the training part, both within "
            "the dataset's own budget."
        ),
        references=(
            CHAPTER,
            "Wilcoxon, F.: Individual comparisons by ranking methods. Biometrics Bulletin 1, 1945.",
        ),
    )


def _sentence(total: Tuning) -> str:
    told = (
        f"Of {total.pairs} pairs of a dataset and a method, tuning is better on {total.better}, equal on "
        f"{total.equal} and worse on {total.worse}; the median gain is {total.median_gain:+.4f}"
    )
    return f"{told} (Wilcoxon p = {total.p_value:.2g})." if np.isfinite(total.p_value) else f"{told}."


def _scatter(pairs: Pairs, total: Tuning) -> Figure:
    rows = []
    for index, column in np.argwhere(np.isfinite(pairs.default) & np.isfinite(pairs.tuned)):
        before, after = float(pairs.default[index, column]), float(pairs.tuned[index, column])
        rows.append(
            {
                "dataset": pairs.datasets[index],
                "round": pairs.rounds[index],
                "method": pairs.methods[column],
                "default_score": before,
                "tuned_score": after,
                "outcome": _outcome(before, after),
                "default": max(before, FLOOR),
                "tuned": max(after, FLOOR),
            }
        )
    keys = ("dataset", "round", "method", "default_score", "tuned_score", "outcome")
    few = "With fewer than six pairs the test cannot tell anything." if total.pairs < 6 else ""
    return Figure(
        key="tuned-default",
        title="Tuned against default",
        sentence=_sentence(total),
        spec=charts.tuned_or_not(plain(rows)),
        columns=(
            Column("dataset", "Dataset"),
            Column("round", "Round", "integer"),
            Column("method", "Method"),
            Column("default_score", "With defaults", "number"),
            Column("tuned_score", "Tuned", "number"),
            Column("outcome", "Tuned is"),
        ),
        rows=tuple(tuple(plain([row[key] for key in keys])) for row in rows),
        n=f"{total.pairs} pairs on {len(pairs.datasets)} datasets",
        method=METHOD,
        warnings=(few,) if few else (),
    )


def _outcome(before: float, after: float) -> str:
    return "better" if after > before else "equal" if after == before else "worse"


def _of_methods(pairs: Pairs) -> list[tuple[str, Tuning]]:
    """Each method that ran both ways."""
    found = []
    for column, method in enumerate(pairs.methods):
        ran = pairs.ran[:, column]
        if ran.any():
            found.append((method, tuning(pairs.default[ran, column], pairs.tuned[ran, column])))
    return found


def _outcomes(pairs: Pairs) -> Figure:
    rows = [row for method, found in _of_methods(pairs) for row in _bars(method, found)]
    most, best = max(_of_methods(pairs), key=lambda one: one[1].better / max(one[1].pairs, 1))
    return Figure(
        key="outcomes",
        title="How often tuning helps, by method",
        sentence=(
            f"Tuning helps most often for the {most}: on {best.better} of {best.pairs} datasets; "
            f"{sum(found.missing for _, found in _of_methods(pairs))} tuned runs have no score."
        ),
        spec=charts.outcomes(rows),
        columns=(
            Column("method", "Method"),
            Column("outcome", "Tuned is"),
            Column("count", "Datasets", "integer"),
        ),
        rows=tuple((row["method"], row["outcome"], row["count"]) for row in rows),
        n=f"{len(pairs.datasets)} datasets, {len(_of_methods(pairs))} methods",
        method=METHOD,
    )


def _bars(method: str, found: Tuning) -> list[dict[str, Any]]:
    """The outcomes of a method as bars that follow one another."""
    rows: list[dict[str, Any]] = []
    start = 0
    for outcome, count in zip(OUTCOMES, (found.better, found.equal, found.worse, found.missing), strict=True):
        place = {"start": start, "end": start + count, "middle": start + count / 2}
        rows.append({"method": method, "outcome": outcome, "count": count, "label": f"{count} {outcome}", **place})
        start += count
    return rows


def _table(pairs: Pairs, total: Tuning) -> Table:
    counts = (
        ("pairs", "Pairs"), ("better", "Tuned better"), ("equal", "Equal"), ("worse", "Tuned worse"),
        ("missing", "Tuned without a score"), ("failed", "Tuned at most 0"),
        ("failed_default", "Default at most 0"),
    )  # fmt: skip
    columns = (
        Column("method", "Method"),
        *(Column(key, label, "integer") for key, label in counts),
        Column("median_gain", "Median gain", "number", 4),
        Column("p_value", "Wilcoxon p", "number", 4),
    )
    rows = [
        (method, *(getattr(found, key) for key, _ in counts), found.median_gain, found.p_value)
        for method, found in [*_of_methods(pairs), ("all together", total)]
    ]
    return Table("tuning", "Tuned against default", columns, tuple(tuple(plain(list(row))) for row in rows))


def _failures(total: Tuning) -> Note:
    return Note(
        f"Failures are not left out: {total.failed} tuned and {total.failed_default} default scores are no better "
        f"than guessing (at most 0); {total.missing} tuned and {total.missing_default} default runs have "
        "no score, and their pairs are in no count of better, equal or worse."
    )


SECTION = Section(
    key="tuning",
    label="Tuning",
    question="What does a search for hyper-parameters gain over the defaults?",
    load=load_with_basic,
    build=build,
    runs_basic_methods=True,
    waits=WAITS,
)
