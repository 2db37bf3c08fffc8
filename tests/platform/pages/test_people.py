"""The studio's people: participants answered singly and at once, roles, and the audit log."""

import csv
import datetime as dt
import io
import json

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from competitions import teams
from competitions.actions.base import Action, record
from competitions.models import Announcement, AuditEntry, Delivery, Organizer, Participant
from pages.action_labels import LABELS
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest():
    return make.competition("contest", title="The contest")


def browser(name):
    client = Client()
    client.force_login(make.user(name))
    return client


@pytest.fixture
def olga(contest):
    return browser("olga")


@pytest.fixture
def rita(contest):
    """A reviewer who does not see what is hidden."""
    Organizer.objects.create(competition=contest, user=make.user("rita"), role="reviewer")
    return browser("rita")


def url(ending=""):
    return f"/competitions/contest/{ending}"


def text(response):
    return " ".join(response.content.decode().split())


def asking(contest, *names, state="pending"):
    return [make.participant(contest, make.user(name), state).pk for name in names]


def crowd(contest, many):
    """Many participants at once."""
    users = User.objects.bulk_create(
        [User(username=f"person{n:05}", email=f"person{n:05}@example.org") for n in range(many)]
    )
    states = ["approved", "pending", "rejected"]
    Participant.objects.bulk_create(
        [Participant(competition=contest, user=user, state=states[n % 3]) for n, user in enumerate(users)]
    )


def names(response):
    return [line.participant.user.username for line in response.context["lines"]]


def test_a_wish_is_approved_after_a_look_at_what_would_happen(contest, olga):
    alice, bob = asking(contest, "alice", "bob")
    where = url("manage/participants/decide/")
    page = text(olga.post(where, {"decision": "approve", "who": [alice]}))
    assert "1 person is approved: alice." in page
    assert "1 gets it by mail" in page
    assert Participant.objects.get(pk=alice).state == "pending"
    sent = {"decision": "approve", "who": [alice], "confirm": "yes", "tells": "yes", "words": "Welcome!"}
    assert olga.post(where, sent).url == url("manage/participants/")
    assert [Participant.objects.get(pk=one).state for one in (alice, bob)] == ["approved", "pending"]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.text) == ("approve_participants", "1 person was approved: alice.")
    assert "The organizers of The contest approved you" in text(browser("alice").get(url("announcements/")))
    assert "Welcome!" in text(browser("alice").get(url("announcements/")))
    assert "approved you" not in text(browser("bob").get(url("announcements/")))


def test_everybody_of_a_filter_is_answered_at_once_but_nobody_who_came_after_the_look(contest, olga):
    asking(contest, *(f"ann{number}" for number in range(60)))
    asking(contest, "eve")
    page = olga.get(url("manage/participants/"), {"q": "ann"})
    wanted = {"decision": "reject", "everybody": "yes", "q": "ann", "last": page.context["last"]}
    answer = text(olga.post(url("manage/participants/decide/"), wanted))
    assert "60 people are rejected: ann0, ann1, ann2, ann3, ann4 and 55 more." in answer
    asking(contest, "ann99")
    olga.post(url("manage/participants/decide/"), {**wanted, "confirm": "yes"})
    left = Participant.objects.filter(state="pending").values_list("user__username", flat=True)
    assert sorted(left) == ["ann99", "eve"]
    assert AuditEntry.objects.count() == 1
    assert not Announcement.objects.exists(), "nobody is told where the box was not ticked"


def test_removing_says_what_stays_of_those_who_submitted(contest, olga):
    phase = make.phase(contest)
    (alice,) = asking(contest, "alice", state="approved")
    make.submission(phase, make.user("alice"))
    page = text(olga.post(url("manage/participants/decide/"), {"decision": "remove", "who": [alice]}))
    assert "1 entrant of theirs has submitted: that stays" in page
    olga.post(url("manage/participants/decide/"), {"decision": "remove", "who": [alice], "confirm": "yes"})
    assert browser("alice").post(url("submissions/")).status_code == 403


