"""In which time zone a person types moments: their own choice, else their browser's, else UTC."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.functional import lazy

from competitions import clock as protocol

COOKIE = "podium_zone"  # static/podium/podium.js sets it
TYPED = "%Y-%m-%dT%H:%M"  # as a field of the type datetime-local sends it
# As forms are made before they know who fills them in.
IN_ZONE = lazy(lambda: f"In the time zone {timezone.get_current_timezone_name()}.", str)()
View = Callable[..., HttpResponseBase]


@dataclass(frozen=True)
class OwnZone:
    """A zone by its IANA name, and where we know it from."""

    name: str
    source: str

    @property
    def info(self) -> ZoneInfo:
        """The zone itself."""
        return ZoneInfo(self.name)


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """The zones one may choose: places and UTC, in the order of the alphabet."""
    old = ("Etc/", "SystemV/", "US/", "posix/", "right/")
    places = (name for name in available_timezones() if "/" in name and not name.startswith(old))
    return ("UTC", *sorted(places))


def is_zone(name: str) -> bool:
    """Whether this installation knows a zone of that name."""
    return name in available_timezones()


def of_request(request: HttpRequest) -> OwnZone:
    """The zone in which the person of a request types."""
    chosen = getattr(request.user, "time_zone", "")
    if chosen and is_zone(chosen):
        return OwnZone(chosen, "as you chose")
    browsers = request.COOKIES.get(COOKIE, "")
    if browsers and is_zone(browsers):
        return OwnZone(browsers, "as your browser says")
    return OwnZone("UTC", "because your browser names no time zone")


def in_own_zone(view: View) -> View:
    """Let the forms of a view read and write moments in the person's zone."""

    @wraps(view)
    def zoned(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        with timezone.override(of_request(request).info):
            return view(request, *args, **kwargs)

    return zoned


def typed(moment: dt.datetime | None) -> str:
    """A moment as it stands in a field: the clock of the active zone, to the minute."""
    return "" if moment is None else timezone.localtime(moment).strftime(TYPED)


def read(clock: dt.datetime, zone: dt.tzinfo) -> dt.datetime:
    """The moment at which the clocks of a zone show this; the earlier one where they show it twice.

    Raises ValueError, with a sentence, where they never show it because they go forward then, and for a year that
    no competition has.
    """
    there = clock.replace(tzinfo=zone, fold=0)
    try:
        moment = there.astimezone(dt.UTC)
        shown = moment.astimezone(zone)
    except OverflowError:
        raise ValueError(protocol.OUT_OF_REACH) from None
    if not protocol.is_in_reach(moment):
        raise ValueError(protocol.OUT_OF_REACH)
    if shown.replace(tzinfo=None) == clock:
        return moment
    raise ValueError(
        f"The clocks in {zone} never show {clock:%H:%M} on {clock.day} {clock:%B %Y}: they go forward then. "
        f"Choose {shown:%H:%M}, or a time before the change."
    )


class LocalMoment(forms.DateTimeField):
    """A moment, typed in the active time zone. What is sent back as it was shown keeps its seconds."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local"}, format=TYPED)

    def __init__(self, **options: Any) -> None:
        formats = [TYPED, "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"]
        super().__init__(input_formats=formats, **options)

    def to_python(self, value: Any) -> dt.datetime | None:
        """The moment in UTC; None for nothing."""
        if value in self.empty_values or (isinstance(value, dt.datetime) and timezone.is_aware(value)):
            return value or None
        try:
            clock = _by_formats(str(value).strip(), self.input_formats)
        except ValueError:
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid") from None
        try:
            return read(clock, timezone.get_current_timezone())
        except ValueError as problem:
            raise forms.ValidationError(str(problem), code="gap") from problem

    def unless_shown(self, moment: dt.datetime | None, shown: dt.datetime | None) -> dt.datetime | None:
        """The moment that was typed, or the one that was shown where both read alike."""
        return shown if typed(moment) == typed(shown) else moment


def _by_formats(text: str, formats: Any) -> dt.datetime:
    for pattern in formats:
        try:
            return dt.datetime.strptime(text, str(pattern))
        except ValueError:
            continue
    raise ValueError(text)
