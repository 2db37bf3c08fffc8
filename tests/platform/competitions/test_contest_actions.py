"""What changing a competition as a whole means for people, in sentences; and two people who do it at once."""

import datetime as dt

import pytest

from accounts.refusals import Refused
from competitions.actions.clone import Clone
from competitions.actions.pages import MOST_PAGES, AddPage, EditText
from competitions.actions.people import held_a_role
from competitions.actions.publishing import Archive, Publish, Unpublish
from competitions.actions.settings import EditSettings, seen_settings
from competitions.models import AuditEntry, Competition, Organizer, Participant, Team, TeamMember
from tests.platform import factories as make

pytestmark = pytest.mark.django_db

NOW = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)


@pytest.fixture
def contest():
    return make.competition("contest", title="The contest")


def meaning(contest, **values):
    """What a change of settings means, in one text."""
    action = EditSettings(None, contest, values)
    action.check(NOW)
    return " ".join(action.preview(NOW).sentences)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"visibility": "private"}, "Only 2 people who joined or asked to"),
        ({"visibility": "unlisted"}, "leaves the lists"),
        ({"registration": "closed"}, "1 participant stays. 1 wish to take part still to be answered."),
        ({"registration": "approval"}, "waits for an organizer's answer"),
        ({"registration": "allow_list"}, "the e-mail list is empty"),
        ({"registration": "allow_list", "allowed_emails": "@x.org"}, "Only people with a verified address"),
        ({"teams_close_at": NOW - dt.timedelta(days=1)}, "neither form nor change from this moment"),
        ({"title": "Another"}, ""),
        ({"summary": "Another"}, ""),
    ],
)
def test_what_a_change_of_settings_means_is_said_in_a_sentence(contest, values, says):
    make.participant(contest, make.user("alice"))
    make.participant(contest, make.user("bob"), Participant.State.PENDING)
    assert says in meaning(contest, **values) if says else meaning(contest, **values) == ""


def test_nothing_matters_while_nobody_sees_it():
    draft = make.competition(state="draft")
    assert meaning(draft, visibility="private", registration="closed") == ""


def test_teams_that_are_larger_than_the_new_limit_are_counted(contest):
    Competition.objects.update(max_team_size=3)
    team = Team.objects.create(competition=contest, name="T")
    for name, state in (("alice", "captain"), ("bob", "member"), ("carol", "invited")):
        TeamMember.objects.create(team=team, user=make.user(name), state=state)
    assert meaning(contest, max_team_size=2) == ""
    assert "1 team has more members" in meaning(contest, max_team_size=1)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"title": ""}, "blank"),
        ({"slug": "other"}, "address of a competition that was published stays"),
        ({"max_team_size": 0}, "greater than or equal to 1"),
        ({"allowed_emails": "nobody"}, "either an address nor a domain"),
        ({"teams_close_at": NOW, "merges_close_at": NOW + dt.timedelta(days=1)}, "Teams cannot merge"),
        ({"title": "The contest"}, "Nothing was changed"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(contest, values, says):
    with pytest.raises(Refused, match=says):
        EditSettings(None, contest, values).execute()
    assert not AuditEntry.objects.exists()


def test_a_setting_is_saved_alone_and_what_somebody_else_changed_stays(contest):
    stale = Competition.objects.get()
    EditSettings(None, contest, {"summary": "Theirs"}).execute()
    EditSettings(None, stale, {"title": "Mine"}).execute()
    contest.refresh_from_db()
    assert (contest.title, contest.summary) == ("Mine", "Theirs")
    with pytest.raises(Refused, match="Somebody else has changed"):
        EditSettings(None, contest, {"title": "Late"}, seen=seen_settings(Competition(title="As shown"))).execute()


def test_of_two_people_who_publish_or_archive_at_once_one_wins():
    draft = make.competition(state="draft")
    make.phase(draft)
    first, second = (Competition.objects.get() for _ in range(2))
    Publish(None, first).execute()
    with pytest.raises(Refused, match="published already"):
        Publish(None, second).execute()
    Archive(None, second).execute()
    with pytest.raises(Refused, match="not published"):
        Unpublish(None, first).execute()
    assert [entry.action for entry in AuditEntry.objects.order_by("id")] == ["publish", "archive"]


def test_a_rehearsal_is_never_published(contest):
    rehearsal = make.competition(state="draft", rehearses=contest)
    make.phase(rehearsal)
    with pytest.raises(Refused, match="for its organizers alone"):
        Publish(None, rehearsal).execute()


def test_publishing_says_what_is_left_undone():
    draft = make.competition(state="draft", registration="closed")
    make.phase(draft)
    sentences = Publish(None, draft).preview(NOW.replace(year=2020)).sentences
    assert "Nobody may join: registration is closed." in sentences
    assert "Not done, and not needed: An overview: what it is about, and for whom." in sentences


def test_pages_have_an_end(contest):
    with pytest.raises(Refused, match="at most 200,000 letters"):
        EditText(None, contest, "overview", "x" * 200_001).execute()
    for number in range(MOST_PAGES):
        AddPage(None, contest, f"Page {number}").execute()
    with pytest.raises(Refused, match="at most 20 pages"):
        AddPage(None, contest, "One more").execute()


def test_pages_have_titles_and_addresses_of_their_own(contest):
    AddPage(None, contest, "Prizes").execute()
    with pytest.raises(Refused, match="a page prizes already"):
        AddPage(None, contest, "prizes").execute()
    AddPage(None, contest, "Prizes!").execute()
    AddPage(None, contest, "賞").execute()
    assert sorted(contest.pages.values_list("slug", flat=True)) == ["page", "prizes", "prizes-2"]
    with pytest.raises(Refused, match="no such page"):
        EditText(None, contest, "summary", "x").execute()


def test_the_text_that_a_page_had_is_kept_in_the_log(contest):
    EditText(None, contest, "rules", "First").execute()
    EditText(None, contest, "rules", "Second").execute()
    assert AuditEntry.objects.first().data == {"page": "rules", "before": "First"}


def test_whoever_organized_a_competition_takes_no_rank_in_its_copy(contest):
    bob = make.user("bob")
    role = Organizer.objects.create(competition=contest, user=bob, role=Organizer.Role.REVIEWER)
    role.delete()
    action = Clone(make.user("root", is_superuser=True), contest, title="The contest again", slug="again")
    action.execute()
    assert held_a_role(action.made, bob)
    assert not held_a_role(action.made, make.user("charlie"))
