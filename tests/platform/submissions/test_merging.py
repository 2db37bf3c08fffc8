"""Two teams become one: who may, what it may not bring, and what becomes of the past of both."""

import datetime as dt

import pytest
from django.utils import timezone

from accounts.refusals import Refused
from competitions import teams
from competitions.models import AuditEntry, Departure, Entrant, Extension, Phase, Team, TeamMerge
from leaderboards import board
from leaderboards.models import LeaderboardRow
from submissions import merging
from submissions.actions import submit
from submissions.models import Handover, Submission
from submissions.models.submission import quota_left
from tests.platform import factories as make
from tests.platform.series import copies, enter, finish, series, tick
from tests.platform.submissions.test_at_once import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest():
    return make.competition(max_team_size=3)


@pytest.fixture
def phase(contest):
    return make.phase(contest, tasks=1)


def team_of(contest, name, *others):
    """A team called like its captain; those who are named after come in."""
    for person in (name, *others):
        make.participant(contest, make.user(person))
    team = teams.create(contest, make.user(name), f"Team {name}")
    for person in others:
        teams.invite(team, make.user(person), by=make.user(name))
        teams.accept(team, make.user(person))
    return team


def sent(phase, team, count=1, **fields):
    entrant = Entrant.objects.get(team=team)
    user = team.members.first().user
    return [
        Submission.objects.create(
            **{
                "entrant": entrant,
                "phase": phase,
                "user": user,
                "number": entrant.submissions.count() + 1,
                "received_at": timezone.now(),
                "size": 1,
                "kind": "code",
                **fields,
            }
        )
        for _ in range(count)
    ]


def merge(into, team):
    merging.ask(into, team, by=captain(into))
    return merging.accept(team, into, by=captain(team))


def captain(team):
    return team.members.get(state="captain").user


def refusal(act, *args, **kwargs):
    with pytest.raises(Refused) as caught:
        act(*args, **kwargs)
    return str(caught.value)


def test_the_team_that_asked_stays_with_the_people_and_the_past_of_both(contest, phase):
    into, team = team_of(contest, "alice"), team_of(contest, "bob", "carol")
    sent(phase, into, 2)
    sent(phase, team, 1)
    merge(into, team)
    assert Team.objects.get() == into
    entrant = Entrant.objects.get()
    assert sorted(entrant.submissions.values_list("number", flat=True)) == [1, 2, 3]
    states = dict(into.members.values_list("user__username", "state"))
    assert states == {"alice": "captain", "bob": "member", "carol": "member"}
    assert not TeamMerge.objects.exists()
    assert AuditEntry.objects.get(action="merge-teams").text == "Team bob went into Team alice."


def test_merging_gives_no_more_quota_than_one_team_has(contest, phase):
    into, team = team_of(contest, "alice"), team_of(contest, "bob")
    sent(phase, into, 2)
    sent(phase, team, 2)
    merge(into, team)
    assert quota_left(phase, Entrant.objects.get(), timezone.now()) == 1


@pytest.mark.parametrize(
    ("quotas", "told"),
    [
        ({"daily_quota": 5}, "today, and the quota of a day is 5"),
        ({"daily_quota": None, "total_quota": 5}, "one team could have made 5 by now"),
    ],
    ids=str,
)
def test_teams_that_together_used_more_than_one_may_do_not_merge(contest, phase, quotas, told):
    Phase.objects.filter(pk=phase.pk).update(**quotas)
    into, team = team_of(contest, "alice"), team_of(contest, "bob")
    sent(phase, into, 3)
    sent(phase, team, 3)
    assert told in refusal(merging.ask, into, team, by=captain(into))


