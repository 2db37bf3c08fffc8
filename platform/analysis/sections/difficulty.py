"""Difficulty: how hard the datasets are in themselves, and how much the choice of a method matters on them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.charts import difficulty as charts
from analysis.inputs.basic import METHODS, WAITS, BasicRow, Key, basic_scores, load_with_basic, untuned
from analysis.inputs.boards import BoardTable, Loaded
from analysis.inputs.datasets import DatasetColumn, by_dataset
from analysis.measures.difficulty import FOUR_BASIC, Difficulty, Flag, difficulty, halfway
from analysis.references import CHAPTER
from analysis.results import Block, Column, Figure, Heading, Note, Result, Table, plain
from analysis.sections.base import Section, Tell
from competitions.models import Phase

MOST_POINTS = 4000  # entrants' scores in one picture; with more, it keeps the quartiles alone
AUTOML = ((Phase.Kind.AUTOML, "test"),)
LATER = ((Phase.Kind.FINAL, "test"), (Phase.Kind.TWEAKATHON, "test"), (Phase.Kind.TWEAKATHON, "valid"))
OTHERS = ((Phase.Kind.OPEN, "test"), (Phase.Kind.OPEN, "valid"))
BOULLE = (
    "Boullé, M.: Compression-based averaging of selective naive Bayes classifiers. Journal of Machine Learning "
    "Research 8, 1659-1685, 2007."
)
METHOD = (
    "Intrinsic difficulty = 1 - best score of a participant; modelling difficulty = best score of a participant - "
    "best of four untuned basic methods ({four}), each clipped at 0. Chapter 10.5.3 (Guyon et al. 2019)."
)
FOUR = "nearest neighbours, naive Bayes, random forest, linear model by stochastic gradient descent"
NO_BASIC = (
    "No basic method has a score on these datasets, so modelling difficulty is unknown. Organizers can let the "
    "platform run them."
)


@dataclass(frozen=True)
class Judged:
    """A dataset with its difficulty and what the basic methods scored on it."""

    column: DatasetColumn
    measured: Difficulty
    basic: dict[Key, float]

    @property
    def name(self) -> str:
        """As the audience may call it."""
        return self.column.dataset.name


def build(loaded: Loaded, tell: Tell) -> Result:
    """The difficulty of every dataset, its spread of scores, and what the basic methods make of it."""
    judged = judge(loaded.boards, loaded.facts["basic"])
    if not any(one.measured.participants for one in judged):
        return Result("No participant has a score yet.", (Note("No participant has a score yet."),))
    has_basic = any(np.isfinite(one.measured.basic) for one in judged)
    blocks: list[Block] = [] if has_basic else [Note(NO_BASIC, "warning")]
    for chosen in (_modelling(judged, "modelling"), _modelling(judged, "modelling_snb")):
        blocks += [chosen] if chosen else []
    blocks += [_flagged(judged), _table(judged)]
    blocks.append(Heading("Scores of all entrants"))
    tell(0.6, "Scores of all entrants.")
    blocks += _spreads(loaded.boards)
    if any(one.basic for one in judged):
        blocks += [Heading("Basic methods"), _basic_table(judged), _missing(judged)]
    return Result(
        headline=_headline(judged),
        blocks=tuple(blocks),
        methods=(
            "For each dataset, intrinsic difficulty is one minus the best participant's normalised score, and "
            "modelling difficulty the best participant's score minus the best of four basic methods "
            f"({FOUR}) with their library's default hyper-parameters, run by the platform under the same "
            "budget; basic scores below 0 count as 0. A dataset is judged by the board of blind code "
            "where there is one, else by the test scores of the phase that offered it, else by its "
            "validation scores."
        ),
        references=(CHAPTER, BOULLE),
    )


def judge(boards: Sequence[BoardTable], rows: Sequence[BasicRow]) -> list[Judged]:
    """Every dataset with its difficulty, in the order of rounds."""
    found = []
    for column in by_dataset(boards):
        basic = basic_scores(column, boards, rows)
        found.append(Judged(column, difficulty(column.participants, untuned(basic)), basic))
    return found


def _headline(judged: Sequence[Judged]) -> str:
    known = [one for one in judged if np.isfinite(one.measured.intrinsic)]
    hardest = max(known, key=lambda one: one.measured.intrinsic)
    text = (
        f"The hardest of {len(known)} datasets is {hardest.name}: the best score is {hardest.measured.best:.3f}."
    )
    matters = [one for one in known if np.isfinite(one.measured.modelling)]
    if matters:
        most = max(matters, key=lambda one: one.measured.modelling)
        text += (
            f" The choice of a method matters most on {most.name}, where the winner is "
            f"{most.measured.modelling:.3f} above the best basic method."
            if most.measured.modelling > 0
            else " On no dataset is a participant above the best basic method."
        )
    return text


def _modelling(judged: Sequence[Judged], key: str) -> Figure | None:
    """Datasets by intrinsic and modelling difficulty; None where the second is unknown."""
    rows = [
        {
            "dataset": one.name,
            "round": str(one.column.dataset.round),
            "intrinsic": one.measured.intrinsic,
            key: getattr(one.measured, key),
            "best": one.measured.best,
        }
        for one in judged
        if np.isfinite(getattr(one.measured, key))
    ]
    if not rows:
        return None
    is_four = key == "modelling"
    rival = "the best of four basic methods" if is_four else "the selective naive Bayes"
    across, up = (halfway(np.array([row[name] for row in rows])) for name in ("intrinsic", key))
    good = [row["dataset"] for row in rows if row["intrinsic"] <= across and row[key] > max(up, 0)]
    titles = ("Intrinsic difficulty", f"Modelling difficulty against {rival}")
    sentence = f"On {len(rows)} datasets the median intrinsic difficulty is {across:.3f} and the median modelling "
    sentence += f"difficulty {up:.3f}. "
    sentence += (
        f"Good problems, easy in themselves while the method matters: {_listed(good)}."
        if good
        else (
            "No dataset is at once easier than the median, more dependent on the method than the median, and "
            f"better solved by a participant than by {rival}."
        )
    )
    method = (
        METHOD.format(four=FOUR)
        if is_four
        else (
            "Intrinsic difficulty = 1 - best score of a participant; modelling difficulty = best score "
            "of a participant - score of the selective naive Bayes, clipped at 0. Chapter 10.5.3 (Guyon "
            "et al. 2019); Boullé 2007."
        )
    )
    return Figure(
        key=key.replace("_", "-"),
        title=f"Intrinsic and modelling difficulty, against {rival}",
        sentence=sentence,
        spec=charts.quadrants(plain(rows), x="intrinsic", y=key, lines=(across, up), titles=titles),
        columns=(
            Column("dataset", "Dataset"),
            Column("round", "Round"),
            Column("intrinsic", "Intrinsic difficulty", "number"),
            Column(key, "Modelling difficulty", "number"),
            Column("best", "Best score", "number"),
        ),
        rows=tuple(tuple(plain(list(row.values()))) for row in rows),
        n=f"{len(rows)} of {len(judged)} datasets",
        method=method,
        warnings=_few(rows),
    )


def _few(rows: Sequence[Any]) -> tuple[str, ...]:
    return (
        ("With fewer than four datasets, the medians that cut the picture say little.",) if len(rows) < 4 else ()
    )


def _listed(names: Sequence[str], most: int = 6) -> str:
    """Names in a sentence."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _flagged(judged: Sequence[Judged]) -> Note:
    """Which datasets ask for a look."""
    told = {
        Flag.EASY: "Too easy, with both difficulties under .02, or with features that give the answer away",
        Flag.UNSOLVED: "Unsolved, with no score above .02, which is about what guessing reaches",
        Flag.BASIC_WINS: "Won by a basic method",
    }
    parts = []
    for flag, words in told.items():
        names = [one.name for one in judged if flag in one.measured.flags]
        if names:
            parts.append(f"{words}: {_listed(names)}.")
    return (
        Note(" ".join(parts), "warning")
        if parts
        else Note("No dataset is too easy, unsolved or won by a basic method.")
    )


