"""The site's Celery tasks: they take ids, look at the database again, and call."""

from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down
from django.utils import timezone

from submissions import bulk, curves, deletion, dispatch, doorbell, files, handover, reconciler, scoring
from submissions.programs.kinds import is_scored_by_program
from submissions.programs.scoring import score_programmed, stop_all
from submissions.rehearsal import made_datasets

LONGEST_SCORING = 31 * 86_400  # seconds; the budget of a run bounds its programs, not the task's own limit


@shared_task(name="submissions.score_run")  # type: ignore[untyped-decorator]
def score_run(run_id: int) -> None:
    """Score a collected run; one that an organizer's program scores goes on to the queue of such programs."""
    if is_scored_by_program(run_id):
        doorbell.ring_programs(run_id)
    else:
        scoring.score_run(run_id)


@shared_task(  # type: ignore[untyped-decorator]
    name="submissions.score_programmed", time_limit=LONGEST_SCORING, soft_time_limit=LONGEST_SCORING
)
def score_by_program(run_id: int) -> None:
    """Run an organizer's scoring program on a collected run. Takes long, so it has a queue of its own."""
    score_programmed(run_id)


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def give_back(**kwargs: Any) -> None:
    """A worker that is stopped does not wait for the programs of organizers; others take them up."""
    stop_all()


@shared_task(name="submissions.dispatch")  # type: ignore[untyped-decorator]
def ring() -> None:
    """Give queued runs to idle workers."""
    dispatch.ring()


@shared_task(name="submissions.reconcile")  # type: ignore[untyped-decorator]
def reconcile() -> None:
    """Look after everything whose deadline has passed."""
    reconciler.reconcile()


@shared_task(name="submissions.sweep")  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Remove files that nobody refers to, and what was made for rehearsals that never began."""
    files.sweep()
    made_datasets.sweep()


@shared_task(name="submissions.lifecycle")  # type: ignore[untyped-decorator]
def lifecycle() -> None:
    """Hand entries over, and reveal datasets, in every phase where it is due."""
    handover.tick()


@shared_task(name="submissions.score_curves")  # type: ignore[untyped-decorator]
def score_curves() -> None:
    """Score the earlier predictions of runs whose phase is over, some at a time."""
    curves.score_due(timezone.now())


@shared_task(name="submissions.finish_deletions")  # type: ignore[untyped-decorator]
def finish_deletions() -> None:
    """Remove what is left of competitions that were deleted."""
    deletion.finish_all()


@shared_task(name="submissions.work_on_bulk")  # type: ignore[untyped-decorator]
def work_on_bulk() -> None:
    """Go on with the organizers' actions on many submissions."""
    bulk.work_on()
