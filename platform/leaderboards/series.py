"""Boards of a round and of the whole series, and the rise from AutoML to Final.

The rule: an entrant's number is the mean, over the phases whose boards the viewer may see, of the place in each;
whoever has no place in a phase counts as one behind the last place there. Equal means share a place. Baselines
and organizers take no place in a phase, so they are in no mean. Source of UP %: chapter, section 10.3.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from django.db.models import Q, QuerySet

from competitions.models import Phase
from leaderboards.models import LeaderboardRow
from leaderboards.ranking import TOLERANCE
from leaderboards.reading import Look

WINNERS = 3


@dataclass(frozen=True)
class PhasePlace:
    """An entrant's place in one phase, with its mean rank and mean score there."""

    rank: int
    mean_rank: float
    mean_score: float


@dataclass(frozen=True)
class SeriesPlace:
    """An entrant's place over several phases; `places` in the order of the phases, None where there is none.

    `mean_rank` is the mean of the places, `mean_score` the mean of the mean scores, missing counted 0.
    """

    entrant_id: int
    rank: int
    mean_rank: float
    mean_score: float
    places: tuple[PhasePlace | None, ...]

    @property
    def taken(self) -> int:
        """In how many of the phases it has a place."""
        return sum(place is not None for place in self.places)


@dataclass(frozen=True)
class Winner:
    """One of the first three of a phase."""

    rank: int
    name: str
    mean_rank: float
    mean_score: float


@dataclass(frozen=True)
class Rise:
    """UP %: the winners of an AutoML phase and of the Final phase of its round and track."""

    automl: Phase
    final: Phase
    before: tuple[Winner, ...]
    after: tuple[Winner, ...]

    @property
    def rows(self) -> int:
        """How many winners there are to be told."""
        return len(self.before) + len(self.after)

    @property
    def percent(self) -> float | None:
        """The rise of the mean of the winners' mean scores, in percent; None where there is none to rise from."""
        return up_percent([one.mean_score for one in self.before], [one.mean_score for one in self.after])


def combine(phases: Sequence[Mapping[int, PhasePlace]]) -> list[SeriesPlace]:
    """The places over several phases, given for each the places by entrant; in order."""
    behind = [1 + max((place.rank for place in places.values()), default=0) for places in phases]
    entrants = sorted({entrant for places in phases for entrant in places})
    means = []
    for entrant in entrants:
        own = tuple(places.get(entrant) for places in phases)
        ranks = [place.rank if place else last for place, last in zip(own, behind, strict=True)]
        scores = [place.mean_score if place else 0.0 for place in own]
        means.append((sum(ranks) / len(ranks), -(sum(scores) / len(scores)), entrant, own))
    means.sort(key=lambda one: one[:3])
    found: list[SeriesPlace] = []
    for index, (mean_rank, score, entrant, own) in enumerate(means, start=1):
        shares = bool(found) and mean_rank - found[-1].mean_rank <= TOLERANCE
        found.append(SeriesPlace(entrant, found[-1].rank if shares else index, mean_rank, -score + 0.0, own))
    return found


def up_percent(before: Sequence[float], after: Sequence[float]) -> float | None:
    """By how many percent the mean of the second is above that of the first; None where that says nothing."""
    if not before or not after:
        return None
    first, last = sum(before) / len(before), sum(after) / len(after)
    return 100 * (last - first) / first if first > 0 else None


def in_series(looks: Sequence[Look]) -> list[Look]:
    """The boards that count: those the viewer sees, with names where their neighbours show names.

    An anonymous board is left out: beside the places of other phases its rows would get their names.
    """
    return [look for look in looks if look.part is not None and not look.is_anonymous]


def places_of(looks: Sequence[Look]) -> list[dict[int, PhasePlace]]:
    """The places on each of the boards by entrant: one query."""
    by_phase: dict[int, dict[int, PhasePlace]] = defaultdict(dict)
    for phase, entrant, rank, mean_rank, mean_score in _rows(looks).values_list(
        "board__phase", "entrant", "rank", "mean_rank", "mean_score"
    ):
        by_phase[phase][entrant] = PhasePlace(rank or 0, mean_rank, mean_score)
    return [by_phase[look.phase.pk] for look in looks]


def _rows(looks: Sequence[Look]) -> QuerySet[LeaderboardRow]:
    boards = [Q(board__phase=look.phase, board__part=look.part, board__is_frozen=look.is_frozen) for look in looks]
    rows = LeaderboardRow.objects.filter(rank__isnull=False)
    return rows.filter(reduce(or_, boards)) if boards else rows.none()


def rises(looks: Sequence[Look]) -> list[Rise]:
    """UP % for every Final phase whose round and track has an AutoML phase, both to be seen: one query."""
    seen = {look.phase.pk: look for look in looks}
    pairs = pairs_of([look.phase for look in looks])
    chosen = [seen[phase.pk] for pair in pairs for phase in pair]
    winners: dict[int, list[Winner]] = defaultdict(list)
    for row in _rows(chosen).filter(rank__lte=WINNERS).select_related("entrant", "board").order_by("position"):
        winners[row.board.phase_id].append(Winner(row.rank or 0, row.entrant.name, row.mean_rank, row.mean_score))
    found = [Rise(automl, final, tuple(winners[automl.pk]), tuple(winners[final.pk])) for automl, final in pairs]
    return [rise for rise in found if rise.before and rise.after]


def pairs_of(phases: Sequence[Phase]) -> list[tuple[Phase, Phase]]:
    """The AutoML and the Final phase of each round and track that has both."""
    found = []
    for final in phases:
        if final.kind != Phase.Kind.FINAL:
            continue
        same = [
            phase
            for phase in phases
            if phase.kind == Phase.Kind.AUTOML and (phase.round_id, phase.track) == (final.round_id, final.track)
        ]
        found += [(same[0], final)] if same else []
    return found
