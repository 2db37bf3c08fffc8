"""Teams: how they form, who may come in, and what becomes of what was submitted alone."""

import datetime as dt
from contextlib import contextmanager

import pytest
from django.utils import timezone

from accounts.refusals import Refused
from competitions import policy, teams
from competitions.actions import entrant_of
from competitions.models import Entrant, Organizer, Team
from submissions import actions
from submissions.actions import submit
from submissions.models import Submission
from submissions.policy import is_own, may_cancel, visible_submissions
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest():
    return make.competition(max_team_size=2)


@pytest.fixture
def phase(contest):
    return make.phase(contest)


@pytest.fixture
def alice(contest):
    return joined(contest, "alice")


@pytest.fixture
def bob(contest):
    return joined(contest, "bob")


def joined(contest, name):
    person = make.user(name)
    make.participant(contest, person)
    return person


def team_with(contest, captain, *members, name="The Team"):
    team = teams.create(contest, captain, name)
    for member in members:
        teams.invite(team, member, by=captain)
        teams.accept(team, member)
    return team


def refusal(act, *args, **kwargs):
    with pytest.raises(Refused) as caught:
        act(*args, **kwargs)
    return str(caught.value)


def test_a_team_competes_as_one_entrant(contest, alice, bob):
    team = team_with(contest, alice, bob)
    assert entrant_of(contest, alice) == entrant_of(contest, bob) == team.entrant
    assert team.entrant.name == "The Team"
    assert Entrant.objects.count() == 1


def test_who_was_asked_is_not_in_the_team_yet(contest, alice, bob):
    team = teams.create(contest, alice, "The Team")
    teams.invite(team, bob, by=alice)
    assert entrant_of(contest, bob) != team.entrant
    assert teams.team_of(contest, bob) is None


def test_what_the_captain_submitted_alone_becomes_the_teams(phase, alice, bob):
    alone = make.submission(phase, alice)
    team = team_with(phase.competition, alice, bob)
    alone.refresh_from_db()
    assert alone.entrant == team.entrant
    assert is_own(bob, alone)


def test_others_who_have_submitted_alone_cannot_come_in(phase, alice, bob):
    make.submission(phase, bob)
    team = teams.create(phase.competition, alice, "The Team")
    teams.invite(team, bob, by=alice)
    assert "You have submitted alone" in refusal(teams.accept, team, bob)


def test_an_unused_entrant_of_ones_own_goes_when_one_comes_into_a_team(contest, alice, bob):
    own = entrant_of(contest, bob)
    team = team_with(contest, alice, bob)
    assert not Entrant.objects.filter(pk=own.pk).exists()
    assert entrant_of(contest, bob) == team.entrant


def test_it_is_one_team_a_person(contest, alice, bob):
    team_with(contest, alice)
    assert "one team a person" in refusal(teams.create, contest, alice, "Another")
    other = teams.create(contest, bob, "Another")
    teams.invite(other, alice, by=bob)
    assert "one team a person" in refusal(teams.accept, other, alice)


def test_a_team_has_a_largest_size_and_open_invitations_count(contest, alice, bob):
    team = team_with(contest, alice)
    carol = joined(contest, "carol")
    teams.invite(team, carol, by=alice)
    assert "full" in refusal(teams.invite, team, bob, by=alice)
    teams.take_back(team, carol, by=alice)
    teams.invite(team, bob, by=alice)
    teams.accept(team, bob)
    assert team.members.count() == 2


def test_a_size_that_was_lowered_holds_for_open_invitations_too(contest, alice, bob):
    contest.max_team_size = 3
    contest.save()
    team = team_with(contest, alice, bob)
    carol = joined(contest, "carol")
    teams.invite(team, carol, by=alice)
    contest.max_team_size = 2
    contest.save()
    assert "full" in refusal(teams.accept, team, carol)


def test_teams_close_at_their_date(contest, alice, bob):
    team = teams.create(contest, alice, "The Team")
    teams.invite(team, bob, by=alice)
    contest.teams_close_at = timezone.now() - dt.timedelta(seconds=1)
    contest.save()
    for act, args in (
        (teams.accept, (team, bob)),
        (teams.leave, (team, alice)),
        (teams.create, (contest, bob, "X")),
    ):
        assert "have been closed since" in refusal(act, *args)
    assert "have been closed since" in refusal(teams.invite, team, joined(contest, "carol"), by=alice)
    teams.decline(team, bob)
    assert team.members.count() == 1


