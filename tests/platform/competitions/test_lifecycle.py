"""Which phase is the current one, and what a phase shows when."""

import datetime as dt

import pytest
from django.core.exceptions import ValidationError

from competitions.lifecycle import current_phase, phase_state
from competitions.models import Phase

NOW = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)


def phase(opens: float, closes: float | None, kind: str = "tweakathon", **fields) -> Phase:
    """A phase that opens and closes so many hours from now."""
    closes_at = None if closes is None else NOW + dt.timedelta(hours=closes)
    return Phase(kind=kind, opens_at=NOW + dt.timedelta(hours=opens), closes_at=closes_at, **fields)


def test_the_phase_that_takes_submissions_is_the_current_one():
    blind, tweak = phase(-2, 2, "automl"), phase(-1, 5)
    assert current_phase([blind, tweak], NOW) is tweak


def test_between_two_phases_the_next_one_is_current():
    past, coming, later = phase(-5, -1), phase(3, 4), phase(8, 9)
    assert current_phase([past, coming, later], NOW) is coming


def test_after_the_end_the_last_phase_stays():
    first, last = phase(-5, -3), phase(-3, -1)
    assert current_phase([first, last], NOW) is last
    assert current_phase([], NOW) is None


def test_a_phase_is_open_from_its_first_moment_and_closed_at_its_last():
    at = phase(0, 1)
    assert phase_state(at, NOW) == "open"
    assert phase_state(at, NOW - dt.timedelta(seconds=1)) == "upcoming"
    assert phase_state(at, NOW + dt.timedelta(hours=1)) == "closed"


def test_a_tweakathon_shows_its_feedback_part_and_a_final_the_test_part_only_after_it_closed():
    assert phase(-1, 1).public_part(NOW) == "valid"
    assert phase(-1, 1, feedback_part="test").public_part(NOW) == "test"
    assert phase(-1, 1, "final").public_part(NOW) is None
    assert phase(-2, -1, "final").public_part(NOW) == "test"
    assert phase(1, 2).public_part(NOW) is None


def test_a_phase_that_closes_before_it_opens_is_refused():
    with pytest.raises(ValidationError, match="close after it opens"):
        phase(2, 1).clean()


def test_a_blind_phase_without_a_parent_is_refused():
    with pytest.raises(ValidationError, match="names the phase"):
        phase(1, 2, "automl").clean()
