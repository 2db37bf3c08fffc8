"""How the places of a phase came about: kept at every change, thinned where there are very many."""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from competitions.models import Phase
from leaderboards.models import Board, RankMoment
from leaderboards.ranking import Ints
from leaderboards.reading import Look

MOST_MOMENTS = 400
TOP = 10
PAIR = np.dtype("<i4")


@dataclass(frozen=True)
class Path:
    """The places of one entrant over the moments of a history; None where it was not on the board."""

    entrant_id: int
    ranks: tuple[int | None, ...]

    @property
    def now(self) -> int | None:
        """The place at the last moment."""
        return self.ranks[-1] if self.ranks else None

    @property
    def best(self) -> int:
        """The best place ever."""
        return min(rank for rank in self.ranks if rank is not None)

    @property
    def changes(self) -> int:
        """How often the place changed, with coming and going."""
        return sum(one != other for one, other in zip(self.ranks, self.ranks[1:], strict=False))


@dataclass(frozen=True)
class History:
    """Places over time: the moments of change, and a path for each entrant shown."""

    moments: tuple[dt.datetime, ...]
    paths: tuple[Path, ...]

    @property
    def worst(self) -> int:
        """The largest place that is shown."""
        return max((rank for path in self.paths for rank in path.ranks if rank is not None), default=1)


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


def _thin(phase: Phase) -> None:
    """Drop the moments that leave the smallest gaps; the first and the last stay."""
    kept = list(RankMoment.objects.filter(phase=phase).values_list("pk", "at"))
    dropped = []
    while len(kept) > MOST_MOMENTS:
        gaps = [kept[index + 1][1] - kept[index - 1][1] for index in range(1, len(kept) - 1)]
        dropped.append(kept.pop(1 + gaps.index(min(gaps)))[0])
    if dropped:
        RankMoment.objects.filter(pk__in=dropped).delete()


def has_history(look: Look) -> bool:
    """Whether places over time may be shown: of the part that people see while they submit."""
    return look.part == look.phase.feedback_part and look.phase.takes_submissions


def history_of(look: Look, own: Collection[int] = ()) -> History:
    """The first ten of the last moment and the viewer's own, best first: at most two queries."""
    moments = RankMoment.objects.filter(phase=look.phase)
    if look.is_frozen:
        picture = Board.objects.filter(phase=look.phase, is_frozen=True, part=look.part or "").first()
        moments = moments.filter(at__lte=picture.made_at) if picture else moments
    kept = list(moments)
    return paths_of([(moment.at, unpack(bytes(moment.places))) for moment in kept], own)


def unpack(places: bytes) -> Ints:
    """Pairs of entrant id and rank, shape (n, 2)."""
    return np.frombuffer(places, dtype=PAIR).reshape(-1, 2).astype(np.int64)


def paths_of(moments: Sequence[tuple[dt.datetime, Ints]], own: Collection[int] = (), *, top: int = TOP) -> History:
    """The paths of those who lead at the last moment, and of `own`, from pairs of entrant and rank."""
    if not moments:
        return History((), ())
    last = moments[-1][1]
    leading = last[np.lexsort((last[:, 0], last[:, 1]))][:, 0][:top].tolist()
    shown = [*leading, *(one for one in own if one not in leading)]
    tables = [dict(places[np.isin(places[:, 0], shown)].tolist()) for _, places in moments]
    paths = [Path(entrant, tuple(table.get(entrant) for table in tables)) for entrant in shown]
    seen = [path for path in paths if any(rank is not None for rank in path.ranks)]
    return History(tuple(at for at, _ in moments), tuple(seen))