def test_where_everybody_competes_alone_no_team_forms(contest, alice):
    contest.max_team_size = 1
    contest.save()
    assert "Everybody competes alone" in refusal(teams.create, contest, alice, "The Team")


def test_only_participants_form_teams_and_come_in(contest, alice):
    charlie = make.user("charlie")
    team = teams.create(contest, alice, "The Team")
    assert "does not take part" in refusal(teams.create, contest, charlie, "Another")
    assert "does not take part" in refusal(teams.invite, team, charlie, by=alice)


def test_only_the_captain_asks_and_only_who_was_asked_comes_in(contest, alice, bob):
    team = teams.create(contest, alice, "The Team")
    assert "Only the captain" in refusal(teams.invite, team, bob, by=bob)
    assert "has not asked you" in refusal(teams.accept, team, bob)


def test_who_leaves_competes_alone_again(contest, alice, bob):
    team = team_with(contest, alice, bob)
    teams.leave(team, bob)
    assert entrant_of(contest, bob).user == bob
    assert entrant_of(contest, alice) == team.entrant


def test_what_a_team_submitted_stays_with_it_when_somebody_leaves(phase, alice, bob, tmp_path):
    team = team_with(phase.competition, alice, bob)
    made = submit(user=bob, phase=phase, archive=make.code_zip(tmp_path), filename="s.zip")
    teams.leave(team, bob)
    made.refresh_from_db()
    assert made.entrant == team.entrant
    assert not is_own(bob, made)


def test_who_left_a_team_after_it_had_submitted_gets_no_second_quota(phase, alice, bob, tmp_path):
    team = team_with(phase.competition, alice, bob)
    submit(user=alice, phase=phase, archive=make.code_zip(tmp_path), filename="s.zip")
    teams.leave(team, bob)
    archive = make.code_zip(tmp_path / "again")
    assert "You left The Team after it had submitted" in refusal(
        submit, user=bob, phase=phase, archive=archive, filename="s.zip"
    )
    later = make.phase(phase.competition)
    assert submit(user=bob, phase=later, archive=archive, filename="s.zip").entrant.user == bob


def test_who_left_a_team_after_it_had_submitted_comes_back_to_it_alone(phase, alice, bob):
    team = team_with(phase.competition, alice, bob)
    sent_by(alice, phase, team)
    teams.leave(team, bob)
    other = teams.create(phase.competition, joined(phase.competition, "carol"), "Another")
    teams.invite(other, bob, by=make.user("carol"))
    assert "comes into no other team" in refusal(teams.accept, other, bob)
    assert "comes into no other team" in refusal(teams.create, phase.competition, bob, "A third")
    teams.invite(team, bob, by=alice)
    teams.accept(team, bob)
    assert teams.departed_from(bob, phase) is None


def test_who_leaves_while_their_archive_is_read_gets_no_second_quota_either(
    phase, alice, bob, tmp_path, monkeypatch
):
    team = team_with(phase.competition, alice, bob)
    archive = make.code_zip(tmp_path)
    submit(user=bob, phase=phase, archive=archive, filename="a.zip")
    usual = actions.examined

    @contextmanager
    def left_meanwhile(*args):
        with usual(*args) as door:
            teams.leave(team, bob)
            yield door

    monkeypatch.setattr(actions, "examined", left_meanwhile)
    told = refusal(submit, user=bob, phase=phase, archive=archive, filename="b.zip")
    assert "You left The Team" in told
    assert Submission.objects.count() == 1


def test_who_competes_as_somebody_else_after_the_archive_was_read_submits_again(
    phase, alice, bob, tmp_path, monkeypatch
):
    team = team_with(phase.competition, alice, bob)
    usual = actions.examined

    @contextmanager
    def left_meanwhile(*args):
        with usual(*args) as door:
            teams.leave(team, bob)
            yield door

    monkeypatch.setattr(actions, "examined", left_meanwhile)
    archive = make.code_zip(tmp_path)
    assert "Your team has changed" in refusal(submit, user=bob, phase=phase, archive=archive, filename="a.zip")
    assert not Submission.objects.exists()


