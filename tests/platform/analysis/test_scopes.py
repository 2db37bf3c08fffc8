"""What standings can be about: a board, or the boards of all phases of a kind together."""

import datetime as dt

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analysis.inputs.audience import Audience, scopes, usual_scope
from analysis.inputs.boards import load_boards
from analysis.inputs.combined import combined, combined_replicates
from competitions import clock
from competitions.models import Phase
from tests.platform import factories as make
from tests.platform.series import BAD, GOOD, enter, finish, series

pytestmark = pytest.mark.django_db


@pytest.fixture
def two_finals():
    """A series that is over: Alice is in both Finals, Bob in the first, Carol in the second."""
    made = series(timezone.now() - dt.timedelta(hours=40), datasets=1)
    for title, people in (("Final[0]", ("alice", "bob")), ("Final[1]", ("alice", "carol"))):
        for name in people:
            person = made.contest.entrants.filter(user__username=name).first()
            person = person.user if person else make.user(name)
            finish(enter(made[title], person), BAD if name == "carol" else GOOD)
    return made


FINALS = Audience(part="test", kind=Phase.Kind.FINAL)


def test_phases_of_a_kind_can_be_looked_at_together(two_finals):
    now = clock.now(two_finals.contest)
    found = {(scope.phase, scope.part): scope for scope in scopes(two_finals.contest, Audience(), now)}
    together = found["all-final", "test"]
    assert together.is_combined and together.audience == FINALS
    assert [look.phase.title for look in together.looks] == ["Final[0]", "Final[1]"]
    assert not usual_scope(list(found.values()), now).is_combined


def test_where_parts_are_compared_the_latest_round_with_both_comes_first(two_finals):
    now = clock.now(two_finals.contest) + dt.timedelta(days=1000)
    Phase.objects.filter(round__competition=two_finals.contest).update(closes_at=now - dt.timedelta(days=1))
    found = scopes(two_finals.contest, Audience(sees_hidden=True), now)
    kept = [one for one in found if one.looks[0].part == "test" or one.looks[0].phase.title == "Tweakathon[0]"]
    assert usual_scope(kept, now).looks[0].phase.round.number == 2
    assert usual_scope(kept, now, both_parts=True).looks[0].phase.round.number == 0


def test_an_entrant_of_two_phases_is_one_entry_of_both_together(two_finals):
    boards = load_boards(two_finals.contest, FINALS, clock.now(two_finals.contest))
    board = combined(boards)
    assert board.names == ["alice", "bob", "carol"]
    assert np.isnan(board.scores).tolist() == [[False, False], [False, True], [True, False]]
    assert combined_replicates(boards).shape[:2] == board.scores.shape


def test_an_anonymous_board_is_analysed_by_the_part_on_it_alone(two_finals):
    now = clock.now(two_finals.contest)
    phase = two_finals["Tweakathon[1]"]
    parts = [
        scope.part for scope in scopes(two_finals.contest, Audience(), now) if scope.phase == str(phase.number)
    ]
    assert set(parts) == {"valid", "test"}, "its Final is released"
    Phase.objects.filter(pk=phase.pk).update(is_anonymous=True, release=Phase.When.BY_HAND, released_at=None)
    concealed, hidden = (
        [scope.part for scope in scopes(two_finals.contest, audience, now) if scope.phase == str(phase.number)]
        for audience in (Audience(), Audience(sees_hidden=True))
    )
    assert concealed == ["valid"], "the Final shows the same test scores with names"
    assert set(hidden) == {"valid", "test"}


def test_an_anonymous_board_is_in_no_combination(two_finals):
    now = clock.now(two_finals.contest)
    public = [scope.phase for scope in scopes(two_finals.contest, Audience(), now)]
    Phase.objects.filter(pk=two_finals["Tweakathon[1]"].pk).update(
        is_anonymous=True, release=Phase.When.BY_HAND, released_at=None
    )
    concealed = scopes(two_finals.contest, Audience(), now)
    assert "all-tweakathon" in public
    assert "all-tweakathon" not in [scope.phase for scope in concealed]
    assert str(two_finals["Tweakathon[1]"].number) in [scope.phase for scope in concealed]


def test_an_audience_survives_being_stored():
    assert Audience.from_json(FINALS.to_json()) == FINALS


def test_loading_a_board_asks_the_database_as_often_for_many_entrants_as_for_few(
    two_finals, django_assert_max_num_queries
):
    now = clock.now(two_finals.contest)
    with CaptureQueriesContext(connection) as few:
        load_boards(two_finals.contest, FINALS, now)
    for name in ("dave", "erin", "frank"):
        finish(enter(two_finals["Final[1]"], make.user(name)), GOOD)
    with django_assert_max_num_queries(len(few)):
        boards = load_boards(two_finals.contest, FINALS, now)
    assert len(boards[1].entries) == 5
    assert not np.isnan(boards[1].scores).any() and boards[1].stderr.shape == boards[1].scores.shape
