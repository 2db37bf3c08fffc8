"""gunicorn's own configuration; the launcher adds address and number of workers."""

from typing import Any

from config.logs import WithoutLinks


def when_ready(server: Any) -> None:
    """Keep signed links out of the logs; the workers that are forked later inherit the filter."""
    for log in (server.log.access_log, server.log.error_log):
        log.addFilter(WithoutLinks())
