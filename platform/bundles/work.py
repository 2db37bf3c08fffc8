"""The work on a bundle that was sent, by the site's own worker: read it, then report or import."""

import logging
import shutil
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db.models import F, QuerySet
from django.utils import timezone

from accounts.beats import prolonged
from accounts.refusals import Refused
from bundles import bell, receiving
from bundles.importing import ImportReport, import_bundle
from bundles.models import BundleImport
from datasets.scratch import scratch_folder

log = logging.getLogger(__name__)

State = BundleImport.State
OUR_FAULT = "Podium could not read this bundle because of a fault of its own. Nothing was imported."
TOO_SLOW = "Reading this bundle took longer than the site allows. Nothing was imported."
LOST = "The site lost the reading of this bundle twice, most likely for want of memory. Nothing was imported."


def process(bundle_id: int) -> None:
    """Read one bundle that waits; compare-and-set decides who does."""
    won = BundleImport.objects.filter(pk=bundle_id, state=State.WAITING).update(
        state=State.READING,
        tries=F("tries") + 1,
        sentence="Is being unpacked and read.",
        deadline=timezone.now() + bell.LEASE,
    )
    if not won:
        return
    bundle = BundleImport.objects.select_related("owner").get(pk=bundle_id)

    def prolong() -> None:
        held(bundle).update(deadline=timezone.now() + bell.LEASE)

    try:
        with prolonged(prolong, every=bell.LEASE.total_seconds() / 8, what=f"bundle {bundle_id}"):
            _work(bundle)
    except Refused as refused:
        problem = {"place": "", "message": refused.message, "mend": refused.mend}
        _end(bundle, State.REFUSED, "It was not imported.", {"errors": [problem]})
    except SoftTimeLimitExceeded:
        _end(bundle, State.FAILED, TOO_SLOW, {})
    except Exception:
        log.exception("bundle %s could not be read", bundle_id)
        _end(bundle, State.FAILED, OUR_FAULT, {})


def held(bundle: BundleImport) -> QuerySet[BundleImport]:
    """The row as long as this try of the work holds it."""
    return BundleImport.objects.filter(pk=bundle.pk, state=State.READING, tries=bundle.tries)


def _work(bundle: BundleImport) -> None:
    if bundle.competition is not None:
        # The worker of the try before was killed when it had imported and not yet said so.
        _imported(bundle, bundle.report)
        return
    with scratch_folder("bundle-") as folder:
        path = folder / "bundle.zip"
        with bundle.file.open("rb") as source, path.open("wb") as sink:
            shutil.copyfileobj(source, sink, 2**20)
        report = import_bundle(
            path,
            organizer=bundle.owner,
            answers=bundle.answers,
            dry_run=not bundle.is_wanted,
            with_solutions=bundle.answers.get("solutions") == "yes",
            by=bundle.owner,
            source=bundle,
        )
    _told(bundle, report)


def _told(bundle: BundleImport, report: ImportReport) -> None:
    """Write down what came of it."""
    if not report.ok:
        many = len(report.errors)
        what = "an error" if many == 1 else f"{many} errors"
        _end(bundle, State.REFUSED, f"It has {what}; nothing was imported.", report.as_json())
    elif report.competition is None:
        _end(bundle, State.ASKS, "It can be imported.", report.as_json())
    else:
        _imported(bundle, report.as_json())


def _imported(bundle: BundleImport, report: dict[str, Any]) -> None:
    _end(bundle, State.IMPORTED, "It is a competition now, a draft that its organizers alone see.", report)
    receiving.discard_file(bundle)


def _end(bundle: BundleImport, state: str, sentence: str, report: dict[str, Any]) -> None:
    deadline = None if state == State.IMPORTED else timezone.now() + receiving.KEPT_FOR
    held(bundle).update(state=state, sentence=sentence, report=report, is_wanted=False, deadline=deadline)


def reconcile() -> None:
    """Ring again for what waits, begin anew what a worker lost, and remove files that nobody came back to."""
    now = timezone.now()
    due = BundleImport.objects.filter(deadline__lte=now)
    lost = due.filter(state=State.READING)
    lost.filter(tries__gte=bell.MOST_TRIES).update(
        state=State.FAILED, sentence=LOST, is_wanted=False, deadline=now + receiving.KEPT_FOR
    )
    lost.filter(tries__lt=bell.MOST_TRIES).update(
        state=State.WAITING, sentence="Waits to be read again: its worker was lost.", deadline=now + bell.REPEAT
    )
    for bundle in due.filter(state=State.WAITING):
        bell.ring(bell.READ, bundle.pk)
    due.filter(state=State.WAITING).update(deadline=now + bell.REPEAT)
    for bundle in due.filter(state__in=receiving.SETTLED):
        receiving.discard_file(bundle)
        BundleImport.objects.filter(pk=bundle.pk).update(deadline=None)
