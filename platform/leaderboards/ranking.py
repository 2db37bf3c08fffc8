"""Ranking by average rank, as pure functions over numbers.

Source: design.md's protocol (chapter, section 10.3): rank the entrants on each dataset, average the ranks.
`rank_entries` says it plainly, entry by entry; `rank_table` does the same for a thousand entries at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-12
LOWEST_SHOWN = -1.0

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Entry:
    """One entrant's scores on the tasks of a phase; None where there is no score."""

    entrant_id: int
    scores: tuple[float | None, ...]
    received: float  # order of receipt, for ties
    ranked: bool = True


@dataclass(frozen=True)
class Place:
    """Where an entry stands. `rank` is None for the unranked; `task_ranks` are dense ranks per task.

    The rank of an unranked entry whose score lies between those of two ranks lies between them too: 1.5.
    `rank_above` is the last place taken before it in the order of the board, 0 where there is none.
    """

    entrant_id: int
    rank: int | None
    mean_rank: float
    mean_score: float
    task_ranks: tuple[float, ...]
    rank_above: int = 0


@dataclass(frozen=True)
class Table:
    """The entries of a board as arrays: n entrants, T tasks; `scores` is n x T with NaN where one is missing."""

    entrants: Ints
    scores: Floats
    received: Floats
    ranked: Bools


@dataclass(frozen=True)
class Ranking:
    """Places for the rows of a table, in its order: `rank` is 0 for the unranked, `position` counts all from 1.

    `between` marks the scores of unranked entries that lie half a rank before their `task_ranks`.
    """

    task_ranks: Ints
    between: Bools
    mean_rank: Floats
    mean_score: Floats
    rank: Ints
    rank_above: Ints
    position: Ints

    def rows(self) -> list[tuple[int, int | None, int, float, float, list[float]]]:
        """For each row: position, rank (None for the unranked), rank above, mean rank and score, task ranks."""
        columns = (
            self.position.tolist(),
            [rank or None for rank in self.rank.tolist()],
            self.rank_above.tolist(),
            self.mean_rank.tolist(),
            self.mean_score.tolist(),
            self._task_ranks(),
        )
        return list(zip(*columns, strict=True))

    def _task_ranks(self) -> list[list[float]]:
        found: list[list[float]] = self.task_ranks.tolist()
        for row, task in zip(*np.nonzero(self.between), strict=True):
            found[row][task] -= 0.5
        return found


def dense_rank(value: float | None, ranked_values: Sequence[float]) -> int:
    """The dense rank of a score among distinct values in falling order; missing is worst + 1.

    A score within 1e-12 of another shares its rank. For a value that is not among them it is the rank that the
    value would take.
    """
    if value is None:
        return len(ranked_values) + 1
    for position, other in enumerate(ranked_values, start=1):
        if value >= other - TOLERANCE:
            return position
    return len(ranked_values) + 1


def rank_between(value: float | None, ranked_values: Sequence[float]) -> float:
    """The rank of an unranked entry's score: that of an equal one, else halfway between its neighbours' ranks."""
    rank = dense_rank(value, ranked_values)
    is_equal = rank <= len(ranked_values) and value is not None and value <= ranked_values[rank - 1] + TOLERANCE
    return rank if value is None or is_equal else rank - 0.5


def distinct_falling(values: Sequence[float | None]) -> list[float]:
    """The distinct scores in falling order; those within 1e-12 of their predecessor are the same."""
    distinct: list[float] = []
    for value in sorted((value for value in values if value is not None), reverse=True):
        if not distinct or distinct[-1] - value > TOLERANCE:
            distinct.append(value)
    return distinct


def mean_score(scores: Sequence[float | None]) -> float:
    """The mean score as it is displayed: a missing score counts 0."""
    return sum(score or 0.0 for score in scores) / len(scores) if scores else 0.0


