"""The timeline of the studio in a real Chromium: dragged, moved by keys, typed, and used without a script."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import expect

from competitions.actions.phases import FillFromBlueprint
from competitions.models import AuditEntry, Competition
from tests.platform import factories as make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def contest(live_server):
    """A draft of three phases; the Tweakathon begins in winter time and closes in summer time."""
    made = make.competition("contest", title="The contest", state=Competition.State.DRAFT)
    start = dt.datetime(2031, 2, 15, tzinfo=BERLIN)
    FillFromBlueprint(by=made.created_by, contest=made, blueprint="three-phases", start=start).execute()
    return made


@pytest.fixture
def page(contest, open_page):
    page = open_page(make.user("olga"), timezone_id="Europe/Berlin", locale="en-GB")
    page.goto(contest.get_absolute_url() + "manage/phases/")
    return page


def dates(contest):
    """Opening and close by title, by the clocks in Berlin."""
    own = {}
    for phase in contest.phases():
        own[phase.title] = tuple(
            f"{moment.astimezone(BERLIN):%m-%d %H:%M}" for moment in (phase.opens_at, phase.closes_at)
        )
    return own


def drag(page, handle, pixels):
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 6):
        page.mouse.move(x + pixels * step / 5, y)


def typed(page, title, edge):
    return page.get_by_label(f"{title} {edge}", exact=True).input_value()


def test_an_end_that_is_dragged_takes_what_follows_along_and_is_saved_by_one_click(contest, page):
    before = typed(page, "Tweakathon[0]", "closes")
    assert before == "2031-04-12T00:00", "56 days by the clock, though one of them has 23 hours"
    handle = page.get_by_role("slider", name="Tweakathon[0], closes")
    drag(page, handle, 60)
    page.keyboard.press("Escape")
    page.mouse.up()
    assert typed(page, "Tweakathon[0]", "closes") == before, "Escape puts it back"
    drag(page, handle, 60)
    page.mouse.up()
    moved = typed(page, "Tweakathon[0]", "closes")
    assert moved > before
    assert moved.endswith("T00:00"), "whole days, by the clock"
    assert typed(page, "Final[0]", "opens") == typed(page, "AutoML[1]", "opens") == moved
    expect(page.get_by_text("These dates fit together. They are not saved yet.")).to_be_visible()
    page.get_by_role("button", name="Save the dates").click()
    expect(page.get_by_role("status")).to_contain_text("Dates were moved: Tweakathon[0], Final[0], AutoML[1].")
    assert dates(contest)["Tweakathon[0]"] == ("02-15 00:00", moved[5:].replace("T", " "))
    assert AuditEntry.objects.filter(action="move_dates").count() == 1


def test_bars_are_moved_by_keys_and_what_breaks_the_protocol_is_said_at_once(contest, page):
    page.get_by_label("What follows moves along").uncheck()
    bar = page.get_by_role("slider", name="Final[0], all of it")
    bar.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    page.keyboard.press("Shift+ArrowLeft")
    assert typed(page, "Final[0]", "opens") == "2031-04-19T23:00"
    assert bar.get_attribute("aria-valuetext") == "2031-04-19 23:00 to 2031-04-26 23:00"
    expect(bar).to_be_focused()
    page.get_by_role("slider", name="Final[0], opens").focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("Final[0] overlaps its parent Tweakathon[0]")).to_be_visible()
    page.get_by_role("button", name="Put them back").click()
    assert typed(page, "Final[0]", "opens") == "2031-04-12T00:00"


def test_dates_are_typed_where_no_script_runs(contest, open_page):
    page = open_page(make.user("olga"), java_script_enabled=False)
    page.goto(contest.get_absolute_url() + "manage/phases/")
    expect(page.get_by_role("slider")).to_have_count(0)
    page.get_by_label("AutoML[1] closes", exact=True).fill("2031-05-01T12:30")
    page.get_by_role("button", name="Save the dates").click()
    assert contest.phases().get(title="AutoML[1]").closes_at == dt.datetime(2031, 5, 1, 12, 30, tzinfo=dt.UTC)
