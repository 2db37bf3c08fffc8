"""A clock that tests move: everything that asks `django.utils.timezone.now` sees its time."""

import datetime as dt
from unittest.mock import patch

import pytest
from django.utils import timezone


class Clock:
    """The time as the site sees it. It stands still unless it is moved."""

    def __init__(self, now: dt.datetime) -> None:
        self.now = now

    def __call__(self) -> dt.datetime:
        return self.now

    def set(self, moment: dt.datetime) -> dt.datetime:
        """Go to a moment."""
        self.now = moment
        return moment

    def move(self, **delta: float) -> dt.datetime:
        """Go on by a timedelta's keywords: `clock.move(hours=2)`."""
        return self.set(self.now + dt.timedelta(**delta))


@pytest.fixture
def clock():
    """A clock at the present second; code under test must call `timezone.now()`, not a name bound earlier."""
    clock = Clock(timezone.now().replace(microsecond=0))
    with patch.object(timezone, "now", clock):
        yield clock