def _table(judged: Sequence[Judged]) -> Table:
    numbers = (
        ("best", "Best"), ("median", "Median"), ("iqr", "Interquartile range"),
        ("intrinsic", "Intrinsic difficulty"), ("basic", "Best basic"),
        ("modelling", "Modelling difficulty"), ("modelling_snb", "Against selective NB"),
    )  # fmt: skip
    columns = (
        Column("round", "Round", "integer"),
        Column("dataset", "Dataset"),
        Column("metric", "Metric"),
        Column("judged_by", "Judged by"),
        Column("participants", "Entrants", "integer"),
        *(Column(key, label, "number") for key, label in numbers),
        Column("basic_method", "Which basic method"),
        Column("flags", "To look at"),
    )
    rows = [
        (
            one.column.dataset.round,
            one.name,
            one.column.dataset.metric,
            f"{one.column.board.title}, {one.column.board.part}",
            one.measured.participants,
            *(getattr(one.measured, key) for key, _ in numbers),
            METHODS.get(one.measured.basic_method, ""),
            ", ".join(flag.value for flag in one.measured.flags),
        )
        for one in judged
    ]
    return Table(
        "difficulty", "Difficulty of every dataset", columns, tuple(tuple(plain(list(row))) for row in rows)
    )


def _spreads(boards: Sequence[BoardTable]) -> list[Block]:
    """The quartiles on every dataset, in the blind phases and in those in which people could tune."""
    groups = {
        "AutoML": by_dataset(boards, AUTOML),
        "Tweakathon": by_dataset(boards, LATER),
        "Open": by_dataset(boards, OTHERS),
    }
    summary, points = [], []
    for phase, columns in groups.items():
        for column in columns:
            measured = difficulty(column.participants, {})
            if not measured.participants:
                continue
            place = {"dataset": column.dataset.name, "phase": phase, "round": column.dataset.round}
            quartiles = {key: getattr(measured, key) for key in ("lower", "median", "upper", "best")}
            summary.append({**place, **quartiles, "participants": measured.participants})
            points += [
                {**place, "entrant": entry.name, "score": float(score)}
                for entry, score in zip(column.board.entries, column.scores, strict=True)
                if entry.is_ranked and np.isfinite(score)
            ]
    if not summary:
        return []
    _put_in_order(summary, points)
    blocks: list[Block] = [_strips(summary, points if len(points) <= MOST_POINTS else [])]
    both = _medians(summary)
    return blocks + ([both] if both else [])