def test_days_that_have_passed_are_counted_as_one_team_would_have_used_them(contest, phase):
    Phase.objects.filter(pk=phase.pk).update(daily_quota=2)  # it opened yesterday: 4 by now
    into, team = team_of(contest, "alice"), team_of(contest, "bob")
    yesterday = timezone.now() - dt.timedelta(days=1)
    sent(phase, into, 2, received_at=yesterday)
    sent(phase, team, 2, received_at=yesterday)
    merging.check(into, team, timezone.now())
    sent(phase, into)
    assert "one team could have made 4 by now" in refusal(merging.check, into, team, timezone.now())


def test_a_team_that_would_be_too_large_is_not_asked(contest):
    into, team = team_of(contest, "alice", "dora"), team_of(contest, "bob", "carol")
    assert "at most 3 members" in refusal(merging.ask, into, team, by=captain(into))


def test_the_quota_is_looked_at_again_when_the_other_team_answers(contest, phase):
    into, team = team_of(contest, "alice"), team_of(contest, "bob")
    merging.ask(into, team, by=captain(into))
    sent(phase, into, 3)
    sent(phase, team, 3)
    assert "Together the two made 6" in refusal(merging.accept, team, into, by=captain(team))


def test_teams_do_not_merge_after_the_date_of_merging(contest):
    into, team = team_of(contest, "alice"), team_of(contest, "bob")
    merging.ask(into, team, by=captain(into))
    contest.merges_close_at = timezone.now()
    contest.save()
    assert "have not merged since" in refusal(merging.accept, team, into, by=captain(team))
    teams.rename(into, "Still changing", by=captain(into))


def test_only_captains_ask_and_answer(contest):
    into, team = team_of(contest, "alice", "dora"), team_of(contest, "bob")
    assert "Only the captain" in refusal(merging.ask, into, team, by=make.user("dora"))
    merging.ask(into, team, by=captain(into))
    assert "Only the captain" in refusal(merging.accept, team, into, by=captain(into))
    merging.decline(team, into, by=captain(team))
    assert "does not ask" in refusal(merging.accept, team, into, by=captain(team))


def test_the_board_has_one_row_for_the_two(contest, phase):
    into, team = team_of(contest, "alice"), team_of(contest, "bob")
    for own, score in ((into, 0.9), (team, 0.7)):
        for made in sent(phase, own, state=Submission.State.FINISHED):
            make.score(make.run(made, phase.tasks.get()), score)
    board.refresh_now(phase)
    merge(into, team)
    row = LeaderboardRow.objects.get()
    assert (row.rank, row.entries, row.mean_score) == (1, 2, 0.7)  # the latest of both counts
    assert board.stored(phase) == board.recomputed(phase)


def test_a_frozen_board_keeps_the_better_row_of_the_two(contest, phase):
    into, team, third = team_of(contest, "alice"), team_of(contest, "bob"), team_of(contest, "zoe")
    for own, score in ((team, 0.9), (third, 0.8), (into, 0.7)):
        for made in sent(phase, own, state=Submission.State.FINISHED):
            make.score(make.run(made, phase.tasks.get()), score)
    board.refresh_now(phase)
    phase.board = Phase.Board.FROZEN
    phase.save()
    merge(into, team)
    rows = LeaderboardRow.objects.filter(board__is_frozen=True)
    assert [(row.position, row.entrant.name) for row in rows] == [(1, "Team alice"), (2, "Team zoe")]
    assert rows[0].board.listed == 2


def test_of_two_entries_in_a_later_phase_the_later_one_stays(clock):
    made = series(clock.now)
    contest = made.contest
    contest.max_team_size = 2
    contest.save()
    clock.set(made.at(1))
    finish(enter(made["Tweakathon[0]"], make.user("alice")))
    clock.set(made.at(2))
    later = finish(enter(made["Tweakathon[0]"], make.user("bob")))
    into, team = team_of(contest, "alice"), team_of(contest, "bob")  # what they sent alone is the teams'
    clock.set(made.at(10.1))
    tick(clock.now)
    assert Handover.objects.filter(phase=made["AutoML[1]"]).count() == 2
    merge(into, team)
    row = Handover.objects.get(phase=made["AutoML[1]"])
    assert row.source_id == later.pk
    assert row.submission.competes
    assert [one.pk for one in copies(made["AutoML[1]"])] == [row.submission_id]
    tick(clock.now)
    assert Handover.objects.get(phase=made["AutoML[1]"]) == row


