"""The doorbell of work that the site's own worker does. It carries an id, it may be lost, and decides nothing."""

import datetime as dt
import logging

log = logging.getLogger(__name__)

REPEAT = dt.timedelta(seconds=15)
LEASE = dt.timedelta(minutes=2)  # a worker that was not heard for so long has lost the work
MOST_TRIES = 2


def ring(task: str, pk: int) -> None:
    """Tell the site's own worker that something waits; a broker that is down only delays it."""
    from config.celery import app

    try:
        app.send_task(task, args=[pk], queue="site", expires=60, retry=False)
    except Exception as problem:  # a broker fails in as many ways as there are brokers
        log.warning("the doorbell %s for %s was not rung: %s", task, pk, problem)
