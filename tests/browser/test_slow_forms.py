"""What a click shows: a button that works, an address that is copied; and tables that fit a small laptop."""

import pytest
from playwright.sync_api import expect

from tests.browser import shots
from tests.browser import world as made
from tests.platform import factories as make

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# Forms do all but leave the page, as while an answer takes long; those that would be sent are counted.
NEVER_SENT = """() => {
    window.sent = 0;
    window.addEventListener("submit", (event) => {
        if (!event.defaultPrevented) window.sent += 1;
        event.preventDefault();
    });
}"""
WIDER = "table => table.scrollWidth - table.parentElement.clientWidth"


@pytest.fixture
def contest(live_server):
    return made.build().contest


def test_the_button_of_a_slow_form_says_that_it_works_and_sends_it_once(contest, open_page):
    page = open_page(make.user("olga"))
    page.goto(f"{contest.get_absolute_url()}manage/act/pause-queue/")
    page.evaluate(NEVER_SENT)
    page.get_by_role("button", name="Pause the queue").evaluate("button => { button.click(); button.click(); }")
    busy = page.get_by_role("button", name="It is being done…")
    expect(busy).to_be_disabled()
    expect(busy).to_have_attribute("aria-busy", "true")
    assert page.evaluate("window.sent") == 1
    page.reload()
    page.get_by_role("button", name="Pause the queue").click()
    page.wait_for_url("**/manage/queue/")
    contest.refresh_from_db()
    assert contest.queue_paused_at is not None, "the button sent its value, too"


def test_the_button_of_a_question_says_so_too(contest, open_page):
    page = open_page(make.user("olga"))
    page.goto("/styleguide/")
    page.evaluate(NEVER_SENT)
    question = page.locator("[popover]").first
    question.locator("form").evaluate("form => { form.dataset.busy = 'It is being deleted…'; }")
    page.locator("[popovertarget]").first.click()
    question.locator("button[type=submit]").click()
    expect(question.get_by_role("button", name="It is being deleted…")).to_be_disabled()


def test_the_link_into_a_team_is_copied_by_a_button(contest, open_page):
    page = open_page(make.user("alice"), permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{contest.get_absolute_url()}team/")
    page.get_by_role("button", name="Make a link").click()
    field = page.get_by_role("textbox", name="Whoever takes part here")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == field.input_value()
    assert field.evaluate("input => input.scrollWidth - input.clientWidth") <= 0, "it is shown as a whole"
    shots.keep(page, "team link")


@pytest.mark.parametrize(("section", "label"), [("participants", "Participants"), ("queue", "Workers")])
def test_a_table_of_many_columns_fits_a_small_laptop(contest, open_page, section, label):
    page = open_page(make.user("olga"))
    page.goto(f"{contest.get_absolute_url()}manage/{section}/")
    table = page.get_by_role("region", name=label).locator("table")
    shots.keep(page, f"{section} at 1280")
    assert table.evaluate(WIDER) <= 0
