"""The base class that a model may use, and the clock behind it."""

from __future__ import annotations

import os
import time

# Written by the supervisor, so that processes started by the model read the same clock.
_START_VARIABLE = "PODIUM_CLOCK_START"
_imported_at = time.monotonic()
_monotonic = time.monotonic


def start_clock() -> float:
    """Note when this process started and return that moment on the monotonic clock, in seconds."""
    started = min(_imported_at, _monotonic() - _age_of_process())
    os.environ[_START_VARIABLE] = repr(started)
    return started


def _age_of_process() -> float:
    """Seconds between the start of this process and now; 0 where the system does not say.

    Loading Python and numpy on a busy machine takes a second that the budget counts.
    """
    try:
        with open("/proc/self/stat", "rb") as file:  # noqa: PTH123
            started_ticks = int(file.read().rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - started_ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0
    # gVisor and some containers give ticks of another clock; a start-up of minutes is not believable.
    return age if 0.0 <= age < 60.0 else 0.0


def seconds_left() -> float:
    """Seconds of PODIUM_TIME_BUDGET that remain, never below 0; infinite where no budget is set."""
    try:
        budget = float(os.environ["PODIUM_TIME_BUDGET"])
    except (KeyError, ValueError):
        return float("inf")
    try:
        started = float(os.environ[_START_VARIABLE])
    except (KeyError, ValueError):
        started = _imported_at
    return max(0.0, budget - (_monotonic() - started))


class BaseModel:
    """Optional base of a participant's `Model`.

    The clock shown here is for planning only. What decides is the platform's own clock outside the sandbox.
    """

    def time_left(self) -> float:
        """Seconds until the budget ends, counted from the start of the process; infinite without a budget."""
        return seconds_left()
