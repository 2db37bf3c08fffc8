"""The work on an upload, by the site's own worker: read it, then import it, or show its table to its owner.

One upload is worked on at a time, so that a place is left for scoring and the memory of one reading is enough.
Nothing is kept of a refused upload but its report and the file itself.
"""

import hashlib
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.refusals import Refused
from datasets.actions import ImportReport, import_dataset
from datasets.uploads import kinds, receiving
from datasets.uploads.models import Upload
from datasets.uploads.telling import LEASE, Superseded, Teller, held, lease_kept
from ingestion.archive import RefusedArchive, open_archive
from ingestion.dataset import DataError, Problem

log = logging.getLogger(__name__)

State = Upload.State
OUR_FAULT = "Podium could not read this file because of a fault of its own. Nothing was imported."
NO_MEMORY = "Reading this file needs more memory than the site has."


def process(upload_id: int) -> None:
    """Work on one upload, where it waits and no other is being worked on; compare-and-set decides."""
    upload = claim(upload_id)
    if upload is None:
        return
    try:
        with lease_kept(upload), scratch_folder() as folder:
            _work(upload, folder)
    except Superseded:
        log.info("upload %s was removed or given to another worker", upload_id)
    except (Refused, RefusedArchive, DataError) as refused:
        end(upload, State.REFUSED, "This file was not imported.", _refusal(refused))
    except MemoryError:
        end(upload, State.REFUSED, NO_MEMORY, {"errors": [asdict(Problem(upload.filename, NO_MEMORY))]})
    except Exception:
        log.exception("upload %s could not be read", upload_id)
        end(upload, State.FAILED, OUR_FAULT, {})


def claim(upload_id: int) -> Upload | None:
    """The upload, ours to work on, or None where it does not wait or another one has the place."""
    with transaction.atomic():
        if Upload.objects.select_for_update().filter(state=State.WORKING).exists():
            Upload.objects.filter(pk=upload_id, state=State.WAITING).update(
                sentence="Waits until another upload has been read."
            )
            return None
        upload = Upload.objects.select_for_update().filter(pk=upload_id, state=State.WAITING).first()
        if upload is None:
            return None
        upload.state, upload.tries, upload.progress = State.WORKING, upload.tries + 1, 0.0
        upload.sentence, upload.deadline = "Is being put together.", timezone.now() + LEASE
        upload.save()
    return upload


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for the file and what comes out of it, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="upload-", dir=settings.FILE_UPLOAD_TEMP_DIR))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _work(upload: Upload, folder: Path) -> None:
    tell = Teller(upload)
    path = folder / "file" / upload.filename
    path.parent.mkdir()
    receiving.assemble(upload, path)
    with path.open("rb") as file:
        upload.sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    held(upload).update(sha256=upload.sha256)
    tell(0.02, "Is being opened.")
    source = path
    if kinds.is_zip(path):
        contents = open_archive(path, folder / "contents").root
        dataset = kinds.found_dataset(contents)
        if dataset is not None:
            _import(upload, dataset, tell)
            return
        source = kinds.found_table(contents)
    elif not kinds.is_table(path):
        raise Refused(f"{upload.filename} is in no format that is known here.", mend=f"Send {kinds.KNOWN}.")
    raise Refused(f"{source.name} is a table, which is to be prepared first.")


def _import(upload: Upload, folder: Path, tell: Teller) -> None:
    tell(0.05, "Is being read and checked.")
    report = import_dataset(
        folder,
        owner=upload.owner,
        check_only=upload.job == Upload.Job.CHECK,
        title=upload.title or None,
        description=upload.description,
    )
    _told(upload, report)


def _told(upload: Upload, report: ImportReport) -> None:
    """End the work as its report says."""
    if not report.ok:
        end(upload, State.REFUSED, "This dataset was not imported.", report.to_json())
    elif report.dataset is None:
        sentence = f"The dataset is in order. It would be imported as {report.slug}."
        end(upload, State.CHECKED, sentence, report.to_json())
    else:
        version = report.dataset.current
        number = version.number if version else 1
        sentence = f"Imported as {report.slug}, version {number}."
        end(upload, State.IMPORTED, sentence, report.to_json(), version=version)


def end(upload: Upload, state: str, sentence: str, report: dict[str, Any], **fields: Any) -> None:
    """Write the end of the work, if it is still ours; the file of an imported dataset is no longer needed."""
    deadline = None if state == State.IMPORTED else timezone.now() + receiving.KEPT_FOR
    told = {"progress": 1.0, "sentence": sentence, "report": report, "deadline": deadline, **fields}
    if held(upload).update(state=state, changed_at=timezone.now(), **told) and state == State.IMPORTED:
        receiving.discard_file(upload)
    receiving.ring_next()


def _refusal(refused: Exception) -> dict[str, Any]:
    if isinstance(refused, DataError):
        problem = Problem(refused.place, refused.message)
    elif isinstance(refused, Refused):
        problem = Problem("", refused.message, refused.mend)
    else:
        problem = Problem("", str(refused))
    return {"errors": [asdict(problem)]}
