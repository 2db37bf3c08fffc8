"""The six rules of boards of columns, what entrants do with them, and what goes forward to the next phase."""

import datetime as dt

import pytest
from django.utils import timezone

from accounts.refusals import Refused
from competitions.models import Phase
from leaderboards import columns
from leaderboards.columns import choosing
from leaderboards.models import ColumnRow
from submissions import handover
from submissions.models import ColumnScore, Submission
from tests.platform import factories as make
from tests.platform.leaderboards.columns import making

pytestmark = pytest.mark.django_db
UP, DOWN = False, True


def board(rule, ascending=UP):
    phase = making.phase()
    making.board(phase.competition, ("score", {"is_ascending": ascending}), rule=rule)
    return phase


def three(phase):
    return [making.entry(phase, "alice", {"score": value}) for value in (0.5, 0.9, 0.7)]


def listed(phase):
    assert columns.stored(phase) == columns.recomputed(phase)
    rows = ColumnRow.objects.filter(phase=phase, is_frozen=False).order_by("submission__received_at")
    return [row.submission for row in rows.select_related("submission")]


@pytest.mark.parametrize(
    ("rule", "ascending", "expected"),
    [
        ("Force_Last", UP, [2]),
        ("Force_Latest_Multiple", UP, [0, 1, 2]),
        ("Force_Best", UP, [1]),
        ("Force_Best", DOWN, [0]),
        ("Add", UP, []),
        ("Add_And_Delete", UP, []),
        ("Add_And_Delete_Multiple", UP, []),
    ],
)
def test_the_rule_decides_which_submissions_stand_by_themselves(rule, ascending, expected):
    phase = board(rule, ascending)
    made = three(phase)
    assert listed(phase) == [made[index] for index in expected]


def test_of_equally_good_ones_the_earliest_is_the_best():
    phase = board("Force_Best")
    made = [making.entry(phase, "alice", {"score": 0.501}), making.entry(phase, "alice", {"score": 0.502})]
    assert listed(phase) == made[:1]


def test_where_ranks_decide_the_best_is_the_best_among_ones_own():
    phase = making.phase()
    making.board(
        phase.competition,
        ("rank", {"computation": "mean_rank", "fields": ["a", "b"]}),
        "a",
        "b",
        rule="Force_Best",
    )
    making.entry(phase, "alice", {"a": 0.9, "b": 0.1})
    best = making.entry(phase, "alice", {"a": 0.8, "b": 0.8})
    making.entry(phase, "alice", {"a": 0.1, "b": 0.9})
    for number in range(3):
        making.entry(phase, f"rival{number}", {"a": 0.85, "b": 0})
    assert best in listed(phase)
    assert len(listed(phase)) == 4


def test_a_submission_that_failed_or_was_disqualified_is_on_no_board():
    phase = board("Force_Last")
    first, second, third = three(phase)
    making.entry(phase, "alice", state="failed")
    assert listed(phase) == [third]
    Submission.objects.filter(pk=third.pk).update(disqualified_at=timezone.now())
    making.told(third)
    assert listed(phase) == [second]
    first.delete()
    second.runs.all().delete()
    second.delete()
    assert listed(phase) == []


def test_one_that_runs_again_keeps_its_row_until_it_has_ended():
    phase = board("Force_Last")
    made = making.entry(phase, "alice", {"score": 0.5})
    Submission.objects.filter(pk=made.pk).update(state="active")
    made.runs.update(state="running")
    making.told(made)
    assert listed(phase) == [made]
    ColumnScore.objects.filter(run__submission=made).update(value=0.6)
    made.runs.update(state="finished")
    making.told(made)
    [row] = ColumnRow.objects.filter(phase=phase)
    assert list(row.values.values()) == [0.6]


def test_another_one_takes_the_place_where_only_one_may_stand():
    for rule in ("Add", "Add_And_Delete"):
        phase = board(rule)
        first, second, _ = three(phase)
        alice = first.user
        choosing.add(first, by=alice)
        assert listed(phase) == [first]
        choosing.add(second, by=alice)
        assert listed(phase) == [second]


def test_several_stand_where_several_may_and_each_can_be_taken_away():
    phase = board("Add_And_Delete_Multiple")
    first, second, _ = three(phase)
    for made in (first, second):
        choosing.add(made, by=made.user)
    assert listed(phase) == [first, second]
    choosing.take_away(first, by=first.user)
    assert listed(phase) == [second]


def test_under_add_nothing_is_taken_away():
    phase = board("Add")
    made = three(phase)[0]
    choosing.add(made, by=made.user)
    with pytest.raises(Refused, match="stays on the leaderboard"):
        choosing.take_away(made, by=made.user)
    assert listed(phase) == [made]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda phase, made: Submission.objects.filter(pk=made.pk).update(state="failed"), "has finished"),
        (
            lambda phase, made: Phase.objects.filter(pk=phase.pk).update(
                closes_at=timezone.now() - dt.timedelta(hours=1)
            ),
            "is closed",
        ),
        (lambda phase, made: phase.competition.column_boards.update(rule="Force_Last"), "filled by itself"),
    ],
)
def test_what_cannot_stand_is_not_added(spoil, message):
    phase = board("Add")
    made = making.entry(phase, "alice", {"score": 0.5})
    spoil(phase, made)
    made = Submission.objects.select_related("phase__round__competition", "entrant").get(pk=made.pk)
    with pytest.raises(Refused, match=message):
        choosing.add(made, by=made.user)
    assert not Submission.objects.get(pk=made.pk).is_chosen


def test_only_its_entrant_adds_a_submission():
    phase = board("Add")
    made = making.entry(phase, "alice", {"score": 0.5})
    with pytest.raises(Refused, match="Only its entrant"):
        choosing.add(made, by=make.user("bob"))


def test_a_baseline_stands_without_a_button_and_without_a_place():
    phase = board("Add")
    made = making.entry(phase, "reference", {"score": 0.5})
    made.entrant.is_baseline = True
    made.entrant.save()
    making.told(made)
    [row] = ColumnRow.objects.filter(phase=phase)
    assert (row.submission, row.rank) == (made, None)


@pytest.mark.parametrize(("rule", "index"), [("Add", 0), ("Force_Best", 1), ("Force_Latest_Multiple", 1)])
def test_what_stands_on_the_board_goes_forward_and_stands_on_the_next_one(rule, index):
    phase = board(rule)
    made = three(phase)
    if rule == "Add":
        choosing.add(made[0], by=made[0].user)
    phase.closes_at = timezone.now() - dt.timedelta(minutes=5)
    phase.save()
    following = making.phase(phase.competition, parent=phase, carry_over=True)
    assert handover.tick() == 1
    copy = following.submissions.get()
    assert copy.origin == made[index]
    run = copy.runs.get()
    ColumnScore.objects.create(run=run, key="score", value=0.4)
    copy.runs.update(state="finished", ended_at=timezone.now())
    making.told(copy)
    assert listed(following) == [copy]


def test_where_nothing_was_added_the_latest_goes_forward():
    phase = board("Add")
    made = three(phase)
    phase.closes_at = timezone.now() - dt.timedelta(minutes=5)
    phase.save()
    following = making.phase(phase.competition, parent=phase, carry_over=True)
    assert handover.tick() == 1
    assert following.submissions.get().origin == made[-1]
