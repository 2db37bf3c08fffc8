"""Boards of organizers' scoring programs as arrays, for those who may see them."""

import datetime as dt

import pytest
from django.utils import timezone

from analysis.inputs.audience import Audience
from analysis.inputs.boards import load_boards
from competitions import clock
from competitions.models import Phase
from tests.platform.leaderboards.columns import making

pytestmark = pytest.mark.django_db


def loaded(phase, *, sees_hidden=False):
    contest = phase.competition
    return load_boards(contest, Audience(sees_hidden), clock.now(contest), programmed=True)


def over(phase):
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() - dt.timedelta(minutes=1))
    return phase


def test_the_column_that_gives_places_is_read_task_by_task_with_the_best_highest():
    phase = making.phase(tasks=2)
    making.board(phase.competition, ("loss", {"is_ascending": True, "precision": 2}), "speed")
    making.entry(phase, "alice", {"loss": 0.251}, {"loss": 1})
    making.entry(phase, "bob", {"loss": 0.5}, {"loss": 2})
    [board] = loaded(over(phase))
    assert (board.names, board.measure, board.sign) == (["alice", "bob"], "Loss", -1)
    assert board.scores.tolist() == [[-0.25, -1], [-0.5, -2]]
    assert load_boards(phase.competition, Audience(), clock.now(phase.competition)) == ()


def test_an_entrant_with_several_submissions_stands_there_once_with_the_first():
    phase = making.phase()
    making.board(phase.competition, "auc", rule="Force_Latest_Multiple")
    for name, value in (("alice", 0.7), ("alice", 0.9), ("bob", 0.8)):
        making.entry(phase, name, {"auc": value})
    [board] = loaded(over(phase))
    assert board.names == ["alice", "bob"] and board.scores.tolist() == [[0.9], [0.8]]


@pytest.mark.parametrize("fields", [{"is_hidden": True}, {}])
def test_a_hidden_board_or_an_open_phase_is_the_organizers_alone(fields):
    phase = making.phase()
    making.board(phase.competition, "auc", **fields)
    making.entry(phase, "alice", {"auc": 0.7})
    if fields:
        over(phase)
    assert loaded(phase) == ()
    assert [board.names for board in loaded(phase, sees_hidden=True)] == [["alice"]]
