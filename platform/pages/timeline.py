"""Where the bars of the phases' timeline are drawn, in per cent of its width."""

import calendar
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from competitions.lifecycle import phase_state
from competitions.models import Phase

MOST_TICKS = 7


@dataclass(frozen=True)
class Bar:
    """One phase's bar."""

    phase: Phase
    state: str
    left: float
    width: float


@dataclass(frozen=True)
class Tick:
    """A labelled line at the start of a month or day."""

    left: float
    label: str


@dataclass(frozen=True)
class Timeline:
    """The whole picture, from `begin` to `end`. `now` is None where now lies outside."""

    bars: list[Bar]
    ticks: list[Tick]
    now: float | None
    begin: dt.datetime
    end: dt.datetime


def draw(phases: Sequence[Phase], now: dt.datetime) -> Timeline | None:
    """Lay the phases out between the first opening and the last closing; None without phases.

    A phase that never closes reaches the right edge.
    """
    if not phases:
        return None
    begin = min(phase.opens_at for phase in phases)
    ends = [phase.closes_at for phase in phases if phase.closes_at]
    end = max([*ends, *(phase.opens_at for phase in phases)])
    if len(ends) < len(phases):
        end = max(end, now) + max(dt.timedelta(days=7), (max(end, now) - begin) / 6)
    span = max(end - begin, dt.timedelta(hours=1))

    def place(moment: dt.datetime) -> float:
        return round(100 * min(1.0, max(0.0, (moment - begin) / span)), 2)

    bars = [
        Bar(
            phase,
            phase_state(phase, now),
            place(phase.opens_at),
            max(0.8, round(place(phase.closes_at or begin + span) - place(phase.opens_at), 2)),
        )
        for phase in phases
    ]
    inside = begin <= now <= begin + span
    ticks = [Tick(place(moment), label) for moment, label in _ticks(begin, begin + span)]
    return Timeline(bars, ticks, place(now) if inside else None, begin, begin + span)


def _ticks(begin: dt.datetime, end: dt.datetime) -> list[tuple[dt.datetime, str]]:
    """Starts of months, quarters or years, or of days where the span is short; at most MOST_TICKS."""
    days = (end - begin).days
    if days < 60:
        step = max(1, -(-days // MOST_TICKS))
        first = begin.replace(hour=0, minute=0, second=0, microsecond=0) + dt.timedelta(days=1)
        moments = [first + dt.timedelta(days=step * index) for index in range(days // step + 1)]
        return [
            (moment, f"{moment.day} {calendar.month_abbr[moment.month]}") for moment in moments if moment < end
        ]
    months = next(
        step for step in (1, 2, 3, 6, 12, 24, 60, 120) if days / (30.5 * step) <= MOST_TICKS or step == 120
    )
    ticks: list[tuple[dt.datetime, str]] = []
    year, month = begin.year, begin.month
    while True:
        month += 1
        if month > 12:
            year, month = year + 1, 1
        moment = begin.replace(year=year, month=month, day=1, hour=0, minute=0, second=0, microsecond=0)
        if moment >= end:
            return ticks
        if (month - 1) % min(months, 12) == 0 and (months <= 12 or year % (months // 12) == 0):
            ticks.append((moment, f"{calendar.month_abbr[month]} {year}"))
