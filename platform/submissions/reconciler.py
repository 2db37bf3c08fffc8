"""Nothing stays where it is for ever: every state that has an owner has a deadline, and here it is kept."""

import datetime as dt
import logging

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from submissions import dispatch, doorbell
from submissions.models import Attempt, Run, RunState
from submissions.models.runs import AT_WORKER
from submissions.transitions import end_attempt, end_run, move, settle

log = logging.getLogger(__name__)

OURS = "Our infrastructure failed three times in a row while it ran; it costs no quota.."
SCORING_OURS = "Our scoring failed three times in a row; it costs no quota.."


def reconcile(now: dt.datetime | None = None) -> None:
    """Bring back what was lost: leases that ran out, scores nobody computed, doorbells nobody heard."""
    now = now or timezone.now()
    for run in Run.objects.filter(state__in=AT_WORKER, deadline__lt=now).select_related("submission"):
        lose_attempt(run, note="Its worker was not heard any more.")
    for run in Run.objects.filter(state=RunState.SCORING, deadline__lt=now).select_related("submission"):
        _score_again(run)
    stale = now - settings.DOORBELL_REPEAT
    for run_id in Run.objects.filter(state=RunState.COLLECTED, rung_at__lt=stale).values_list("pk", flat=True):
        if Run.objects.filter(pk=run_id, rung_at__lt=stale).update(rung_at=now):
            doorbell.ring_scorer(run_id)
    dispatch.after_commit()


def lose_attempt(run: Run, *, note: str) -> None:
    """End an attempt that our side lost: queue the run again, or give up after the third."""
    with transaction.atomic():
        fenced = Run.objects.select_for_update().get(pk=run.pk)
        if fenced.attempt_number != run.attempt_number or fenced.state not in AT_WORKER:
            return
        end_attempt(fenced, Attempt.Outcome.LOST, note=note)
        if fenced.cancel_asked:
            end_run(fenced, RunState.CANCELLED, reason="cancelled", sentence="Cancelled while it ran.")
        elif fenced.attempts.filter(outcome=Attempt.Outcome.LOST).count() >= settings.MAX_ATTEMPTS:
            end_run(fenced, RunState.FAILED, reason="infrastructure", sentence=OURS)
        else:
            queue_again(fenced, sentence=f"Waits for a worker again. {note}")
        settle(fenced.submission)


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
    )


def _score_again(run: Run) -> None:
    with transaction.atomic():
        if run.scoring_tries >= settings.MAX_ATTEMPTS:
            end_run(run, RunState.FAILED, reason="infrastructure", sentence=SCORING_OURS)
            settle(run.submission)
        elif move(run, RunState.SCORING, RunState.COLLECTED, deadline=None, rung_at=None):
            log.warning("run %s is scored again, try %s", run.pk, run.scoring_tries + 1)
