"""Answers to questions of the apps below, and what follows when a submission has settled."""

import datetime as dt
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models.signals import pre_delete
from django.dispatch import receiver

from accounts.signals import registration_asked
from competitions.actions.dates import moved
from competitions.models import Competition
from competitions.signals import shifted
from submissions import copies, curves, deletion, handover
from submissions.models import Attempt, Handover, Run, Submission
from submissions.models.worker import code_runs_unconfined
from submissions.signals import changed, scored


@receiver(registration_asked)
def no_strangers_without_a_sandbox(**kwargs: Any) -> bool:
    """Registration of others is closed while code runs unconfined."""
    return not code_runs_unconfined()


@receiver(changed)
def copies_follow(submission: Submission, **kwargs: Any) -> None:
    """What stands for runs of this submission in later phases changes with them, in the same transaction."""
    copies.refresh_copies(submission)


@receiver(changed)
def entries_go_forward(submission: Submission, **kwargs: Any) -> None:
    """A phase that has ended may have waited for this submission: its entrant is handed over after the commit."""
    if not submission.is_active:
        after = partial(handover.go_forward, submission.phase_id, submission.entrant_id)
        transaction.on_commit(after, robust=True)


@receiver(scored)
def curve_is_drawn_anew(run: Run, **kwargs: Any) -> None:
    """A run was scored, maybe again by another rule: the scores of its earlier predictions are computed anew."""
    curves.forget(run)


@receiver(pre_delete, sender=Competition)
def workers_of_its_own_are_revoked(instance: Competition, **kwargs: Any) -> None:
    """A worker that served it alone would serve every competition without it."""
    deletion.revoke_workers(also=instance)


@receiver(shifted)
def rows_are_shifted(competition: Competition, delta: dt.timedelta, **kwargs: Any) -> None:
    """The competition's clock was moved: what happened to its submissions happened earlier, too."""
    run = ("queued_at", "rung_at", "started_at", "ended_at")
    for part in (
        moved(Submission, "phase__round__competition", competition, "received_at", "ended_at", "disqualified_at"),
        moved(Run, "submission__phase__round__competition", competition, *run),
        moved(
            Attempt,
            "run__submission__phase__round__competition",
            competition,
            "claimed_at",
            "heard_at",
            "ended_at",
        ),
        moved(Handover, "phase__round__competition", competition, "made_at"),
    ):
        part.move(delta)