def _put_in_order(summary: list[dict[str, Any]], points: list[dict[str, Any]]) -> None:
    """Number the datasets by round, and within it from the easiest to the hardest."""
    best: dict[str, tuple[int, float]] = {}
    for row in summary:
        best.setdefault(row["dataset"], (row["round"], -row["median"]))
    place = {name: number for number, name in enumerate(sorted(best, key=lambda name: best[name]))}
    for row in (*summary, *points):
        row["order"] = place[row["dataset"]]


def _strips(summary: list[dict[str, Any]], points: list[dict[str, Any]]) -> Figure:
    middle = float(np.median([row["median"] for row in summary]))
    widest = max(summary, key=lambda row: row["upper"] - row["lower"])
    count = sum(row["participants"] for row in summary)
    keys = ("dataset", "phase", "round", "participants", "lower", "median", "upper", "best")
    return Figure(
        key="scores",
        title="Scores on every dataset",
        sentence=(
            f"The median over datasets of the median score is {middle:.3f}. Entrants are furthest apart on "
            f"{widest['dataset']}, where the middle half spreads from {widest['lower']:.3f} to "
            f"{widest['upper']:.3f}."
        ),
        spec=charts.strips(plain(summary), plain(points), middle=middle),
        columns=(
            Column("dataset", "Dataset"),
            Column("phase", "Phase"),
            Column("round", "Round", "integer"),
            Column("participants", "Entrants", "integer"),
            Column("lower", "First quartile", "number"),
            Column("median", "Median", "number"),
            Column("upper", "Third quartile", "number"),
            Column("best", "Best score", "number"),
        ),
        rows=tuple(tuple(plain([row[key] for key in keys])) for row in summary),
        n=f"{len({row['dataset'] for row in summary})} datasets, {count} scores",
        method=(
            "The bar spans the quartiles of the participants' scores, the tick is their median, points "
            "are entrants (left out where there are more than 4,000); the dashed line is the median over "
            "datasets of the medians. After figure 10.4 of the chapter (Guyon et al. 2019)."
        ),
    )


