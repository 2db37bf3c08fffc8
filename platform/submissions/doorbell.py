"""Messages. They carry ids only, they may be lost, and nothing is decided by them."""

import functools
import logging

from celery import Celery
from django.conf import settings

from ingestion.broker import broker_options

log = logging.getLogger(__name__)


@functools.cache
def compute_app() -> Celery:
    """The sending end of the compute workers' broker; the site never consumes from it."""
    app = Celery("podium-doorbell", set_as_current=False)
    app.conf.update(
        broker_url=settings.COMPUTE_BROKER_URL,
        # A Celery worker sets CELERY_BROKER_URL for its process, which beats broker_url: rung from the site's
        # worker, a doorbell would go to the site's own broker, where nobody listens for it.
        broker_write_url=settings.COMPUTE_BROKER_URL,
        broker_transport_options=broker_options(
            settings.COMPUTE_BROKER_URL, settings.PODIUM_HOME / "broker" / "compute"
        ),
        broker_connection_timeout=3,
        task_serializer="json",
        task_ignore_result=True,
    )
    return app


def queue_name(resource_class: str, *, trusted: bool) -> str:
    """The queue of a class of workers; blind phases ring at trusted workers alone."""
    return f"compute.{resource_class}.trusted" if trusted else f"compute.{resource_class}"


def ring_worker(run_id: int, queue: str) -> None:
    """Tell the workers of a queue that a run waits; a broker that is down only delays it."""
    _send(compute_app(), "ingestion.run", run_id, queue, expires=60)


def ring_worker_for_check(check_id: int, queue: str) -> None:
    """Tell the workers of a queue that a readiness check waits."""
    _send(compute_app(), "ingestion.check", check_id, queue, expires=60)


def ring_scorer(run_id: int) -> None:
    """Tell the site's own worker that a run waits for its score."""
    from config.celery import app

    _send(app, "submissions.score_run", run_id, "site", expires=600)


def ring_programs(run_id: int) -> None:
    """Tell the site's worker for organizers' programs that a run waits for its score."""
    from config.celery import app

    _send(app, "submissions.score_programmed", run_id, "programs", expires=600)


def ring_dispatcher() -> None:
    """Tell the site's own worker to look at the queue."""
    from config.celery import app

    _send(app, "submissions.dispatch", None, "site", expires=30)


def ring_deletion() -> None:
    """Tell the site's own worker that a competition is to be removed."""
    from config.celery import app

    _send(app, "submissions.finish_deletions", None, "site", expires=30)


def ring_bulk_works() -> None:
    """Tell the site's own worker that an organizer's action on many submissions waits."""
    from config.celery import app

    _send(app, "submissions.work_on_bulk", None, "site", expires=30)


def _send(app: Celery, task: str, run_id: int | None, queue: str, *, expires: int) -> None:
    try:
        app.send_task(
            task,
            args=[] if run_id is None else [run_id],
            queue=queue,
            expires=expires,
            retry=False,
        )
    except Exception as problem:  # a broker fails in as many ways as there are brokers
        log.warning("doorbell %s for run %s was not rung: %s", task, run_id, problem)
