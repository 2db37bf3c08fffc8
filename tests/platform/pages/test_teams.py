"""The pages of teams: what a participant does with their own, and organizers with all."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from competitions import teams
from competitions.models import AuditEntry, Team, TeamMember, TeamMerge
from submissions.models import Submission
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest():
    return make.competition("contest", max_team_size=3)


def browser(name):
    client = Client()
    client.force_login(make.user(name))
    return client


@pytest.fixture
def alice(contest):
    make.participant(contest, make.user("alice"))
    return browser("alice")


@pytest.fixture
def bob(contest):
    make.participant(contest, make.user("bob"))
    return browser("bob")


@pytest.fixture
def olga(contest):
    return browser("olga")


def text(response):
    return " ".join(response.content.decode().split())


def url(ending=""):
    return f"/competitions/contest/{ending}"


def do(client, what, **sent):
    return client.post(url(f"team/do/{what}/"), sent, follow=True)


def formed(contest, *names, title="The Team"):
    captain = make.user(names[0])
    team = teams.create(contest, captain, title)
    for name in names[1:]:
        teams.invite(team, make.user(name), by=captain)
        teams.accept(team, make.user(name))
    return team


def test_a_team_forms_by_an_invitation(contest, alice, bob):
    assert "You compete alone so far" in text(alice.get(url("team/")))
    assert "You are the captain of The Team" in text(do(alice, "create", name="The Team"))
    assert "bob was asked to come in" in text(do(alice, "invite", name="bob"))
    team = Team.objects.get()
    assert "asks you to come in" in text(bob.get(url("team/")))
    assert "You are in The Team." in text(do(bob, "accept", team=team.pk))
    assert "2 of at most 3 members" in text(alice.get(url("team/")))


def test_a_link_is_shown_once_and_lets_others_in(contest, alice, bob):
    do(alice, "create", name="The Team")
    page = do(alice, "make-link").content.decode()
    address = re.search(r'value="(http[^"]+/team/link/[^"]+)"', page)[1]
    assert "/team/link/" not in text(alice.get(url("team/")))
    page = text(bob.get(address))
    assert "Come into The Team" in page
    assert "You are in The Team." in text(bob.post(address, follow=True))
    assert Client().get(address).status_code == 302


def test_a_link_tells_a_stranger_to_take_part_first(contest, alice):
    do(alice, "create", name="The Team")
    address = url(f"team/link/{teams.make_link(Team.objects.get(), by=make.user('alice'))}/")
    charlie = browser("charlie")
    assert "Take part in the competition first" in text(charlie.get(address))
    answer = charlie.post(address)
    assert answer.status_code == 403
    assert "does not take part" in text(answer)
    assert browser("dora").get(url("team/link/guessed/")).status_code == 404


def test_a_name_of_nobody_and_one_of_a_stranger_are_refused_alike(contest, alice):
    make.user("charlie")
    do(alice, "create", name="The Team")
    answers = [do(alice, "invite", name=name) for name in ("charlie", "nobody", "no\0body")]
    assert {answer.status_code for answer in answers} == {404}
    assert do(alice, "ask-merge", name="\0").status_code == 404
    assert "Nobody who takes part in Round 0 has the user name" in text(answers[0])
    assert not TeamMember.objects.filter(state="invited").exists()


def test_a_refusal_keeps_what_was_typed(contest, alice, bob):
    formed(contest, "bob")
    answer = do(alice, "create", name="THE TEAM")
    assert answer.status_code == 409
    assert "is taken, or looks like" in text(answer)
    assert 'value="THE TEAM"' in text(answer)


def test_leaving_says_before_what_follows_from_it(contest, alice, bob):
    team = formed(contest, "alice", "bob")
    assert "You may then compete alone" in text(bob.get(url("team/")))
    phase = make.phase(contest)
    Submission.objects.create(
        entrant=team.entrant,
        phase=phase,
        user=make.user("alice"),
        number=1,
        received_at=timezone.now(),
        size=1,
        kind="code",
    )
    assert f"You will not compete for anybody else in {phase.title}" in text(bob.get(url("team/")))
    page = text(do(bob, "leave"))
    assert "You left The Team." in page
    assert "You do not compete for anybody else there" in page


def test_two_teams_merge_by_a_question_and_an_answer(contest, alice, bob):
    into, team = formed(contest, "alice"), formed(contest, "bob", title="Les Autres")
    assert "No team here is called" in text(do(alice, "ask-merge", name="Nobody"))
    assert "Les Autres was asked to merge" in text(do(alice, "ask-merge", name="les autres"))
    assert "asks Les Autres to come in as a whole" in re.sub("<[^>]+>", "", text(bob.get(url("team/"))))
    do(bob, "decline-merge", team=into.pk)
    assert not TeamMerge.objects.exists()
    do(alice, "ask-merge", name="Les Autres")
    do(alice, "take-back-merge", team=team.pk)
    do(alice, "ask-merge", name="Les Autres")
    assert "Your team went into The Team." in text(do(bob, "accept-merge", team=into.pk))
    assert Team.objects.get().members.count() == 2


def test_everything_a_captain_does_is_done_from_the_page(contest, alice, bob):
    team = formed(contest, "alice", "bob")
    make.participant(contest, make.user("carol"))
    do(alice, "invite", name="carol")
    asked = TeamMember.objects.get(state="invited")
    assert "was taken back" in text(do(alice, "take-back", member=asked.pk))
    assert "The team is called Les Autres now." in text(do(alice, "rename", name="Les Autres"))
    do(alice, "make-link")
    assert "nobody comes in by it any more" in text(do(alice, "revoke-link", link=team.links.get().pk))
    heir = team.members.get(user__username="bob")
    assert "bob is the captain" in text(do(alice, "hand-on", member=heir.pk))
    assert do(alice, "rename", name="Mine").status_code == 403


def test_the_page_says_when_nothing_changes_any_more(contest, alice, bob):
    formed(contest, "alice", "bob")
    contest.teams_close_at = timezone.now()
    contest.save()
    page = text(alice.get(url("team/")))
    assert "have been closed since" in page
    assert "Leave the team" not in page
    assert "Ask to come in" not in page


def test_the_tab_is_for_participants_where_teams_are(contest, alice, olga):
    assert ">Team</a>" in text(alice.get(url()))
    assert ">Team</a>" not in text(Client().get(url()))
    assert olga.get(url("team/")).status_code == 403
    contest.max_team_size = 1
    contest.save()
    assert ">Team</a>" not in text(alice.get(url()))
    assert "Everybody competes alone" in text(alice.get(url("team/")))


def test_ids_of_other_competitions_are_unknown_here(contest, alice):
    elsewhere = make.competition(max_team_size=2)
    make.participant(elsewhere, make.user("dora"))
    team = teams.create(elsewhere, make.user("dora"), "Elsewhere")
    assert do(alice, "accept", team=team.pk).status_code == 404
    assert browser("olga").get(url(f"manage/teams/{team.pk}/")).status_code == 404


def test_organizers_read_the_teams_in_a_few_queries(contest, alice, olga, django_assert_max_num_queries):
    for index in range(60):
        name = f"person{index}"
        make.participant(contest, make.user(name))
        formed(contest, name, title=f"Team number {index}")
    with django_assert_max_num_queries(10):
        page = text(olga.get(url("manage/teams/")))
    assert "60 teams" in page
    assert "Team number 59" in page
    assert "Team number 9<" not in page
    older = re.search(r'href="(\?before=\d+)"', page)[1]
    assert "Team number 9<" in text(olga.get(url("manage/teams/") + older))
    found = text(olga.get(url("manage/teams/?search=person42")))
    assert "Team number 42" in found
    assert "Team number 41" not in found


def test_an_organizer_renames_a_team_after_a_preview(contest, alice, olga):
    team = formed(contest, "alice")
    where = url(f"manage/teams/{team.pk}/rename/")
    assert "is called Les Autres from now on" in text(olga.post(where, {"name": "Les Autres"}))
    assert Team.objects.get().name == "The Team"
    olga.post(where, {"name": "Les Autres", "confirm": "yes"})
    assert Team.objects.get().name == "Les Autres"
    assert AuditEntry.objects.get().action == "rename-team"
    assert "A name needs at least one letter" in text(olga.post(where, {"name": "…"}))


def test_an_organizer_takes_somebody_out_also_after_teams_have_closed(contest, alice, bob, olga):
    team = formed(contest, "alice", "bob")
    phase = make.phase(contest)
    Submission.objects.create(
        entrant=team.entrant,
        phase=phase,
        user=make.user("bob"),
        number=1,
        received_at=timezone.now(),
        size=1,
        kind="code",
    )
    contest.teams_close_at = timezone.now()
    contest.save()
    where, place = url(f"manage/teams/{team.pk}/remove/"), team.members.get(user__username="bob")
    page = text(olga.post(where, {"member": place.pk}))
    assert f"not in {phase.title}, where the team has submitted" in page
    olga.post(where, {"member": place.pk, "confirm": "yes"})
    assert team.members.get().user.username == "alice"
    assert teams.departed_from(make.user("bob"), phase) is not None
    page = text(olga.get(url(f"manage/teams/{team.pk}/")))
    assert f"competes for nobody else in {phase.title}" in page


def test_a_dissolved_team_leaves_its_past_to_its_captain(contest, alice, bob, olga):
    team = formed(contest, "alice", "bob")
    phase = make.phase(contest)
    made = Submission.objects.create(
        entrant=team.entrant,
        phase=phase,
        user=make.user("bob"),
        number=1,
        received_at=timezone.now(),
        size=1,
        kind="code",
    )
    where = url(f"manage/teams/{team.pk}/dissolve/")
    page = text(olga.post(where))
    assert "goes on as alice&#x27;s alone" in page
    assert f"bob does not compete alone in {phase.title}" in page
    olga.post(where, {"confirm": "yes"})
    made.refresh_from_db()
    assert made.entrant.user.username == "alice"
    assert not Team.objects.exists()
    assert teams.departed_from(make.user("bob"), phase) is not None


def test_reviewers_read_teams_and_change_nothing(contest, alice):
    team = formed(contest, "alice")
    contest.organizers.create(user=make.user("rita"), role="reviewer")
    rita = browser("rita")
    assert "Dissolve" not in text(rita.get(url(f"manage/teams/{team.pk}/")))
    assert rita.post(url(f"manage/teams/{team.pk}/dissolve/"), {"confirm": "yes"}).status_code == 403


def test_the_tab_says_that_a_team_waits_for_an_answer(contest, alice, bob):
    team = formed(contest, "alice")
    assert ">asked</span>" not in text(bob.get(url()))
    teams.invite(team, make.user("bob"), by=make.user("alice"))
    assert ">asked</span>" in text(bob.get(url()))
    teams.decline(team, make.user("bob"))
    into = formed(contest, "bob", title="Les Autres")
    assert ">asked</span>" not in text(alice.get(url()))
    TeamMerge.objects.create(into=into, team=team, asked_by=make.user("bob"))
    assert ">asked</span>" in text(alice.get(url()))
    assert ">asked</span>" not in text(bob.get(url()))


def test_who_left_is_not_offered_the_phases_in_which_the_team_has_submitted(contest, alice, bob):
    team, phase = formed(contest, "alice", "bob"), make.phase(contest)
    Submission.objects.create(
        entrant=team.entrant,
        phase=phase,
        user=make.user("alice"),
        number=1,
        received_at=timezone.now(),
        size=1,
        kind="code",
    )
    teams.leave(team, make.user("bob"))
    page = text(bob.get(url("submissions/")))
    assert "so you compete there with it or not at all" in page
    assert 'id="archive"' not in page
    assert 'id="archive"' in text(alice.get(url("submissions/")))
