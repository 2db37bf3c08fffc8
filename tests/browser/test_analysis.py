"""Figures of the analyses in a browser: drawn without a word from the policy, in both schemes, also on a phone."""

import datetime as dt

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from analysis import work
from analysis.drawing import bundle
from analysis.inputs.audience import Audience
from analysis.sections import BY_KEY
from competitions.models import Phase
from tests.browser import axe, shots
from tests.platform import factories as make
from tests.platform.analysis import gallery
from tests.platform.series import enter, finish

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
COLOURS = """() => {
  const canvas = document.querySelector('#bars canvas');
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const found = {};
  for (let at = 0; at < pixels.length; at += 4) {
    if (pixels[at + 3] === 255) {
      const colour = pixels.slice(at, at + 3).join();
      found[colour] = (found[colour] || 0) + 1;
    }
  }
  return Object.entries(found).sort((a, b) => b[1] - a[1])[0][0];
}"""


@pytest.fixture
def address(live_server, monkeypatch) -> str:
    """The section of all kinds of figures over a phase that is over, computed."""
    bundle.script()  # some seconds, once
    monkeypatch.setitem(BY_KEY, "gallery", gallery.SECTION)
    phase = make.phase(make.competition())
    for name in ("alice", "bob"):
        finish(enter(phase, make.user(name)))
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() - dt.timedelta(minutes=1))
    work.compute_now(phase.competition, gallery.SECTION, Audience(phase=phase.pk, part="valid"))
    return f"/competitions/{phase.competition.slug}/analysis/gallery/"


def drawn(page) -> None:
    """Look at every figure, and wait until all are drawn."""
    expect(page.locator("[data-figure]").first).to_be_visible()
    for figure in page.locator("[data-figure]").all():
        figure.scroll_into_view_if_needed()
        expect(figure).to_have_attribute("data-state", "drawn")


def test_every_kind_of_figure_is_drawn_in_the_colours_of_the_page(address, open_page):
    page = open_page()
    page.goto(address)
    drawn(page)
    assert page.locator("[data-figure] canvas").count() == len(gallery.charts())
    assert page.evaluate(COLOURS) == "11,102,168"
    page.locator("#bars").scroll_into_view_if_needed()
    for x in (220, 230):  # the first may still scroll the page, which hides what is shown
        page.locator("#bars canvas").hover(position={"x": x, "y": 30})
    expect(page.locator(".chart-tip")).to_be_visible()
    assert axe.complaints(page) == []
    shots.keep(page, "analysis gallery light")
    page.get_by_role("button", name="Use dark colours").click()
    drawn(page)
    assert page.evaluate(COLOURS) == "109,179,242"
    assert axe.complaints(page) == []
    shots.keep(page, "analysis gallery dark")


def test_figures_fit_a_phone(address, open_page):
    page = open_page(viewport={"width": 360, "height": 740})
    page.goto(address)
    drawn(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    shots.keep(page, "analysis gallery phone")


def test_a_figure_has_its_picture_from_the_site_where_scripts_are_off(address, open_page):
    page = open_page(java_script_enabled=False)
    page.goto(address)
    picture = page.locator("#bars img")
    expect(picture).to_have_attribute("alt", "The bars of 4 entrants.")
    assert page.evaluate("document.querySelector('#bars img').naturalWidth") > 100
