"""Leases of runs at workers: what happens to them while worker and site cannot hear each other."""

import datetime as dt
import logging

from django.conf import settings
from django.db import transaction

from submissions.models import Attempt, Pulse, ReadinessCheck, Run, RunState
from submissions.models.readiness import CHECK_AT_WORKER
from submissions.models.runs import AT_WORKER
from submissions.transitions import move

log = logging.getLogger(__name__)

SILENT = "Its worker was not heard any more."


def forgive_own_absence(now: dt.datetime) -> None:
    """Let leases begin anew where nobody could have prolonged them, because the site itself was down.

    The reconciler calls this first, whenever it looks. When it has not looked for half a lease, every run whose
    worker was alive at its last look gets a whole lease from now on.
    """
    absent = Pulse.beat(now)
    if absent <= settings.LEASE / 2:
        return
    alive = Attempt.objects.filter(outcome=Attempt.Outcome.OPEN, heard_at__gte=now - absent - settings.LEASE)
    until = now + settings.LEASE
    held = Run.objects.filter(state__in=AT_WORKER, deadline__lt=until, pk__in=alive.values("run"))
    forgiven = held.update(deadline=until)
    checks = ReadinessCheck.objects.filter(state__in=CHECK_AT_WORKER, deadline__lt=until)
    forgiven += checks.filter(heard_at__gte=now - absent - settings.LEASE).update(deadline=until)
    if forgiven:
        log.warning("the site was away for %.0f s; %s leases begin anew", absent.total_seconds(), forgiven)


def take_back(run: Run, attempt: Attempt, now: dt.datetime) -> bool:
    """Give a run that was queued again back to the worker that went on with it; returns whether it has it.

    Only an attempt that ended because nothing was heard, within the grace, and while no other attempt has begun.
    """
    with transaction.atomic():
        held = Run.objects.select_for_update(of=("self",), no_key=True).get(pk=run.pk)
        if held.attempts.filter(pk=attempt.pk, outcome=Attempt.Outcome.OPEN).exists():
            return held.attempt_number == attempt.number  # another call of the same worker was faster
        lost = held.attempts.filter(
            pk=attempt.pk,
            number=held.attempt_number,
            outcome=Attempt.Outcome.LOST,
            note=SILENT,
            heard_at__gte=now - settings.LEASE_GRACE,
        ).first()
        if lost is None or held.state != RunState.QUEUED:
            return False
        if lost.worker is None or lost.worker.attempts.filter(outcome=Attempt.Outcome.OPEN).exists():
            return False
        began = lost.heard_at - dt.timedelta(seconds=lost.wall_seconds) if lost.wall_seconds else None
        move(
            held,
            RunState.QUEUED,
            RunState.RUNNING if began else RunState.CLAIMED,
            started_at=began,
            deadline=now + settings.LEASE,
            sentence="Is running." if began else f"Is being prepared by {lost.worker.name}.",
        )
        held.attempts.filter(pk=lost.pk).update(outcome=Attempt.Outcome.OPEN, ended_at=None, note="", heard_at=now)
    log.info("run %s goes on at %s, which was away for a while", run.pk, lost.worker.name)
    return True
