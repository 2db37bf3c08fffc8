"""Reading: a light first visit, without a script, on paper, by keyboard."""

import gzip
import re

import pytest
from playwright.sync_api import expect

from tests.browser import world as worlds
from tests.browser.shots import keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

MOST_BYTES = 100_000


@pytest.fixture
def world(live_server):
    return worlds.build()


@pytest.mark.parametrize("ending", ["", "phases/", "leaderboard/"])
def test_the_first_visit_of_a_competition_is_light(world, open_page, ending):
    page = open_page()
    answers = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(world.contest.get_absolute_url() + ending, wait_until="networkidle")
    weights = {answer.url: len(gzip.compress(answer.body())) for answer in answers}
    assert any(url.endswith(".css") for url in weights)
    assert sum(weights.values()) <= MOST_BYTES, weights


READ_WITHOUT_SCRIPT = {
    "": ("Programs learn on their own", "Starting kit", "Tweakathon 0 is open"),
    "phases/": ("AutoML 1", "UTC"),
    "datasets/": ("adult", "digits"),
    "evaluation/": ("AUC",),
    "rules/": ("Be fair.",),
    "pages/prizes/": ("The first three are paid.",),
    "leaderboard/": ("The sceptics", "0.9300"),
    "leaderboard/history/": ("erin",),
}


def test_everything_public_can_be_read_without_a_script(world, open_page):
    page = open_page(java_script_enabled=False)
    for ending, texts in READ_WITHOUT_SCRIPT.items():
        page.goto(world.contest.get_absolute_url() + ending)
        shown = page.locator("body").inner_text()
        for text in texts:
            assert text in shown, f"{ending} lacks {text}"


def test_the_board_is_printed_whole_and_alone(world, open_page):
    page = open_page(color_scheme="dark", viewport={"width": 1000, "height": 700})
    page.goto(world.contest.get_absolute_url() + "leaderboard/")
    page.emulate_media(media="print")
    for hidden in (".site-head", ".site-foot", ".tabs", ".board-search"):
        expect(page.locator(hidden).first).to_be_hidden()
    expect(page.get_by_role("heading", name=world.contest.title)).to_be_visible()
    frame = page.locator("#board-frame")
    assert frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth + 1")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("tbody th").first.evaluate("cell => getComputedStyle(cell).position") == "static"
    keep(page, "print-leaderboard")
    assert page.pdf(format="A4", landscape=True).startswith(b"%PDF")


def test_a_question_is_asked_and_answered_by_keyboard_without_a_script(open_page):
    page = open_page(java_script_enabled=False)
    page.goto("/styleguide/")
    page.get_by_role("button", name="Remove the phase").focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=re.compile("^Remove the phase"))
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("button", name="Leave it as it is")).to_be_focused()
    keep(page, "a-question")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Remove the phase")).to_be_focused()


def test_a_moment_says_how_far_away_it_is(world, open_page):
    page = open_page()
    page.goto(world.contest.get_absolute_url())
    expect(page.locator("dd time").first).to_contain_text("(20 days ago)")
    expect(page.locator("dd time").nth(1)).to_contain_text(re.compile(r"\(in (9|10) days\)"))


WHERE = """() => {
  const at = document.activeElement;
  const style = getComputedStyle(at);
  const box = at.getBoundingClientRect();
  const seen = style.outlineStyle !== "none" && box.width > 0 && box.right > 0;
  return { seen, what: at.outerHTML.slice(0, 120), isBody: at === document.body };
}"""


def test_every_stop_of_the_keyboard_is_seen_on_the_way_through_the_studio(world, open_page, sign_in):
    page = open_page()
    sign_in(page, world.people["owner"])
    page.goto(world.contest.get_absolute_url() + "manage/")
    stops = []
    for _ in range(200):
        page.keyboard.press("Tab")
        stop = page.evaluate(WHERE)
        if stop["isBody"]:
            break
        stops.append(stop)
    assert [stop["what"] for stop in stops if not stop["seen"]] == []
    studio = page.get_by_role("navigation", name="Studio").get_by_role("link").count()
    assert len(stops) > studio


def test_the_menu_opens_and_closes_by_keyboard(world, open_page, sign_in):
    page = open_page()
    sign_in(page, world.people["participant"])
    page.goto("/competitions/")
    page.locator("details.menu summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Log out")).to_be_hidden()
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"
