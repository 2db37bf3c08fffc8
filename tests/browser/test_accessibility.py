"""Every page, at a desk in light colours and on a phone in dark ones: axe finds nothing serious, and it fits."""

import re

import pytest
from playwright.sync_api import Page

from tests.browser import axe
from tests.browser import world as worlds
from tests.browser.shots import keep

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}


def look_at(page: Page, address: str, role: str) -> list[str]:
    """Everything that is wrong with a page."""
    name = f"{role} {re.sub(r'[0-9]+', 'n', address)}"
    page.set_viewport_size(DESK)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(address)
    found = axe.complaints(page)
    keep(page, f"{name} light")
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    found += [f"dark, {one}" for one in axe.complaints(page, (*axe.CONTRAST, "scrollable-region-focusable"))]
    width = page.evaluate("document.documentElement.scrollWidth")
    found += [f"{width} px wide on a phone"] if width > PHONE["width"] else []
    keep(page, f"{name} phone dark")
    return [f"{role} at {address}: {one}" for one in found]


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
