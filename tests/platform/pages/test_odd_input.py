"""What no browser sends by itself: texts with NUL, and dates at the ends of the calendar."""

import pytest
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.test import Client

from competitions.models import Announcement, Participant
from datasets.models import Upload
from pages import zones
from pages.middleware import without_nul
from submissions.models import BulkWork
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest():
    return make.competition("contest", make.user("olga"))


@pytest.fixture
def olga(contest):
    client = Client()
    client.force_login(make.user("olga"))
    return client


def url(contest, ending=""):
    return f"/competitions/{contest.slug}/{ending}"


def test_nul_is_taken_out_of_names_and_values_and_nothing_else_changes():
    sent = QueryDict("a=1%00&a=%C3%A9&b%00=x%2By")
    assert dict(without_nul(sent).lists()) == {"a": ["1", "é"], "b": ["x+y"]}
    clean = QueryDict("a=1")
    assert without_nul(clean) is clean


def test_no_text_that_is_kept_holds_nul(olga, contest):
    phase = make.phase(contest)
    made = make.submission(phase, make.user("alice"))
    chosen = olga.post(url(contest, "manage/submissions/many/"), {"submission": made.pk, "kind": "disqualify"})
    olga.post(chosen["Location"], {"confirm": "yes", "why": "Two\0 accounts."})
    assert BulkWork.objects.get().why == "Two accounts."
    person = make.participant(contest, make.user("bob"), Participant.State.PENDING)
    answer = {"decision": "reject", "who": person.pk, "words": "No\0.", "tells": "yes", "confirm": "yes"}
    olga.post(url(contest, "manage/participants/decide/"), answer)
    assert Announcement.objects.get().body.endswith("No.")


def test_no_search_looks_for_nul(olga, contest):
    for ending in ("audit/?q=%00a", "participants/?q=%00a", "teams/?search=%00a", "submissions/?q=%00a"):
        page = olga.get(url(contest, f"manage/{ending}"))
        assert page.status_code == 200
        assert "\0" not in page.content.decode()


def test_an_address_with_nul_leads_nowhere(olga, contest):
    assert olga.get(url(contest, "images/a%00.png")).status_code == 404


@pytest.mark.parametrize("typed", ["0001-01-01T00:00", "1969-12-31T23:59", "2200-01-01T00:00", "9999-12-31T23:59"])
def test_dates_at_the_ends_of_the_calendar_are_refused_where_they_are_typed(typed):
    with pytest.raises(ValidationError, match="years from 1970 to 2199"):
        zones.LocalMoment().clean(typed)


def test_a_form_where_json_is_wanted_is_refused_and_texts_in_json_hold_no_nul(olga):
    assert olga.post("/datasets/uploads/begin/", {"filename": "a.csv"}).status_code == 400
    given = {"filename": "a\0.csv", "size": 10, "fingerprint": "a.csv:10:1"}
    begun = olga.post("/datasets/uploads/begin/", given, content_type="application/json")
    assert begun.status_code == 201
    assert Upload.objects.get().filename == "a.csv"
