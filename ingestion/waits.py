"""Waiting for something that may be away for long: pauses that grow, and logs that thin out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
LONGEST_SILENCE = 3600.0


def growing(first: float = FIRST_PAUSE, longest: float = LONGEST_PAUSE) -> Iterator[float]:
    """Seconds to wait before each next try: 1, 2, 4 ... 60, 60 ..."""
    pause = first
    while True:
        yield pause
        pause = min(2 * pause, longest)


class Thinned:
    """Says a trouble when it begins, then ever more rarely while it lasts, and once when it is over."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say, self._clock = say, clock
        self._since: float | None = None
        self._next = 0.0
        self._silence = 10.0

    def trouble(self, text: str) -> None:
        """It failed again."""
        now = self._clock()
        if self._since is None:
            self._since, self._next, self._silence = now, now, 10.0
        if now >= self._next:
            lasted = now - self._since
            self._say(f"{text} (for {lasted:,.0f} s now)" if lasted >= 1 else text)
            self._next = now + self._silence
            self._silence = min(2 * self._silence, LONGEST_SILENCE)

    def over(self, text: str) -> None:
        """It works; says so where it did not before."""
        if self._since is not None:
            self._say(f"{text} after {self._clock() - self._since:,.0f} s")
            self._since = None