def test_extra_time_and_departures_go_with_the_team(contest, phase):
    into, team = team_of(contest, "alice"), team_of(contest, "bob", "carol")
    sent(phase, team)
    teams.leave(team, make.user("carol"))
    until = phase.closes_at + dt.timedelta(days=1)
    Extension.objects.create(
        phase=phase, entrant=team.entrant, closes_at=until, why="x", given_by=contest.created_by
    )
    merge(into, team)
    assert Extension.objects.get().entrant == Departure.objects.get().entrant == into.entrant


def test_a_member_who_held_a_role_takes_the_rank_of_all(contest):
    into, team = team_of(contest, "alice"), team_of(contest, "bob")
    Entrant.objects.filter(team=team).update(held_a_role=True)
    merge(into, team)
    assert not Entrant.objects.get().is_ranked


@pytest.mark.django_db(transaction=True)
def test_uploads_and_a_merge_at_once_use_no_more_than_one_quota(contest, phase, tmp_path):
    Phase.objects.filter(pk=phase.pk).update(daily_quota=2)
    into, team = team_of(contest, "alice"), team_of(contest, "bob")
    merging.ask(into, team, by=captain(into))
    archive = make.code_zip(tmp_path)
    uploads = [
        lambda name=name: submit(
            user=make.user(name), phase=Phase.objects.get(pk=phase.pk), archive=archive, filename="s.zip"
        )
        for name in ("alice", "bob", "alice", "bob")
    ]
    answers = at_once([*uploads, lambda: merging.accept(team, into, by=make.user("bob"))])
    if isinstance(answers[-1], Refused):
        assert "quota of a day" in str(answers[-1]) or "by now" in str(answers[-1])
        assert Entrant.objects.count() == 2
    else:
        assert Submission.objects.counting_for_quota().count() <= 2
        assert Entrant.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_merges_and_a_leave_at_once_leave_everybody_in_one_team_at_most(contest):
    into, team = team_of(contest, "alice"), team_of(contest, "bob", "carol")
    merging.ask(into, team, by=captain(into))
    merging.ask(team, into, by=captain(team))
    at_once(
        [
            lambda: merging.accept(team, into, by=make.user("bob")),
            lambda: merging.accept(into, team, by=make.user("alice")),
            lambda: teams.leave(team, make.user("carol")),
        ]
    )
    kept = Team.objects.get()
    assert set(kept.members.values_list("user__username", flat=True)) >= {"alice", "bob"}
    assert Entrant.objects.filter(team__isnull=False).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_people_who_open_a_link_at_once_do_not_both_get_the_last_place(contest):
    team = team_of(contest, "alice", "bob")
    secret = teams.make_link(team, by=make.user("alice"))
    for name in ("carol", "dora"):
        make.participant(contest, make.user(name))
    answers = at_once(
        [lambda name=name: teams.join_by_link(contest, secret, make.user(name)) for name in ("carol", "dora")]
    )
    assert sorted(isinstance(answer, Refused) for answer in answers) == [False, True]
    assert team.members.count() == 3


@pytest.mark.django_db(transaction=True)
def test_a_person_who_accepts_and_founds_at_once_is_in_one_team(contest):
    team = team_of(contest, "alice")
    bob = make.user("bob")
    make.participant(contest, bob)
    teams.invite(team, bob, by=make.user("alice"))
    at_once([lambda: teams.accept(team, bob), lambda: teams.create(contest, bob, "Another")])
    assert bob.team_places.exclude(state="invited").count() == 1
    assert Entrant.objects.filter(competition=contest, user=bob).count() == 0
