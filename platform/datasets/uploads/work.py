"""The work on an upload, by the site's own worker: read it, then import it, or show its table to its owner.

One upload is worked on at a time, so that a place is left for scoring and the memory of one reading is enough.
Nothing is kept of a refused upload but its report and the file itself.
"""

import hashlib
import logging
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from accounts.refusals import Refused
from datasets import policy
from datasets.actions import ImportReport, import_dataset
from datasets.models import DatasetVersion
from datasets.scratch import scratch_folder
from datasets.uploads import kinds, receiving
from datasets.uploads.models import Upload
from datasets.uploads.tabular import prepare, summary
from datasets.uploads.telling import LEASE, Superseded, Teller, held, lease_kept, note_version
from ingestion.archive import RefusedArchive
from ingestion.archive_refusal import PACK_AGAIN
from ingestion.dataset import DataError, Problem
from ingestion.program.info import find_name

log = logging.getLogger(__name__)

State = Upload.State
OUR_FAULT = "Podium could not read this file because of a fault of its own. Nothing was imported."
TOO_SLOW = "Reading this file took longer than the site allows. Nothing was imported."
NO_MEMORY = "Reading this file needs more memory than the site has."


def process(upload_id: int) -> None:
    """Work on one upload, where it waits and no other is being worked on; compare-and-set decides."""
    upload = claim(upload_id)
    if upload is None:
        return
    try:
        with lease_kept(upload), scratch_folder("upload-") as folder:
            _work(upload, folder)
    except Superseded:
        log.info("upload %s was removed or given to another worker", upload_id)
    except (Refused, RefusedArchive, DataError) as refused:
        end(upload, State.REFUSED, "This file was not imported.", _refusal(refused))
    except MemoryError:
        end(upload, State.REFUSED, NO_MEMORY, {"errors": [asdict(Problem(upload.filename, NO_MEMORY))]})
    except SoftTimeLimitExceeded:
        end(upload, State.FAILED, TOO_SLOW, {})
    except Exception:
        if held(upload).exists():  # else it was removed under our hands
            log.exception("upload %s could not be read", upload_id)
            end(upload, State.FAILED, OUR_FAULT, {})


def claim(upload_id: int) -> Upload | None:
    """The upload, ours to work on, or None where it does not wait or another one has the place."""
    waiting = Upload.objects.filter(pk=upload_id, state=State.WAITING)
    try:
        with transaction.atomic():
            won = waiting.update(
                state=State.WORKING,
                tries=F("tries") + 1,
                progress=0.0,
                sentence="Is being put together.",
                deadline=timezone.now() + LEASE,
            )
    except IntegrityError:  # the database lets one be worked on
        waiting.update(sentence="Waits until another upload has been read.")
        return None
    return (
        Upload.objects.select_related("owner", "dataset__owner", "version__dataset").get(pk=upload_id)
        if won
        else None
    )


def _work(upload: Upload, folder: Path) -> None:
    if upload.version is not None:
        # The worker of the try before was killed when it had kept the dataset and not yet said so.
        end(upload, State.IMPORTED, _imported(upload.version), {"findings": upload.version.findings})
        return
    tell = Teller(upload)
    path = folder / "file" / upload.filename
    path.parent.mkdir()
    receiving.assemble(upload, path)
    with path.open("rb") as file:
        upload.sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    held(upload).update(sha256=upload.sha256)
    tell(0.02, "Is being opened.")
    if upload.job in (Upload.Job.PREPARE, Upload.Job.TRY):
        check_name(upload, upload.recipe.get("name"))
        _told(upload, prepare(upload, path, tell.part(0.05, 0.97)))
        return
    with kinds.opened_dataset(path) as dataset:
        if dataset is not None:
            _import(upload, dataset, tell)
            return
    found = summary(path, tell.part(0.05, 0.97))
    state, sentence = (
        (State.TABLE, TABLE_READ) if found.table else (State.REFUSED, "This table could not be read.")
    )
    end(upload, state, sentence, found.report, table=found.table)


TABLE_READ = "The table was read. Choose what is to be predicted."


def _import(upload: Upload, folder: Path, tell: Teller) -> None:
    if upload.dataset is not None:
        check_name(upload, find_name(folder))
    report = import_dataset(
        folder,
        owner=upload.dataset.owner if upload.dataset else upload.owner,
        check_only=upload.job == Upload.Job.CHECK,
        title=upload.title or None,
        description=upload.description,
        progress=tell.part(0.05, 0.97),
        on_kept=partial(note_version, upload),
    )
    _told(upload, report)


def check_name(upload: Upload, name: object) -> None:
    """Refuse a new version under another name than its dataset's, and one of who may no longer edit that."""
    dataset = upload.dataset
    if dataset is None:
        return
    if not policy.may_edit(upload.owner, dataset):
        raise Refused("Only its owner and editors may send a new version.", status=403)
    last = dataset.versions.order_by("-number").first()
    if last is not None and last.name != name:
        raise Refused(
            f"This dataset is called {name}, but is to be a new version of {last.name}.",
            mend=f"Name its files {last.name}_train.data and so on, or send it as a dataset of its own.",
        )


def _told(upload: Upload, report: ImportReport) -> None:
    """End the work as its report says."""
    if not report.ok:
        end(upload, State.REFUSED, "This dataset was not imported.", report.to_json())
    elif report.version is None:
        sentence = f"The dataset is in order. It would be kept as {report.slug}."
        end(upload, State.CHECKED, sentence, report.to_json())
    else:
        end(upload, State.IMPORTED, _imported(report.version), report.to_json())


def _imported(version: DatasetVersion) -> str:
    return f"Imported as {version.dataset.slug}, version {version.number}."


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
        problem = Problem("", str(refused), getattr(refused, "mend", "") or PACK_AGAIN)
    return {"errors": [asdict(problem)]}
