"""The site's Celery tasks of datasets: they take ids, look at the database again, and call."""

from celery import shared_task

from datasets.uploads import reconciler, work

HOUR = 3600


@shared_task(name="datasets.process_upload", time_limit=4 * HOUR, soft_time_limit=4 * HOUR - 60)  # type: ignore[untyped-decorator]
def process_upload(upload_id: int) -> None:
    """Read, check and import an upload."""
    work.process(upload_id)


@shared_task(name="datasets.reconcile")  # type: ignore[untyped-decorator]
def reconcile() -> None:
    """Look after uploads whose deadline has passed."""
    reconciler.reconcile()
