"""Where the forecast of a blind phase is drawn, in per cent of the picture's width and height."""

import datetime as dt
from dataclasses import dataclass

from submissions.forecast import Forecast

FAR = 8  # times the work at most


@dataclass(frozen=True)
class Mark:
    """A vertical line at a moment."""

    left: float
    label: str
    kind: str
    at: dt.datetime


@dataclass(frozen=True)
class Picture:
    """The share of runs that have ended over time, with the moments that matter.

    `line` holds the points of a polyline in a box of 100 by 100; shares grow upwards.
    """

    forecast: Forecast
    line: str
    marks: list[Mark]
    late_from: float | None


def draw(forecast: Forecast | None) -> Picture | None:
    """Lay the forecast out between its beginning and the latest of its moments; None without an end."""
    if forecast is None or forecast.ends_at_most is None or not forecast.points:
        return None
    # A deadline that is far away would press everything else against the edge.
    most = forecast.ends_at_most - forecast.begins
    deadline = forecast.deadline
    if deadline is not None and deadline - forecast.begins > FAR * most:
        deadline = None
    last = max(forecast.ends_at_most, deadline) if deadline else forecast.ends_at_most
    span = max(last - forecast.begins, dt.timedelta(seconds=1)) * 1.04

    def place(moment: dt.datetime) -> float:
        return round(100 * min(1.0, max(0.0, (moment - forecast.begins) / span)), 2)

    line = " ".join(f"{place(moment)},{round(100 - 100 * share, 2)}" for moment, share in forecast.points)
    marks = [Mark(place(forecast.ends_at_most), "at most", "most", forecast.ends_at_most)]
    if forecast.ends_as_a_rule is not None:
        marks.insert(0, Mark(place(forecast.ends_as_a_rule), "as a rule", "usual", forecast.ends_as_a_rule))
    late_from = None
    if deadline is not None:
        late_from = place(deadline)
        marks.append(Mark(late_from, "closes", "deadline", deadline))
    return Picture(forecast, line, marks, late_from)
