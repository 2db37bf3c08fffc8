"""What is refused over HTTP: one clear sentence, the right status, and nothing left half done."""

import io
import time
import zipfile

import pytest

from tests.end_to_end import models
from tests.end_to_end.installation import SLUG, Installation, Person, zipped

pytestmark = [pytest.mark.services, pytest.mark.bubblewrap]

GOOD = zipped({"model.py": models.LEAST_SQUARES})
COUNT = "from submissions.models import Submission, Run; print(Submission.objects.count(), Run.objects.count())"


@pytest.fixture
def site(bubblewrap_site) -> Installation:
    return bubblewrap_site


@pytest.fixture
def alice(site):
    return Person(site, f"alice{time.monotonic_ns()}").register().join()


def left_behind(site: Installation) -> tuple[str, list[str], list[str]]:
    """Rows, and files of uploads and archives: what a refusal must not change."""
    rows = site.python("manage.py", "shell", "--no-imports", "-c", COUNT).split()[-2:]
    # Scoring of earlier submissions goes on beside the test and has its scratch folders in the same place.
    scratch = (path.name for path in (site.home / "uploads").iterdir())
    uploads = sorted(name for name in scratch if not name.startswith("score-"))
    archives = sorted(path.name for path in (site.home / "files" / "submissions").glob("*"))
    return " ".join(rows), uploads, archives


def climbing() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("model.py", models.LEAST_SQUARES)
        archive.writestr("../../evil.py", "print('outside')")
    return buffer.getvalue()


def bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.py", models.LEAST_SQUARES)
        archive.writestr("zeros.bin", bytes(64 * 2**20))
    return buffer.getvalue()


REFUSED = {
    "not a zip": (b"this is a letter, not a zip", 400, "zip"),
    "an empty file": (b"", 400, "empty"),
    "an empty zip": (zipped({}), 400, ""),
    "an entry that climbs out": (climbing(), 400, "evil.py"),
    "a bomb": (bomb(), 400, "zeros.bin"),
    "no model": (zipped({"readme.txt": "hello"}), 400, "model.py"),
    "a prediction file of the wrong shape": (zipped({"circle_valid.predict": "1\n0\n"}), 400, "100"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_archive_that_cannot_be_taken_is_refused_at_the_door(site, alice, name):
    content, status, words = REFUSED[name]
    before = left_behind(site)
    answer = alice.upload(content)
    assert answer.status_code == status, answer.text
    message = answer.json()["message"]
    assert message.endswith((".", "!")) or message
    assert words in message
    assert left_behind(site) == before


def test_a_refusal_costs_no_quota(site, alice):
    for _ in range(3):
        assert alice.upload(b"no zip", phase=3).status_code == 400
    assert alice.upload(GOOD, phase=3).status_code == 201


def test_more_than_the_quota_is_refused(site, alice):
    assert alice.upload(GOOD, phase=3).status_code == 201
    before = left_behind(site)
    answer = alice.upload(GOOD, phase=3)
    assert answer.status_code == 429
    assert "today" in answer.json()["message"]
    assert left_behind(site) == before


def test_a_phase_that_has_closed_takes_nothing(site, alice):
    before = left_behind(site)
    answer = alice.upload(GOOD, phase=2)
    assert answer.status_code == 409
    assert "closed" in answer.json()["message"]
    assert left_behind(site) == before


def test_who_is_not_logged_in_is_sent_to_the_login(site):
    before = left_behind(site)
    answer = Person(site).upload(GOOD)
    assert answer.status_code in (302, 401)
    if answer.status_code == 302:
        assert answer.headers["Location"].startswith("/accounts/login/")
    assert left_behind(site) == before


def test_who_has_not_joined_is_refused(site):
    charlie = Person(site, f"charlie{time.monotonic_ns()}").register()
    before = left_behind(site)
    answer = charlie.upload(GOOD)
    assert answer.status_code == 403
    assert "participants" in answer.json()["message"]
    assert left_behind(site) == before


def test_a_form_without_its_token_is_refused(site, alice):
    before = left_behind(site)
    answer = alice.session.post(
        f"{site.url}/competitions/{SLUG}/submissions/", files={"archive": ("a.zip", GOOD)}, timeout=30
    )
    assert answer.status_code == 403
    assert left_behind(site) == before


def test_somebody_elses_submission_is_as_unknown_as_one_that_does_not_exist(site, alice):
    number = alice.accepted(GOOD)
    bob = Person(site, f"bob{time.monotonic_ns()}").register().join()
    own, foreign = f"/competitions/{SLUG}/submissions/{number}/", f"/competitions/{SLUG}/submissions/999999/"
    assert alice.get(own).status_code == 200
    assert [bob.get(path).status_code for path in (own, own + "archive/", foreign)] == [404, 404, 404]
    assert bob.post(own + "cancel/", allow_redirects=False).status_code == 404
    assert Person(site).get(own, allow_redirects=False).status_code == 302


def test_the_organizer_sees_everybodys_submission(site, alice):
    number = alice.accepted(GOOD)
    olga = Person(site, "olga").log_in()
    assert olga.get(f"/competitions/{SLUG}/submissions/{number}/").status_code == 200
