"""The scores of the basic methods that the platform ran, for every dataset and board."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.inputs.audience import Audience
from analysis.inputs.boards import BoardTable, Loaded, load_boards
from analysis.inputs.datasets import DatasetColumn
from analysis.models import BasicEntry
from competitions.models import Competition

WAITS = (
    "Nothing can be analysed before a phase that the platform's own metrics score is over and its scores are "
    "released."
)
METHODS: dict[str, str] = dict(BasicEntry.Method.choices)
Key = tuple[str, bool]  # the method, and whether it was tuned


@dataclass(frozen=True)
class BasicRow:
    """A row of a board that is a basic method: `board` and `row` are places in the list and on the board."""

    board: int
    row: int
    method: str
    is_tuned: bool


def load_with_basic(competition: Competition, audience: Audience, now: dt.datetime) -> Loaded:
    """Every board of the platform's own scores, and which of their rows are basic methods.

    What organizers' programs say has no scale on which difficulties could be measured.
    """
    boards = tuple(board for board in load_boards(competition, audience, now) if not board.measure)
    return Loaded(boards, {"basic": basic_rows(boards)})


def basic_rows(boards: Sequence[BoardTable]) -> tuple[BasicRow, ...]:
    """Every basic method on every board: one query."""
    phases = {board.phase_id for board in boards}
    entries = BasicEntry.objects.filter(submission__phase__in=phases).order_by("pk")
    by_submission = {entry.submission_id: entry for entry in entries}
    found = []
    for place, board in enumerate(boards):
        for row, submission in enumerate(board.submissions):
            entry = by_submission.get(int(submission))
            if entry is not None:
                found.append(BasicRow(place, row, entry.method, entry.is_tuned))
    return tuple(found)


def basic_scores(
    column: DatasetColumn, boards: Sequence[BoardTable], rows: Iterable[BasicRow]
) -> dict[Key, float]:
    """The scores of the basic methods on a dataset; NaN where one ran without a score.

    They are those of the dataset's own board; of a method that did not run there, those of another board which
    judges the same data by the same part.
    """
    found: dict[Key, float] = {}
    for place, index in _columns(column, boards):
        for row in rows:
            if row.board == place:
                found.setdefault((row.method, row.is_tuned), float(boards[place].scores[row.row, index]))
    return found


def _columns(column: DatasetColumn, boards: Sequence[BoardTable]) -> Iterator[tuple[int, int]]:
    """The dataset's own column first, then those of the same data and part elsewhere: board and column."""
    yield next(place for place, board in enumerate(boards) if board is column.board), column.index
    version = column.dataset.version_id
    for place, board in enumerate(boards):
        if board is column.board or board.part != column.board.part or version is None:
            continue
        for index, dataset in enumerate(board.datasets):
            if dataset.version_id == version and dataset.metric == column.dataset.metric:
                yield place, index


def untuned(scores: dict[Key, float]) -> dict[str, float]:
    """Those with default hyper-parameters, by method."""
    return {method: score for (method, is_tuned), score in scores.items() if not is_tuned}


def pair(scores: dict[Key, float], method: str) -> tuple[float, float]:
    """A method's scores with defaults and tuned; NaN where it did not run or has none."""
    return scores.get((method, False), np.nan), scores.get((method, True), np.nan)
