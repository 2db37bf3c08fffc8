"""Two boards of the same datasets side by side: validation and test, blind and tweaked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.inputs.boards import BoardTable, Entry, Floats
from competitions.models import Phase

Part, Kind = Phase.Part, Phase.Kind


@dataclass(frozen=True)
class Pair:
    """The entrants and datasets that two boards share: `first` and `second` are scores, n x T, NaN where missing.

    `label` names the boards.
    """

    label: str
    entries: tuple[Entry, ...]
    datasets: tuple[str, ...]
    first: Floats
    second: Floats

    @property
    def both(self) -> NDArray[np.bool_]:
        """Where both boards have a score, n x T."""
        return np.asarray(np.isfinite(self.first) & np.isfinite(self.second))


def paired(first: BoardTable, second: BoardTable, label: str) -> Pair | None:
    """What two boards share; None where that is nothing.

    Only those who take a place on both are in it. Entrants are joined by their keys, which boards that conceal
    names lack.
    """
    rows = _shared([entry.key for entry in first.entries], [entry.key for entry in second.entries])
    rows = [(i, j) for i, j in rows if first.entries[i].is_ranked and second.entries[j].is_ranked]
    columns = _shared(_keys(first), _keys(second))
    if not rows or not columns:
        return None
    (left, right), (a, b) = zip(*rows, strict=True), zip(*columns, strict=True)
    return Pair(
        label=label,
        entries=tuple(first.entries[row] for row in left),
        datasets=tuple(first.datasets[column].name for column in a),
        first=first.scores[np.ix_(left, a)],
        second=second.scores[np.ix_(right, b)],
    )


def _keys(board: BoardTable) -> list[tuple[str, int] | None]:
    """What is the same of a dataset in every phase; of concealed ones only their task is known."""
    return [
        ("version", one.version_id) if one.version_id is not None else ("task", one.task_id)
        for one in board.datasets
    ]


def _shared(first: Sequence[object], second: Sequence[object]) -> list[tuple[int, int]]:
    places = {key: place for place, key in enumerate(second) if key is not None}
    return [(place, places[key]) for place, key in enumerate(first) if key in places]


def validation_pairs(boards: Iterable[BoardTable], phases: Iterable[int]) -> list[Pair]:
    """Validation beside test scores of the phases: their own, or a Final's beside its Tweakathon's.

    Boards of scoring programs know no parts and are in no pair.
    """
    own = [board for board in boards if not board.measure]
    found = []
    for phase in phases:
        of_phase = {board.part: board for board in own if board.phase_id == phase}
        test = of_phase.get(Part.TEST)
        if test is None:
            continue
        valid = [of_phase[Part.VALID]] if Part.VALID in of_phase else []
        if not valid and test.phase_kind == Kind.FINAL:
            same = [board for board in own if (board.part, board.phase_kind) == (Part.VALID, Kind.TWEAKATHON)]
            valid = [board for board in same if (board.round, board.track) == (test.round, test.track)]
        pairs = (paired(board, test, test.title) for board in valid)
        found += [pair for pair in pairs if pair is not None][:1]
    return found


def blind_pairs(boards: Iterable[BoardTable]) -> list[Pair]:
    """Test scores of blind code beside those of the Final of the same datasets, or of their Tweakathon."""
    own = [board for board in boards if board.part == Part.TEST and not board.measure]
    tweaked = [board for kind in (Kind.FINAL, Kind.TWEAKATHON) for board in own if board.phase_kind == kind]
    found = []
    for blind in own:
        if blind.phase_kind != Kind.AUTOML:
            continue
        pairs = (paired(blind, other, f"{blind.title} and {other.title}") for other in tweaked)
        found += [pair for pair in pairs if pair is not None][:1]
    return found


def together(pairs: Sequence[Pair]) -> Pair | None:
    """Several pairs as one, every entrant once; None without any."""
    if not pairs:
        return None
    order = {key: row for row, key in enumerate(dict.fromkeys(one.key for pair in pairs for one in pair.entries))}
    entries = {entry.key: entry for pair in pairs for entry in pair.entries}
    width = sum(len(pair.datasets) for pair in pairs)
    first, second = np.full((len(order), width), np.nan), np.full((len(order), width), np.nan)
    at = 0
    for pair in pairs:
        rows, columns = [order[entry.key] for entry in pair.entries], slice(at, at + len(pair.datasets))
        first[rows, columns], second[rows, columns] = pair.first, pair.second
        at += len(pair.datasets)
    names = tuple(name for pair in pairs for name in pair.datasets)
    return Pair(
        ", ".join(pair.label for pair in pairs), tuple(entries[key] for key in order), names, first, second
    )
