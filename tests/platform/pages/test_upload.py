"""Posting an archive: every refusal has its status and sentence, as a page and as JSON, and keeps nothing."""

import datetime as dt
import io
import zipfile
from types import SimpleNamespace

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, RequestFactory
from django.utils import timezone

from accounts.refusals import Refused
from competitions.models import Phase
from pages.views import upload
from submissions.models import Submission
from submissions.models.worker import Worker
from tests.platform import factories as make

JSON = {"accept": "application/json"}


def zip_bytes(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


CODE = zip_bytes({"model.py": "class Model:\n    pass\n"})


def post(world, role="participant", content=CODE, headers=None, **fields):
    data = {**fields}
    if content is not None:
        data["archive"] = SimpleUploadedFile("mine.zip", content, "application/zip")
    return world.client(role).post(world.url("submissions/"), data, headers=headers)


def made(world):
    return Submission.objects.exclude(pk__in=[world.submission.pk, world.finished.pk])


def test_an_archive_becomes_a_submission_and_the_page_shows_it(world):
    response = post(world, phase="1", comment="first try")
    submission = made(world).get()
    assert response.status_code == 302
    assert response.url == submission.get_absolute_url()
    assert (submission.comment, submission.filename) == ("first try", "mine.zip")


def test_a_script_gets_the_submission_and_its_address(world):
    response = post(world, headers=JSON)
    submission = made(world).get()
    assert response.status_code == 201
    assert response.json() == {"submission": submission.pk, "url": submission.get_absolute_url()}


BAD = {
    "not a zip": b"hello",
    "empty file": b"",
    "empty zip": zip_bytes({}),
    "no model": zip_bytes({"notes.txt": "hello"}),
    "an entry outside": zip_bytes({"../model.py": "class Model: pass"}),
    "a wrong shape": zip_bytes({"{name}_valid.predict": "0.5\n"}),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("headers", [None, JSON])
def test_a_bad_archive_is_refused_in_one_sentence_and_costs_nothing(world, case, headers):
    content = BAD[case]
    if case == "a wrong shape":
        content = zip_bytes({f"{world.phase.tasks.first().name}_valid.predict": "0.5\n"})
    response = post(world, content=content, headers=headers)
    assert response.status_code == 400
    assert not made(world).exists()
    if headers:
        assert response.json()["message"]
        assert "Traceback" not in response.json()["message"]
    else:
        assert b'role="alert"' in response.content
        assert b"Traceback" not in response.content


def test_no_file_is_a_bad_request(world):
    response = post(world, content=None, headers=JSON)
    assert (response.status_code, response.json()["message"]) == (400, "No file was sent.")


def test_an_unknown_phase_is_a_bad_request(world):
    assert post(world, phase="<b>9</b>", headers=JSON).status_code == 400


@pytest.mark.parametrize("headers", [None, JSON])
def test_whoever_is_not_logged_in_is_sent_to_the_login(world, headers):
    response = post(world, "anonymous", headers=headers)
    assert response.status_code == 302
    assert response.url == f"/accounts/login/?next={world.url('submissions/')}"


@pytest.mark.parametrize("headers", [None, JSON])
def test_a_stranger_is_refused_before_the_body_is_parsed(world, headers, monkeypatch):
    monkeypatch.setattr("pages.views.upload._received", lambda *args: pytest.fail("the body was parsed"))
    assert post(world, "stranger", headers=headers).status_code == 403


def test_a_closed_phase_takes_nothing(world):
    world.phase.closes_at = timezone.now() - dt.timedelta(hours=1)
    world.phase.save()
    response = post(world, phase="1", headers=JSON)
    assert response.status_code == 409
    assert "closed" in response.json()["message"]


def test_a_phase_without_submitting_takes_nothing(world):
    assert post(world, phase="2", headers=JSON).status_code == 409


def test_more_than_the_largest_archive_is_refused_before_the_body_is_parsed(world, settings, monkeypatch):
    settings.MAX_ARCHIVE_BYTES = 1000
    monkeypatch.setattr("pages.views.upload.FORM_BYTES", 1000)
    monkeypatch.setattr("pages.views.upload._received", lambda *args: pytest.fail("the body was parsed"))
    response = post(world, content=b"0" * 5000, headers=JSON)
    assert response.status_code == 413
    assert response.json()["mend"]


def test_a_little_more_than_the_largest_archive_is_refused_at_the_door(world, settings):
    settings.MAX_ARCHIVE_BYTES = 1000
    response = post(world, content=b"0" * 1500)
    assert response.status_code == 413
    assert not made(world).exists()


def test_over_quota_is_told_with_when_the_next_day_begins(world):
    world.phase.daily_quota = 1
    world.phase.save()
    response = post(world, headers=JSON)
    assert response.status_code == 429
    assert "00:00 UTC" in response.json()["mend"]


def test_other_peoples_code_is_refused_while_code_runs_unconfined(world):
    make.worker("bare", sandbox="unconfined")
    assert Worker.objects.get(name="bare").sandbox == "unconfined"
    response = post(world, headers=JSON)
    assert response.status_code == 409
    assert "sandbox" in response.json()["message"]


def test_a_forged_form_is_refused_although_the_outer_view_is_exempt(world):
    client = Client(enforce_csrf_checks=True)
    client.force_login(world.people["participant"])
    data = {"archive": SimpleUploadedFile("mine.zip", CODE, "application/zip")}
    response = client.post(world.url("submissions/"), data)
    assert response.status_code == 403
    assert not made(world).exists()


def test_nothing_stays_in_the_upload_folder(world):
    post(world)
    post(world, content=b"hello")
    from pathlib import Path

    assert list(Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir()) == []


def test_the_page_states_the_quota_that_is_left(world):
    page = world.client("participant").get(world.url("submissions/")).content.decode()
    assert "4 submissions left today" in page
    world.phase.daily_quota = 1
    world.phase.save()
    page = world.client("participant").get(world.url("submissions/")).content.decode()
    assert "no submission left today" in page


def test_an_upload_that_began_before_the_phase_closed_belongs_to_it(world, monkeypatch):
    def closes_while_the_body_is_read(request, shown):
        Phase.objects.filter(pk=world.phase.pk).update(closes_at=timezone.now())

    monkeypatch.setattr(upload, "check_before_reading", closes_while_the_body_is_read)
    assert post(world, headers=JSON, phase="1").status_code == 201


def test_an_upload_of_unknown_length_is_refused_before_it_is_read(world):
    request = RequestFactory().post(world.url("submissions/"))
    del request.META["CONTENT_LENGTH"]
    with pytest.raises(Refused) as refused:
        upload.check_before_reading(request, SimpleNamespace(may_submit=True))
    assert refused.value.status == 411
