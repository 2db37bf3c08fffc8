"""Would another way of ranking, or leaving something out, give another winner? Pure functions over the scores.

Only entries with a place are looked at. Of equal entries the one received earlier wins, or all of them where
places are shared. Everything follows from the n x T table of ranks, so leaving out each of n entrants costs no
second ranking: an entrant whose score nobody else has moves those behind it up by one, on that dataset.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leaderboards.ranking import TOLERANCE, Bools, Floats, Ints, Table

WAY, DATASET, ENTRANT = "way", "dataset", "entrant"


@dataclass(frozen=True)
class Change:
    """What would change the winner: a `kind` and its key, and who would win then.

    `key` is the name of a way of ranking (of `WAYS`), the index of the dataset left out, or the id of the
    entrant left out.
    """

    kind: str
    key: str | int
    winners: tuple[int, ...]


def average_ranks(scores: Floats) -> Floats:
    """Ranks of one task where equal scores share the mean of their places; missing ones share the last. (n,)"""
    filled = np.where(np.isnan(scores), -np.inf, scores)
    rising = np.sort(filled)
    better = len(filled) - np.searchsorted(rising, filled, side="right")
    alike = np.searchsorted(rising, filled, side="right") - np.searchsorted(rising, filled, side="left")
    return np.asarray(better + (alike + 1) / 2, dtype=np.float64)


def by_mean_score(scores: Floats, ranks: Ints) -> Floats:
    """The mean score, missing counted 0."""
    return np.asarray(-np.nan_to_num(scores).mean(axis=1))


def by_average_ranks(scores: Floats, ranks: Ints) -> Floats:
    """The mean of ranks in which equal scores share the mean of their places."""
    columns = [average_ranks(scores[:, task]) for task in range(scores.shape[1])]
    return np.asarray(np.mean(columns, axis=0))


def by_median_rank(scores: Floats, ranks: Ints) -> Floats:
    """The median of the dense ranks."""
    return np.asarray(np.median(ranks, axis=1))


def by_normalised_score(scores: Floats, ranks: Ints) -> Floats:
    """The mean of scores scaled to 0 for the worst and 1 for the best of each dataset, missing counted 0."""
    present = ~np.isnan(scores)
    best = np.where(present, scores, -np.inf).max(axis=0)
    worst = np.where(present, scores, np.inf).min(axis=0)
    width = np.where(best > worst, best - worst, 1.0)
    scaled = np.where(present, (scores - np.where(np.isfinite(worst), worst, 0.0)) / width, 0.0)
    return np.asarray(-scaled.mean(axis=1))


# Each gives one number for each entry; the smallest wins.
WAYS: dict[str, Callable[[Floats, Ints], Floats]] = {
    "mean_score": by_mean_score,
    "average_ranks": by_average_ranks,
    "median_rank": by_median_rank,
    "normalised_score": by_normalised_score,
}


def winner_changes(table: Table, task_ranks: Ints, *, tie_rule: str) -> list[Change]:
    """All that would change the winner, in the order of `WAYS`, then datasets, then entrants.

    `task_ranks` are those of `rank_table`. Costs O(n T + n m T), where m is the number of entries within one
    mean rank of the winner.
    """
    kept = table.ranked
    scores, received, entrants = table.scores[kept], table.received[kept], table.entrants[kept]
    ranks = task_ranks[kept]
    count, tasks = scores.shape
    if count < 2 or tasks == 0:
        return []
    winners = _Winners(received, entrants, shared=tie_rule == "shared")
    actual = winners.of(ranks.sum(axis=1) / tasks)
    found: list[tuple[str, str | int, tuple[int, ...]]] = [
        (WAY, name, winners.of(way(scores, ranks))) for name, way in WAYS.items()
    ]
    if tasks > 1:
        total = ranks.sum(axis=1)
        found += [(DATASET, task, winners.of((total - ranks[:, task]) / (tasks - 1))) for task in range(tasks)]
    changes = [Change(kind, key, new) for kind, key, new in found if new != actual]
    return changes + _without_one(ranks, winners, actual)


@dataclass(frozen=True)
class _Winners:
    """Who wins by a number for each entry, the smallest first, and the rule of ties."""

    received: Floats
    entrants: Ints
    shared: bool

    def of(self, values: Floats) -> tuple[int, ...]:
        """The ids of the winners, in rising order."""
        tied = np.flatnonzero(values <= values.min() + TOLERANCE)
        if not self.shared:
            tied = tied[np.lexsort((self.entrants[tied], self.received[tied]))[:1]]
        return tuple(sorted(int(one) for one in self.entrants[tied]))


def _without_one(ranks: Ints, winners: _Winners, actual: tuple[int, ...]) -> list[Change]:
    """The entrants without whom another would win. Winners themselves are not left out: that says nothing."""
    count, tasks = ranks.shape
    total = ranks.sum(axis=1)
    # Leaving one out gains a rival at most one rank on each dataset, so only those near the top can overtake.
    rivals = np.flatnonzero(total <= total.min() + tasks)
    rivals = rivals[np.lexsort((winners.entrants[rivals], winners.received[rivals]))]
    sums = np.tile(total[rivals], (count, 1))
    for task in range(tasks):
        alone = _is_alone(ranks[:, task])
        sums -= alone[:, None] & (ranks[rivals, task][None, :] > ranks[:, task][:, None])
    sums[rivals, np.arange(len(rivals))] = np.iinfo(sums.dtype).max  # nobody wins without being there
    wins = sums == sums.min(axis=1, keepdims=True)
    if not winners.shared:
        wins &= np.cumsum(wins, axis=1) == 1  # rivals stand in the order of receipt
    ids = winners.entrants[rivals]
    differs = (wins != np.isin(ids, actual)[None, :]).any(axis=1) & ~np.isin(winners.entrants, actual)
    return [
        Change(ENTRANT, int(winners.entrants[row]), tuple(sorted(ids[wins[row]].tolist())))
        for row in np.flatnonzero(differs)
    ]


def _is_alone(ranks: Ints) -> Bools:
    """Whether each rank of a task is held by one entry alone."""
    return np.asarray(np.bincount(ranks)[ranks] == 1)
