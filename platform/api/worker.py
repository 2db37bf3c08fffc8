"""The protocol of compute workers: announce, claim, heartbeat, upload, report.

A worker proves itself by its token; from the claim on, every call must also carry the secret of that attempt,
so that a worker which lost its run cannot speak for it any more.
"""

import hmac
import logging
import secrets
import threading
import time
from datetime import datetime, timedelta
from typing import Annotated, Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.http import FileResponse, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from django.utils import timezone
from ninja import NinjaAPI, Schema
from ninja.errors import HttpError
from ninja.security import HttpBearer
from pydantic import Field

from analysis.run_on import told_seconds
from api import programmed, transfer
from datasets.models import DatasetVersion
from submissions import dispatch, files, images, readiness_attempts, reports
from submissions.leases import take_back
from submissions.models import Attempt, Run, RunState, Worker
from submissions.models.worker import token_hash
from submissions.reconciler import lose_attempts_of
from submissions.transitions import move

log = logging.getLogger(__name__)

MOST_WAITING = 3
_waiting_calls = threading.BoundedSemaphore(MOST_WAITING)


class WorkerToken(HttpBearer):
    """`Authorization: Bearer <token>` of a worker that was not revoked."""

    def authenticate(self, request: HttpRequest, token: str) -> Worker | None:
        return Worker.by_token(token)


api = NinjaAPI(
    title="Podium worker protocol",
    version="1",
    auth=WorkerToken(),
    urls_namespace="worker",
    docs_url=None,
    openapi_url=None,
)


class AnnouncedImage(Schema):
    """An image that a worker has, as `ingestion.sandbox.base.KnownImage`."""

    name: reports.Text = Field(max_length=200)
    id: str = Field(pattern="^sha256:[0-9a-f]{64}$")
    packages: list[Annotated[reports.Text, Field(max_length=200)]] = Field(default_factory=list, max_length=2000)
    problem: reports.Text = Field("", max_length=200)
    runs_models: bool = True


class Announcement(Schema):
    """What a worker is and has; `starting` when it has just begun and holds no run.

    `cores` and `memory_bytes` are what one run gets, the others all that its machine has.
    """

    starting: bool = False
    sandbox: str = Field(max_length=20, pattern="^(docker|bubblewrap|unconfined)$")
    cores: int = Field(ge=1, le=4096)
    memory_bytes: int = Field(ge=1, le=2**50)
    machine_cores: int | None = Field(None, ge=1, le=4096)
    machine_memory_bytes: int | None = Field(None, ge=1, le=2**50)
    default_image: reports.Text = Field("", max_length=200)
    images: list[AnnouncedImage] | None = Field(None, max_length=100)


class Listening(Schema):
    """How long a worker without a broker wants to wait for a run."""

    wait_seconds: float = Field(15.0, ge=0, le=20)


class OfAttempt(Schema):
    """What every call about a claimed run carries."""

    attempt: int
    secret: str = Field(max_length=100)


class Heartbeat(OfAttempt):
    """How the run is doing."""

    started: bool = False
    wall_seconds: reports.Seconds = 0.0
    cpu_seconds: reports.Seconds = 0.0
    memory_bytes: reports.Bytes = 0
    log_tail: reports.Text = Field("", max_length=20_000)


class Upload(OfAttempt):
    """A file that the worker wants to send."""

    name: reports.Text = Field(max_length=200)
    size: int = Field(ge=0)


class Report(OfAttempt, reports.Report):
    """The end of an attempt."""


@api.post("hello")
def hello(request: HttpRequest) -> dict[str, Any]:
    """Whose token this is: for a worker that looks whether it can start. Nothing is kept."""
    worker: Worker = request.auth  # type: ignore[attr-defined]
    return {"worker": worker.name, "resource_class": worker.resource_class, "trusted": worker.is_trusted}


