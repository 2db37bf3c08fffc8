"""Writing an export, by the site's own worker."""

import datetime as dt
import hashlib
import logging

from celery.exceptions import SoftTimeLimitExceeded
from django.core.files import File
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.beats import prolonged
from accounts.refusals import Refused
from bundles import bell
from bundles.exporting.writing import write_bundle
from bundles.models import BundleExport
from datasets.scratch import scratch_folder

log = logging.getLogger(__name__)

KEPT_FOR = dt.timedelta(days=1)
OUR_FAULT = "Podium could not write this bundle because of a fault of its own."
TOO_SLOW = "Writing this bundle took longer than the site allows."
LOST = "The site lost the writing of this bundle twice."

State = BundleExport.State


def process(export_id: int) -> None:
    """Write one export that waits; compare-and-set decides who does."""
    won = BundleExport.objects.filter(pk=export_id, state=State.WAITING).update(
        state=State.WRITING,
        tries=F("tries") + 1,
        sentence="Is being written.",
        deadline=timezone.now() + bell.LEASE,
    )
    if not won:
        return
    export = BundleExport.objects.select_related("competition").get(pk=export_id)

    def prolong() -> None:
        held(export).update(deadline=timezone.now() + bell.LEASE)

    try:
        with prolonged(prolong, every=bell.LEASE.total_seconds() / 8, what=f"export {export_id}"):
            _work(export)
    except Refused as refused:
        _failed(export, str(refused))
    except SoftTimeLimitExceeded:
        _failed(export, TOO_SLOW)
    except Exception:
        log.exception("export %s could not be written", export_id)
        _failed(export, OUR_FAULT)


def held(export: BundleExport) -> QuerySet[BundleExport]:
    """The row as long as this try of the work holds it."""
    return BundleExport.objects.filter(pk=export.pk, state=State.WRITING, tries=export.tries)


def _work(export: BundleExport) -> None:
    with scratch_folder("export-") as folder:
        path = folder / "bundle.zip"
        unsayable = write_bundle(export.competition, path, with_solutions=export.with_solutions)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            file.seek(0)
            export.file.save("bundle.zip", File(file), save=False)
        won = held(export).update(
            state=State.READY,
            sentence="Is ready.",
            file=str(export.file.name),
            sha256=digest,
            size=path.stat().st_size,
            unsayable=unsayable,
            deadline=timezone.now() + KEPT_FOR,
        )
    if not won:
        export.file.storage.delete(str(export.file.name))


def _failed(export: BundleExport, sentence: str) -> None:
    deadline = timezone.now() + KEPT_FOR
    held(export).update(state=State.FAILED, sentence=sentence[:300], deadline=deadline)


def remove(export: BundleExport) -> None:
    """Remove an export with its file."""
    storage, name = export.file.storage, str(export.file.name)
    export.delete()
    if name:
        storage.delete(name)


def reconcile() -> None:
    """Ring again for what waits, begin anew what a worker lost, remove what was kept for its day."""
    now = timezone.now()
    due = BundleExport.objects.filter(deadline__lte=now)
    lost = due.filter(state=State.WRITING)
    lost.filter(tries__gte=bell.MOST_TRIES).update(state=State.FAILED, sentence=LOST, deadline=now + KEPT_FOR)
    lost.filter(tries__lt=bell.MOST_TRIES).update(state=State.WAITING, deadline=now)
    for export in due.filter(state=State.WAITING):
        bell.ring(bell.WRITE, export.pk)
    due.filter(state=State.WAITING).update(deadline=now + bell.REPEAT)
    for export in due.filter(state__in=(State.READY, State.FAILED)):
        remove(export)
