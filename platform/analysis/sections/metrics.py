"""The task's metric against one that all tasks have in common: would another metric have had another winner?"""

import datetime as dt
from collections.abc import Mapping
from typing import Any

import numpy as np

from analysis.charts.agreement import scatter, two_panels
from analysis.inputs.audience import Audience
from analysis.inputs.boards import BoardTable, Floats, Loaded, load_boards
from analysis.inputs.combined import combined, joinable
from analysis.inputs.other_scores import CommonScores, common_scores
from analysis.measures.mismatch import Mismatch, mismatch
from analysis.references import CHAPTER
from analysis.results import Block, Cell, Column, Figure, Note, Result, Table
from analysis.sections.base import Choice, Section, Tell, Tool
from competitions.models import Competition
from leaderboards.ranking import dense_ranks

DRAWN = 40  # entrants of the picture, those with the best mean rank
WINNER, OTHERS = "ahead by the task metric", "others"
METHOD = (
    "The same predictions, once under the metric of their task and once under balanced accuracy (BAC) for "
    "classification and the coefficient of determination (R2) for regression, both normalised (0 is chance, 1 is "
    "perfect)."
)
SWAPPED = "Swapped pairs: the share of pairs of entrants whom the metrics order the other way round."
REFERENCES = (CHAPTER,)
SAME_METRIC = "Every task of this phase is scored by the common metric already: there is nothing to compare."
NONE_YET = "No score under the common metric is there yet; the site computes them within minutes after a phase."


def load(competition: Competition, audience: Audience, now: dt.datetime) -> Loaded:
    """The board that was asked for, or those of all phases of a kind, and the same under the common metrics."""
    boards = load_boards(competition, audience, now)
    boards = boards if audience.kind else boards[:1]
    boards = tuple(board for board in boards if not board.measure)
    return Loaded(boards, {"common": [common_scores(board) for board in boards]})


def build(loaded: Loaded, tell: Tell) -> Result:
    """Two panels, and what changes on each dataset."""
    board = combined(loaded.boards)
    if board is None or not board.ranked.any():
        return Result("Nothing can be compared.", (Note(NONE_YET),))
    common = _together(loaded, board)
    notes = _missing(common)
    board, common = _ranked(board, common)
    differs = [
        column
        for column, dataset in enumerate(board.datasets)
        if common.metrics[column] not in ("", dataset.metric) and _both(board, common)[:, column].any()
    ]
    if not differs:
        is_same = all(
            metric in ("", one.metric) for metric, one in zip(common.metrics, board.datasets, strict=True)
        )
        return Result("Nothing can be compared.", (*notes, Note(SAME_METRIC if is_same else NONE_YET)))
    tell(0.3, "Metrics are compared.")
    found = {column: mismatch(board.scores[:, column], common.scores[:, column]) for column in differs}
    headline = _headline(board, common, found)
    blocks = (*notes, _panels(board, common, headline), _by_dataset(board, common, found), _scores(board, common))
    return Result(headline, blocks, f"{METHOD} {SWAPPED}", REFERENCES)


def _together(loaded: Loaded, board: BoardTable) -> CommonScores:
    """The common scores of the boards by the rows and columns of all of them together."""
    own = [CommonScores(**one.__dict__) for one in loaded.facts["common"]]
    if len(loaded.boards) == 1:
        return own[0]
    kept = joinable(loaded.boards)
    row_of = {entry.key: row for row, entry in enumerate(board.entries)}
    scores = np.full_like(board.scores, np.nan)
    at = 0
    metrics: list[str] = []
    waiting: list[int] = []
    failed: list[int] = []
    for one, common in zip(loaded.boards, own, strict=True):
        if one not in kept:
            continue
        rows = [row_of[entry.key] for entry in one.entries]
        scores[rows, at : at + len(one.datasets)] = common.scores
        at += len(one.datasets)
        metrics += common.metrics
        waiting += common.waiting
        failed += common.failed
    return CommonScores(tuple(metrics), scores, tuple(waiting), tuple(failed))


def _missing(common: CommonScores) -> list[Block]:
    """What is missing, never silently."""
    blocks: list[Block] = []
    if waiting := sum(common.waiting):
        blocks.append(Note(f"{waiting} scores under the common metric are not computed yet.", "warning"))
    if failed := sum(common.failed):
        said = "1 prediction has" if failed == 1 else f"{failed} predictions have"
        blocks.append(Note(f"{said} no score under the common metric; what has none is left out."))
    if concealed := sum(not metric for metric in common.metrics):
        blocks.append(Note(f"{concealed} datasets are not known yet; their metrics are not compared."))
    return blocks


def _ranked(board: BoardTable, common: CommonScores) -> tuple[BoardTable, CommonScores]:
    keep = board.ranked
    return board.only(keep), CommonScores(common.metrics, common.scores[keep], common.waiting, common.failed)


def _both(board: BoardTable, common: CommonScores) -> Any:
    return np.isfinite(board.scores) & np.isfinite(common.scores)


def _mean_ranks(scores: Floats) -> Floats:
    everybody = np.ones(len(scores), dtype=bool)
    return np.asarray(
        np.mean([dense_ranks(scores[:, column], everybody)[0] for column in range(scores.shape[1])], axis=0)
    )


