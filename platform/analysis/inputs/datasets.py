"""Datasets of a whole competition, each with the one board by which it is judged."""

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.inputs.boards import BoardTable, Dataset, Entry, Floats
from analysis.models import BasicEntry
from competitions.models import Phase

# The board that says most of a dataset comes first: blind code on the test part, then the Final's, then others.
PREFERENCE = (
    (Phase.Kind.AUTOML, "test"),
    (Phase.Kind.FINAL, "test"),
    (Phase.Kind.OPEN, "test"),
    (Phase.Kind.TWEAKATHON, "test"),
    (Phase.Kind.OPEN, "valid"),
    (Phase.Kind.TWEAKATHON, "valid"),
)


@dataclass(frozen=True)
class DatasetColumn:
    """A dataset with a board's scores of it: `scores` and `stderr` are (n,), in the order of its entries."""

    dataset: Dataset
    board: BoardTable
    index: int  # its column on the board

    @property
    def scores(self) -> Floats:
        """Of every entry, NaN where one is missing."""
        return self.board.scores[:, self.index]

    @property
    def stderr(self) -> Floats:
        """Of every entry."""
        return self.board.stderr[:, self.index]

    @property
    def participants(self) -> Floats:
        """The scores of those who compete: baselines are none; organizers' own entries are none either."""
        return self.scores[self.board.ranked]


def by_dataset(
    boards: Iterable[BoardTable], preference: tuple[tuple[str, str], ...] = PREFERENCE
) -> list[DatasetColumn]:
    """Every dataset once, by the first kind of board of the preference that has it; in the order of rounds.

    Datasets that the audience may not know are told apart by their tasks.
    """
    order = {kind: place for place, kind in enumerate(preference)}
    found: dict[tuple[str, int], DatasetColumn] = {}
    known = [board for board in boards if (board.phase_kind, board.part) in order]
    for board in sorted(known, key=lambda one: (order[one.phase_kind, one.part], -one.number)):
        for index, dataset in enumerate(board.datasets):
            key = ("version", dataset.version_id) if dataset.version_id else ("task", dataset.task_id)
            found.setdefault(key, DatasetColumn(dataset, board, index))
    return sorted(found.values(), key=lambda one: (one.dataset.round, one.board.number, one.index))


def basic_entries(board: BoardTable) -> dict[int, tuple[str, bool]]:
    """Which rows of a board are basic methods that the platform ran: method and whether it was tuned, by row."""
    rows = {int(pk): row for row, pk in enumerate(board.submissions)}
    found = BasicEntry.objects.filter(submission__in=list(rows))
    return {rows[one.submission_id]: (one.method, one.is_tuned) for one in found}


def is_participant(entry: Entry) -> bool:
    """Whether an entry is somebody's who competes."""
    return entry.is_ranked and not entry.is_baseline
