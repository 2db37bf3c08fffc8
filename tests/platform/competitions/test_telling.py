"""Announcements: who is told, what becomes of the mails, and that none leaves a rehearsal."""

import datetime as dt
import re
import smtplib

import pytest
from django.core import mail
from django.utils import timezone

from accounts.refusals import Refused
from competitions import teams, telling
from competitions.actions.announcements import Announce, SendAgain
from competitions.models import Announcement, AuditEntry, Competition, Delivery, Participant
from competitions.telling import bell, delivery
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest(settings):
    settings.PODIUM_URL = "https://podium.example.org"
    return make.competition("contest", title="The contest", max_team_size=3)


@pytest.fixture(autouse=True)
def rung(monkeypatch):
    """How often the bell was rung."""
    rung = []
    monkeypatch.setattr(bell, "ring", lambda: rung.append(1))
    return rung


def people(contest, *names, **fields):
    for name in names:
        make.participant(contest, make.user(name), **fields)


def announce(contest, **fields):
    fields = {"subject": "News", "body": "Read *this*.", **fields}
    action = Announce(by=make.user("olga"), contest=contest, **fields)
    action.execute()
    return action.made


def told(announcement):
    return sorted(announcement.deliveries.values_list("user__username", flat=True))


def states(announcement):
    return dict(announcement.deliveries.values_list("user__username", "state"))


def recipients():
    return sorted(address for one in mail.outbox for address in one.to)


class Server:
    """A mail backend that answers as it is told, one answer for each mail; then with yes."""

    answers: list[Exception]
    opened = 0

    def __init__(self, **options):
        pass

    def open(self):
        type(self).opened += 1

    def close(self):
        pass

    def send_messages(self, messages):
        if self.answers:
            raise self.answers.pop(0)
        mail.outbox.extend(messages)
        return len(messages)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(delivery, "get_connection", Server)
    Server.answers, Server.opened = [], 0
    return Server


def test_everybody_who_takes_part_is_told_and_nobody_else(contest):
    people(contest, "alice", "bob")
    people(contest, "carol", state="pending")
    people(contest, "dave", state="removed")
    people(make.competition(), "eve")
    made = announce(contest)
    assert told(made) == ["alice", "bob"]
    delivery.deliver()
    assert recipients() == ["alice@example.org", "bob@example.org"]
    assert set(states(made).values()) == {"sent"}
    assert AuditEntry.objects.get().text == "“News” was sent to all participants: 2 people."


def test_those_who_submitted_in_a_phase_are_told_with_their_whole_team(contest):
    phase, other = make.phase(contest), make.phase(contest, title="Final[0]")
    people(contest, "alice", "bob", "carol", "dave")
    alice, bob = make.user("alice"), make.user("bob")
    team = teams.create(contest, alice, "The Team")
    teams.invite(team, bob, by=alice)
    teams.accept(team, bob)
    submission = make.submission(phase, make.user("carol"))
    submission.pk, submission.entrant = None, team.entrant
    submission.save()
    make.submission(other, make.user("dave"))
    assert told(announce(contest, audience="phase", phase=phase)) == ["alice", "bob", "carol"]


def test_the_preview_counts_people_and_mails(contest):
    people(contest, "alice", "bob", "carol")
    Participant.objects.filter(user__username="bob").update(wants_mail=False)
    type(make.user("carol")).objects.filter(username="carol").update(email="")
    action = Announce(by=make.user("olga"), contest=contest, subject="News", body="Read this.")
    sentences = action.preview(timezone.now()).sentences
    assert sentences[0] == "All participants are told: 3 people."
    assert sentences[2] == "1 mail is sent. 2 people have no address or want no mail."
    made = announce(contest)
    assert states(made) == {"alice": "waiting", "bob": "on_site", "carol": "on_site"}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"subject": "  "}, "needs a subject"),
        ({"body": " \n"}, "needs a subject and a text"),
        ({"subject": "x" * 151}, "150 characters"),
        ({"audience": "phase"}, "Choose the phase"),
        ({"audience": "person"}, "Nobody was chosen"),
        ({"audience": "world"}, "no audience"),
    ],
)
def test_what_cannot_be_announced_says_why(contest, fields, why):
    with pytest.raises(Refused, match=why):
        announce(contest, **fields)
    assert not Announcement.objects.exists()


