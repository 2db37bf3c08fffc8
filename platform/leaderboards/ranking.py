"""Ranking by average rank, as pure functions over numbers.

Source: design.md's protocol (chapter, section 10.3): rank the entrants on each dataset, average the ranks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

TOLERANCE = 1e-12
LOWEST_SHOWN = -1.0


@dataclass(frozen=True)
class Entry:
    """One entrant's scores on the tasks of a phase; None where there is no score."""

    entrant_id: int
    scores: tuple[float | None, ...]
    received: float  # order of receipt, for ties
    ranked: bool = True


@dataclass(frozen=True)
class Place:
    """Where an entry stands. `rank` is None for the unranked; `task_ranks` are dense ranks per task."""

    entrant_id: int
    rank: int | None
    mean_rank: float
    mean_score: float
    task_ranks: tuple[int, ...]


def dense_rank(value: float | None, ranked_values: Sequence[float]) -> int:
    """The dense rank of a score among distinct values in falling order; missing is worst + 1.

    A score within 1e-12 of another shares its rank. For a value that is not among them (an unranked entry)
    it is the rank the value would take.
    """
    if value is None:
        return len(ranked_values) + 1
    for position, other in enumerate(ranked_values, start=1):
        if value >= other - TOLERANCE:
            return position
    return len(ranked_values) + 1


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
    (and the next place stays empty: 1, 2, 2, 4).
    """
    tasks = len(entries[0].scores) if entries else 0
    ladders = [
        distinct_falling([entry.scores[task] for entry in entries if entry.ranked]) for task in range(tasks)
    ]
    task_ranks: Mapping[int, tuple[int, ...]] = {
        entry.entrant_id: tuple(dense_rank(entry.scores[task], ladders[task]) for task in range(tasks))
        for entry in entries
    }
    means = {key: sum(ranks) / len(ranks) if ranks else 1.0 for key, ranks in task_ranks.items()}
    ordered = sorted(entries, key=lambda entry: (means[entry.entrant_id], entry.received))
    places: list[Place] = []
    taken, last_rank, last_mean = 0, 0, float("-inf")
    for entry in ordered:
        mean = means[entry.entrant_id]
        rank = None
        if entry.ranked:
            taken += 1
            shares = tie_rule == "shared" and abs(mean - last_mean) <= TOLERANCE
            rank = last_rank if shares else taken
            last_rank, last_mean = rank, mean
        places.append(Place(entry.entrant_id, rank, mean, mean_score(entry.scores), task_ranks[entry.entrant_id]))
    return places