def test_an_answer_that_concerns_nobody_says_so(contest, olga):
    (alice,) = asking(contest, "alice", state="approved")
    answer = olga.post(url("manage/participants/decide/"), {"decision": "approve", "who": [alice]})
    assert answer.status_code == 409
    assert "Nobody of those chosen can be approved now." in text(answer)
    elsewhere = make.participant(make.competition(), make.user("carol"), "pending").pk
    answer = olga.post(
        url("manage/participants/decide/"), {"decision": "approve", "who": [elsewhere], "confirm": "yes"}
    )
    assert answer.status_code == 409
    assert Participant.objects.get(pk=elsewhere).state == "pending"


def test_ten_thousand_people_are_listed_in_ten_queries_on_every_page(contest, olga, django_assert_max_num_queries):
    crowd(contest, 10_000)
    contest.max_team_size = 2
    contest.save()
    for name, team in (("person09999", "The Team"), ("person09996", "Others")):
        teams.create(contest, make.user(name), team)
    address, seen = url("manage/participants/"), []
    for _ in range(3):
        with django_assert_max_num_queries(10):
            page = olga.get(address)
        seen += names(page)
        address = url("manage/participants/") + page.context["page"].older
    assert len(seen) == len(set(seen)) == 150
    assert seen[0] == "person09999"
    back = olga.get(url("manage/participants/") + olga.get(address).context["page"].newer)
    assert names(back) == seen[100:150]
    with django_assert_max_num_queries(10):
        page = olga.get(url("manage/participants/"), {"state": "pending", "q": "person0012"})
    assert names(page) == ["person00127", "person00124", "person00121"]
    with django_assert_max_num_queries(70):
        table = b"".join(olga.get(url("manage/participants.csv")).streaming_content)
    assert table.count(b"\n") == 10_001


def test_addresses_are_for_owners_and_editors_alone(contest, olga, rita):
    asking(contest, "alice")
    assert "alice@example.org" in text(olga.get(url("manage/participants/")))
    assert "alice@example.org" not in text(rita.get(url("manage/participants/")))
    assert names(olga.get(url("manage/participants/"), {"q": "alice@"})) == ["alice"]
    assert names(rita.get(url("manage/participants/"), {"q": "alice@"})) == []
    assert b"@" in b"".join(olga.get(url("manage/participants.csv")))
    assert b"@" not in b"".join(rita.get(url("manage/participants.csv")))


def test_a_name_is_no_formula_in_the_export(contest, olga):
    for number, name in enumerate(("=1+1", "+1", "-1", "@SUM(1)", "\t=1")):
        person = make.user(f"person{number}")
        User.objects.filter(pk=person.pk).update(first_name=name, affiliation=name)
        make.participant(contest, person)
    table = b"".join(olga.get(url("manage/participants.csv"))).decode()
    rows = list(csv.DictReader(io.StringIO(table)))
    assert len(rows) == 5
    for row in rows:
        assert row["name"].startswith("'")
        assert row["affiliation"].startswith("'")


def test_an_owner_gives_a_role_after_reading_that_it_costs_the_rank(contest, olga):
    make.participant(contest, make.user("alice"))
    make.entrant(contest, make.user("alice"))
    wanted = {"person": "alice", "role": "editor"}
    page = text(olga.post(url("manage/organizers/give/"), wanted))
    assert "alice takes no rank in this competition from now on" in page
    assert "loses its place on every board" in page
    assert not Organizer.objects.filter(user__username="alice").exists()
    olga.post(url("manage/organizers/give/"), {**wanted, "confirm": "yes"})
    assert Organizer.objects.get(user__username="alice").role == "editor"
    assert contest.entrants.get().held_a_role
    assert AuditEntry.objects.get().action == "give_role"


