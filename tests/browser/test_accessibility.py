"""Every page as every kind of person, in both schemes and on a phone: axe finds nothing serious."""

import functools
import re
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Page

from tests.browser import world as worlds
from tests.browser.shots import keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}
ASK = """async (only) => {
  const options = { resultTypes: ["violations"], elementRef: false };
  if (only) options.runOnly = { type: "rule", values: only };
  const found = await axe.run(document, options);
  return found.violations
    .filter((one) => ["serious", "critical"].includes(one.impact))
    .map((one) => [one.id, ...one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))].join(": "));
}"""


@functools.cache
def axe_source() -> str:
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


def complaints_of_axe(page: Page, only: list[str] | None = None) -> list[str]:
    """What axe finds serious or critical; `only` names the rules that are asked."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(axe_source())
    return page.evaluate(ASK, only)


def look_at(page: Page, address: str, role: str) -> list[str]:
    """Everything that is wrong with a page at the desk in light colours and on a phone in dark ones."""
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(address)
    found = complaints_of_axe(page)
    keep(page, f"{role} {name_of(address)} light")
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found += [f"dark, {one}" for one in complaints_of_axe(page, ["color-contrast", "scrollable-region-focusable"])]
    width = page.evaluate("document.documentElement.scrollWidth")
    found += [f"{width} px wide on a phone"] if width > PHONE["width"] else []
    keep(page, f"{role} {name_of(address)} phone dark")
    return [f"{role} at {address}: {one}" for one in found]


def name_of(address: str) -> str:
    """The address without what differs from run to run."""
    return re.sub(r"\d+", "n", address.partition("=")[0])


def test_axe_finds_nothing_serious_on_any_page(open_page, sign_in):
    """Each kind of page once: as a visitor, else as a participant, else as the owner."""
    world = worlds.build()
    known: set[str] = set()
    found = []
    for role in ("visitor", "participant", "owner"):
        page = open_page()
        person = world.people.get(role)
        if person is not None:
            sign_in(page, person)
        for address in worlds.pages(person, known):
            found += look_at(page, address, role)
    assert found == []
