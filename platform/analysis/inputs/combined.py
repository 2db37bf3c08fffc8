"""Several boards as one: every entrant once, the datasets of all, for who is ahead over a whole series."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from analysis.inputs.boards import BoardTable, Entry, replicates

NO_SUBMISSION = 0  # where an entrant has several, one for each board


def combined(boards: Sequence[BoardTable]) -> BoardTable | None:
    """One board of them: the very board where there is one, None where nobody is on any.

    Entrants are joined by their keys, which concealed boards lack: those are left out. Whoever is not on a board
    misses the scores of its datasets. Its `submissions` are 0 and its entries have no ranks of their own;
    `combined_replicates` finds what `replicates` finds of one board.
    """
    if len(boards) == 1:
        return boards[0] if boards[0].entries else None
    joined = joinable(boards)
    if not joined:
        return None
    if len(joined) == 1:
        return joined[0]
    order = _order(joined)
    columns = sum(len(board.datasets) for board in joined)
    scores = np.full((len(order), columns), np.nan)
    stderr = np.full_like(scores, np.nan)
    at = 0
    for board in joined:
        rows, width = [order[entry.key] for entry in board.entries], len(board.datasets)
        scores[rows, at : at + width] = board.scores
        stderr[rows, at : at + width] = board.stderr
        at += width
    return replace(
        joined[-1],
        phase_id=0,
        number=0,
        title=f"{len(joined)} phases together",
        round=-1,
        round_name="",
        entries=tuple(_entries(joined, order)),
        datasets=tuple(dataset for board in joined for dataset in board.datasets),
        scores=scores,
        stderr=stderr,
        submissions=np.full(len(order), NO_SUBMISSION, dtype=np.int64),
        digits=max(board.digits for board in joined),
    )


def combined_replicates(boards: Sequence[BoardTable]) -> NDArray[np.float32]:
    """What `replicates` gives, for the rows and columns of `combined`: n x T x B.

    Boards with fewer replicates than others give NaN for the rest. The replicates of different datasets have
    nothing to do with each other.
    """
    joined = [boards[0]] if len(boards) == 1 else joinable(boards)
    if len(joined) == 1:
        return replicates(joined[0])
    order = _order(joined)
    found = [replicates(board) for board in joined]
    count = max((one.shape[2] for one in found), default=0)
    columns = sum(len(board.datasets) for board in joined)
    values = np.full((len(order), columns, count), np.nan, dtype=np.float32)
    at = 0
    for board, one in zip(joined, found, strict=True):
        rows, width = [order[entry.key] for entry in board.entries], len(board.datasets)
        values[rows, at : at + width, : one.shape[2]] = one
        at += width
    return values


def joinable(boards: Sequence[BoardTable]) -> list[BoardTable]:
    """The boards that can be put together: those with entries and names, and with one kind of score.

    Our own scores come first; without any, the boards of the first one's column.
    """
    named = [board for board in boards if board.entries and all(entry.key is not None for entry in board.entries)]
    kinds = [(board.measure, board.sign) for board in named]
    kind = ("", 1) if ("", 1) in kinds else next(iter(kinds), None)
    return [board for board, own in zip(named, kinds, strict=True) if own == kind]


def _order(boards: Sequence[BoardTable]) -> dict[int | None, int]:
    """The row of every entrant by key: those of the first board first, as they stand there."""
    return {
        key: row for row, key in enumerate(dict.fromkeys(entry.key for board in boards for entry in board.entries))
    }


def _entries(boards: Sequence[BoardTable], order: dict[int | None, int]) -> list[Entry]:
    """One entry for each entrant: ranked where it is ranked anywhere, received when its first one was."""
    found: dict[int | None, Entry] = {}
    for board in boards:
        for entry in board.entries:
            known = found.get(entry.key, entry)
            found[entry.key] = replace(
                known,
                is_ranked=known.is_ranked or entry.is_ranked,
                received=min(known.received, entry.received),
                rank=None,
            )
    return [found[key] for key in order]
