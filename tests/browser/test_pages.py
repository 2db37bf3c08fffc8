"""The pages in a real Chromium: no foreign host, no complaint, alive."""

import datetime as dt
import re
import zipfile

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from leaderboards import board
from submissions.models import Run, RunState, Submission
from tests.platform import factories as make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def contest(live_server):
    """Twelve ranked entrants on five datasets, one with a very long name; Alice's second submission runs."""
    made = make.competition("contest", title="The contest", overview="# Hello\n\nA *contest*.", rules="- Be fair.")
    phase = make.phase(made, tasks=5, description="Submit **code**.")
    later = timezone.now() + dt.timedelta(days=40)
    make.phase(made, kind="automl", title="AutoML[1]", parent=phase, opens_at=later)
    for index in range(12):
        person = make.user("alice" if index == 3 else f"person{index}")
        make.participant(made, person)
        entrant = make.entrant(made, person)
        entrant.name = (
            "An_entrant_with_a_very_long_name_without_any_blank_in_it" if index == 5 else person.username
        )
        entrant.save()
        submission = make.submission(phase, person, state=Submission.State.FINISHED)
        for run in submission.runs.all():
            make.score(run, 0.9 - 0.05 * index)
    board.refresh_now(phase)
    made.live = make.submission(phase, make.user("alice"))
    return made


def test_the_choice_of_colours_stays(contest, open_page):
    page = open_page(color_scheme="light")
    page.goto("/")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Use dark colours").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.goto("/competitions/")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    expect(page.get_by_role("button", name="Use light colours")).to_be_visible()


def test_dates_are_in_the_readers_zone_with_utc_beside_them(contest, open_page):
    page = open_page(timezone_id="Asia/Tokyo", locale="en-GB")
    page.goto(contest.get_absolute_url() + "phases/")
    expect(page.locator("[data-zone]")).to_have_text("Asia/Tokyo")
    shown = page.locator(".when dd").first.inner_text()
    assert re.search(r"GMT\+9|JST", shown)
    assert "UTC)" in shown


def test_place_and_entrant_stay_while_the_board_scrolls(contest, open_page):
    page = open_page(viewport={"width": 360, "height": 740})
    page.goto(contest.get_absolute_url() + "leaderboard/")
    cells = page.locator("tbody tr").first.locator(".stick")
    before = [cells.nth(index).bounding_box()["x"] for index in (0, 1)]
    page.locator("#board-frame").evaluate("frame => { frame.scrollLeft = 300 }")
    assert [cells.nth(index).bounding_box()["x"] for index in (0, 1)] == before
    assert page.locator("tbody td.cell").first.bounding_box()["x"] < 100


def test_a_submissions_page_follows_its_runs_without_being_loaded_again(contest, open_page):
    page = open_page(make.user("alice"))
    page.goto(contest.live.get_absolute_url())
    first = contest.live.runs.first()
    card = page.locator("article.run").first
    expect(card.get_by_text("next in the queue")).to_be_visible()
    page.evaluate("window.stayed = true")
    Run.objects.filter(pk=first.pk).update(
        state=RunState.RUNNING, started_at=timezone.now(), log_tail="\x1b[32mfit\x1b[0m <b>12</b> trees\n"
    )
    expect(card.locator(".chip")).to_have_text("running")
    expect(card.locator("pre")).to_have_text("fit <b>12</b> trees\n")
    for run in contest.live.runs.all():
        make.score(run, 0.8125)
    Submission.objects.filter(pk=contest.live.pk).update(state=Submission.State.FINISHED)
    expect(card.locator(".score")).to_have_text("0.8125")
    assert page.locator("#submission").get_attribute("hx-get") is None
    assert page.evaluate("window.stayed") is True


def test_a_page_whose_session_has_ended_goes_to_the_login(contest, open_page):
    page = open_page(make.user("alice"))
    page.goto(contest.live.get_absolute_url())
    page.context.clear_cookies()
    page.wait_for_url(re.compile("/accounts/login/[?]next="))
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_the_board_takes_in_a_new_score_by_itself(contest, open_page):
    page = open_page()
    page.goto(contest.get_absolute_url() + "leaderboard/")
    for run in contest.live.runs.all():
        make.score(run, 0.99)
    Submission.objects.filter(pk=contest.live.pk).update(state=Submission.State.FINISHED)
    board.refresh_now(contest.live.phase)
    expect(page.locator("tbody tr").first.locator("bdi")).to_have_text("alice", timeout=15_000)


