"""The readiness check in a real Chromium: asked for with a button, live, readable on a phone and in the dark."""

import pytest
from playwright.sync_api import expect

from ingestion.traits import TRAITS
from submissions.models import ReadinessCheck, ReadinessRow, Submission
from submissions.models.readiness import CheckState
from tests.browser import axe
from tests.platform import factories as make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FINE = {part: {"predicted": True, "shape": True, "finite": True} for part in ("valid", "test")}


@pytest.fixture
def submission(live_server):
    phase = make.phase(make.competition("contest"), tasks=1)
    alice = make.user("alice")
    make.participant(phase.competition, alice)
    made = make.submission(phase, alice, state=Submission.State.FINISHED)
    make.score(made.runs.get(), 0.5)
    return made


def add_row(check, trait, **fields):
    ReadinessRow.objects.create(
        readiness_check=check, trait=trait.name, **{"ok": True, "ran": True, "parts": FINE, **fields}
    )


def test_the_check_is_asked_for_and_its_grid_grows_without_the_page_being_loaded_again(submission, open_page):
    page = open_page(make.user("alice"))
    page.goto(submission.get_absolute_url())
    panel = page.locator("#readiness")
    panel.get_by_role("button", name="Check readiness for blind datasets").click()
    expect(panel.locator(".chip")).to_have_text("queued")
    expect(panel.get_by_text("Runs of the contest come first.")).to_be_visible()
    page.evaluate("window.stayed = true")
    check = ReadinessCheck.objects.get()
    add_row(check, TRAITS[0], wall_seconds=1.5)
    ReadinessCheck.objects.update(state=CheckState.RUNNING, current_trait=TRAITS[1].name, sentence="Is running.")
    expect(panel.get_by_role("status")).to_contain_text(f"1 of {len(TRAITS)} traits tried; now {TRAITS[1].title}")
    expect(panel.get_by_role("row", name=TRAITS[1].title)).to_contain_text("is running")
    failed = {"ok": False, "ran": False, "reason": "crashed", "parts": {}, "log_tail": "no <b>NaN</b>\n"}
    for trait in TRAITS[1:]:
        add_row(check, trait, **(failed if trait.name == "missing" else {}))
    ReadinessCheck.objects.update(state=CheckState.FINISHED, sentence="Not ready: 1 of 15 traits failed.")
    expect(panel.locator(".chip").first).to_have_text("not ready")
    expect(panel.locator(".trait-fault pre")).to_have_text("no <b>NaN</b>\n")
    expect(panel.get_by_role("row", name="missing values")).to_contain_text("✗")
    assert panel.get_attribute("hx-get") is None
    assert page.evaluate("window.stayed") is True
    expect(panel.get_by_role("button", name="Check again")).to_be_enabled()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_ended_check_fits_a_phone_and_has_enough_contrast(submission, open_page, scheme):
    check = ReadinessCheck.objects.create(
        submission=submission,
        entrant=submission.entrant,
        user=submission.user,
        wall_seconds=20,
        state=CheckState.FINISHED,
        sentence="Not ready: 1 of 15 traits failed.",
    )
    for trait in TRAITS:
        add_row(check, trait, log_tail="x" * 300)
    check.rows.filter(trait="wide").update(ok=False, ran=False, reason="timed_out", parts={}, sentence="Too slow.")
    page = open_page(
        make.user("alice"), viewport={"width": 360, "height": 740}, color_scheme=scheme, reduced_motion="reduce"
    )
    for address in (submission.get_absolute_url(), f"{submission.get_absolute_url()}readiness/"):
        page.goto(address)
        page.locator("#readiness-logs summary").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert axe.complaints(page, axe.CONTRAST) == []
