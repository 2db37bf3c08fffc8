"""What killed processes left behind is removed; what somebody needs stays."""

import datetime as dt
import os
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from accounts.refusals import Refused
from submissions import dispatch
from submissions.actions import submit
from submissions.files import incoming_folder, sweep
from submissions.models import Attempt, Prediction, Run
from tests.platform import factories as make

pytestmark = pytest.mark.django_db

LATER = dt.timedelta(hours=7)


@pytest.fixture
def phase():
    return make.phase(make.competition())


@pytest.fixture
def run(phase):
    return make.submission(phase, make.user("alice")).runs.first()


def test_stored_files_without_a_row_go_after_some_hours_and_those_with_one_stay(run):
    for orphan in ("runs/orphan", "submissions/orphan.zip"):
        default_storage.save(orphan, ContentFile(b"x"))
    run.log.save("log", ContentFile(b"said"))
    prediction = Prediction(run=run, part="valid", name="p", sha256="0" * 64, size=1)
    prediction.file.save("p", ContentFile(b"0\n"))
    sweep()
    assert default_storage.exists("runs/orphan")
    sweep(timezone.now() + LATER)
    assert not default_storage.exists("runs/orphan")
    assert not default_storage.exists("submissions/orphan.zip")
    assert run.log.read() == b"said"
    assert Prediction.objects.get().file.read() == b"0\n"
    assert run.submission.archive.read() == b"PK"


def test_files_that_a_killed_import_stored_go_and_those_of_a_version_stay(run):
    solutions = run.dataset_version.test_solution.storage
    orphans = [(default_storage, "datasets/o.zip"), (default_storage, "dataset_caches/o.zip")]
    orphans += [(solutions, "solutions/o"), (solutions, "uploads/o")]
    for storage, name in orphans:
        storage.save(name, ContentFile(b"x"))
    sweep()
    assert all(storage.exists(name) for storage, name in orphans)
    sweep(timezone.now() + LATER)
    assert not any(storage.exists(name) for storage, name in orphans)
    version = run.dataset_version
    assert all(field.storage.exists(field.name) for field in (version.public_zip, version.test_solution))


def test_uploads_of_an_ended_attempt_go_and_those_of_an_open_one_stay(run):
    Attempt.objects.create(run=run, number=1, secret_hash="x", outcome=Attempt.Outcome.LOST)
    Attempt.objects.create(run=run, number=2, secret_hash="x")
    for attempt in (1, 2, 3):
        default_storage.save(f"{incoming_folder(run.pk, attempt)}/a", ContentFile(b"x"))
    sweep()
    left = [attempt for attempt in (1, 2, 3) if default_storage.exists(incoming_folder(run.pk, attempt))]
    assert left == [2]
    Attempt.objects.all().delete()
    sweep()
    assert not default_storage.exists(f"incoming/{run.pk}")


def test_scratch_folders_of_a_door_that_was_killed_go_after_some_hours(db):
    scratch = Path(settings.FILE_UPLOAD_TEMP_DIR)
    old, young = scratch / "door-old", scratch / "door-young"
    for folder in (old, young):
        (folder / "contents").mkdir(parents=True)
    stamp = (timezone.now() - LATER).timestamp()
    os.utime(old, (stamp, stamp))
    sweep()
    assert (old.exists(), young.exists()) == (False, True)
    sweep(timezone.now() + LATER)
    assert list(scratch.iterdir()) == []


@pytest.mark.django_db(transaction=True)
def test_a_doorbell_that_fails_after_the_submission_is_in_leaves_its_archive_alone(phase, tmp_path, monkeypatch):
    alice = make.user("alice")
    make.participant(phase.competition, alice)

    def broken():
        raise OSError("the disk of the broker is full")

    monkeypatch.setattr(dispatch, "after_commit", broken)
    submission = submit(user=alice, phase=phase, archive=make.code_zip(tmp_path), filename="s.zip")
    assert submission.archive.read()[:2] == b"PK"
    assert Run.objects.count() == 2


def test_an_upload_that_ends_long_after_its_phase_closed_is_refused(phase, tmp_path):
    alice = make.user("alice")
    make.participant(phase.competition, alice)
    phase.closes_at = timezone.now() - settings.UPLOAD_GRACE * 2
    phase.save()
    begun = phase.closes_at - dt.timedelta(minutes=1)
    with pytest.raises(Refused, match="took too long") as caught:
        submit(user=alice, phase=phase, archive=make.code_zip(tmp_path), filename="s.zip", begun_at=begun)
    assert caught.value.status == 409
