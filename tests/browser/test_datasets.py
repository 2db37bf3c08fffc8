"""Datasets in a real Chromium: sent over a connection that fails, prepared, read on a phone and in the dark."""

import io

import pytest
from playwright.sync_api import expect

from datasets.actions import import_dataset
from datasets.models import Dataset
from datasets.uploads import bell, receiving, work
from datasets.uploads.models import Upload
from tests.browser import axe
from tests.platform import factories as make
from tests.platform.datasets.test_import import small
from tests.platform.pages.test_dataset_uploads import TABLE

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def olga(live_server, monkeypatch):
    monkeypatch.setattr(bell, "ring", lambda upload_id: None)
    monkeypatch.setattr(receiving, "PIECE_BYTES", 1000)
    make.competition("contest")
    return make.user("olga")


def send(page, path, button: str) -> None:
    page.locator("input[type=file]").set_input_files(path)
    page.get_by_role("button", name=button, exact=True).click()


def test_a_table_is_sent_over_a_failing_connection_and_a_reload_then_prepared_and_imported(
    olga, open_page, complaints, tmp_path
):
    page = open_page(olga)
    page.goto("/datasets/")
    page.get_by_role("link", name="Send a dataset").first.click()
    path = tmp_path / "people.csv"
    path.write_bytes(TABLE)
    lost = []

    def lose(route):
        """No piece after the first two gets through, until the page is loaded anew."""
        if int(route.request.headers.get("upload-offset", 0)) < 2000 or "reloaded" in lost:
            route.continue_()
        else:
            lost.append(route.request.method)
            route.fulfill(status=502, body="")

    page.route("**/content/", lose)
    send(page, path, "Send")
    expect(page.get_by_text("The connection was lost. Trying again.")).to_be_visible()
    upload = Upload.objects.get()
    assert (upload.state, upload.received) == ("receiving", 2000)
    page.goto(upload.get_absolute_url())
    lost.append("reloaded")
    expect(page.get_by_text("Choose the same file again to send the rest.")).to_be_visible()
    send(page, path, "Go on")
    expect(page.locator("#upload")).to_have_attribute("data-state", "waiting")
    complaints[:] = [line for line in complaints if "502" not in line]  # it was asked for
    assert lost.count("PUT") > 0
    assert b"".join(part.stored().read() for part in upload.parts.all()) == TABLE
    work.process(upload.pk)
    page.get_by_role("link", name="Prepare the dataset").click()
    expect(page.get_by_role("checkbox", name="Predict class")).to_be_checked()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_label("Metric")).to_have_value("AUC")
    page.get_by_role("button", name="Make the dataset").click()
    expect(page.locator("#upload")).to_have_attribute("data-state", "waiting")
    work.process(upload.pk)
    page.get_by_role("link", name="To the dataset").click()
    expect(page.locator("#proposal")).to_contain_text("Suits round 2")
    expect(page.get_by_role("region", name="Card of people")).to_contain_text("Cbal")


def test_a_new_version_is_sent_for_its_dataset(olga, open_page, complaints, tmp_path):
    dataset = import_dataset(small(tmp_path), owner=olga).dataset
    page = open_page(olga)
    page.goto("/datasets/tiny/")
    page.get_by_role("link", name="Send a new version").click()
    path = tmp_path / "people.csv"
    path.write_bytes(TABLE)
    send(page, path, "Send")
    expect(page.locator("#upload")).to_have_attribute("data-state", "waiting")
    assert Upload.objects.get().dataset == dataset


def test_the_pages_fit_a_phone_and_have_enough_contrast_in_both_schemes(olga, open_page, tmp_path):
    import_dataset(small(tmp_path), owner=olga)
    Dataset.objects.update(is_public=True, licence="CC0", description="Six *rows*.")
    table = receiving.begin(olga, filename="people.csv", size=len(TABLE))
    receiving.receive_whole(table, io.BytesIO(TABLE))
    work.process(table.pk)
    broken = receiving.begin(olga, filename="a_rather_long_name_of_a_file_without_blanks_in_it.bin", size=1)
    receiving.receive_whole(broken, io.BytesIO(b"\0"))
    work.process(broken.pk)
    half = receiving.begin(olga, filename="half.csv", size=2000)
    places = (
        "/datasets/",
        "/datasets/tiny/",
        "/datasets/tiny/versions/",
        "/datasets/tiny/edit/",
        "/datasets/tiny/versions/1/use/",
        "/datasets/uploads/",
        *(upload.get_absolute_url() for upload in (table, broken, half)),
        f"{table.get_absolute_url()}prepare/",
        f"{table.get_absolute_url()}prepare/?target=class",
    )
    for scheme, width in (("light", 360), ("dark", 360), ("light", 1280), ("dark", 1280)):
        page = open_page(
            olga, viewport={"width": width, "height": 800}, color_scheme=scheme, reduced_motion="reduce"
        )
        for place in places:
            page.goto(place)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, place
            assert axe.complaints(page, axe.CONTRAST) == [], place
