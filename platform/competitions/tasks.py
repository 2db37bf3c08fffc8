"""The site's Celery tasks of competitions: they look at the database, and call."""

from celery import shared_task

from competitions.telling import delivery


@shared_task(name="competitions.deliver")  # type: ignore[untyped-decorator]
def deliver() -> None:
    """Send mails that wait."""
    delivery.deliver()


@shared_task(name="competitions.reconcile")  # type: ignore[untyped-decorator]
def reconcile() -> None:
    """Look after mails whose deadline has passed."""
    delivery.reconcile()
