"""A plot of places over time, as lines for an SVG, and the table that says the same in numbers."""

import datetime as dt
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from leaderboards.history import History, Path

WIDTH, HEIGHT = 900, 380
LEFT, RIGHT, TOP, BOTTOM = 42, 200, 14, 30
NEAR = 12  # places up to here have rooms of equal height; those behind share the rest
NEAR_SHARE = 0.78
LABEL_GAP = 16.0
LABEL_OFF = 16
COLUMNS = 8  # moments in the table


@dataclass(frozen=True)
class Line:
    """One entrant's line: its points, and where its name stands at the right."""

    name: str
    css: str
    points: str
    label_y: float
    end_y: float
    rank: int | None
    is_own: bool


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    at: float
    text: str


@dataclass(frozen=True)
class TableRow:
    """One entrant in numbers."""

    name: str
    is_own: bool
    path: Path
    ranks: list[int | None]


def context(
    history: History, names: Mapping[int, str], own: Collection[int], now: dt.datetime
) -> dict[str, object]:
    """What the page of a history shows; `names` has those that may be told."""
    paths = [path for path in history.paths if path.entrant_id in names]
    if not paths:
        return {}
    shown = History(history.moments, tuple(paths))
    chosen = _spread(len(shown.moments))
    return {
        "lines": _lines(shown, names, own, now),
        "y_ticks": [Tick(_y(rank, shown.worst), str(rank)) for rank in _rank_ticks(shown.worst)],
        "x_ticks": _time_ticks(shown.moments[0], now),
        "moments": [shown.moments[index] for index in chosen],
        "table": [
            TableRow(names[path.entrant_id], path.entrant_id in own, path, [path.ranks[index] for index in chosen])
            for path in paths
        ],
        "changes": len(shown.moments),
        "own_shown": any(path.entrant_id in own for path in paths),
        "box": {
            "width": WIDTH,
            "height": HEIGHT,
            "left": LEFT,
            "right": WIDTH - RIGHT,
            "label_x": WIDTH - RIGHT + LABEL_OFF,
        },
    }


def _spread(count: int) -> list[int]:
    """At most `COLUMNS` places among so many, evenly, with the first and the last."""
    if count <= COLUMNS:
        return list(range(count))
    return sorted({round(index * (count - 1) / (COLUMNS - 1)) for index in range(COLUMNS)})


def _x(moment: dt.datetime, first: dt.datetime, last: dt.datetime) -> float:
    length = (last - first).total_seconds() or 1.0
    share = (moment - first).total_seconds() / length
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def _y(rank: int, worst: int) -> float:
    """Equal steps for the first places; behind them, where far more stand, by logarithm."""
    height = HEIGHT - TOP - BOTTOM
    if worst <= NEAR:
        return TOP + height * (rank - 1) / max(worst - 1, 1)
    if rank <= NEAR:
        return TOP + height * NEAR_SHARE * (rank - 1) / (NEAR - 1)
    far = math.log(rank / NEAR) / math.log(worst / NEAR)
    return TOP + height * (NEAR_SHARE + (1 - NEAR_SHARE) * far)


def _rank_ticks(worst: int) -> list[int]:
    near = [rank for rank in range(1, NEAR + 1) if rank <= worst and (rank <= 10 or worst <= NEAR)]
    far = [rank for rank in (30, 100, 300, 1000, 3000) if NEAR < rank < 0.8 * worst]
    return near + far + ([worst] if worst > NEAR else [])


def _time_ticks(first: dt.datetime, last: dt.datetime) -> list[Tick]:
    """Five marks; with the hour where a history is short."""
    length = last - first
    style = "%d %b" if length > dt.timedelta(days=3) else "%d %b %H:%M"
    marks = [first + length * index / 4 for index in range(5)]
    return [Tick(_x(mark, first, last), f"{mark.astimezone(dt.UTC):{style}}".lstrip("0")) for mark in marks]


def _lines(history: History, names: Mapping[int, str], own: Collection[int], now: dt.datetime) -> list[Line]:
    last = max(now, history.moments[-1])
    ends = []
    for index, path in enumerate(history.paths):
        known = [rank for rank in path.ranks if rank is not None]
        ends.append((_y(path.now or known[-1], history.worst), index))
    labels: dict[int, float] = {}
    lowest = -math.inf
    for end, index in sorted(ends):
        lowest = max(end, lowest + LABEL_GAP)
        labels[index] = lowest
    return [
        Line(
            name=names[path.entrant_id],
            css=f"rank-line line-{index % 10}{' own' if path.entrant_id in own else ''}",
            points=_steps(history, path, last),
            label_y=round(labels[index], 1),
            end_y=round(end, 1),
            rank=path.now,
            is_own=path.entrant_id in own,
        )
        for end, index in sorted(ends, key=lambda pair: pair[1])
        for path in [history.paths[index]]
    ]


def _steps(history: History, path: Path, last: dt.datetime) -> str:
    """The line as an SVG path: level until the next change, then a step; broken while it was not on the board."""
    first = history.moments[0]
    times = [*history.moments[1:], last]
    drawn, is_down = [], False
    for start, end, rank in zip(history.moments, times, path.ranks, strict=True):
        if rank is None:
            is_down = False
            continue
        y = _y(rank, history.worst)
        drawn.append(f"{'L' if is_down else 'M'}{_x(start, first, last):.1f} {y:.1f}H{_x(end, first, last):.1f}")
        is_down = True
    return "".join(drawn)
