"""The site's Celery tasks of the analyses: they take ids, look at the database again, and call."""

from celery import shared_task

from analysis import work


@shared_task(name="analysis.compute")  # type: ignore[untyped-decorator]
def compute(computed_id: int) -> None:
    """Compute one section that waits."""
    work.process(computed_id)


@shared_task(name="analysis.reconcile")  # type: ignore[untyped-decorator]
def reconcile() -> None:
    """Look after computations whose deadline has passed."""
    work.reconcile()


@shared_task(name="analysis.sweep")  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Remove what nobody looks at any more."""
    work.sweep()
