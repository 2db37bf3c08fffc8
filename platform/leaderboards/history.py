"""How the places of a phase came about: kept at every change, thinned where there are very many."""

import datetime as dt
from collections.abc import Mapping

import numpy as np

from competitions.models import Phase
from leaderboards.models import RankMoment
from leaderboards.ranking import Ints

MOST_MOMENTS = 400
PAIR = np.dtype("<i4")


def record(phase: Phase, places: Mapping[int, int], now: dt.datetime) -> None:
    """Keep the places (entrant to rank) from now on, where they differ from those kept last."""
    packed = np.array(sorted(places.items()), dtype=PAIR).reshape(-1, 2).tobytes()
    last = RankMoment.objects.filter(phase=phase).last()
    if last is None and not places:
        return
    if last is not None and bytes(last.places) == packed:
        return
    RankMoment.objects.create(phase=phase, at=now, places=packed)
    _thin(phase)


def unpack(moment: RankMoment) -> Ints:
    """Pairs of entrant id and rank, shape (n, 2)."""
    return np.frombuffer(bytes(moment.places), dtype=PAIR).reshape(-1, 2).astype(np.int64)


def _thin(phase: Phase) -> None:
    """Drop the moments that leave the smallest gaps; the first and the last stay."""
    kept = list(RankMoment.objects.filter(phase=phase).values_list("pk", "at"))
    dropped = []
    while len(kept) > MOST_MOMENTS:
        gaps = [kept[index + 1][1] - kept[index - 1][1] for index in range(1, len(kept) - 1)]
        dropped.append(kept.pop(1 + gaps.index(min(gaps)))[0])
    if dropped:
        RankMoment.objects.filter(pk__in=dropped).delete()
