"""gunicorn's own configuration; the launcher adds address and number of workers."""

import socket
import struct
from typing import Any

from config.logs import WithoutLinks

SILENCE_SECONDS = 15  # a client that sends or takes nothing for so long gives its thread back


def when_ready(server: Any) -> None:
    """Keep signed links out of the logs, and silent clients off the threads.

    The workers that are forked later inherit the filter, and a connection the limits of its listener. A handful of
    clients that announce a body and never send it would otherwise hold every thread of the site.
    """
    for log in (server.log.access_log, server.log.error_log):
        log.addFilter(WithoutLinks())
    limit = struct.pack("ll", SILENCE_SECONDS, 0)
    for listener in server.LISTENERS:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            listener.sock.setsockopt(socket.SOL_SOCKET, option, limit)
