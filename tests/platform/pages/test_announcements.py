"""Announcements in the browser: written, looked at, sent, followed, and read by those whom they are for."""

import pytest
from django.test import Client

from competitions.models import Announcement, Delivery, Organizer, Participant
from tests.platform import factories as make

pytestmark = pytest.mark.django_db

SAID = {"to": "everybody", "subject": "News", "body": "The **Final** begins. <script>x</script>", "by_mail": "on"}


@pytest.fixture
def contest():
    made = make.competition("contest", title="The contest")
    for name in ("alice", "bob"):
        make.participant(made, make.user(name))
    return made


def browser(name):
    client = Client()
    client.force_login(make.user(name))
    return client


@pytest.fixture
def olga(contest):
    return browser("olga")


def url(ending=""):
    return f"/competitions/contest/{ending}"


def text(response):
    return " ".join(response.content.decode().split())


def send(client, **fields):
    answer = client.post(url("manage/announcements/new/"), {**SAID, **fields, "confirm": "yes"})
    assert answer.status_code == 302
    return Announcement.objects.first()


def test_an_announcement_is_shown_as_it_will_be_read_with_the_count_before_it_is_sent(contest, olga):
    page = text(olga.post(url("manage/announcements/new/"), SAID))
    assert "All participants are told: 2 people." in page
    assert "2 mails are sent." in page
    assert "<strong>Final</strong> begins." in page
    assert "<script>x" not in page
    assert not Announcement.objects.exists()
    again = olga.post(url("manage/announcements/new/"), {**SAID, "change": "yes"})
    assert again.context["form"]["body"].value() == SAID["body"]
    assert send(olga).deliveries.count() == 2


def test_what_was_forgotten_is_said_in_the_form(contest, olga):
    assert olga.post(url("manage/announcements/new/"), {**SAID, "subject": ""}).status_code == 400
    answer = olga.post(url("manage/announcements/new/"), {**SAID, "to": "phase-1"})
    assert answer.status_code == 400, "there is no such phase to choose"
    phase = make.phase(contest)
    answer = olga.post(url("manage/announcements/new/"), {**SAID, "to": f"phase-{phase.number}"})
    assert answer.status_code == 409
    assert "Nobody has submitted to Tweakathon[0] yet." in text(answer)
    assert SAID["subject"] in text(answer)


def test_a_participant_sees_how_many_are_new_until_they_were_read(contest, olga):
    send(olga)
    send(olga, subject="More")
    alice = browser("alice")
    assert "2 new" in text(alice.get(url()))
    page = text(alice.get(url("announcements/")))
    assert page.count(">new<") == 2
    assert "2 new" not in page
    assert ">new<" not in text(alice.get(url("announcements/")))
    assert "new</span>" not in text(alice.get(url()))
    assert "2 new" in text(browser("bob").get(url()))
    assert "new</span>" not in text(Client().get(url()))


def test_what_went_to_a_phase_is_read_by_those_of_the_phase_alone(contest, olga):
    phase = make.phase(contest)
    make.submission(phase, make.user("alice"))
    send(olga, to=f"phase-{phase.number}", subject="For those of the Tweakathon")
    for name, reads in (("alice", True), ("bob", False), ("charlie", False)):
        assert ("For those of" in text(browser(name).get(url("announcements/")))) is reads
    assert "For those of" not in text(Client().get(url("announcements/")))
    assert "For those of" in text(olga.get(url("manage/announcements/")))


def test_an_organizer_follows_the_mails_until_all_are_sent(contest, olga):
    made = send(olga)
    where = url(f"manage/announcements/{made.pk}/")
    assert 'hx-trigger="every 3s"' in text(olga.get(where))
    Delivery.objects.filter(user__username="alice").update(state="sent")
    part = text(olga.get(where, headers={"HX-Request": "true"}))
    assert "1 of 2 sent" in part
    assert "<html" not in part
    bob = Delivery.objects.filter(user__username="bob")
    bob.update(state="failed", problem="The mail server refused it (550).")
    page = text(olga.get(where))
    assert "hx-trigger" not in page
    assert "refused it (550)" in page
    olga.post(where + "again/")
    assert bob.get().state == "waiting"
    elsewhere = make.competition("elsewhere")
    assert olga.get(f"/competitions/{elsewhere.slug}/manage/announcements/{made.pk}/").status_code == 404


def test_a_participant_ends_the_mails_and_asks_for_them_again(contest, olga):
    alice = browser("alice")
    for wants in (False, True):
        alice.post(url("announcements/mail/"), {"wants_mail": "yes" if wants else "no"})
        assert Participant.objects.get(user__username="alice").wants_mail is wants
        assert ('value="no"' in text(alice.get(url("announcements/")))) is wants
    assert Participant.objects.filter(wants_mail=False).count() == 0
    assert browser("charlie").post(url("announcements/mail/"), {"wants_mail": "yes"}).status_code == 403


def test_lists_of_announcements_cost_the_same_however_many_people_were_told(
    contest, olga, django_assert_max_num_queries
):
    for number in range(25):
        made = Announcement.objects.create(competition=contest, subject=f"No. {number}", body="x")
        Delivery.objects.bulk_create(
            [Delivery(announcement=made, user=make.user(name), state="sent") for name in ("alice", "bob")]
        )
    with django_assert_max_num_queries(10):
        page = text(olga.get(url("manage/announcements/")))
    assert page.count("2 sent") == 20
    alice = browser("alice")
    with django_assert_max_num_queries(12):
        page = alice.get(url("announcements/"))
    assert "5 new" in text(page), "those of the next page"
    assert "No. 0" in text(alice.get(url("announcements/") + page.context["page"].older))


def test_a_reviewer_reads_what_was_sent_and_sends_nothing(contest, olga):
    made = send(olga)
    Organizer.objects.create(competition=contest, user=make.user("rita"), role="reviewer")
    rita = browser("rita")
    page = text(rita.get(url("manage/announcements/")))
    assert "News" in page
    assert "Write one" not in page
    assert rita.post(url("manage/announcements/new/"), {**SAID, "confirm": "yes"}).status_code == 403
    assert rita.post(url(f"manage/announcements/{made.pk}/again/")).status_code == 403
    assert Announcement.objects.count() == 1
