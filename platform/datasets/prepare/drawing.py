"""What is drawn at random, so that the same seed gives the same for ever.

numpy promises the stream of raw 64-bit words of a bit generator for good, and that of its other methods not; so
everything here is made of raw words.
"""

from typing import Any

import numpy as np

_STEPS = ("split", "groups", "rows", "probes", "permutations", "features")


class Draw:
    """The random numbers of one step of the preparation; steps do not disturb each other."""

    def __init__(self, seed: int, step: str) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence([seed, _STEPS.index(step)]))

    def order(self, count: int) -> Any:
        """A permutation of `count` positions, int64 (count,)."""
        return np.argsort(self._bits.random_raw(count), kind="stable")

    def below(self, limit: int, count: int) -> Any:
        """`count` whole numbers from 0 to `limit` - 1, int64 (count,)."""
        return (self._bits.random_raw(count) % np.uint64(limit)).astype(np.int64)