def test_a_second_click_sends_nothing_twice(contest):
    people(contest, "alice")
    announce(contest)
    with pytest.raises(Refused, match="a moment ago"):
        announce(contest)
    assert Announcement.objects.count() == 1
    assert AuditEntry.objects.count() == 1


def test_the_mail_carries_text_and_html_and_a_way_out(contest):
    people(contest, "alice")
    made = announce(
        contest, subject="News\nBcc: eve@example.org", body="Read *this* & [that](/competitions/contest/)."
    )
    delivery.deliver()
    (sent,) = mail.outbox
    assert sent.subject == "[The contest] News Bcc: eve@example.org"
    assert (sent.to, sent.bcc, sent.cc) == (["alice@example.org"], [], [])
    assert "Read *this* & [that]" in sent.body
    assert f"https://podium.example.org/competitions/contest/announcements/#announcement-{made.pk}" in sent.body
    (html,) = [one.content for one in sent.alternatives]
    assert '<em>this</em> &amp; <a href="https://podium.example.org/competitions/contest/"' in html
    ending = re.search(r"<(https://[^>]+)>", sent.extra_headers["List-Unsubscribe"])[1]
    assert sent.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert ending in sent.body
    assert ending in html


def test_one_click_in_a_mail_ends_the_mails_of_that_competition_alone(contest, client):
    people(contest, "alice")
    other = make.competition()
    people(other, "alice")
    announce(contest)
    delivery.deliver()
    ending = re.search(r"https://[^/]+(/[^>]+)>", mail.outbox[0].extra_headers["List-Unsubscribe"])[1]
    assert client.get(ending).status_code == 200
    assert Participant.objects.filter(wants_mail=True).count() == 2, "looking at the link ends nothing"
    strict = type(client)(enforce_csrf_checks=True)  # a mail program has no cookie of ours
    assert strict.post(ending, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert dict(Participant.objects.values_list("competition", "wants_mail")) == {
        contest.pk: False,
        other.pk: True,
    }
    assert client.post(ending[:-3] + "xx/").status_code == 404
    assert states(announce(contest, subject="More")) == {"alice": "on_site"}


def test_no_mail_leaves_a_rehearsal(contest, rung, django_capture_on_commit_callbacks):
    rehearsal = make.competition(
        "rehearsal", make.user("olga"), rehearses=contest, clock_offset=dt.timedelta(days=3)
    )
    people(rehearsal, "alice")
    with django_capture_on_commit_callbacks(execute=True):
        made = announce(rehearsal)
    assert states(made) == {"alice": "on_site"}
    assert made.by_mail is False
    assert rung == []
    assert made.sent_at <= timezone.now()
    action = Announce(by=make.user("olga"), contest=rehearsal, subject="x", body="x")
    assert action.preview(timezone.now()).sentences[2] == "No mail leaves a rehearsal."
    Delivery.objects.update(state="waiting")  # as if something else had let one wait
    delivery.deliver()
    delivery.reconcile()
    assert mail.outbox == []
    assert rung == []


def test_the_bell_rings_once_the_announcement_is_kept(contest, rung, django_capture_on_commit_callbacks):
    people(contest, "alice")
    with django_capture_on_commit_callbacks(execute=True):
        announce(contest)
        assert rung == []
    assert rung == [1]


def test_a_mail_is_taken_by_exactly_one_of_two_workers(contest):
    people(contest, "alice")
    made = announce(contest)
    one, other = made.deliveries.get(), made.deliveries.get()
    assert delivery.taken(one)
    assert not delivery.taken(other)
    delivery.deliver()
    assert mail.outbox == [], "it is in the hands of the first"


def test_an_address_that_is_refused_for_good_keeps_nobody_else_waiting(contest, server):
    people(contest, "alice", "bob")
    server.answers = [
        smtplib.SMTPRecipientsRefused({"alice@example.org": (550, b"no such user alice@example.org")})
    ]
    made = announce(contest)
    delivery.deliver()
    assert states(made) == {"alice": "failed", "bob": "sent"}
    assert made.deliveries.get(state="failed").problem == "The mail server refused the address (550)."
    SendAgain(by=make.user("olga"), contest=contest, announcement=made).execute()
    delivery.deliver()
    assert set(states(made).values()) == {"sent"}
    with pytest.raises(Refused, match="has failed"):
        SendAgain(by=make.user("olga"), contest=contest, announcement=made).execute()


def test_a_refusal_for_now_is_tried_again_later_and_then_no_more(contest, server, monkeypatch):
    people(contest, "alice")
    made = announce(contest)
    for number, minutes in enumerate((*delivery.AFTER_TRIES, None), 1):
        server.answers = [smtplib.SMTPDataError(451, b"greylisted")]
        delivery.deliver()
        one = made.deliveries.get()
        assert one.tries == number
        if minutes is None:
            break
        assert one.state == "waiting"
        assert one.deadline > timezone.now() + dt.timedelta(minutes=minutes - 0.5)
        delivery.deliver()
        assert made.deliveries.get().tries == number, "not before its time"
        Delivery.objects.update(deadline=timezone.now())
    assert (one.state, one.problem) == ("failed", "The mail server refused the mail (451).")


def test_a_server_that_is_down_uses_up_no_try(contest, server):
    people(contest, "alice", "bob")
    server.answers = [ConnectionRefusedError("no"), ConnectionRefusedError("no")]
    made = announce(contest)
    delivery.deliver()
    assert server.opened == 1, "one failure is enough to stop for now"
    assert set(states(made).values()) == {"waiting"}
    assert not made.deliveries.exclude(tries=0).exists()
    assert made.deliveries.exclude(problem="").get().problem == "The mail server cannot be reached."
    server.answers = []
    Delivery.objects.update(deadline=None)
    delivery.deliver()
    assert set(states(made).values()) == {"sent"}
    assert not made.deliveries.exclude(problem="").exists()


def test_a_mail_whose_worker_was_lost_is_sent_by_another_with_the_same_id(contest, rung):
    people(contest, "alice")
    made = announce(contest)
    lost = made.deliveries.get()
    assert delivery.taken(lost)
    before = delivery.mail.message(made.deliveries.get())
    delivery.reconcile()
    assert rung == []
    delivery.reconcile(timezone.now() + delivery.LEASE + dt.timedelta(seconds=1))
    assert rung == [1]
    delivery.deliver()
    assert [one.extra_headers["Message-ID"] for one in mail.outbox] == [before.extra_headers["Message-ID"]]
    # What the lost worker says afterwards counts for nothing.
    delivery._end(lost, "failed", "late")
    assert states(made) == {"alice": "sent"}


def test_mails_that_waited_three_days_are_given_up(contest, server):
    people(contest, "alice")
    made = announce(contest)
    delivery.reconcile(timezone.now() + delivery.KEPT_FOR + dt.timedelta(minutes=1))
    assert states(made) == {"alice": "failed"}


def test_a_long_list_is_sent_a_slice_at_a_time(contest, rung, monkeypatch):
    people(contest, *(f"person{number}" for number in range(7)))
    made = announce(contest)
    monkeypatch.setattr(delivery, "AT_ONCE", 2)
    moments = iter([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 99.0, 99.0])
    monkeypatch.setattr(delivery, "monotonic", lambda: next(moments))
    delivery.deliver()
    assert 0 < made.deliveries.filter(state="sent").count() < 7
    assert rung == [1]
    monkeypatch.undo()
    delivery.deliver()
    assert made.deliveries.filter(state="sent").count() == 7
    assert len(recipients()) == 7


def test_thousands_of_people_are_told_in_few_queries(contest, django_assert_max_num_queries):
    from tests.platform.pages.test_people import crowd

    crowd(contest, 3000)
    with django_assert_max_num_queries(30):
        everybody = telling.addressees(contest, contest.participants.all())
        telling.tell(contest, everybody, by=None, subject="x", body="x")
    assert Delivery.objects.count() == 3000


def test_deleting_a_competition_takes_its_announcements_along(contest):
    people(contest, "alice")
    announce(contest)
    Competition.objects.filter(pk=contest.pk).delete()
    assert not Delivery.objects.exists()


def test_a_second_click_writes_to_chosen_people_once_and_others_still_get_the_same_words(contest):
    people(contest, "alice", "bob")
    alice = contest.participants.filter(user__username="alice")
    announce(contest, audience="person", people=alice)
    with pytest.raises(Refused, match="a moment ago"):
        announce(contest, audience="person", people=contest.participants.all())
    announce(contest, audience="person", people=contest.participants.filter(user__username="bob"))
    assert Announcement.objects.count() == 2
