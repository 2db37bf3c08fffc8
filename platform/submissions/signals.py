"""What submissions tells the apps above it. Sent inside the transaction that makes it true."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from django.dispatch import Signal

if TYPE_CHECKING:
    from submissions.models import Submission

# A run got its scores. Keyword: run.
scored = Signal()
# A submission was received, changed state, or stopped being able to compete. Keyword: submission.
changed = Signal()
# What receivers of `changed` put off until many submissions had changed is due. Keyword: entrants, the ids of
# entrants by the id of the phase.
changed_together = Signal()

_put_off: ContextVar[dict[int, set[int]] | None] = ContextVar("put_off", default=None)


@contextmanager
def together() -> Iterator[None]:
    """Within the block, which is a part of one transaction, receivers of `changed` may put off what can be done
    once for many: a board is ranked once for all submissions of a piece, not once for each.
    """
    entrants: dict[int, set[int]] = defaultdict(set)
    token = _put_off.set(entrants)
    try:
        yield
    finally:
        _put_off.reset(token)
    changed_together.send(sender=None, entrants=dict(entrants))


def put_off(submission: "Submission") -> bool:
    """Whether the block is on; the submission's entrant then comes with `changed_together`."""
    entrants = _put_off.get()
    if entrants is None:
        return False
    entrants[submission.phase_id].add(submission.entrant_id)
    return True