@api.post("announce")
def announce(request: HttpRequest, body: Announcement) -> dict[str, Any]:
    """A worker says that it lives and what it has; answers which queues are its own."""
    worker: Worker = request.auth  # type: ignore[attr-defined]
    found = None if body.images is None else [image.model_dump() for image in body.images]
    is_new = not worker.is_alive(timezone.now()) or worker.sandbox != body.sandbox or worker.images != found
    Worker.objects.filter(pk=worker.pk).update(
        seen_at=timezone.now(),
        sandbox=body.sandbox,
        cores=body.cores,
        memory_bytes=body.memory_bytes,
        machine_cores=body.machine_cores,
        machine_memory_bytes=body.machine_memory_bytes,
        default_image=body.default_image,
        images=found,
    )
    if body.starting:
        lose_attempts_of(worker)
    if is_new or body.starting:
        dispatch.ring()
    return {
        "worker": worker.name,
        "resource_class": worker.resource_class,
        "trusted": worker.is_trusted,
        "heartbeat_seconds": settings.HEARTBEAT.total_seconds(),
        "images": list(settings.SANDBOX_IMAGES),
    }


@api.post("next")
def wait_for_a_run(request: HttpRequest, body: Listening) -> dict[str, int | None]:
    """The doorbell of workers that get no broker: answers when a run, or else a check, waits for this one."""
    worker: Worker = request.auth  # type: ignore[attr-defined]
    end = time.monotonic() + body.wait_seconds
    # Each call that waits holds a thread of the site, so only some may; the others are answered at once.
    may_wait = _waiting_calls.acquire(blocking=False)
    try:
        while True:
            run_id = dispatch.next_for(worker)
            check_id = dispatch.next_check_for(worker) if run_id is None else None
            if not may_wait or time.monotonic() >= end or (run_id, check_id) != (None, None):
                return {"run": run_id} | ({} if check_id is None else {"check": check_id})
            time.sleep(0.5)
    finally:
        if may_wait:
            _waiting_calls.release()


@api.post("runs/{int:run_id}/claim")
def claim(request: HttpRequest, run_id: int) -> Any:
    """Take a queued run. Exactly one worker wins; the others get 409 and wait for the next doorbell."""
    worker: Worker = request.auth  # type: ignore[attr-defined]
    run = (
        Run.objects.select_related("submission__phase", "task__phase__round__competition", "dataset_version")
        .select_related("task__ingestion_program", "task__scoring_program")
        .filter(pk=run_id)
        .first()
    )
    if run is None or run.state != RunState.QUEUED:
        raise HttpError(409, "This run is not waiting.")
    why_not = dispatch.refusal(worker, dispatch.needs_of(run))
    if why_not:
        raise HttpError(409, f"This worker {why_not}.")
    if worker.pk in dispatch.resting(timezone.now()):
        raise HttpError(409, "This worker has just failed; it may try again in a while.")
    is_programmed = run.task.scoring_program_id is not None
    image = images.for_programs(worker, run.image) if is_programmed else run.image
    secret = secrets.token_urlsafe(24)
    now = timezone.now()
    with transaction.atomic():
        # One slot, one run: a token that was stolen, or copied to a second machine, cannot empty the queue.
        Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)
        if readiness_attempts.is_busy(worker):
            raise HttpError(409, "This worker holds a run already.")
        number = run.attempt_number + 1
        won = move(
            run,
            RunState.QUEUED,
            RunState.CLAIMED,
            attempt_number=number,
            deadline=now + settings.LEASE,
            sentence=f"Is being prepared by {worker.name}.",
            built_image=images.pinned(worker, image),
        )
        if not won:
            raise HttpError(409, "Another worker was faster.")
        Attempt.objects.create(
            run=run, number=number, worker=worker, secret_hash=token_hash(secret), claimed_at=now, heard_at=now
        )
    files.discard_incoming(run.pk, number)  # an attempt begins with an empty place, also after a restored backup
    return _inputs(run, number, secret)


