"""Validation against test, and blind code against tweaked: does what was seen tell what was hidden?"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.charts.agreement import scatter
from analysis.inputs.audience import Audience
from analysis.inputs.boards import Floats, Loaded, load_boards
from analysis.inputs.pairs import Pair, blind_pairs, together, validation_pairs
from analysis.measures.agreement import OUTLYING, Agreement, agreement
from analysis.references import CHAPTER
from analysis.results import Block, Cell, Column, Figure, Heading, Note, Result, Table
from analysis.sections.base import Choice, Section, Tell, Tool
from competitions.models import Competition
from leaderboards.reading import Look

DRAWN = 6  # datasets
NAMED = 3  # entrants in a sentence
FEW = 4  # entrants from which on a correlation is told in words
AGREES, OVER, UNDER = "others", "validation too good", "test too good"
VALIDATION, TEST = "validation score", "test score"
ROBUST = (
    "Gap = validation - test; robust z = (gap - median) / (1.4826 x median absolute deviation); beyond "
    f"{OUTLYING} either way it is an outlier (Iglewicz and Hoaglin 1993)."
)
METHODS = (
    "Validation and test scores of the same entries are compared by Pearson's, Spearman's and Kendall's (tau b) "
    f"correlations. {ROBUST} Blind and tweaked scores are test scores of the same datasets."
)
REFERENCES = (
    "Iglewicz, B., Hoaglin, D.: How to detect and handle outliers. ASQC Quality Press, 1993.",
    CHAPTER,
)
NO_TEST = (
    "There are no entrants with a validation and a test score that may be compared: either no test scores are "
    "released, or names are concealed, or the phase has only one of both."
)


@dataclass(frozen=True)
class OfRounds(Audience):
    """The same audience, and every board of some rounds: one phase is compared with others of its round."""

    rounds: frozenset[int] = frozenset()

    def asks_for(self, look: Look) -> bool:
        """Whether the board is of one of the rounds."""
        return look.phase.round_id in self.rounds


def load(competition: Competition, audience: Audience, now: dt.datetime) -> Loaded:
    """The boards of the rounds of the phases that were asked for, and the ids of those phases."""
    phases = [phase for phase in competition.phases() if _is_asked(audience, phase)]
    rounds = frozenset(phase.round_id for phase in phases)
    wide = OfRounds(sees_hidden=audience.sees_hidden, rounds=rounds)
    chosen = {phase.pk for phase in phases}
    boards = load_boards(competition, wide, now)
    if not chosen & {board.phase_id for board in boards}:
        boards = ()
    return Loaded(boards, {"phases": [phase.pk for phase in phases]})


def _is_asked(audience: Audience, phase: Any) -> bool:
    if audience.kind:
        return (phase.kind, phase.track) == (audience.kind, audience.track)
    return audience.phase in (None, phase.pk)


def build(loaded: Loaded, tell: Tell) -> Result:
    """Scatters with their correlations, outliers, and blind code beside tweaked code."""
    whole = together(validation_pairs(loaded.boards, loaded.facts["phases"]))
    blocks: list[Block] = []
    headline = "No validation score can be compared with a test score."
    if whole is None or not whole.both.any():
        blocks.append(Note(NO_TEST))
    else:
        tell(0.2, "Validation is compared with test.")
        found = agreement(*_means(whole))
        headline = _sentence(whole, found)
        blocks += [_overall(whole, found, headline), *_by_dataset(whole)]
    tell(0.6, "Blind code is compared with tweaked code.")
    blocks += _blind(blind_pairs(loaded.boards))
    return Result(headline, tuple(blocks), METHODS, REFERENCES)


def _means(pair: Pair) -> tuple[Floats, Floats]:
    """The mean scores of each entrant, a dataset without both scores counting 0 in both; NaN without any pair."""
    both = pair.both
    any_pair = both.any(axis=1)
    return tuple(  # type: ignore[return-value]
        np.where(any_pair, np.where(both, scores, 0.0).mean(axis=1), np.nan)
        for scores in (pair.first, pair.second)
    )


def _kinds(found: Agreement) -> list[str]:
    kinds = [AGREES] * len(found.gap)
    for place in found.outliers:
        kinds[place] = OVER if found.robust_z[place] > 0 else UNDER
    return kinds


def _sentence(pair: Pair, found: Agreement) -> str:
    names = [pair.entries[place].name for place in found.overfitted]
    gap = f"Validation is {abs(found.mean_gap):.4f} {'above' if found.mean_gap >= 0 else 'below'} test on average"
    if not names:
        told = "nobody's validation score is too good for the test score"
    else:
        told = f"{len(names)} of {found.n} entrants have a validation score too good for the test score: "
        told += ", ".join(names[:NAMED]) + (" and others" if len(names) > NAMED else "")
    return f"{gap}; {told}{_correlated(found)}."


def _correlated(found: Agreement) -> str:
    if found.n < FEW or not np.isfinite(found.spearman):
        return ""
    return f" (Spearman {found.spearman:.2f}, Kendall {found.kendall:.2f})"


SCATTER_COLUMNS = (
    Column("entrant", "Entrant"),
    Column("validation", "Validation", "number", 4),
    Column("test", "Test", "number", 4),
    Column("gap", "Gap", "number", 4, "Validation minus test."),
    Column("robust_z", "Robust z", "number", 2, "Of the gap among all entrants."),
    Column("verdict", "Verdict"),
)


def _overall(pair: Pair, found: Agreement, sentence: str) -> Figure:
    first, second = _means(pair)
    left_out = len(pair.entries) - found.n
    n = f"{found.n} ranked entrants, {len(pair.datasets)} datasets"
    method = f"Means over the datasets; one without both scores counts 0 in both. {ROBUST}"
    warnings = [f"{left_out} ranked entrants have no dataset with both scores."] if left_out else []
    if found.n < 10:
        warnings.append("With fewer than 10 entrants correlations say little.")
    return _scatter_figure(
        "validation_test", "Validation against test", sentence, (first, second), pair, found, n, method, warnings
    )


def _scatter_figure(
    key: str, title: str, sentence: str, scores: tuple[Floats, Floats], pair: Pair, found: Agreement,
    n: str, method: str, warnings: Sequence[str] = (),
) -> Figure:  # fmt: skip
    data = _rows(pair, scores, found)
    rows = [{"entrant": row[0], "first": row[1], "second": row[2], "kind": row[5]} for row in data]
    chart = scatter(rows, VALIDATION, TEST, mark="Verdict")
    return Figure(key, title, sentence, chart, SCATTER_COLUMNS, tuple(data), n, method, warnings=tuple(warnings))


def _rows(pair: Pair, scores: tuple[Floats, Floats], found: Agreement) -> list[tuple[Any, ...]]:
    """What is said of each entrant who has both scores. Differences are rounded to what scores can tell."""
    columns = (*scores, found.gap.round(6), found.robust_z.round(3))
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    known = np.isfinite(found.gap)
    return [
        (entry.name, *four, kind)
        for entry, four, kind, is_known in zip(pair.entries, numbers, _kinds(found), known, strict=True)
        if is_known
    ]


def _by_dataset(pair: Pair) -> list[Block]:
    """Each dataset's correlations, all pairs of scores, and pictures of the first datasets."""
    found = [agreement(pair.first[:, column], pair.second[:, column]) for column in range(len(pair.datasets))]
    rows: list[tuple[Cell, ...]] = []
    for name, one in zip(pair.datasets, found, strict=True):
        names = ", ".join(pair.entries[place].name for place in one.overfitted[:NAMED])
        numbers = (one.pearson, one.spearman, one.kendall, one.mean_gap)
        rows.append((name, one.n, *_plain(numbers), len(one.outliers), names))
    columns = (
        Column("dataset", "Dataset"),
        Column("n", "Entrants", "integer"),
        Column("pearson", "Pearson", "number", 2),
        Column("spearman", "Spearman", "number", 2),
        Column("kendall", "Kendall", "number", 2),
        Column("mean_gap", "Mean gap", "number", 4),
        Column("outliers", "Outliers", "integer"),
        Column("overfitted", "Validation too good"),
    )
    told = [column for column, one in enumerate(found) if one.n]
    shown = [_dataset_figure(pair, column, found[column]) for column in told[:DRAWN]]
    everything = tuple(
        (pair.datasets[column], *row)
        for column in told
        for row in _rows(pair, (pair.first[:, column], pair.second[:, column]), found[column])
    )
    gaps = Table(
        "gaps", "All pairs of scores", (Column("dataset", "Dataset"), *SCATTER_COLUMNS), everything, ROBUST
    )
    return [Heading("Each dataset"), Table("datasets", "By dataset", columns, tuple(rows)), *shown, gaps]


