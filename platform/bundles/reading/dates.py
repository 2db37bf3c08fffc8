"""Times as bundles write them: ISO with or without clock and offset, M-D-Y, and names of months."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from dateutil import parser as dateutil_parser

from bundles.reading.contest import Moment

_CLOCK = (
    r"(?:[Tt\s]\s*(?P<hour>\d{1,2})(?::(?P<minute>\d{1,2})(?::(?P<second>\d{1,2})(?:[.,]\d*)?)?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?)?"
)
_ZONE = r"\s*(?P<zone>Z|z|UTC|GMT|[+-]\d{1,2}(?::?\d{2})?)?"
_ISO = re.compile(rf"^(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}}){_CLOCK}{_ZONE}$")
_SHORT = re.compile(rf"^(?P<first>\d{{1,2}})[-/.](?P<other>\d{{1,2}})[-/.](?P<year>\d{{4}}){_CLOCK}{_ZONE}$")


class UnreadableDate(ValueError):
    """No time that anybody could read."""


@dataclass(frozen=True)
class ReadDate:
    """A time as read.

    `order` is "mdy" or "dmy" for a date without its year in front; `is_ambiguous` when both orders give a date,
    and not the same one; `is_bare` when it has no clock time. `note` says what was taken for granted.
    """

    moment: Moment
    order: str = ""
    is_ambiguous: bool = False
    is_bare: bool = False
    note: str = ""


def read_date(text: str, *, order: str | None = None) -> ReadDate:
    """The time that a text says, in UTC; without an offset it is taken as UTC, without a clock as midnight.

    `order` ("mdy" or "dmy") decides dates that can be read both ways; without it the month is first. Raises
    UnreadableDate.
    """
    written = text.strip()
    if found := _ISO.match(written):
        day = _date(found["year"], found["month"], found["day"])
        if day is None:
            raise UnreadableDate(written)
        return ReadDate(_moment(day, found), is_bare=found["hour"] is None)
    if found := _SHORT.match(written):
        return _read_short(found, order or "mdy")
    return _read_words(written)


def _read_short(found: re.Match[str], order: str) -> ReadDate:
    month_first = _date(found["year"], found["first"], found["other"])
    day_first = _date(found["year"], found["other"], found["first"])
    if month_first is None and day_first is None:
        raise UnreadableDate(found[0])
    both = month_first is not None and day_first is not None
    if not both:
        order = "mdy" if day_first is None else "dmy"
    day = month_first if order == "mdy" else day_first
    assert day is not None
    return ReadDate(
        _moment(day, found),
        order=order,
        is_ambiguous=both and month_first != day_first,
        is_bare=found["hour"] is None,
    )


def _date(year: str, month: str, day: str) -> dt.date | None:
    try:
        return dt.date(int(year), int(month), int(day))
    except ValueError:
        return None


def _moment(day: dt.date, found: re.Match[str]) -> Moment:
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    half = (found["half"] or "").lower().replace(".", "")
    if half:
        if not 1 <= hour <= 12:
            raise UnreadableDate(found[0])
        hour = hour % 12 + (12 if half == "pm" else 0)
    extra = dt.timedelta(0)
    if (hour, minute, second) == (24, 0, 0):
        hour, extra = 0, dt.timedelta(days=1)
    try:
        naive = dt.datetime(day.year, day.month, day.day, hour, minute, second) + extra
        return _in_utc(naive, found["zone"] or "")
    except (ValueError, OverflowError) as error:
        raise UnreadableDate(found[0]) from error


def _in_utc(naive: dt.datetime, zone: str) -> Moment:
    if not zone:
        return Moment(utc=naive.replace(tzinfo=dt.UTC))
    if zone.upper() in ("Z", "UTC", "GMT"):
        return Moment(utc=naive.replace(tzinfo=dt.UTC), zone="+00:00")
    digits = zone[1:].replace(":", "")
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    offset = dt.timedelta(hours=hours, minutes=minutes)
    if offset > dt.timedelta(hours=15):
        raise ValueError(zone)
    offset = -offset if zone[0] == "-" else offset
    return Moment(utc=(naive - offset).replace(tzinfo=dt.UTC), zone=f"{zone[0]}{hours:02}:{minutes:02}")


def _read_words(written: str) -> ReadDate:
    """ "June 30, 2026 10:00" and the like: only with a month's name, so that nothing is guessed."""
    if not re.search(r"[A-Za-z]{3}", written) or not re.search(r"\d{4}", written) or len(written) > 60:
        raise UnreadableDate(written)
    zones: list[str] = []

    def unknown_zone(name: str | None, offset: int | None) -> dt.tzinfo | None:
        if offset is not None:
            return dt.timezone(dt.timedelta(seconds=offset))
        if not name:
            return None
        zones.append(name)
        return dt.UTC

    try:
        # Two defaults: what differs between the results was not written.
        one = dateutil_parser.parse(written, default=dt.datetime(2000, 1, 1), tzinfos=unknown_zone)
        two = dateutil_parser.parse(written, default=dt.datetime(2004, 2, 2, 1), tzinfos=unknown_zone)
    except (ValueError, OverflowError, TypeError) as error:
        raise UnreadableDate(written) from error
    if one.date() != two.date():
        raise UnreadableDate(written)
    is_bare = one.hour != two.hour
    if one.tzinfo is None:
        return ReadDate(Moment(utc=one.replace(tzinfo=dt.UTC)), is_bare=is_bare)
    strange = [name for name in zones if name.upper() not in ("UTC", "GMT", "Z")]
    note = f"The time zone {strange[0]} is not an offset; the time was taken as UTC." if strange else ""
    zone = "" if strange else one.strftime("%z")
    return ReadDate(
        Moment(utc=one.astimezone(dt.UTC), zone=f"{zone[:3]}:{zone[3:5]}" if zone else ""),
        is_bare=is_bare,
        note=note,
    )
