"""The site's Celery tasks of bundles: they take ids, look at the database again, and call."""

from celery import shared_task

from bundles import sweeping, work
from bundles.exporting import work as export_work

HOUR = 3600


@shared_task(name="bundles.read", time_limit=HOUR, soft_time_limit=HOUR - 60)  # type: ignore[untyped-decorator]
def read(bundle_id: int) -> None:
    """Read a bundle that was sent, and import it where its owner wants that."""
    work.process(bundle_id)


@shared_task(name="bundles.write", time_limit=HOUR, soft_time_limit=HOUR - 60)  # type: ignore[untyped-decorator]
def write(export_id: int) -> None:
    """Write an export."""
    export_work.process(export_id)


@shared_task(name="bundles.reconcile")  # type: ignore[untyped-decorator]
def reconcile() -> None:
    """Look after imports and exports whose deadline has passed."""
    work.reconcile()
    export_work.reconcile()


@shared_task(name="bundles.sweep")  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Remove files that nobody refers to."""
    sweeping.sweep()
