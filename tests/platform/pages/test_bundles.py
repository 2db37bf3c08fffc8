"""The pages of imports and exports, as the people see them."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from bundles import bell, work
from bundles.exporting import work as export_work
from bundles.importing import import_bundle
from bundles.models import BundleExport, BundleImport
from competitions.models import Competition
from tests.platform import factories
from tests.platform.bundles.importing.writing import YAML, packed

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    """Doorbells are rung nowhere."""
    monkeypatch.setattr(bell, "ring", lambda task, pk: None)


@pytest.fixture
def alice():
    return factories.user("alice", is_superuser=True)


@pytest.fixture
def browser(client, alice):
    client.force_login(alice)
    return client


def send(browser, path, **headers):
    """The answer to the form with this bundle."""
    file = SimpleUploadedFile("bundle.zip", path.read_bytes())
    return browser.post(reverse("bundle_imports"), {"bundle": file}, **headers)


def test_a_bundle_is_sent_read_and_imported(tmp_path, browser):
    page = send(browser, packed(tmp_path, yaml=YAML + "docker_image: lab/gpu:3\n")).headers["Location"]
    assert "hx-trigger" in browser.get(page).content.decode()
    work.process(BundleImport.objects.get().pk)
    shown = browser.get(page).content.decode()
    assert "lab/gpu:3" in shown
    assert "Import it" in shown
    browser.post(f"{page}answer/", {"answer:image:lab/gpu:3": "built-in"})
    work.process(BundleImport.objects.get().pk)
    made = Competition.objects.get()
    assert reverse("manage", args=[made.slug]) in browser.get(page).content.decode()
    assert BundleImport.objects.get().answers["image:lab/gpu:3"] == "built-in"


def test_a_script_gets_the_address_as_json(tmp_path, browser):
    answer = send(browser, packed(tmp_path), HTTP_ACCEPT="application/json")
    assert answer.status_code == 201
    assert answer.json()["url"] == BundleImport.objects.get().get_absolute_url()


def test_a_bundle_with_errors_shows_each_with_its_place_and_its_mend(tmp_path, browser):
    page = send(browser, packed(tmp_path, yaml=YAML.replace("overview.md", "gone.md"))).headers["Location"]
    work.process(BundleImport.objects.get().pk)
    shown = browser.get(page).content.decode()
    assert "competition.yaml, line" in shown
    assert "gone.md" in shown
    assert "Import it" not in shown
    assert "Read it again" in shown


def test_nobody_else_sees_a_bundle(tmp_path, browser, client):
    page = send(browser, packed(tmp_path)).headers["Location"]
    client.force_login(factories.user("root", is_superuser=True))
    assert client.get(page).status_code == 404


def test_an_owner_exports_and_downloads(tmp_path, browser, alice):
    contest = import_bundle(packed(tmp_path), organizer=alice).competition
    section = reverse("manage_export", args=[contest.slug])
    browser.post(section)
    assert "hx-trigger" in browser.get(section).content.decode()
    export_work.process(BundleExport.objects.get().pk)
    assert "Download" in browser.get(section).content.decode()
    answer = browser.get(reverse("download_export", args=[contest.slug, BundleExport.objects.get().pk]))
    assert b"".join(answer.streaming_content).startswith(b"PK")
    assert "sandbox" in answer.headers["Content-Security-Policy"]


def test_the_front_page_says_that_labels_are_readable(tmp_path, browser, alice):
    contest = import_bundle(packed(tmp_path), organizer=alice).competition
    front = reverse("competition", args=[contest.slug])
    assert "can read the labels" not in browser.get(front).content.decode()
    Competition.objects.update(labels_are_readable=True)
    assert "can read the labels" in browser.get(front).content.decode()


def test_the_front_page_shows_the_logo_of_the_bundle(tmp_path, browser, alice):
    contest = import_bundle(packed(tmp_path), organizer=alice).competition
    logo = reverse("picture", args=[contest.slug, contest.logo.name])
    assert logo in browser.get(reverse("competition", args=[contest.slug])).content.decode()
    assert browser.get(logo).status_code == 200


def test_every_page_of_an_imported_competition_opens(tmp_path, browser, alice):
    contest = import_bundle(packed(tmp_path), organizer=alice).competition
    names = ("competition", "phases", "datasets", "evaluation", "rules", "leaderboard", "manage", "manage_phases")
    for name in (*names, "manage_settings", "manage_pages", "manage_queue", "submissions"):
        assert browser.get(reverse(name, args=[contest.slug])).status_code == 200, name
