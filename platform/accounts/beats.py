"""Something done again and again beside other work, until that is over."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import DatabaseError, connection

log = logging.getLogger(__name__)


@contextmanager
def prolonged(prolong: Callable[[], object], *, every: float, what: str) -> Iterator[None]:
    """Call `prolong` every so many seconds while the block goes on, in a thread with a connection of its own.

    So a lease is kept, and a worker that was killed is noticed soon. `what` names it in the log where the database
    refuses; then it is not prolonged any more.
    """
    done = threading.Event()

    def keep() -> None:
        try:
            while not done.wait(every):
                prolong()
        except DatabaseError as problem:
            log.warning("the lease of %s was not prolonged: %s", what, problem)
        finally:
            connection.close()

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