def _plain(numbers: Sequence[float]) -> list[Cell]:
    return [float(number) if np.isfinite(number) else None for number in numbers]


def _dataset_figure(pair: Pair, column: int, found: Agreement) -> Figure:
    name = pair.datasets[column]
    scores = pair.first[:, column], pair.second[:, column]
    one = (
        f"{len(found.outliers)} {'entrant is an outlier' if len(found.outliers) == 1 else 'entrants are outliers'}"
    )
    sentence = f"On {name} {one} of {found.n}{_correlated(found)}."
    n = f"{found.n} ranked entrants"
    return _scatter_figure(f"dataset_{column + 1}", name, sentence, scores, pair, found, n, ROBUST)


def _blind(pairs: Sequence[Pair]) -> list[Block]:
    """Who gains by tweaking, per entrant and round."""
    pair = together(pairs)
    if pair is None or not pair.both.any():
        return []
    blind, tweaked = _means(pair)
    gains = tweaked - blind
    known = np.isfinite(gains)
    better, worse = int((gains[known] > 0).sum()), int((gains[known] < 0).sum())
    found = agreement(tweaked, blind)
    sentence = (
        f"{better} of {int(known.sum())} entrants score better after tweaking than blind, {worse} worse; the "
        f"median gain is {float(np.median(gains[known])):.4f}{_correlated(found)}."
    )
    labels = _labels(pairs)
    rows: list[tuple[Cell, ...]] = [
        (entry.name, labels.get(entry.key, ""), int(count), float(one), float(two), float(gain))
        for entry, count, one, two, gain in zip(
            pair.entries, pair.both.sum(axis=1), blind, tweaked, gains, strict=True
        )
        if np.isfinite(gain)
    ]
    columns = (
        Column("entrant", "Entrant"),
        Column("phases", "Phases"),
        Column("datasets", "Datasets", "integer", 0, "With a score in both."),
        Column("blind", "Blind", "number", 4),
        Column("tweaked", "Tweaked", "number", 4),
        Column("gain", "Gain", "number", 4, "Tweaked minus blind."),
    )
    points = [{"entrant": row[0], "first": row[4], "second": row[3], "kind": row[1]} for row in rows]
    figure = Figure(
        "blind_tweaked",
        "AutoML against Tweakathon",
        sentence,
        scatter(points, "test score after tweaking", "test score of blind code", mark="Phases"),
        columns,
        tuple(rows),
        f"{int(known.sum())} ranked entrants, {len(pair.datasets)} datasets",
        "Mean test scores over the datasets of both phases; one without both scores counts 0 in both.",
    )
    return [Heading("Blind code against tweaked", "The same datasets before and after their Tweakathon."), figure]