def test_a_captain_who_leaves_takes_no_new_quota_for_what_they_submitted_before_the_team(phase, alice, bob):
    make.submission(phase, alice, received_at=timezone.now() - dt.timedelta(hours=1))
    team = team_with(phase.competition, alice, bob)
    teams.leave(team, alice)
    assert teams.departed_from(alice, phase) is not None


def test_what_was_cancelled_untouched_binds_nobody(phase, alice, bob):
    team = team_with(phase.competition, alice, bob)
    sent_by(alice, phase, team, uses_quota=False)
    teams.leave(team, bob)
    assert teams.departed_from(bob, phase) is None


def test_the_last_one_keeps_what_the_team_submitted(phase, alice, bob):
    team = team_with(phase.competition, alice, bob)
    made = sent_by(alice, phase, team)
    teams.leave(team, alice)
    teams.leave(team, bob)
    made.refresh_from_db()
    assert (made.entrant.user, made.entrant.name) == (bob, "bob")
    assert teams.departed_from(alice, phase) is not None
    assert teams.departed_from(bob, phase) is None


def sent_by(person, phase, team, **fields):
    return Submission.objects.create(
        entrant=team.entrant,
        phase=phase,
        user=person,
        number=1,
        received_at=timezone.now(),
        size=1,
        kind="code",
        **fields,
    )


def test_a_team_is_renamed_on_the_board_too(contest, alice, bob):
    team = team_with(contest, alice, bob)
    teams.rename(team, "Les Autres", by=alice)
    assert Entrant.objects.get(team=team).name == Team.objects.get().name == "Les Autres"
    assert "Only the captain" in refusal(teams.rename, team, "Mine", by=bob)
    teams.create(contest, joined(contest, "carol"), "Third")
    assert "is taken, or looks like" in refusal(teams.rename, team, "THIRD", by=alice)


def test_a_captain_hands_the_team_on(contest, alice, bob):
    team = team_with(contest, alice, bob)
    assert "Only the captain" in refusal(teams.hand_on, team, bob, by=bob)
    assert "not another member" in refusal(teams.hand_on, team, make.user("carol"), by=alice)
    teams.hand_on(team, bob, by=alice)
    assert dict(team.members.values_list("user__username", "state")) == {"alice": "member", "bob": "captain"}


def test_a_link_lets_its_holders_in_until_it_is_taken_back(contest, alice, bob):
    team = teams.create(contest, alice, "The Team")
    secret = teams.make_link(team, by=alice)
    link = teams.link_of(contest, secret)
    assert secret not in link.digest
    assert teams.join_by_link(contest, secret, bob) == team
    assert entrant_of(contest, bob) == team.entrant
    teams.leave(team, bob)
    teams.revoke_link(team, link.pk, by=alice)
    assert "does not hold any more" in refusal(teams.join_by_link, contest, secret, bob)


def test_a_link_ends_after_a_week_and_lets_nobody_past_the_size(contest, alice, bob, clock):
    team = teams.create(contest, alice, "The Team")
    secret = teams.make_link(team, by=alice)
    assert "does not take part" in refusal(teams.join_by_link, contest, secret, make.user("charlie"))
    teams.join_by_link(contest, secret, bob)
    assert "is full" in refusal(teams.join_by_link, contest, secret, joined(contest, "carol"))
    clock.move(days=7)
    assert "does not hold any more" in refusal(teams.link_of, contest, secret)


def test_a_link_opens_teams_of_its_own_competition_only(contest, alice):
    secret = teams.make_link(teams.create(contest, alice, "The Team"), by=alice)
    assert "never did" in refusal(teams.link_of, make.competition(max_team_size=2), secret)


def test_only_the_captain_makes_links_and_a_team_has_a_few_at_once(contest, alice, bob):
    team = team_with(contest, alice, bob)
    assert "Only the captain" in refusal(teams.make_link, team, by=bob)
    for _ in range(5):
        teams.make_link(team, by=alice)
    assert "has 5 links already" in refusal(teams.make_link, team, by=alice)


def test_who_came_in_after_the_last_submission_may_leave(phase, alice, bob):
    make.submission(phase, alice, received_at=timezone.now() - dt.timedelta(hours=1))
    team = team_with(phase.competition, alice, bob)
    teams.leave(team, bob)
    assert entrant_of(phase.competition, bob).user == bob


