"""The learning curve of a run as a drawing: score over the logarithm of time, a step at each prediction."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from submissions.curves import Curve

WIDTH, HEIGHT = 420.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 12.0, 10.0, 28.0
PART_TITLES = {"valid": "validation", "test": "test"}


@dataclass(frozen=True)
class Mark:
    """A prediction on the drawing, with the ends of its standard error."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class Line:
    """The curve of one part: its path and its marks. `style` is the class that colours it."""

    title: str
    style: str
    path: str
    marks: list[Mark]


@dataclass(frozen=True)
class Tick:
    """A value on an axis and its place."""

    at: float
    label: str


@dataclass(frozen=True)
class Plot:
    """All that the template draws, and the numbers beside it: rows of seconds and one cell for each part."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    label_x: float
    label_y: float
    lines: list[Line]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    rows: list[tuple[float, list[str]]]


def draw(curves: Sequence[Curve]) -> Plot | None:
    """The drawing of a run's curves; None where there is none."""
    points = [point for curve in curves for point in curve.points]
    if not points:
        return None
    times = [max(point.seconds, 0.1) for point in points]
    across = _Axis(math.log10(min(times)), math.log10(max(times)), LEFT, WIDTH - RIGHT)
    lows = [point.score.value - (point.score.stderr or 0.0) for point in points]
    highs = [point.score.value + (point.score.stderr or 0.0) for point in points]
    up = _Axis(min(lows), max(highs), HEIGHT - BOTTOM, TOP)
    return Plot(
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=HEIGHT - BOTTOM,
        label_x=LEFT - 6,
        label_y=HEIGHT - 8,
        lines=[_line(curve, across, up) for curve in curves],
        x_ticks=[Tick(across.place(math.log10(value)), f"{value:g} s") for value in _time_ticks(times)],
        y_ticks=[Tick(up.place(value), f"{value:.2f}") for value in (up.low, (up.low + up.high) / 2, up.high)],
        rows=_rows(curves),
    )


@dataclass(frozen=True)
class _Axis:
    """Maps values from `low` to `high` onto places from `start` to `end`; a single value lies in the middle."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(self.start + share * (self.end - self.start), 1)


def _line(curve: Curve, across: _Axis, up: _Axis) -> Line:
    marks = []
    path = ""
    for point in curve.points:
        value, stderr = point.score.value, point.score.stderr or 0.0
        x = across.place(math.log10(max(point.seconds, 0.1)))
        mark = Mark(x, up.place(value), up.place(value - stderr), up.place(value + stderr))
        path += f"H{mark.x}V{mark.y}" if path else f"M{mark.x} {mark.y}"
        marks.append(mark)
    return Line(PART_TITLES[curve.part], f"curve-{curve.part}", path, marks)


def _time_ticks(times: Sequence[float]) -> list[float]:
    """Round times in the range, about four of them."""
    first, last = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    for steps in ((1, 2, 5), (1, 3), (1,)):
        ticks = [
            step * 10.0**power
            for power in range(first, last + 1)
            for step in steps
            if min(times) <= step * 10.0**power <= max(times)
        ]
        if len(ticks) <= 5:
            return ticks
    return ticks[:: math.ceil(len(ticks) / 5)]


def _rows(curves: Sequence[Curve]) -> list[tuple[float, list[str]]]:
    """The numbers: for each prediction its seconds, and its score in each part."""
    by_number: dict[int, tuple[float, dict[str, str]]] = {}
    for curve in curves:
        for point in curve.points:
            seconds, cells = by_number.setdefault(point.number, (point.seconds, {}))
            stderr = "" if point.score.stderr is None else f" ± {point.score.stderr:g}"
            cells[curve.part] = f"{point.score.text}{stderr}"
            by_number[point.number] = (max(seconds, point.seconds), cells)
    rows = [(seconds, [cells.get(curve.part, "") for curve in curves]) for seconds, cells in by_number.values()]
    return sorted(rows, key=lambda row: row[0])
