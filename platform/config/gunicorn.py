"""gunicorn's own configuration; the launcher adds address and number of workers."""

from typing import Any

from config.logs import WithoutLinks


def when_ready(server: Any) -> None:
    """Keep signed links out of the access log; the workers that are forked later inherit the filter."""
    server.log.access_log.addFilter(WithoutLinks())