def test_a_captain_who_leaves_hands_on(contest, alice, bob):
    team = team_with(contest, alice, bob)
    teams.leave(team, alice)
    assert team.members.get().user == bob
    assert team.members.get().state == "captain"


def test_the_last_to_leave_ends_the_team_and_keeps_what_they_submitted_alone(phase, alice):
    alone = make.submission(phase, alice)
    team = teams.create(phase.competition, alice, "The Team")
    teams.leave(team, alice)
    alone.refresh_from_db()
    assert (alone.entrant.user, alone.entrant.team, alone.entrant.name) == (alice, None, "alice")
    assert not Team.objects.exists()


def test_a_team_that_never_submitted_leaves_nothing(contest, alice):
    teams.leave(teams.create(contest, alice, "The Team"), alice)
    assert not Team.objects.exists()
    assert not Entrant.objects.exists()


def test_team_mates_see_and_cancel_what_the_team_submitted_and_who_did_is_kept(phase, alice, bob, tmp_path):
    team = team_with(phase.competition, alice, bob)
    made = submit(user=bob, phase=phase, archive=make.code_zip(tmp_path), filename="s.zip")
    assert (made.entrant, made.user) == (team.entrant, bob)
    assert list(visible_submissions(alice, phase.competition)) == [made]
    assert may_cancel(alice, made)
    carol = joined(phase.competition, "carol")
    assert not visible_submissions(carol, phase.competition).exists()
    assert not may_cancel(carol, made)


def test_a_team_has_one_quota(phase, alice, bob, tmp_path):
    phase.daily_quota = 1
    phase.save()
    team_with(phase.competition, alice, bob)
    submit(user=bob, phase=phase, archive=make.code_zip(tmp_path), filename="s.zip")
    assert "submissions of today are used" in refusal(
        submit, user=alice, phase=phase, archive=make.code_zip(tmp_path), filename="s.zip"
    )


def test_a_person_in_a_team_has_no_second_entrant_between_two_steps_of_an_upload(
    phase, alice, bob, tmp_path, monkeypatch
):
    """Bob's upload was looked at while he competed alone; it is stored after he came into a team."""
    team = teams.create(phase.competition, alice, "The Team")
    teams.invite(team, bob, by=alice)
    alone = entrant_of(phase.competition, bob)
    teams.accept(team, bob)
    monkeypatch.setattr("competitions.actions.people.entrant_of", lambda competition, user: alone)
    assert "Your team has changed" in refusal(
        submit, user=bob, phase=phase, archive=make.code_zip(tmp_path), filename="s.zip"
    )
    assert not Submission.objects.exists()


def test_a_team_is_unranked_once_a_member_gets_a_role(contest, alice, bob):
    team = team_with(contest, alice, bob)
    role = Organizer.objects.create(competition=contest, user=bob, role="reviewer")
    assert not Entrant.objects.get(team=team).is_ranked
    role.delete()
    teams.leave(team, bob)
    assert not Entrant.objects.get(team=team).is_ranked
    assert not entrant_of(contest, bob).is_ranked


def test_a_member_who_had_a_role_before_unranks_the_team(contest, alice, bob):
    Organizer.objects.create(competition=contest, user=bob, role="editor").delete()
    team = teams.create(contest, alice, "The Team")
    assert Entrant.objects.get(team=team).is_ranked
    teams.invite(team, bob, by=alice)
    assert Entrant.objects.get(team=team).is_ranked
    teams.accept(team, bob)
    assert not Entrant.objects.get(team=team).is_ranked


def test_a_captain_who_had_a_role_founds_an_unranked_team(contest, alice):
    Organizer.objects.create(competition=contest, user=alice).delete()
    assert not teams.create(contest, alice, "The Team").entrant.is_ranked


def test_an_invitation_to_an_organizer_takes_nobodys_rank(contest, alice):
    olga = contest.created_by
    make.participant(contest, olga)
    team = teams.create(contest, alice, "The Team")
    teams.invite(team, olga, by=alice)
    assert Entrant.objects.get(team=team).is_ranked


def test_a_person_speaks_for_entrants_of_each_competition_apart(contest, alice, bob):
    team = team_with(contest, alice, bob)
    other = make.competition()
    own = make.entrant(other, alice)
    assert policy.own_entrant(alice, contest) == team.entrant
    assert policy.own_entrant(alice, other) == own
    assert policy.own_entrant(bob, other) is None
