"""A clock that tests move: everything that asks `django.utils.timezone.now` sees its time."""

import datetime as dt
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from django.utils import timezone


class Clock:
    """The time as the site sees it. It stands still unless it is moved."""

    def __init__(self, now: dt.datetime) -> None:
        self.now = now

    def set(self, moment: dt.datetime) -> dt.datetime:
        """Go to a moment."""
        self.now = moment
        return moment

    def move(self, **delta: float) -> dt.datetime:
        """Go on by a timedelta's keywords: `clock.move(hours=2)`."""
        return self.set(self.now + dt.timedelta(**delta))


class _LikeDatetime(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, dt.datetime)


@contextmanager
def moved_clock(now: dt.datetime):
    """A clock at `now` for the time of the context.

    It replaces what `timezone.now` itself asks, so that defaults of columns, which are bound early, follow too.
    """
    clock = Clock(now)

    class Datetime(dt.datetime, metaclass=_LikeDatetime):
        @classmethod
        def now(cls, tz=None):
            return clock.now

    with patch.object(timezone, "datetime", Datetime):
        yield clock


@pytest.fixture
def clock():
    """A clock at the present second."""
    with moved_clock(timezone.now().replace(microsecond=0)) as clock:
        yield clock