def _inputs(run: Run, attempt: int, secret: str) -> dict[str, Any]:
    version = run.dataset_version
    phase = run.submission.phase
    common = {
        "run": run.pk,
        "attempt": attempt,
        "secret": secret,
        "lease_grace_seconds": settings.LEASE_GRACE.total_seconds(),
        "archive": {
            "url": transfer.download_link(run.submission.archive),
            "sha256": run.submission.sha256,
        },
        "budget": run.budget_json,
        "image": run.built_image.digest if run.built_image else run.image,
        "seed": run.seed,
    }
    if run.task.scoring_program_id is not None:
        return common | {"programs": programmed.inputs(run)}
    told = told_seconds(run)
    if told is not None:
        common["told_seconds"] = told
    return common | {
        "dataset": {
            "url": transfer.download_link(version.public_zip),
            "sha256": version.public_sha256,
            "name": version.name,
            "alias": run.dataset_name,
            "cache": _arrays(version),
            "blind": phase.needs_trusted_workers,
            "metric": run.metric,
            "rows": {part: version.rows(part) for part in version.parts()},
            "columns": version.target_num,
        },
        "any_time": run.any_time,
        "load_models": phase.allow_saved_models and not phase.is_hidden,
    }


def _arrays(version: DatasetVersion) -> dict[str, str] | None:
    """Where the dataset's arrays are; None for versions that have none yet."""
    if not version.cache_zip:
        return None
    return {"url": transfer.download_link(version.cache_zip), "sha256": version.cache_sha256}


def _attempt_of(request: HttpRequest, run_id: int, body: OfAttempt) -> Run:
    """The run, if this worker still holds it by this attempt; 410 tells the worker to stop."""
    run = Run.objects.select_related("submission__phase", "dataset_version", "task").filter(pk=run_id).first()
    worker: Worker = request.auth  # type: ignore[attr-defined]
    attempt = run.attempts.filter(number=body.attempt, worker=worker).first() if run else None
    if run is None or attempt is None or not hmac.compare_digest(attempt.secret_hash, token_hash(body.secret)):
        raise HttpError(404, "This worker has no such attempt.")
    if run.attempt_number != body.attempt:
        raise HttpError(410, "This attempt has ended.")
    if attempt.outcome != Attempt.Outcome.OPEN:
        if not take_back(run, attempt, timezone.now()):
            raise HttpError(410, "This attempt has ended.")
        run.refresh_from_db(fields=["state", "deadline", "started_at", "sentence"])
    return run


@api.post("runs/{int:run_id}/heartbeat")
def heartbeat(request: HttpRequest, run_id: int, body: Heartbeat) -> dict[str, Any]:
    """Prolong the lease, show how the run does, and bring back whether it was cancelled."""
    run = _attempt_of(request, run_id, body)
    now = timezone.now()
    fields: dict[str, Any] = {"deadline": now + settings.LEASE}
    if _is_over(run, now):
        raise HttpError(410, "This attempt is far over its time.")
    if body.started:
        fields["log_tail"] = body.log_tail[-20_000:]
        if run.state == RunState.CLAIMED:
            sentence = run.sentence if run.cancel_asked else "Is running."
            move(run, RunState.CLAIMED, RunState.RUNNING, started_at=now, sentence=sentence, **fields)
    Run.objects.filter(pk=run.pk, attempt_number=body.attempt, state=run.state).update(**fields)
    run.attempts.filter(number=body.attempt).update(
        heard_at=now,
        wall_seconds=body.wall_seconds,
        cpu_seconds=body.cpu_seconds,
        memory_bytes=body.memory_bytes,
    )
    Worker.objects.filter(pk=request.auth.pk).update(seen_at=now)  # type: ignore[attr-defined]
    return {"cancel": run.cancel_asked}


