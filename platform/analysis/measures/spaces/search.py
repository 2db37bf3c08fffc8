"""What random search finds: the best of m models in closed form, and the hyper-parameters of the best."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.measures.spaces.edf import Floats, uniform_weights

SIZES = tuple(2**power for power in range(13))


@dataclass(frozen=True)
class SearchCurve:
    """Mean and standard deviation of the lowest error among `sizes` models, each (s,)."""

    sizes: tuple[int, ...]
    mean: Floats
    std: Floats


def random_search(
    errors: ArrayLike, weights: ArrayLike | None = None, sizes: Sequence[int] = SIZES
) -> SearchCurve:
    """The lowest error of m models drawn with replacement, exactly, without drawing any.

    E[min] = sum_i e_(i) (S_i^m - S_(i+1)^m) with the weights' tail S_i = sum_(j>=i) w_(j) in the order of the
    errors; the same with squares for the variance. It is what the paper's section 4.3 estimates by drawing
    (after Bergstra and Bengio, 2012).

    Parameters
    ----------
    errors : (n,), n > 0
    weights : (n,) that sum to 1; equal ones where none are given
    sizes : m
    """
    values = np.asarray(errors, dtype=float)
    shares = uniform_weights(values.size) if weights is None else np.asarray(weights, dtype=float)
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    best = best_of(shares[order], sizes)
    mean = best @ ordered
    square = best @ (ordered - ordered[0]) ** 2 - (mean - ordered[0]) ** 2
    return SearchCurve(tuple(sizes), mean, np.sqrt(np.maximum(square, 0.0)))


def best_of(ordered_weights: Floats, sizes: Sequence[int]) -> Floats:
    """The probability that each model is the best of m, (s, n), for weights in the order of the errors."""
    tails = np.append(np.cumsum(ordered_weights[::-1])[::-1], 0.0)
    powers = (tails / tails[0])[None, :] ** np.asarray(sizes, dtype=float)[:, None]
    return np.asarray(powers[:, :-1] - powers[:, 1:])


def simulated_search(
    errors: ArrayLike, weights: ArrayLike | None = None, sizes: Sequence[int] = SIZES, *, seed: int = 1
) -> SearchCurve:
    """The same as the paper's notebooks draw it: floor(n / m) times the lowest of m, by Python's generator."""
    values = np.asarray(errors, dtype=float)
    shares = uniform_weights(values.size) if weights is None else np.asarray(weights, dtype=float)
    order = np.argsort(values, kind="stable")
    population, tails = values[order].tolist(), np.cumsum(shares[order]).tolist()
    generator = random.Random(seed)  # noqa: S311, a simulation
    means, stds = [], []
    for size in sizes:
        lowest = [
            min(generator.choices(population, cum_weights=tails, k=size)) for _ in range(values.size // size)
        ]
        means.append(float(np.mean(lowest)) if lowest else np.nan)
        stds.append(float(np.std(lowest)) if lowest else np.nan)
    return SearchCurve(tuple(sizes), np.array(means), np.array(stds))


def lower_minimum_probability(first: int, second: int) -> float:
    """How probable it is that the best of `first` models beats the best of `second` others of the same space.

    n / (n + m), for whatever distribution without ties (the paper's section 4.1 and figure 2: 1000 against 100).
    """
    return first / (first + second)


@dataclass(frozen=True)
class GoodRange:
    """The values of a hyper-parameter that the best models have: 2.5, 50 and 97.5 percent of the probability."""

    name: str
    low: float
    median: float
    high: float


def good_ranges(
    errors: ArrayLike, parameters: Mapping[str, ArrayLike], *, share: float = 0.25, level: float = 0.95
) -> list[GoodRange]:
    """Ranges of hyper-parameters of the best model in a sample of a share of the models.

    pycls draws 2,500 samples with replacement and takes percentiles (`get_filters`); the probability of each
    model to be the best of a sample has a closed form (`best_of`), so the percentiles here are those of endlessly
    many samples. Models of equal error share their probability.

    Parameters
    ----------
    errors : (n,), n > 0
    parameters : by name, (n,) of numbers; models without one (NaN) are left out
    share : how much of the models a sample holds
    level : probability of the range
    """
    values = np.asarray(errors, dtype=float)
    found = []
    for name, column in parameters.items():
        settings = np.asarray(column, dtype=float)
        known = np.isfinite(settings)
        if known.any():
            chances = _chances(values[known], share)
            limits = _quantiles(settings[known], chances, [(1 - level) / 2, 0.5, (1 + level) / 2])
            found.append(GoodRange(name, *limits))
    return found


def _chances(errors: Floats, share: float) -> Floats:
    """The probability of each model to be the best of a sample, (n,)."""
    size = max(1, int(errors.size * share))
    distinct, inverse, counts = np.unique(errors, return_inverse=True, return_counts=True)
    chances = best_of(counts / errors.size, [size])[0] if distinct.size else np.zeros(0)
    return np.asarray((chances / counts)[inverse])


def _quantiles(values: Floats, weights: Floats, levels: Sequence[float]) -> list[float]:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) / weights.sum()
    places = np.minimum(np.searchsorted(reached, np.asarray(levels) - 1e-12), values.size - 1)
    return [float(one) for one in values[order][places]]