def archive(path, padding=0):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("model.py", "class Model:\n    pass\n")
        file.writestr("weights.bin", bytes(index * 7 % 251 for index in range(padding)))
    return path


def test_an_upload_shows_its_progress_and_ends_on_the_submissions_page(contest, open_page, tmp_path):
    page = open_page(make.user("alice"))
    page.goto(contest.get_absolute_url() + "submissions/")
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 400_000}
    session.send("Network.emulateNetworkConditions", slow)
    page.get_by_label("Archive").set_input_files(archive(tmp_path / "mine.zip", padding=1_000_000))
    page.get_by_label("Comment").fill("from a browser")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-progress] p")).to_have_text(re.compile(r"^\d+ % of 1.0 MB sent$"))
    page.wait_for_url(re.compile(r"/submissions/\d+/$"))
    expect(page.get_by_text("from a browser")).to_be_visible()
    assert Submission.objects.get(comment="from a browser").entrant.name == "alice"


def test_a_refused_upload_is_told_above_the_form(contest, open_page, complaints, tmp_path):
    page = open_page(make.user("alice"))
    page.goto(contest.get_absolute_url() + "submissions/")
    bad = tmp_path / "bad.zip"
    bad.write_text("hello")
    page.get_by_label("Archive").set_input_files(bad)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-upload-error]")).to_be_visible()
    assert "zip" in page.locator("[data-message]").inner_text()
    expect(page.get_by_role("button", name="Submit")).to_be_enabled()
    assert [line for line in complaints if "status of 400" not in line] == []
    complaints.clear()  # Chromium itself logs every answer of 400


def test_uploading_works_without_script(contest, open_page, tmp_path):
    page = open_page(make.user("alice"), java_script_enabled=False)
    page.goto(contest.get_absolute_url() + "submissions/")
    page.get_by_label("Archive").set_input_files(archive(tmp_path / "mine.zip"))
    page.get_by_role("button", name="Submit").click()
    page.wait_for_url(re.compile(r"/submissions/\d+/$"))


def test_the_keyboard_reaches_the_content_and_shows_where_it_is(contest, open_page):
    page = open_page()
    page.goto("/competitions/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_admin_works_under_the_sites_policy(contest, open_page):
    page = open_page(make.user("root", is_superuser=True, is_staff=True))
    page.goto("/admin/")
    expect(page.get_by_role("heading", name="Administration")).to_be_visible()
    page.goto("/admin/competitions/competition/")
    page.get_by_role("link", name="contest").click()
    expect(page.get_by_label("Slug").first).to_have_value("contest")


def test_somebody_registers_and_joins(contest, open_page):
    page = open_page()
    page.goto("/accounts/signup/")
    page.get_by_label("Username").fill("newcomer")
    page.get_by_label("Email").fill("newcomer@example.org")
    page.get_by_label("Password", exact=True).fill("a long pass phrase")
    page.get_by_label("Password (again)").fill("a long pass phrase")
    page.get_by_role("main").get_by_role("button", name="Register").click()
    page.wait_for_url("**/competitions/")
    page.goto(contest.get_absolute_url())
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", name="Submit", exact=True)).to_be_visible()


def test_a_question_stays_open_while_the_page_follows_its_runs(contest, open_page):
    page = open_page(make.user("alice"))
    page.goto(contest.live.get_absolute_url())
    page.get_by_role("button", name="Cancel").click()
    dialog = page.get_by_role("dialog", name="Cancel this submission?")
    with page.expect_response(contest.live.get_absolute_url()):
        pass
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Cancel it").click()
    expect(page.locator("h2 + .chip, .head-row .chip").first).to_have_text("cancelled")
    assert Submission.objects.get(pk=contest.live.pk).state == Submission.State.CANCELLED
