"""The part of the worker protocol that is about readiness checks: claim, heartbeat, rows, report."""

import hmac
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router
from ninja.errors import HttpError
from pydantic import Field

from api import transfer
from api.worker import OfAttempt
from submissions import dispatch, images, readiness_attempts, readiness_reports, reports
from submissions.models import ReadinessCheck, Worker
from submissions.models.readiness import CHECK_AT_WORKER, CheckState
from submissions.models.worker import token_hash

router = Router()


class Heartbeat(OfAttempt):
    """Which trait is tried now, and for how long."""

    trait: str = Field("", max_length=40)
    wall_seconds: reports.Seconds = 0.0


class Row(OfAttempt, readiness_reports.ReportedRow):
    """What became of one trait."""


class Report(OfAttempt):
    """The end of an attempt; `sentence` is what the worker says of its own troubles."""

    status: readiness_reports.Status
    sentence: reports.Text = Field("", max_length=4000)


@router.post("{int:check_id}/claim")
def claim(request: HttpRequest, check_id: int) -> dict[str, Any]:
    """Take a queued check. Exactly one worker wins, and none for which a run of the contest waits."""
    worker: Worker = request.auth  # type: ignore[attr-defined]
    known = ReadinessCheck.objects.select_related("submission__phase__round__competition")
    check = known.filter(pk=check_id, state=CheckState.QUEUED).first()
    if check is None:
        raise HttpError(409, "This check is not waiting.")
    why_not = dispatch.refusal(worker, dispatch.needs_of_check(check))
    if why_not:
        raise HttpError(409, f"This worker {why_not}.")
    if worker.pk in dispatch.resting(timezone.now()):
        raise HttpError(409, "This worker has just failed; it may try again in a while.")
    if dispatch.next_for(worker) is not None:
        raise HttpError(409, "A run of the contest waits for this worker.")
    with transaction.atomic():
        Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)
        if readiness_attempts.is_busy(worker):
            raise HttpError(409, "This worker holds a run already.")
        secret = readiness_attempts.claim(check, worker)
        if secret is None:
            raise HttpError(409, "Another worker was faster.")
    built = images.pinned(worker, check.image)
    return {
        "check": check.pk,
        "attempt": check.attempt_number,
        "secret": secret,
        "lease_grace_seconds": settings.LEASE.total_seconds(),
        "archive": {
            "url": transfer.download_link(check.submission.archive),
            "sha256": check.submission.sha256,
        },
        "budget": check.budget.to_json(),
        "image": built.digest if built else check.image,
        "seed": check.seed,
        "traits": readiness_attempts.traits_left(check),
    }


def _held(request: HttpRequest, check_id: int, body: OfAttempt) -> ReadinessCheck:
    """The check, if this worker still holds it by this attempt; 410 tells the worker to stop."""
    worker: Worker = request.auth  # type: ignore[attr-defined]
    check = ReadinessCheck.objects.filter(pk=check_id).first()
    if check is None or body.attempt > check.attempt_number:
        raise HttpError(404, "This worker has no such attempt.")
    is_open = check.attempt_number == body.attempt and check.state in CHECK_AT_WORKER
    if not is_open:
        raise HttpError(410, "This attempt has ended.")
    knows_secret = hmac.compare_digest(check.secret_hash, token_hash(body.secret))
    if check.worker_id != worker.pk or not knows_secret:
        raise HttpError(404, "This worker has no such attempt.")
    return check


@router.post("{int:check_id}/heartbeat")
def heartbeat(request: HttpRequest, check_id: int, body: Heartbeat) -> dict[str, bool]:
    """Prolong the lease; brings back whether it was cancelled, and whether a run needs the worker."""
    worker: Worker = request.auth  # type: ignore[attr-defined]
    check = _held(request, check_id, body)
    if readiness_attempts.is_over(check, timezone.now()):
        raise HttpError(410, "This attempt is far over its time.")
    readiness_attempts.hear(check, trait=body.trait, wall_seconds=body.wall_seconds)
    Worker.objects.filter(pk=worker.pk).update(seen_at=timezone.now())
    return {"cancel": check.cancel_asked, "give_way": dispatch.must_give_way(worker)}


@router.post("{int:check_id}/rows")
def keep_row(request: HttpRequest, check_id: int, body: Row) -> dict[str, bool]:
    """Keep what became of one trait."""
    check = _held(request, check_id, body)
    if body.trait not in readiness_attempts.NAMES:
        raise HttpError(409, f"{body.trait!r} is no trait.")
    if body.reason == "infrastructure":
        raise HttpError(409, "A failure of ours is the end of an attempt, not a row.")
    if not readiness_reports.keep_row(check, body):
        raise HttpError(410, "This attempt has ended.")
    return {"kept": True}


@router.post("{int:check_id}/report")
def report(request: HttpRequest, check_id: int, body: Report) -> dict[str, str]:
    """The end of an attempt."""
    check = _held(request, check_id, body)
    with transaction.atomic():
        readiness_reports.report(check, body.status, body.sentence)
    check.refresh_from_db()
    return {"state": check.state}