def rank_entries(entries: Sequence[Entry], *, tie_rule: str = "earlier") -> list[Place]:
    """Rank entries by mean rank over the tasks; unranked ones never shift anybody.

    `tie_rule` "earlier" gives the better place to the earlier submission, "shared" gives both the same place
    (and the next place stays empty: 1, 2, 2, 4). Places come in the order of the board, where an unranked entry
    stands behind the ranked ones of its mean rank.
    """
    tasks = len(entries[0].scores) if entries else 0
    ladders = [
        distinct_falling([entry.scores[task] for entry in entries if entry.ranked]) for task in range(tasks)
    ]
    task_ranks: Mapping[int, tuple[float, ...]] = {
        entry.entrant_id: tuple(
            (dense_rank if entry.ranked else rank_between)(entry.scores[task], ladders[task])
            for task in range(tasks)
        )
        for entry in entries
    }
    means = {key: sum(ranks) / len(ranks) if ranks else 1.0 for key, ranks in task_ranks.items()}
    ordered = sorted(
        entries, key=lambda one: (means[one.entrant_id], not one.ranked, one.received, one.entrant_id)
    )
    places: list[Place] = []
    taken, last_rank, last_mean = 0, 0, float("-inf")
    for entry in ordered:
        mean = means[entry.entrant_id]
        rank, above = None, last_rank
        if entry.ranked:
            taken += 1
            shares = tie_rule == "shared" and abs(mean - last_mean) <= TOLERANCE
            rank = last_rank if shares else taken
            last_rank, last_mean = rank, mean
        places.append(
            Place(entry.entrant_id, rank, mean, mean_score(entry.scores), task_ranks[entry.entrant_id], above)
        )
    return places


def rank_table(table: Table, *, tie_rule: str = "earlier") -> Ranking:
    """The same places as `rank_entries`, equal to the last bit, by sorting arrays."""
    count, tasks = table.scores.shape
    task_ranks = np.ones((count, tasks), dtype=np.int64)
    between = np.zeros((count, tasks), dtype=bool)
    for task in range(tasks):
        task_ranks[:, task], between[:, task] = dense_ranks(table.scores[:, task], table.ranked)
    mean_rank = (task_ranks.sum(axis=1) - 0.5 * between.sum(axis=1)) / tasks if tasks else np.ones(count)
    order = np.lexsort((table.entrants, table.received, ~table.ranked, mean_rank))
    rank, above = _places(mean_rank[order], table.ranked[order], tie_rule)
    position = np.empty(count, dtype=np.int64)
    position[order] = np.arange(1, count + 1)
    return Ranking(
        task_ranks,
        between,
        mean_rank,
        _mean_scores(table.scores),
        rank[position - 1],
        above[position - 1],
        position,
    )


def dense_ranks(scores: Floats, ranked: Bools) -> tuple[Ints, Bools]:
    """The dense ranks of one task's scores among those of the ranked entries, NaN is worst + 1; shape (n,).

    Also which scores of unranked entries are equal to none of them, and so lie between two ranks.
    """
    present = ~np.isnan(scores)
    ladder = _ladder(scores[present & ranked])
    # Rising: what a score must reach, negated, to stand on each step; how many steps it misses is its rank - 1.
    missed = np.searchsorted(-(ladder - TOLERANCE), -np.where(present, scores, 0.0), side="left")
    steps = np.append(ladder, -np.inf)[missed]
    between = present & ~ranked & (np.where(present, scores, 0.0) > steps + TOLERANCE)
    return np.where(present, missed, len(ladder)) + 1, between


def _ladder(values: Floats) -> Floats:
    """`distinct_falling` of an array."""
    rising = np.unique(values)
    if len(rising) > 1 and np.diff(rising).min() <= TOLERANCE:
        return np.array(distinct_falling(rising.tolist()), dtype=np.float64)
    return rising[::-1]


def _mean_scores(scores: Floats) -> Floats:
    count, tasks = scores.shape
    total = np.zeros(count)
    for task in range(tasks):  # added in the order of `sum`, so that both ways give the same last bit
        total = total + np.nan_to_num(scores[:, task])
    return total / tasks if tasks else total


def _places(means: Floats, ranked: Bools, tie_rule: str) -> tuple[Ints, Ints]:
    """Places (0 for the unranked) and the place above each, for rows in the order of the board."""
    taken: Ints = np.cumsum(ranked).astype(np.int64)
    places: Ints = taken.copy()
    if tie_rule == "shared":
        chosen = np.flatnonzero(ranked)
        is_new = np.ones(len(chosen), dtype=bool)
        is_new[1:] = np.diff(means[chosen]) > TOLERANCE
        firsts = np.maximum.accumulate(np.where(is_new, np.arange(1, len(chosen) + 1), 0))
        places = np.concatenate(([0], firsts))[taken]
    above: Ints = np.concatenate(([0], places))[:-1].astype(np.int64)
    return np.where(ranked, places, 0).astype(np.int64), above