def _is_over(run: Run, now: datetime) -> bool:
    """The lease covers a worker that dies; this bounds one that lives but never ends its run."""
    if run.started_at is not None:
        return now > run.started_at + timedelta(seconds=run.budget.wall_seconds * 2 + 900)
    attempt = run.attempts.get(number=run.attempt_number)
    return now > attempt.claimed_at + settings.PREPARING_LIMIT


@api.post("runs/{int:run_id}/uploads")
def ask_to_upload(request: HttpRequest, run_id: int, body: Upload) -> dict[str, str]:
    """A link to send one file of the run."""
    run = _attempt_of(request, run_id, body)
    if not reports.is_file_of(run, body.name):
        raise HttpError(409, f"{body.name!r} is not a file that this run leaves.")
    if len(files.incoming_names(run.pk, body.attempt)) > reports.MOST_PREDICTIONS:
        raise HttpError(409, f"A run leaves {reports.MOST_PREDICTIONS} files at most.")
    limit = reports.upload_limit(run, body.name)
    if body.size > limit:
        raise HttpError(413, f"{body.name} has {body.size} bytes; the limit for this run is {limit}.")
    return {"url": transfer.upload_link(run.pk, body.attempt, body.name, body.size)}


@api.post("runs/{int:run_id}/report")
def report(request: HttpRequest, run_id: int, body: Report) -> dict[str, str]:
    """The end of an attempt: what the run left, by name, size and SHA-256, and how it ended."""
    run = _attempt_of(request, run_id, body)
    kept: dict[str, str] = {}
    try:
        reports.check(run, body)
        for file in body.files():
            kept[file.name] = transfer.keep(run.pk, body.attempt, file.name, sha256=file.sha256, size=file.size)
        taken = reports.take(run, body.attempt, body, kept)
    except (transfer.Mismatch, reports.BadReport) as problem:
        reports.drop(kept)
        raise HttpError(409, str(problem)) from problem
    except BaseException:
        reports.drop(kept)
        raise
    files.discard_incoming(run.pk, body.attempt)
    if not taken:
        reports.drop(kept)
        raise HttpError(410, "This attempt has ended.")
    return {"state": run.state}


def transfers(request: HttpRequest, token: str) -> HttpResponseBase:
    """Read (GET) or write (PUT) the one object that a link names."""
    if request.method == "GET":
        program = programmed.file_of(token)
        if program is not None:
            return FileResponse(program.open("rb"), content_type="application/octet-stream")
        ticket = transfer.read_ticket(token, "get")
        if ticket is None or not default_storage.exists(ticket.name):
            return JsonResponse({"detail": "This link is not valid any more."}, status=403)
        return FileResponse(default_storage.open(ticket.name, "rb"), content_type="application/octet-stream")
    if request.method == "PUT":
        return _receive(request, transfer.read_ticket(token, "put"))
    return JsonResponse({"detail": "GET or PUT."}, status=405)


def _receive(request: HttpRequest, ticket: transfer.Ticket | None) -> HttpResponse:
    if ticket is None:
        return JsonResponse({"detail": "This link is not valid any more."}, status=403)
    length = int(request.headers.get("Content-Length") or -1)
    if length != ticket.size:
        return JsonResponse({"detail": f"The link is for {ticket.size} bytes."}, status=400)
    # A link lives longer than some attempts; what comes after the report would stay for ever.
    attempt = Attempt.objects.filter(run=ticket.run_id or 0, number=ticket.attempt or 0).first()
    if attempt is None or attempt.outcome != Attempt.Outcome.OPEN:
        return JsonResponse({"detail": "This attempt has ended."}, status=410)
    if default_storage.exists(ticket.name):
        default_storage.delete(ticket.name)
    try:
        default_storage.save(ticket.name, transfer.body_file(request, length))
    except (transfer.Mismatch, UnreadablePostError):
        default_storage.delete(ticket.name)
        return JsonResponse({"detail": "The upload broke off."}, status=400)
    return HttpResponse(status=204)
