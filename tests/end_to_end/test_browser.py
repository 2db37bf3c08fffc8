"""The whole way in a real Chromium: log in, upload, see the score appear, read the leaderboard."""

import time

import pytest
from playwright.sync_api import expect

from tests.end_to_end import models
from tests.end_to_end.installation import PASSWORD, SLUG, Person, zipped

pytestmark = [pytest.mark.services, pytest.mark.browser, pytest.mark.bubblewrap]
PATIENCE = 120_000


def test_log_in_upload_see_the_score_appear_and_read_the_leaderboard(browser, bubblewrap_site, tmp_path):
    site = bubblewrap_site
    name = f"dora{time.monotonic_ns()}"
    Person(site, name).register()
    archive = tmp_path / "least squares.zip"
    archive.write_bytes(zipped({"model.py": models.LEAST_SQUARES}))
    context = browser.new_context()
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        page.goto(f"{site.url}/accounts/login/?next=/competitions/{SLUG}/")
        page.locator("input[name=login]").fill(name)
        page.locator("input[name=password]").fill(PASSWORD)
        page.locator("form:has(input[name=password]) [type=submit]").click()
        page.locator(f"form[action$='/competitions/{SLUG}/join/'] button").first.click()
        page.goto(f"{site.url}/competitions/{SLUG}/submissions/")
        page.locator("input[type=file][name=archive]").set_input_files(archive)
        page.locator("form:has(input[name=archive]) button[type=submit]").click()

        # The page follows the runs by itself: nothing is reloaded here.
        page.wait_for_url(f"{site.url}/competitions/{SLUG}/submissions/*/")
        scores = page.locator(".score")
        expect(scores).to_have_count(2, timeout=PATIENCE)
        shown = scores.all_inner_texts()
        assert all(float(text) > 0.6 for text in shown)

        page.goto(f"{site.url}/competitions/{SLUG}/leaderboard/")
        row = page.locator("tr", has_text=name)
        expect(row).to_have_count(1)
        for text in shown:
            expect(row).to_contain_text(text)
    finally:
        context.close()
    assert complaints == []
