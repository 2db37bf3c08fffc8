"""What people do with readiness checks: ask for one, cancel it."""

import datetime as dt

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.refusals import Refused
from competitions.models import Entrant
from submissions import dispatch, policy
from submissions.models import Submission
from submissions.models.readiness import CHECK_ACTIVE, CHECK_AT_WORKER, CheckState, ReadinessCheck
from submissions.models.worker import code_runs_unconfined
from submissions.programs.kinds import is_programmed
from submissions.readiness_attempts import end


def left_today(entrant: Entrant, now: dt.datetime) -> int:
    """How many checks the entrant may still ask for on this UTC calendar day. Those that we lost do not count."""
    day = now.astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    made = ReadinessCheck.objects.filter(entrant=entrant, counts=True, asked_at__gte=day)
    return max(0, int(settings.READINESS_A_DAY) - made.exclude(state=CheckState.FAILED).count())


def ask(submission: Submission, *, by: User) -> ReadinessCheck:
    """Queue a check of a submission's code; raises Refused with a sentence. It costs no quota."""
    check_possible(submission, by)
    with transaction.atomic():
        # Locking the entrant makes the look at its other checks and the new one one step for two requests at once.
        entrant = Entrant.objects.select_for_update(no_key=True).get(pk=submission.entrant_id)
        _check_limits(submission, entrant, by)
        made = ReadinessCheck.objects.create(
            submission=submission,
            entrant=entrant,
            user=by,
            counts=policy.is_own(by, submission),
            wall_seconds=settings.READINESS_SECONDS,
            image=submission.phase.image,
            resource_class=submission.phase.resource_class,
            sentence=dispatch.WAITS,
        )
        transaction.on_commit(dispatch.after_commit, robust=True)
    return made


def check_possible(submission: Submission, by: User) -> None:
    """Refuse who may not ask, and a submission of which nothing can be tried or shown."""
    if not policy.may_check_readiness(by, submission):
        if submission.phase.is_hidden and policy.is_own(by, submission):
            raise Refused("In a hidden phase no log is shown, so there is nothing to check here.", status=403)
        raise Refused("Only its entrant or an organizer may check a submission.", status=403)
    if is_programmed(submission.phase.tasks.all()):
        what = "It is run by the organizers' own programs, which the check knows nothing of."
        raise Refused(what, status=409)
    if not submission.has_code:
        raise Refused("This submission holds no code, so there is nothing to try.", status=409)
    if code_runs_unconfined() and not submission.is_kit_code:
        raise Refused(
            "This installation has no sandbox, so it runs the starting kit's own code only.",
            status=409,
            mend="On your own machine: python kit.py check --traits",
        )


def _check_limits(submission: Submission, entrant: Entrant, by: User) -> None:
    active = ReadinessCheck.objects.filter(entrant=entrant, state__in=CHECK_ACTIVE).first()
    if active is not None:
        which = "this submission" if active.submission_id == submission.pk else "another submission"
        raise Refused(
            f"A readiness check of {which} has not ended yet.", status=429, mend="Wait for it, or cancel it."
        )
    if policy.is_own(by, submission) and not left_today(entrant, timezone.now()):
        raise Refused(
            f"All {settings.READINESS_A_DAY} readiness checks of today are used.",
            status=429,
            mend="The next day begins at 00:00 UTC. On your own machine there is no limit: kit.py check --traits",
        )


def cancel(check: ReadinessCheck, *, by: User) -> ReadinessCheck:
    """Cancel a check: a queued one at once, one at a worker through the next heartbeat."""
    if not policy.may_check_readiness(by, check.submission):
        raise Refused("Only its entrant or an organizer may cancel a readiness check.", status=403)
    with transaction.atomic():
        fenced = ReadinessCheck.objects.select_for_update(of=("self",), no_key=True).get(pk=check.pk)
        if not fenced.is_active:
            raise Refused("This readiness check has ended already.", status=409)
        if fenced.state == CheckState.QUEUED:
            end(fenced, CheckState.CANCELLED, "Cancelled before it ended.")
        else:
            ReadinessCheck.objects.filter(pk=fenced.pk, state__in=CHECK_AT_WORKER).update(
                cancel_asked=True, sentence="Is being stopped because it was cancelled."
            )
    fenced.refresh_from_db()
    return fenced
