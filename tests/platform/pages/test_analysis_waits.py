"""What the pages of analyses say while there is nothing to analyse yet, and to whom."""

import datetime as dt

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from analysis.inputs.boards import Loaded
from analysis.results import Result
from analysis.sections.base import Choice, Section, Tool
from competitions.models import Phase
from pages.tools import asked_tools
from tests.platform import factories as make
from tests.platform.series import enter, finish

pytestmark = pytest.mark.django_db
WAITS = "Nothing can be analysed before a phase is over"


@pytest.fixture
def phase() -> Phase:
    """An open phase and one that begins later; the first has an entrant with a score."""
    found = make.phase(make.competition())
    later = make.phase(found.competition, number=found.number + 1, title="Later")
    Phase.objects.filter(pk=later.pk).update(
        opens_at=timezone.now() + dt.timedelta(days=30), closes_at=timezone.now() + dt.timedelta(days=60)
    )
    finish(enter(found, make.user("alice")))
    return found


def page(phase: Phase, name: str, rest: str = "standings/") -> str:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client.get(f"{phase.competition.get_absolute_url()}analysis/{rest}").content.decode()


@pytest.mark.parametrize("rest", ["", "standings/", "report/"])
def test_participants_read_which_phase_closes_first(phase, rest):
    html = page(phase, "alice", rest)
    assert html.count(WAITS) == 1
    assert f"{phase.title} closes" in html


def test_organizers_are_shown_the_phase_that_runs_not_the_one_that_begins_later(phase):
    html = page(phase, "olga")
    assert WAITS not in html
    assert f"selected>{phase.title}, validation scores" in html


def test_organizers_read_where_there_are_no_scores(phase):
    html = page(phase, "olga", "standings/?scope=2/valid")
    assert WAITS not in html and "There are no scores yet: Later, validation scores." in html


def test_when_a_phase_is_over_its_release_is_waited_for_not_the_end_of_the_next(phase):
    Phase.objects.filter(pk=phase.pk).update(
        closes_at=timezone.now() - dt.timedelta(minutes=1), board=Phase.Board.HIDDEN
    )
    html = page(phase, "alice")
    assert WAITS in html and "closes" not in html.split(WAITS)[1].split("</div>")[0]


def test_a_form_without_anything_to_choose_is_left_out():
    empty, full = Choice("dataset", "Dataset", ()), Choice("dataset", "Dataset", (("1", "adult"),))
    tools = tuple(
        Tool("Draw", "Draw", lambda _, made=made: made, lambda *_: ()) for made in ((), (empty,), (full,))
    )
    section = Section("some", "Some", "?", lambda *_: Loaded(()), lambda *_: Result("", ()), tools=tools)
    assert [shown.number for shown in asked_tools(section, Result("", ()), {})] == [3]