def _headline(board: BoardTable, common: CommonScores, found: Mapping[int, Mismatch]) -> str:
    kept = sum(bool(one.same_winner) for one in found.values())
    shared = [column for column, metric in enumerate(common.metrics) if metric]
    before, after = _mean_ranks(board.scores[:, shared]), _mean_ranks(common.scores[:, shared])
    leader = int(np.argmin(before))
    place = 1 + int((after < after[leader] - 1e-12).sum())
    return (
        f"On {kept} of {len(found)} datasets with another metric the best entrant stays the best under the common "
        f"one; {board.entries[leader].name}, ahead by the task metrics, would take place {place}."
    )


def _panels(board: BoardTable, common: CommonScores, sentence: str) -> Figure:
    """Figure 10.9: scores of all entrants on all datasets under both metrics, who is ahead marked."""
    shared = [column for column, metric in enumerate(common.metrics) if metric]
    order = np.argsort(_mean_ranks(board.scores[:, shared]), kind="stable")[:DRAWN]
    both = _both(board, common)
    rows = [
        {
            "dataset": board.datasets[column].name,
            "entrant": board.entries[row].name,
            "who": WINNER if row == order[0] else OTHERS,
            "metric": board.datasets[column].metric,
            "task": float(board.scores[row, column]),
            "common": float(common.scores[row, column]),
        }
        for column in shared
        for row in order[::-1]
        if both[row, column]
    ]
    keys = ("dataset", "entrant", "metric", "task", "common")
    columns = (
        Column("dataset", "Dataset"),
        Column("entrant", "Entrant"),
        Column("metric", "Task metric"),
        Column("task", "Under it", "number", 4),
        Column("common", "Under the common metric", "number", 4),
    )
    n = f"{len(order)} of {len(board.entries)} ranked entrants, {len(shared)} datasets"
    chart = two_panels(rows, ("Task metric", "Common metric (BAC or R2)"))
    data = tuple(tuple(row[key] for key in keys) for row in rows)
    return Figure("two_metrics", "Task metric and common metric", sentence, chart, columns, data, n, METHOD)


def _by_dataset(board: BoardTable, common: CommonScores, found: Mapping[int, Mismatch]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for column, one in found.items():
        dataset = board.datasets[column]
        numbers = (_plain(one.spearman), _plain(one.kendall), _plain(one.swapped))
        rows.append(
            (
                dataset.name,
                dataset.metric,
                common.metrics[column],
                one.n,
                *numbers,
                one.winner_place,
                one.same_winner,
            )
        )
    columns = (
        Column("dataset", "Dataset"),
        Column("metric", "Task metric"),
        Column("common", "Common metric"),
        Column("n", "Entrants", "integer"),
        Column("spearman", "Spearman", "number", 2),
        Column("kendall", "Kendall", "number", 2),
        Column("swapped", "Swapped pairs", "percent", 0),
        Column("winner_place", "Winner's other place", "integer", 0, "Of the best by the task metric."),
        Column("same_winner", "Same winner"),
    )
    return Table("datasets", "By dataset", columns, tuple(rows), SWAPPED)


def _plain(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def _scores(board: BoardTable, common: CommonScores) -> Table:
    """Every pair of scores."""
    both = _both(board, common)
    rows: list[tuple[Cell, ...]] = [
        (dataset.name, entry.name, float(board.scores[row, column]), float(common.scores[row, column]))
        for column, dataset in enumerate(board.datasets)
        if common.metrics[column] not in ("", dataset.metric)
        for row, entry in enumerate(board.entries)
        if both[row, column]
    ]
    columns = (
        Column("dataset", "Dataset"),
        Column("entrant", "Entrant"),
        Column("task", "Task metric", "number", 4),
        Column("common", "Common metric", "number", 4),
    )
    return Table("scores", "All pairs of scores", columns, tuple(rows))


def _choices(result: Result) -> tuple[Choice, ...]:
    table = result.named("datasets")
    names = [str(row[0]) for row in table.rows] if isinstance(table, Table) else []
    return (Choice("dataset", "Dataset", tuple((name, name) for name in names)),)


def _answer(result: Result, asked: Mapping[str, str]) -> tuple[Block, ...]:
    table, wish = result.named("scores"), asked.get("dataset", "")
    rows = tuple(row for row in table.rows if row[0] == wish) if isinstance(table, Table) else ()
    if not isinstance(table, Table) or not rows:
        return ()
    points: list[dict[str, Any]] = [
        {"entrant": row[1], "first": row[2], "second": row[3], "kind": OTHERS} for row in rows
    ]
    best = max(points, key=lambda point: point["first"])
    best["kind"] = WINNER
    found = mismatch([point["first"] for point in points], [point["second"] for point in points])
    sentence = f"On {wish} the best by the task metric takes place {found.winner_place} under the common metric."
    chart = scatter(points, "task metric", "common metric", mark="Entrant")
    return (Figure("dataset", wish, sentence, chart, table.columns, rows, f"{found.n} entrants", METHOD),)


SECTION = Section(
    key="metrics",
    label="Task metric against common metric",
    question="Would another metric have had another winner?",
    load=load,
    build=build,
    of_phase=True,
    tools=(Tool("Draw a dataset", "Draw", _choices, _answer),),
)