def test_an_address_names_somebody_only_once_it_was_verified(contest, olga):
    from allauth.account.models import EmailAddress

    alice, wanted = make.user("alice"), {"person": "alice@example.org", "role": "reviewer", "confirm": "yes"}
    make.user("mallory").emailaddress_set.create(email="alice@example.org", verified=False)
    User.objects.create_user("alice@example.org")  # a user name that looks like somebody's address
    answer = olga.post(url("manage/organizers/give/"), wanted)
    assert answer.status_code == 404
    assert "Nobody with this user name or verified e-mail address" in text(answer)
    EmailAddress.objects.all().delete()
    EmailAddress.objects.create(user=alice, email="Alice@example.org", verified=True)
    olga.post(url("manage/organizers/give/"), {**wanted, "sees_hidden": "yes"})
    role = Organizer.objects.get(user=alice)
    assert (role.role, role.sees_hidden) == ("reviewer", True)


def test_an_owner_always_stays(contest, olga):
    own = Organizer.objects.get(user__username="olga")
    for address, more in (("give", {"role": "editor"}), ("take", {})):
        answer = olga.post(url(f"manage/organizers/{address}/"), {"organizer": own.pk, "confirm": "yes", **more})
        assert answer.status_code == 409
        assert "olga is the only owner of The contest." in text(answer)
    Organizer.objects.create(competition=contest, user=make.user("otto"), role="owner")
    answer = olga.post(url("manage/organizers/take/"), {"organizer": own.pk, "confirm": "yes"})
    assert answer.url == url()
    assert [one.user.username for one in contest.organizers.all()] == ["otto"]
    assert olga.get(url("manage/organizers/")).status_code == 403


def test_editors_and_reviewers_give_no_roles_and_learn_of_no_account(contest, rita):
    eddy = Organizer.objects.create(competition=contest, user=make.user("eddy"), role="editor")
    make.user("alice")
    for client in (rita, browser("eddy")):
        for person in ("alice", "nobody"):
            answer = client.post(
                url("manage/organizers/give/"), {"person": person, "role": "owner", "confirm": "yes"}
            )
            assert answer.status_code == 403
            assert "Only owners" in text(answer)
        assert "Give somebody a role" not in text(client.get(url("manage/organizers/")))
    assert rita.post(url("manage/organizers/take/"), {"organizer": eddy.pk, "confirm": "yes"}).status_code == 403
    assert (
        browser("eddy").post(url("manage/organizers/take/"), {"organizer": eddy.pk, "confirm": "yes"}).url == url()
    )


def log(contest, many=1, **fields):
    fields = {"by": make.user("olga"), "action": "change_metric", "text": "secretset got AUC.", **fields}
    for _ in range(many):
        record(contest, at=fields.pop("at", timezone.now()), **fields)


def shown(client, **query):
    return [line.text for line in client.get(url("manage/audit/"), query).context["lines"]]


def test_the_log_is_filtered_by_person_action_day_and_words(contest, olga):
    eddy = make.user("eddy")
    log(contest, by=eddy, text="Eddy did this.")
    log(contest, by=None, action="reveal", text="Two datasets were shown.")
    log(contest, at=timezone.now().replace(year=2020, month=5, day=4), text="Long ago.")
    assert shown(olga) == ["Long ago.", "Two datasets were shown.", "Eddy did this."]
    assert shown(olga, who="eddy") == ["Eddy did this."]
    assert shown(olga, who="-") == ["Two datasets were shown."]
    assert shown(olga, action="reveal") == ["Two datasets were shown."]
    assert shown(olga, since="2020-05-04", until="2020-05-04") == ["Long ago."]
    assert shown(olga, until="2020-05-03") == []
    assert shown(olga, q="datasets") == ["Two datasets were shown."]
    assert len(shown(olga, since="yesterday", until="9999-12-31")) == 3


def test_days_of_the_filter_are_those_of_ones_own_zone(contest, olga):
    log(contest, at=dt.datetime(2026, 5, 3, 20, tzinfo=dt.UTC), text="Early in the morning of 4 May in Tokyo.")
    assert shown(olga, since="2026-05-04") == []
    person = make.user("olga")
    person.time_zone = "Asia/Tokyo"
    person.save()
    assert shown(olga, since="2026-05-04", until="2026-05-04") == ["Early in the morning of 4 May in Tokyo."]
    assert "Days are those of Asia/Tokyo" in text(olga.get(url("manage/audit/")))
    assert json.loads(b"".join(olga.get(url("manage/audit.json"), {"until": "2026-05-03"}))) == []


