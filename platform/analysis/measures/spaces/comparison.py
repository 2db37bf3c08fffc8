"""Whether two distributions of errors differ: Kolmogorov-Smirnov, plain and normalised by complexity."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import ks_2samp

from analysis.measures.spaces.edf import ComplexityWeights, Floats

PERMUTATIONS = 999
CHUNK = 2_000_000  # numbers at a time


@dataclass(frozen=True)
class Distance:
    """The largest gap D between two distributions, at which error it lies, and the probability p of one as large
    between two samples of the same distribution.
    """

    statistic: float
    p: float
    at: float


def ks_test(first: ArrayLike, second: ArrayLike) -> Distance:
    """D = sup |F1 - F2| and its two-sided p, exact for samples of up to 10,000 (scipy's `ks_2samp`).

    Parameters
    ----------
    first, second : (n,) and (m,), neither empty
    """
    found = ks_2samp(np.asarray(first, dtype=float), np.asarray(second, dtype=float), method="auto")
    return Distance(float(found.statistic), float(found.pvalue), float(found.statistic_location))


def holm(p_values: Sequence[float]) -> Floats:
    """The p-values of several tests corrected for their number after Holm (1979), in the same order.

    The k-th smallest of m is multiplied by m - k + 1, and none may be below the one before. (Statsmodels has it,
    but collects all garbage of the process each time.)
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    found = np.empty_like(values)
    stepped = np.maximum.accumulate(values[order] * np.arange(values.size, 0, -1)) if values.size else values
    found[order] = np.minimum(stepped, 1.0)
    return found


def weighted_distance(
    first: ArrayLike, first_weights: ArrayLike, second: ArrayLike, second_weights: ArrayLike
) -> tuple[float, float]:
    """D between two weighted distributions, and the error at which it lies."""
    errors = np.concatenate([np.asarray(first, dtype=float), np.asarray(second, dtype=float)])
    signed = np.concatenate([np.asarray(first_weights, dtype=float), -np.asarray(second_weights, dtype=float)])
    order, ends = _ends(errors)
    gaps = np.abs(np.cumsum(signed[order])[ends])
    best = int(np.argmax(gaps))
    return float(gaps[best]), float(errors[order][ends][best])


def weighted_ks_test(
    errors: tuple[ArrayLike, ArrayLike],
    weights: tuple[ComplexityWeights, ComplexityWeights],
    *,
    seed: int = 0,
    permutations: int = PERMUTATIONS,
) -> Distance:
    """D between two distributions normalised by complexity, with a permutation p.

    The classical p does not hold for weighted samples. Where errors depend on complexity alone and not on the
    population, models of the same bin of complexity could as well belong to the other one: so memberships are
    shuffled within bins, which leaves every bin's counts and so all weights as they are. What complexity
    explains inside a bin is not taken out: wide bins leave some of it.
    p = (1 + how often D is reached) / (1 + permutations).

    Parameters
    ----------
    errors : of n and of m models
    weights : theirs, of `shared_weights`
    """
    used = [one.used for one in weights]
    values = np.concatenate([np.asarray(one, dtype=float)[keep] for one, keep in zip(errors, used, strict=True)])
    bins = np.concatenate([one.bins[keep] for one, keep in zip(weights, used, strict=True)])
    signed = np.concatenate([weights[0].weights[used[0]], -weights[1].weights[used[1]]])
    order, ends = _ends(values)
    seen = np.abs(np.cumsum(signed[order])[ends])
    best = int(np.argmax(seen))
    statistic, at = float(seen[best]), float(values[order][ends][best])
    reached = _reached(signed[order], bins[order], ends, statistic, seed, permutations)
    return Distance(statistic, (1 + reached) / (1 + permutations), at)


def _reached(
    signed: Floats, bins: NDArray[np.int64], ends: NDArray[np.int64], least: float, seed: int, permutations: int
) -> int:
    """How many of the shuffled samples have a D as large; all arrays in the order of the errors."""
    random = np.random.default_rng(seed)
    places = [np.flatnonzero(bins == one) for one in np.unique(bins)]
    reached, size = 0, max(1, CHUNK // max(1, signed.size))
    for begin in range(0, permutations, size):
        shuffled = np.tile(signed, (min(size, permutations - begin), 1))
        for place in places:
            shuffled[:, place] = random.permuted(shuffled[:, place], axis=1)
        gaps = np.abs(np.cumsum(shuffled, axis=1)[:, ends]).max(axis=1)
        reached += int(np.sum(gaps >= least - 1e-12))
    return reached


def _ends(errors: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order of the errors, and where in it each value ends: ties are passed at once."""
    order = np.argsort(errors, kind="stable")
    ordered = errors[order]
    last = np.append(ordered[1:] != ordered[:-1], True)
    return order.astype(np.int64), np.flatnonzero(last)
