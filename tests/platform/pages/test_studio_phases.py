"""The Phases section of the studio: what it shows, how it is filled in, and what is shown before it is done."""

import datetime as dt

import pytest
from django.test import Client

from competitions.models import AuditEntry, Competition, Organizer, Phase, Round, Task
from submissions.models import Submission
from tests.platform import factories as make
from tests.platform.series import enter, finish, series

pytestmark = pytest.mark.django_db
DAY = dt.timedelta(days=1)


def of(person):
    client = Client()
    client.force_login(person)
    return client


@pytest.fixture
def olga():
    return of(make.user("olga"))


@pytest.fixture
def contest():
    """A draft of Olga's without phases."""
    return make.competition("draft", state=Competition.State.DRAFT)


def url(contest, ending=""):
    return f"/competitions/{contest.slug}/manage/phases/{ending}"


def text(response):
    return " ".join(response.content.decode().split())


def fill(olga, contest, blueprint="three-phases", start="2031-03-01T00:00"):
    answer = olga.post(url(contest, "fill/"), {"blueprint": blueprint, "start": start})
    assert answer.status_code == 302, text(answer)
    return {phase.title: phase for phase in contest.phases()}


def sent(olga, address, **changes):
    """What the form of a page would send, with some fields changed; None leaves one out."""
    form = olga.get(address).context["form"]
    fields = {}
    for bound in form:
        value = bound.value()
        if bound.field.disabled or value is None or value is False:
            continue
        fields[bound.html_name] = "on" if value is True else bound.field.widget.format_value(value)
        if isinstance(fields[bound.html_name], list):
            fields[bound.html_name] = fields[bound.html_name][0] if fields[bound.html_name] else ""
    fields |= {"seen": olga.get(address).context.get("seen", "")}
    fields |= changes
    return {name: value for name, value in fields.items() if value is not None}


def test_an_empty_competition_is_filled_from_a_template_and_gets_datasets_in_two_posts(olga, contest):
    assert "Begin with a template" in text(olga.get(url(contest)))
    phases = fill(olga, contest)
    assert list(phases) == ["Tweakathon[0]", "Final[0]", "AutoML[1]"]
    one, two = (make.dataset(make.user("olga")) for _ in range(2))
    page = olga.get(url(contest, "datasets/"))
    assert page.content.decode().count("checked") == 3, "phases without datasets are ticked already"
    wanted = {"datasets": [one.pk, two.pk], "phases": [phase.pk for phase in phases.values()]}
    assert olga.post(url(contest, "datasets/"), wanted).status_code == 302
    assert Task.objects.count() == 6
    page = text(olga.get(url(contest)))
    assert "AutoML[1] is blind, but Tweakathon[0] shows 2 of its datasets before." in page
    assert [entry.action for entry in AuditEntry.objects.order_by("pk")] == ["fill_from_blueprint", "add_tasks"]
