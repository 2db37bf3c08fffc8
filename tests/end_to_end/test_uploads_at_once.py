"""Fifty uploads at once through the real web server, on both databases: the quota holds, nothing is left over."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.end_to_end.installation import SLUG, Person, running, zipped

pytestmark = pytest.mark.services

UPLOADS, QUOTA = 50, 5
SET_QUOTA = f"""
from competitions.models import Phase
Phase.objects.filter(number=1).update(daily_quota={QUOTA})
"""
READ = """
from django.core.files.storage import default_storage
from submissions.models import Run, Submission
made = Submission.objects.order_by("number")
print([one.number for one in made], [one.uses_quota for one in made], {run.state for run in Run.objects.all()})
assert all(default_storage.size(one.archive.name) == one.size for one in made)
assert Run.objects.count() == 2 * made.count()
"""


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request, tmp_path):
    services = {}
    if request.param == "postgresql":
        services["DATABASE_URL"] = request.getfixturevalue("postgresql").new_database()
    with running(tmp_path / "home", "bubblewrap", services=services, compute=False) as installation:
        yield installation


def shell(site, code):
    return site.python("manage.py", "shell", "--no-imports", "-c", code)


def copy_of(person):
    """The same person at another window of the browser."""
    other = Person(person.site, person.name)
    other.session.cookies.update(person.session.cookies)
    return other


def test_fifty_uploads_at_once_with_a_quota_of_five_leave_exactly_five(site):
    shell(site, SET_QUOTA)
    alice = Person(site, "alice").register().join()
    windows = [copy_of(alice) for _ in range(UPLOADS)]
    archive = zipped({"model.py": "class Model:\n    pass\n"})
    together = threading.Barrier(UPLOADS)

    def upload(window):
        together.wait()
        return window.upload(archive)

    with ThreadPoolExecutor(UPLOADS) as pool:
        answers = list(pool.map(upload, windows))
    statuses = Counter(answer.status_code for answer in answers)
    assert statuses == {201: QUOTA, 429: UPLOADS - QUOTA}, (statuses, site.logs())
    assert {answer.json()["message"] for answer in answers if answer.status_code == 429} == {
        f"All {QUOTA} submissions of today are used."
    }
    assert shell(site, READ).strip() == "[1, 2, 3, 4, 5] [True, True, True, True, True] {'queued'}"
    assert len(list((site.home / "files" / "submissions").iterdir())) == QUOTA
    assert list((site.home / "uploads").iterdir()) == []
    assert alice.upload(archive).status_code == 429
    assert "Tweakathon[0]: no submission left today" in alice.get(f"/competitions/{SLUG}/submissions/").text
