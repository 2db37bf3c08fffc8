"""The site's Celery tasks: they take ids, look at the database again, and call."""

from celery import shared_task
from django.utils import timezone

from submissions import bulk, curves, deletion, dispatch, files, handover, reconciler, scoring
from submissions.rehearsal import made_datasets


@shared_task(name="submissions.score_run")  # type: ignore[untyped-decorator]
def score_run(run_id: int) -> None:
    """Score a collected run."""
    scoring.score_run(run_id)


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
