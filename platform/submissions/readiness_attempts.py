"""What workers and the reconciler do with readiness checks, each change a compare-and-set."""

import datetime as dt
import logging
import secrets
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from ingestion.traits import TRAITS
from submissions import dispatch
from submissions.leases import SILENT
from submissions.models import Attempt, Worker
from submissions.models.readiness import CHECK_ACTIVE, CHECK_AT_WORKER, CheckState, ReadinessCheck
from submissions.models.worker import token_hash

log = logging.getLogger(__name__)

NAMES = tuple(trait.name for trait in TRAITS)
OURS = "Our infrastructure failed three times while it ran. It counts for nothing; ask for it again."
WAITED_TOO_LONG = "No worker had time for it within a day. Ask for it again."


def move(check: ReadinessCheck, old: str | tuple[str, ...], new: str, **fields: object) -> bool:
    """Change the state of a check that is still `old`, in the attempt that the caller knows; returns whether."""
    states = (old,) if isinstance(old, str) else old
    same = ReadinessCheck.objects.filter(pk=check.pk, state__in=states, attempt_number=check.attempt_number)
    changed = same.update(state=new, **fields)
    if changed:
        check.state = new
        for name, value in fields.items():
            setattr(check, name, value)
    return bool(changed)


def end(check: ReadinessCheck, state: str, sentence: str) -> bool:
    """Bring a check that has not ended to a final state; its secret opens nothing any more."""
    return move(
        check,
        CHECK_ACTIVE,
        state,
        sentence=sentence,
        ended_at=timezone.now(),
        deadline=None,
        secret_hash="",
        current_trait="",
    )


def claim(check: ReadinessCheck, worker: Worker) -> str | None:
    """Give a queued check to a worker; returns the secret of the attempt, or None where another was faster.

    Call inside a transaction that holds the worker's row.
    """
    secret, now = secrets.token_urlsafe(24), timezone.now()
    states = {"deadline": now + settings.LEASE, "claimed_at": now, "heard_at": now}
    mine = {"worker": worker, "secret_hash": token_hash(secret), "attempt_number": check.attempt_number + 1}
    sentence = f"Is being prepared by {worker.name}."
    won = move(check, CheckState.QUEUED, CheckState.CLAIMED, sentence=sentence, **states, **mine)
    return secret if won else None


def is_busy(worker: Worker) -> bool:
    """Whether the worker holds a run or a check: one slot, one of them."""
    holds_run = worker.attempts.filter(outcome=Attempt.Outcome.OPEN).exists()
    return holds_run or worker.readiness_checks.filter(state__in=CHECK_AT_WORKER).exists()


def traits_left(check: ReadinessCheck) -> list[str]:
    """The traits that have no row yet, in their order."""
    done = set(check.rows.values_list("trait", flat=True))
    return [name for name in NAMES if name not in done]


def hear(check: ReadinessCheck, *, trait: str, wall_seconds: float) -> None:
    """Prolong the lease and note what is tried now."""
    now = timezone.now()
    fields: dict[str, object] = {
        "deadline": now + settings.LEASE,
        "heard_at": now,
        "current_trait": trait if trait in NAMES else "",
        "current_seconds": wall_seconds,
    }
    if trait and not check.cancel_asked:
        fields["sentence"] = "Is running."
    move(check, CHECK_AT_WORKER, CheckState.RUNNING if trait else check.state, **fields)


def is_over(check: ReadinessCheck, now: dt.datetime) -> bool:
    """The lease covers a worker that dies; this bounds one that lives but never ends its check."""
    most = dt.timedelta(seconds=len(NAMES) * (2 * check.wall_seconds + 30)) + settings.PREPARING_LIMIT
    return check.claimed_at is not None and now > check.claimed_at + most


def queue_again(check: ReadinessCheck, sentence: str, **fields: object) -> bool:
    """Put a check back into the queue; its next claim is a new attempt, and its rows stay."""
    if check.cancel_asked:
        return end(check, CheckState.CANCELLED, "Cancelled while it ran.")
    gone: dict[str, Any] = {
        "deadline": None,
        "rung_at": None,
        "worker": None,
        "secret_hash": "",
        "current_trait": "",
    }
    return move(check, CHECK_AT_WORKER, CheckState.QUEUED, sentence=sentence, **gone, **fields)


def lose(check: ReadinessCheck, *, why: str, note: str = "", lease_over_at: dt.datetime | None = None) -> None:
    """End an attempt that our side lost: queue the check again, or give up after the third.

    With `lease_over_at` nothing happens to an attempt that was heard in the meantime.
    """
    with transaction.atomic():
        fenced = (
            ReadinessCheck.objects.select_for_update(of=("self",), no_key=True)
            .select_related("worker")
            .get(pk=check.pk)
        )
        if fenced.attempt_number != check.attempt_number or fenced.state not in CHECK_AT_WORKER:
            return
        if lease_over_at is not None and fenced.deadline is not None and fenced.deadline >= lease_over_at:
            return
        log.warning("readiness check %s was lost at %s: %s %s", fenced.pk, fenced.worker, why, note)
        if fenced.losses + 1 >= settings.MAX_ATTEMPTS and not fenced.cancel_asked:
            end(fenced, CheckState.FAILED, OURS)
        else:
            queue_again(fenced, f"{dispatch.AGAIN}. {why}", losses=fenced.losses + 1)


def lose_checks_of(worker: Worker, why: str) -> None:
    """End what a worker held before it was started again."""
    for check in worker.readiness_checks.filter(state__in=CHECK_AT_WORKER):
        lose(check, why=why)


def reconcile(now: dt.datetime) -> None:
    """Bring back checks whose lease ran out, and give up those that waited for a day."""
    for check in ReadinessCheck.objects.filter(state__in=CHECK_AT_WORKER, deadline__lt=now):
        try:
            lose(check, why=SILENT, lease_over_at=now)
        except Exception:
            log.exception("readiness check %s could not be reconciled", check.pk)
    since = now - settings.READINESS_WAIT
    for check in ReadinessCheck.objects.filter(state=CheckState.QUEUED, asked_at__lt=since):
        move_to_failed = ReadinessCheck.objects.filter(pk=check.pk, state=CheckState.QUEUED)
        move_to_failed.update(state=CheckState.FAILED, sentence=WAITED_TOO_LONG, ended_at=now)
