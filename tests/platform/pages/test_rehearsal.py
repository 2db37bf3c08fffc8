"""The studio's page of the rehearsal."""

import datetime as dt

import pytest
from django.test import Client

from competitions import clock as protocol_clock
from competitions.models import Competition, Organizer
from submissions.rehearsal.advance import calendar
from submissions.rehearsal.start import rehearsal_of
from tests.platform import factories as make
from tests.platform.series import series

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick_imports(monkeypatch):
    """The made datasets come in without the baselines of their check, which are tested with datasets."""
    monkeypatch.setattr("datasets.checks.best_baseline", lambda material: None)


@pytest.fixture
def contest(clock) -> Competition:
    return series(clock.now + dt.timedelta(days=10), datasets=1).contest


@pytest.fixture
def olga(contest) -> Client:
    client = Client()
    client.force_login(make.user("olga"))
    return client


def page(client, contest, what="") -> str:
    return f"/competitions/{contest.slug}/manage/rehearsal/{what}"


def seen(contest) -> str:
    return f"{rehearsal_of(contest).clock_offset.total_seconds():.6f}"


def test_the_page_says_what_a_rehearsal_would_be_and_starts_it(contest, olga):
    text = olga.get(page(olga, contest)).content.decode()
    assert "3 small made datasets stand for the real ones" in text
    assert "No worker is connected" in text
    started = olga.post(page(olga, contest, "start/"), follow=True).content.decode()
    assert "A rehearsal of Round 0 was started" in started
    assert "Tweakathon[0] opens" in started
    assert rehearsal_of(contest) is not None


def test_a_competition_without_datasets_says_what_is_missing(clock):
    client = Client()
    empty = make.competition("empty")
    client.force_login(empty.created_by)
    text = client.get(page(client, empty)).content.decode()
    assert "has no phase with a dataset" in text
    assert "Start the rehearsal" not in text


def test_its_clock_is_moved_by_a_moment_and_by_hours(contest, olga):
    olga.post(page(olga, contest, "start/"))
    first = calendar(rehearsal_of(contest))[0]
    sent = {"to": first.at.isoformat(), "seen": seen(contest)}
    text = olga.post(page(olga, contest, "advance/"), sent, follow=True).content.decode()
    assert f"The clock was moved on to {first.at.day} {first.at:%B %Y %H:%M}, UTC." in text
    assert "Sample code" in text
    assert protocol_clock.now(rehearsal_of(contest)) > first.at
    again = olga.post(page(olga, contest, "advance/"), sent)
    assert again.status_code == 409
    before = protocol_clock.now(rehearsal_of(contest))
    olga.post(page(olga, contest, "advance/"), {"hours": "2", "seen": seen(contest)})
    assert protocol_clock.now(rehearsal_of(contest)) == before + dt.timedelta(hours=2)


@pytest.mark.parametrize("sent", [{"hours": "nan"}, {"hours": "-3"}, {"hours": "1e300"}, {"to": "soon"}])
def test_what_is_no_moment_is_refused(contest, olga, sent):
    make.competition("try", rehearses=contest)
    assert olga.post(page(olga, contest, "advance/"), sent).status_code == 400


def test_reviewers_see_it_and_change_nothing(contest, olga):
    olga.post(page(olga, contest, "start/"))
    rita = Client()
    rita.force_login(make.user("rita"))
    assert rita.get(page(rita, contest)).status_code == 403
    Organizer.objects.create(competition=contest, user=make.user("rita"), role="reviewer")
    text = rita.get(page(rita, contest)).content.decode()
    assert "Tweakathon[0]" in text
    assert "Go to the next moment" not in text
    for what in ("start/", "advance/", "throw-away/"):
        assert rita.post(page(rita, contest, what)).status_code == 403
    copy = rehearsal_of(contest).get_absolute_url()
    assert rita.get(copy).status_code == 200
    contest.organizers.get(user__username="rita").delete()
    assert rita.get(copy).status_code == 404


def test_the_copy_says_what_it_is_and_leads_back(contest, olga):
    olga.post(page(olga, contest, "start/"))
    copy = rehearsal_of(contest)
    assert "rehearsal, seen by organizers only" in olga.get(copy.get_absolute_url()).content.decode()
    assert olga.get(page(olga, copy)).url == page(olga, contest)
    assert copy.title not in olga.get("/competitions/").content.decode()


def test_htmx_gets_the_live_part_alone(contest, olga):
    olga.post(page(olga, contest, "start/"))
    text = olga.get(page(olga, contest), headers={"HX-Request": "true"}).content.decode()
    assert text.startswith('<div id="rehearsal"')


def test_it_is_thrown_away_by_one_click(contest, olga):
    olga.post(page(olga, contest, "start/"))
    text = olga.post(page(olga, contest, "throw-away/"), follow=True).content.decode()
    assert "Rehearsal of Round 0 was deleted" in text
    told = contest.audit.get(action="throw_away_rehearsal").text
    assert told == "The rehearsal of Round 0 was thrown away."
    assert rehearsal_of(contest) is None
