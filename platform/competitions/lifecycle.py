"""The rules of the protocol over a clock: pure functions, no change of state."""

import datetime as dt
from collections.abc import Sequence

from competitions.models.protocol import Phase


def current_phase(phases: Sequence[Phase], now: dt.datetime) -> Phase | None:
    """The phase a visitor should see first.

    One that is open for submissions; else any open one; else the next to open after the last that closed;
    else the last. Phases are given in the competition's order.
    """
    running = [phase for phase in phases if phase.is_open(now)]
    for phase in running:
        if phase.takes_submissions:
            return phase
    if running:
        return running[0]
    coming = [phase for phase in phases if not phase.has_begun(now)]
    if coming:
        return min(coming, key=lambda phase: phase.opens_at)
    return phases[-1] if phases else None


def phase_state(phase: Phase, now: dt.datetime) -> str:
    """Return `upcoming`, `open` or `closed`."""
    if not phase.has_begun(now):
        return "upcoming"
    return "closed" if phase.has_ended(now) else "open"
