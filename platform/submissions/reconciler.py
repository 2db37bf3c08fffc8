"""Nothing stays where it is for ever: every state that has an owner has a deadline, and here it is kept."""

import datetime as dt
import logging
from collections.abc import Callable

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from submissions import dispatch, doorbell, readiness_attempts
from submissions.leases import SILENT, forgive_own_absence
from submissions.models import Attempt, Run, RunState, Worker
from submissions.models.runs import AT_WORKER
from submissions.transitions import end_attempt, end_run, move, settle

log = logging.getLogger(__name__)

OURS = "Our infrastructure failed three times in a row while it ran; it costs no quota."
SCORING_OURS = "Our scoring failed three times in a row; it costs no quota."
RESTARTED = "Its worker was started again."


def reconcile(now: dt.datetime | None = None) -> None:
    """Bring back what was lost: leases that ran out, scores nobody computed, doorbells nobody heard."""
    now = now or timezone.now()
    forgive_own_absence(now)
    for run in Run.objects.filter(state__in=AT_WORKER, deadline__lt=now).select_related("submission"):
        _apart(run, lambda run: lose_attempt(run, why=SILENT, lease_over_at=now))
    for run in Run.objects.filter(state=RunState.SCORING, deadline__lt=now).select_related("submission"):
        _apart(run, lambda run: _score_again(run, now))
    stale = now - settings.DOORBELL_REPEAT
    for run_id in Run.objects.filter(state=RunState.COLLECTED, rung_at__lt=stale).values_list("pk", flat=True):
        if Run.objects.filter(pk=run_id, rung_at__lt=stale).update(rung_at=now):
            doorbell.ring_scorer(run_id)
    readiness_attempts.reconcile(now)
    dispatch.after_commit()


def _apart(run: Run, mend: Callable[[Run], None]) -> None:
    """Look after one run so that a problem with it keeps nobody else waiting."""
    try:
        mend(run)
    except Exception:
        log.exception("run %s could not be reconciled", run.pk)


def lose_attempt(run: Run, *, why: str, note: str = "", lease_over_at: dt.datetime | None = None) -> None:
    """End an attempt that our side lost: queue the run again, or give up after the third.

    `why` is a sentence for the participant, `note` what else organizers may read. With `lease_over_at` nothing
    happens to an attempt that was heard in the meantime.
    """
    with transaction.atomic():
        fenced = (
            Run.objects.select_for_update(of=("self",), no_key=True).select_related("submission").get(pk=run.pk)
        )
        if fenced.attempt_number != run.attempt_number or fenced.state not in AT_WORKER:
            return
        if lease_over_at is not None and fenced.deadline is not None and fenced.deadline >= lease_over_at:
            return
        end_attempt(fenced, Attempt.Outcome.LOST, note=f"{why} {note}".strip())
        if fenced.cancel_asked:
            end_run(fenced, RunState.CANCELLED, reason="cancelled", sentence="Cancelled while it ran.")
        elif losses(fenced) >= settings.MAX_ATTEMPTS:
            end_run(fenced, RunState.FAILED, reason="infrastructure", sentence=OURS)
        else:
            queue_again(fenced, sentence=f"{dispatch.AGAIN}. {why}")
        settle(fenced.submission)


def losses(run: Run) -> int:
    """How often our side lost the run since it was last queued by somebody's will."""
    return run.attempts.filter(outcome=Attempt.Outcome.LOST, number__gt=run.attempts_before).count()


def lose_attempts_of(worker: Worker) -> None:
    """End what a worker held before it was started again: whoever speaks now knows nothing of it."""
    held = Run.objects.filter(state__in=AT_WORKER, attempts__worker=worker, attempts__outcome=Attempt.Outcome.OPEN)
    for run in held.distinct():
        _apart(run, lambda run: lose_attempt(run, why=RESTARTED))
    readiness_attempts.lose_checks_of(worker, RESTARTED)


def queue_again(run: Run, *, sentence: str) -> bool:
    """Put a run back into the queue; its next claim is a new attempt."""
    return move(
        run,
        AT_WORKER,
        RunState.QUEUED,
        deadline=None,
        rung_at=None,
        started_at=None,
        sentence=sentence,
        log_tail="",
        error_lines="",
    )


def _score_again(run: Run, now: dt.datetime) -> None:
    with transaction.atomic():
        fenced = (
            Run.objects.select_for_update(of=("self",), no_key=True).select_related("submission").get(pk=run.pk)
        )
        if fenced.state != RunState.SCORING or fenced.deadline is None or fenced.deadline >= now:
            return
        if fenced.scoring_tries >= settings.MAX_ATTEMPTS:
            end_run(fenced, RunState.FAILED, reason="infrastructure", sentence=SCORING_OURS)
            settle(fenced.submission)
        elif move(fenced, RunState.SCORING, RunState.COLLECTED, deadline=None, rung_at=None):
            log.warning("run %s is scored again, try %s", run.pk, fenced.scoring_tries + 1)