def _medians(summary: Sequence[dict[str, Any]]) -> Figure | None:
    """The median before and after people could tune, for datasets that have both."""
    found: dict[str, dict[str, Any]] = {}
    for row in summary:
        found.setdefault(row["dataset"], {})[row["phase"]] = row
    rows = [
        {
            "dataset": name,
            "round": str(both["AutoML"]["round"]),
            "automl": both["AutoML"]["median"],
            "later": both["Tweakathon"]["median"],
        }
        for name, both in found.items()
        if {"AutoML", "Tweakathon"} <= both.keys()
    ]
    if not rows:
        return None
    rose = sum(row["later"] > row["automl"] for row in rows)
    gain = float(np.median([row["later"] - row["automl"] for row in rows]))
    return Figure(
        key="automl-tweakathon",
        title="Blind code against tuned entries",
        sentence=(
            f"On {rose} of {len(rows)} datasets the median entrant of the Tweakathon is better than that of the "
            f"blind phase; the median difference is {gain:+.3f}."
        ),
        spec=charts.medians(plain(rows)),
        columns=(
            Column("dataset", "Dataset"),
            Column("round", "Round"),
            Column("automl", "Median of AutoML", "number"),
            Column("later", "Median of Tweakathon", "number"),
        ),
        rows=tuple(tuple(plain(list(row.values()))) for row in rows),
        n=f"{len(rows)} datasets with both phases",
        method=(
            "Median score of the participants on each dataset in the AutoML phase, and in the Final of the "
            "Tweakathon that offered it (its validation scores where there is no Final). Chapter 10.5.3, "
            "figure 10.4."
        ),
        warnings=_few(rows),
    )


def _basic_table(judged: Sequence[Judged]) -> Table:
    keys = sorted({key for one in judged for key in one.basic}, key=lambda key: (key[1], [*METHODS].index(key[0])))
    columns = (
        Column("dataset", "Dataset"),
        Column("winner", "Best participant", "number"),
        *(
            Column(f"{method}{'-tuned' * tuned}", f"{METHODS[method]}{', tuned' * tuned}", "number")
            for method, tuned in keys
        ),
    )
    rows = [(one.name, one.measured.best, *(one.basic.get(key, np.nan) for key in keys)) for one in judged]
    return Table(
        "basic-methods",
        "Scores of the basic methods",
        columns,
        tuple(tuple(plain(list(row))) for row in rows),
        "Scores at or below 0 are no better than guessing; an empty cell is a run without a score.",
    )


def _missing(judged: Sequence[Judged]) -> Note:
    """How many runs of the four have no score, and on how many datasets they did not run."""
    four = [[one.basic.get((method, False)) for method in FOUR_BASIC] for one in judged]
    ran = sum(score is not None for row in four for score in row)
    lost = sum(score is not None and np.isnan(score) for row in four for score in row)
    bad = sum(score is not None and score <= 0 for row in four for score in row)
    text = (
        f"Of {len(judged) * len(FOUR_BASIC)} pairs of a dataset and one of the four basic methods {ran} ran; "
        f"{lost} of these have no score and {bad} have a score at or below 0, which counts as 0."
    )
    return Note(text, "warning" if ran < len(judged) * len(FOUR_BASIC) else "info")


SECTION = Section(
    key="difficulty",
    label="Difficulty",
    question="Which datasets are hard, and on which does the choice of a method matter?",
    load=load_with_basic,
    build=build,
    runs_basic_methods=True,
    waits=WAITS,
)
