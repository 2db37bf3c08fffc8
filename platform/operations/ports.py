"""The site's listening socket."""

import errno
import socket

TRIES = 100


class NoFreePort(Exception):
    """None of the ports tried could be taken."""


def listen(host: str, wanted: int) -> tuple[socket.socket, int]:
    """Return a listening socket and its port: `wanted`, or the next free one above it.

    The socket itself is handed to the server, so nobody can take the port between finding and using it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in range(wanted, min(wanted + TRIES, 65536)):
        server = socket.socket(family, socket.SOCK_STREAM)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            server.bind((host, port))
            server.listen(512)
        except OSError as error:
            server.close()
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                continue
            raise NoFreePort(f"cannot listen on {host}: {error.strerror}") from error
        return server, server.getsockname()[1]
    raise NoFreePort(f"no port from {wanted} to {wanted + TRIES - 1} is free on {host}")
