"""The doorbell of the work on uploads. It carries an id, it may be lost, and nothing is decided by it."""

import datetime as dt
import logging

log = logging.getLogger(__name__)

REPEAT = dt.timedelta(seconds=15)


def ring(upload_id: int) -> None:
    """Tell the site's own worker that an upload waits; a broker that is down only delays it."""
    from config.celery import app

    try:
        app.send_task("datasets.process_upload", args=[upload_id], queue="site", expires=60, retry=False)
    except Exception as problem:  # a broker fails in as many ways as there are brokers
        log.warning("the doorbell for upload %s was not rung: %s", upload_id, problem)