def _labels(pairs: Sequence[Pair]) -> dict[int | None, str]:
    """The rounds' phases in which each entrant is in both."""
    found: dict[int | None, str] = {}
    for pair in pairs:
        for entry, both in zip(pair.entries, np.atleast_1d(pair.both.any(axis=1)), strict=True):
            if both:
                found[entry.key] = "several" if entry.key in found else pair.label
    return found


def _choices(result: Result) -> tuple[Choice, ...]:
    table = result.named("datasets")
    names = [str(row[0]) for row in table.rows] if isinstance(table, Table) else []
    return (Choice("dataset", "Dataset", tuple((name, name) for name in names)),)


def _answer(result: Result, asked: Mapping[str, str]) -> tuple[Block, ...]:
    table, wish = result.named("gaps"), asked.get("dataset", "")
    rows = tuple(row[1:] for row in table.rows if row[0] == wish) if isinstance(table, Table) else ()
    if not rows:
        return ()
    points = [{"entrant": row[0], "first": row[1], "second": row[2], "kind": row[5]} for row in rows]
    outliers = sum(row[5] != AGREES for row in rows)
    sentence = f"On {wish} {outliers} of {len(rows)} entrants are outliers."
    chart = scatter(points, VALIDATION, TEST, mark="Verdict")
    return (
        Figure("dataset", wish, sentence, chart, SCATTER_COLUMNS, rows, f"{len(rows)} ranked entrants", ROBUST),
    )


SECTION = Section(
    key="validation",
    label="Validation against test",
    question="Does the validation score tell the test score, and blind code the tweaked?",
    load=load,
    build=build,
    of_phase=True,
    both_parts=True,
    tools=(Tool("Draw a dataset", "Draw", _choices, _answer),),
    waits="Validation and test are compared when the test scores are released.",
)
