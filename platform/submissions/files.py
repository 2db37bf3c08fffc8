"""Files that nobody refers to: what a process that was killed left behind is found and removed here."""

import datetime as dt
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.files.storage import Storage, default_storage
from django.utils import timezone

from datasets.models import DatasetVersion, solution_storage
from datasets.uploads.models import UploadPart
from submissions.models import Attempt, Prediction, ReadinessRow, Run, RunFile, Submission

log = logging.getLogger(__name__)

INCOMING = "incoming"
# A file is stored before the transaction that names it ends, so young ones are left alone.
ORPHAN_AGE = dt.timedelta(hours=6)
FOLDERS = ("runs", "submissions", "checks", "datasets", "dataset_caches")
HIDDEN_FOLDERS = ("solutions", "uploads")  # in the storage of solutions


def incoming_folder(run_id: int, attempt: int) -> str:
    """Where the uploads of an attempt wait for its report."""
    return f"{INCOMING}/{run_id}/{attempt}"


def incoming_names(run_id: int, attempt: int) -> list[str]:
    """The files that an attempt has uploaded so far."""
    return _listed(incoming_folder(run_id, attempt))[1]


def discard_incoming(run_id: int, attempt: int) -> None:
    """Remove what an attempt uploaded and nobody keeps."""
    folder = incoming_folder(run_id, attempt)
    for name in _listed(folder)[1]:
        default_storage.delete(f"{folder}/{name}")
    for empty in (folder, f"{INCOMING}/{run_id}"):
        _remove_folder(empty)


def sweep(now: dt.datetime | None = None) -> int:
    """Remove scratch files, uploads of ended attempts and stored files without a row; returns how many."""
    now = now or timezone.now()
    removed = _sweep_scratch(now) + _sweep_incoming() + _sweep_stored(now)
    if removed:
        log.info("%s files that nobody needed were removed", removed)
    return removed


def _sweep_scratch(now: dt.datetime) -> int:
    removed = 0
    for path in Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir():
        try:
            age = now.timestamp() - path.lstat().st_mtime
        except FileNotFoundError:
            continue
        if age > ORPHAN_AGE.total_seconds():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
            removed += 1
    return removed


def _sweep_incoming() -> int:
    removed = 0
    for run_id, attempt in list(_attempts_with_uploads()):
        is_open = Attempt.objects.filter(run=run_id, number=attempt, outcome=Attempt.Outcome.OPEN).exists()
        if not is_open:
            removed += len(incoming_names(run_id, attempt))
            discard_incoming(run_id, attempt)
    return removed


def _attempts_with_uploads() -> Iterator[tuple[int, int]]:
    for run_id in _listed(INCOMING)[0]:
        for attempt in _listed(f"{INCOMING}/{run_id}")[0]:
            if run_id.isdecimal() and attempt.isdecimal():
                yield int(run_id), int(attempt)


def _sweep_stored(now: dt.datetime) -> int:
    return sum(_sweep_folder(default_storage, folder, now) for folder in FOLDERS) + sum(
        _sweep_folder(solution_storage(), folder, now) for folder in HIDDEN_FOLDERS
    )


def _sweep_folder(storage: Storage, folder: str, now: dt.datetime) -> int:
    removed = 0
    names = {f"{folder}/{name}" for name in _listed(folder, storage)[1]}
    # Listed first and looked up second: a file whose row came in between is found to have it.
    for name in names - _referenced():
        try:
            is_old = now - storage.get_modified_time(name) > ORPHAN_AGE
        except FileNotFoundError:
            continue
        if is_old:
            storage.delete(name)
            removed += 1
    return removed


def _referenced() -> set[str]:
    names: set[str] = set()
    names.update(Submission.objects.values_list("archive", flat=True).iterator())
    names.update(Run.objects.exclude(log="").values_list("log", flat=True).iterator())
    names.update(Prediction.objects.values_list("file", flat=True).iterator())
    names.update(ReadinessRow.objects.exclude(log="").values_list("log", flat=True).iterator())
    names.update(RunFile.objects.values_list("file", flat=True).iterator())
    for field in ("public_zip", "cache_zip", "valid_solution", "test_solution", "reference"):
        names.update(DatasetVersion.objects.values_list(field, flat=True).iterator())
    names.update(UploadPart.objects.values_list("file", flat=True).iterator())
    return names


def _listed(folder: str, storage: Storage = default_storage) -> tuple[list[str], list[str]]:
    try:
        folders, files = storage.listdir(folder)
    except FileNotFoundError:
        return [], []
    return folders, files


def _remove_folder(folder: str) -> None:
    """Remove an empty folder where the storage has folders; one that is in use stays."""
    try:
        Path(default_storage.path(folder)).rmdir()
    except (OSError, NotImplementedError):
        return
