"""The doorbell of the mails that wait. It may be lost, and nothing is decided by it."""

import logging

log = logging.getLogger(__name__)


def ring() -> None:
    """Tell the site's own worker that mails wait; a broker that is down only delays them."""
    from config.celery import app

    try:
        app.send_task("competitions.deliver", queue="site", expires=60, retry=False)
    except Exception as problem:  # a broker fails in as many ways as there are brokers
        log.warning("the doorbell for mails was not rung: %s", problem)
