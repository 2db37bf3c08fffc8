"""Whoever ever held a role in a competition is unranked there."""

import pytest
from django.utils import timezone

from competitions.actions import entrant_of
from competitions.models import Entrant, Organizer
from leaderboards import board
from submissions.models import Submission
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return make.phase(make.competition())


def ranked(phase, name, value):
    submission = make.submission(phase, make.user(name))
    for run in submission.runs.all():
        make.score(run, value)
    Submission.objects.filter(pk=submission.pk).update(state="finished")
    board.refresh_now(phase)


def ranks(phase):
    return {row.entrant.name: row.rank for row in board.rows(phase, timezone.now())}


def test_a_participant_who_becomes_an_organizer_loses_the_rank_at_once(phase):
    ranked(phase, "alice", 0.9)
    ranked(phase, "bob", 0.5)
    assert ranks(phase) == {"alice": 1, "bob": 2}
    role = Organizer.objects.create(competition=phase.competition, user=make.user("alice"))
    assert ranks(phase) == {"alice": None, "bob": 1}
    role.delete()
    assert ranks(phase) == {"alice": None, "bob": 1}


@pytest.mark.parametrize("by_query", [True, False])
def test_somebody_whose_role_ended_before_the_first_entry_is_recognised(phase, by_query):
    carl = make.user("carl")
    role = Organizer.objects.create(competition=phase.competition, user=carl)
    (Organizer.objects.filter(pk=role.pk) if by_query else role).delete()
    assert entrant_of(phase.competition, carl).held_a_role


def test_removing_a_competition_removes_its_roles_without_a_trace():
    contest = make.competition()
    contest.delete()
    assert not Entrant.objects.exists()


def test_a_role_in_one_competition_means_nothing_in_another(phase):
    other = make.competition()
    Organizer.objects.create(competition=other, user=make.user("alice"))
    assert not entrant_of(phase.competition, make.user("alice")).held_a_role