def subclasses(kind):
    for one in kind.__subclasses__():
        yield one
        yield from subclasses(one)


def test_every_kind_of_action_has_a_label_in_the_log(contest, olga):
    ours = [one for one in subclasses(Action) if not one.__module__.startswith("tests.")]
    assert {one.name for one in ours if hasattr(one, "name")} <= set(LABELS)
    log(contest, action="bulk")
    page = text(olga.get(url("manage/audit/")))
    assert '<option value="bulk">Many submissions at once</option>' in page


def test_who_does_not_see_what_is_hidden_reads_no_sentence_that_may_name_it(contest, olga, rita):
    log(contest, dataset="secretset")
    log(contest, action="give_role", text="eddy became an editor.")
    assert shown(olga) == ["eddy became an editor.", "secretset got AUC."]
    assert shown(rita) == ["eddy became an editor.", ""]
    assert shown(rita, q="secretset") == [], "a word that is found would tell of it"
    assert shown(rita, q="editor") == ["eddy became an editor."]
    for ending in ("manage/audit/", "manage/audit.csv", "manage/audit.json"):
        assert b"secretset" in b"".join(olga.get(url(ending)))
        assert b"secretset" not in b"".join(rita.get(url(ending)))


def test_details_are_shown_shortened_and_only_with_their_sentence(contest, olga, rita):
    log(contest, before={"wall seconds": 60}, after={"wall seconds": 120}, empty=None, runs=list(range(500)))
    (line,) = olga.get(url("manage/audit/")).context["lines"]
    told = dict(line.details)
    assert (told["before"], told["after"]) == ('{"wall seconds": 60}', '{"wall seconds": 120}')
    assert "empty" not in told
    assert told["runs"].endswith("…")
    (line,) = rita.get(url("manage/audit/")).context["lines"]
    assert line.details == []


def test_the_log_is_exported_whole(contest, olga, django_assert_max_num_queries):
    log(contest, 250, text="=1+1", number=7)
    with django_assert_max_num_queries(10):
        entries = json.loads(b"".join(olga.get(url("manage/audit.json"))))
    assert len(entries) == 250
    assert (entries[0]["who"], entries[0]["text"], entries[0]["data"]) == ("olga", "=1+1", {"number": 7})
    rows = list(csv.DictReader(io.StringIO(b"".join(olga.get(url("manage/audit.csv"))).decode())))
    assert len(rows) == 250
    assert rows[0]["what"] == "'=1+1"
    assert json.loads(b"".join(olga.get(url("manage/audit.json"), {"who": "nobody"}))) == []
    with django_assert_max_num_queries(10):
        page = olga.get(url("manage/audit/"))
    assert len(page.context["lines"]) == 100
    assert len(olga.get(url("manage/audit/") + page.context["page"].older).context["lines"]) == 100


def test_chosen_people_are_written_to(contest, olga):
    alice, _ = asking(contest, "alice", "bob")
    where = url("manage/announcements/new/")
    assert "Nobody was chosen." in text(olga.post(where, {"write": "yes", "last": 9}))
    page = text(olga.post(where, {"write": "yes", "who": [alice]}))
    assert "the people you chose" in page
    said = {"to": "person", "subject": "A word", "body": "Please *answer*.", "who": [alice], "by_mail": "on"}
    page = text(olga.post(where, said))
    assert "1 person is told: alice." in page
    assert "<em>answer</em>" in page
    olga.post(where, {**said, "confirm": "yes"})
    assert [one.user.username for one in Delivery.objects.all()] == ["alice"]
    assert "A word" in text(browser("alice").get(url("announcements/")))
    for other in (browser("bob"), Client()):
        assert "A word" not in text(other.get(url("announcements/")))
