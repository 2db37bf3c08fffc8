"""Changes of state, each a compare-and-set: one row changed means the caller won."""

import datetime as dt

from django.db.models import QuerySet
from django.utils import timezone

from competitions.models import Competition
from submissions import signals
from submissions.models import Attempt, Run, RunState, Submission
from submissions.models.runs import ENDED, HELD

REFUNDS_A_DAY = 2


def hold(competition: Competition) -> None:
    """Lock every run of a competition that has not ended, until the transaction ends.

    Whoever ends a run locks it, then its submission, then the phase whose board follows. An action on several
    runs takes them all first: one after the other, it and a report would wait for each other in a circle.
    All locks here are weaker than those of a deletion (`no_key`), because rows of others refer to the same
    entrants and submissions, and would wait for them, too.
    """
    runs = Run.objects.filter(submission__phase__round__competition=competition).exclude(state__in=ENDED)
    list(runs.order_by("pk").select_for_update(of=("self",), no_key=True).values_list("pk"))


def move(run: Run, old: str | tuple[str, ...], new: str, **fields: object) -> bool:
    """Change a run's state if it is still `old`; returns whether this caller did it."""
    states = (old,) if isinstance(old, str) else old
    changed = Run.objects.filter(pk=run.pk, state__in=states).update(state=new, **fields)
    if changed:
        run.state = new
        for name, value in fields.items():
            setattr(run, name, value)
    return bool(changed)


def end_run(run: Run, state: str, *, reason: str = "", sentence: str = "", **fields: object) -> bool:
    """Bring a run that has not ended to a final state; the caller settles the submission after it."""
    unfinished = tuple(value for value in RunState.values if value not in ENDED)
    ended = move(
        run,
        unfinished,
        state,
        reason=reason,
        sentence=sentence,
        ended_at=timezone.now(),
        deadline=None,
        **fields,
    )
    if ended and state != RunState.FINISHED:
        run.column_scores.all().delete()
        run.scores.all().delete()  # of a run that was run or scored again: what it had before does not stand
    return ended


def end_attempt(run: Run, outcome: str, *, note: str = "") -> None:
    """Close the run's open attempt."""
    run.attempts.filter(outcome=Attempt.Outcome.OPEN).update(outcome=outcome, ended_at=timezone.now(), note=note)


def settle(submission: Submission) -> None:
    """Bring the submission's state in line with its runs and tell who listens. Call inside a transaction.

    One that was cancelled stays so, also where another submission took its place after its runs had ended. A run
    that is held back because its dataset is in quarantine keeps no submission from its end.
    """
    # The lock makes two runs that end at once settle one after the other, so that the last one sees both.
    submission = Submission.objects.select_for_update(no_key=True).get(pk=submission.pk)
    runs = list(submission.runs.exclude(HELD)) or list(_runs_of_fans(submission))
    if submission.state != Submission.State.CANCELLED and runs and all(run.has_ended for run in runs):
        _conclude(submission, runs)
    signals.changed.send(sender=Submission, submission=submission)
    if submission.fanned_from is not None and not submission.fanned_from.runs.exists():
        settle(submission.fanned_from)


def _runs_of_fans(submission: Submission) -> "QuerySet[Run]":
    """The runs in other phases of a submission that was only passed on to them: its state follows theirs."""
    return Run.objects.filter(submission__fanned_from=submission).exclude(HELD)


def _conclude(submission: Submission, runs: list[Run]) -> None:
    state = _final_state(runs)
    if state == submission.state:
        return
    if submission.is_active:
        submission.ended_at = timezone.now()
    submission.state = state
    ours = state == Submission.State.LOST or any(run.reason == "scoring_failed" for run in runs)
    if ours and submission.uses_quota and _may_refund(submission):
        submission.uses_quota = False
    submission.save(update_fields=["state", "ended_at", "uses_quota"])


def _final_state(runs: list[Run]) -> str:
    if any(run.state == RunState.CANCELLED for run in runs):
        return Submission.State.CANCELLED
    if any(run.reason == "infrastructure" for run in runs):
        return Submission.State.LOST
    if any(run.state == RunState.FINISHED for run in runs):
        return Submission.State.FINISHED
    return Submission.State.FAILED


def _may_refund(submission: Submission) -> bool:
    """Quota comes back for our failures at most twice a day, so that failing on purpose gains nothing."""
    since = timezone.now() - dt.timedelta(days=1)
    refunded = Submission.objects.filter(
        entrant_id=submission.entrant_id,
        arrival=Submission.Arrival.UPLOADED,
        state__in=[Submission.State.LOST, Submission.State.FAILED, Submission.State.FINISHED],
        uses_quota=False,
        ended_at__gte=since,
    )
    return refunded.count() < REFUNDS_A_DAY
