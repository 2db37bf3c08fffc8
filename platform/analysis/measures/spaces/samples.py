"""How many models are enough, and how errors spread within buckets of complexity."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.measures.spaces.edf import Floats

KOLMOGOROV_MEAN = math.sqrt(math.pi / 2) * math.log(2)  # 0.8687, of the limit of sqrt(n) D
LEAST = 10  # models: with fewer nothing is compared
ENOUGH = 100  # for a rough picture, the paper's section 4.4; 1,000 are as good as all
AMPLE = 1000


def expected_distance(size: int, population: float = math.inf) -> float:
    """The mean D between a sample of n models and the population of N that it was drawn from.

    0.8687 / sqrt(n) sqrt(1 - n / N), whatever the distribution of errors: Kolmogorov's mean with the correction of
    a finite population.
    """
    return KOLMOGOROV_MEAN / math.sqrt(size) * math.sqrt(max(0.0, 1 - size / population))


def sample_distance(population: ArrayLike, sample: ArrayLike) -> float:
    """D between a sample and its population."""
    everything, part = np.sort(np.asarray(population, dtype=float)), np.sort(np.asarray(sample, dtype=float))
    upto = np.searchsorted(everything, part, side="right") / everything.size
    below = np.searchsorted(everything, part, side="left") / everything.size
    return _gap(upto, below)


def _gap(upto: Floats, below: Floats) -> float:
    """D of a sample in ascending order, from the population's shares up to and below each of its values.

    Between two values of the sample its distribution is constant, so the gap is largest at one of them.
    """
    places = np.arange(upto.size)
    return float(max(((places + 1) / upto.size - upto).max(), (below - places / upto.size).max(), 0.0))


@dataclass(frozen=True)
class SampleStudy:
    """D of samples of `sizes` models to their population: measured on average, and expected; each (s,)."""

    sizes: tuple[int, ...]
    measured: Floats
    expected: Floats


def sample_size_study(
    errors: ArrayLike, sizes: Sequence[int] | None = None, *, trials: int = 50, seed: int = 0
) -> SampleStudy:
    """How far samples of the models are from all of them (the paper's section 4.4 and figure 7).

    Parameters
    ----------
    errors : (N,), N > 0
    sizes : powers of 2 up to N where none are given
    trials : samples of each size, without replacement
    """
    everything = np.sort(np.asarray(errors, dtype=float))
    chosen = tuple(sizes) if sizes is not None else powers_up_to(everything.size)
    upto = np.searchsorted(everything, everything, side="right") / everything.size
    below = np.searchsorted(everything, everything, side="left") / everything.size
    random = np.random.default_rng(seed)
    measured = []
    for size in chosen:
        drawn = (np.sort(random.choice(everything.size, size, replace=False)) for _ in range(trials))
        measured.append(np.mean([_gap(upto[part], below[part]) for part in drawn]))
    expected = [expected_distance(size, everything.size) for size in chosen]
    return SampleStudy(chosen, np.array(measured), np.array(expected))


def powers_up_to(largest: int, most: int = 2**14) -> tuple[int, ...]:
    """1, 2, 4, ... not above."""
    return tuple(2**power for power in range(int(math.log2(max(1, min(largest, most)))) + 1))


@dataclass(frozen=True)
class Bucket:
    """The errors of the models in an interval of complexity. `std` is that of a population (ddof 0)."""

    low: float
    high: float
    count: int
    mean: float
    std: float

    @property
    def band(self) -> tuple[float, float]:
        """Mean minus and plus two standard deviations."""
        return self.mean - 2 * self.std, self.mean + 2 * self.std


def buckets(errors: ArrayLike, complexity: ArrayLike, count: int, limits: tuple[float, float]) -> list[Bucket]:
    """Mean and spread of the errors in buckets of equal width (the paper's figure 15 has 20).

    Models outside the limits are left out; one at the upper limit belongs to the last bucket. A bucket without
    models has NaN.

    Parameters
    ----------
    errors, complexity : (n,)
    """
    values, sizes = np.asarray(errors, dtype=float), np.asarray(complexity, dtype=float)
    edges = np.linspace(limits[0], limits[1], count + 1)
    inside = (sizes >= edges[0]) & (sizes <= edges[-1])
    places = np.minimum(np.digitize(sizes, edges) - 1, count - 1)
    found = []
    for index in range(count):
        of_bucket = values[inside & (places == index)]
        mean = float(of_bucket.mean()) if of_bucket.size else math.nan
        std = float(of_bucket.std()) if of_bucket.size else math.nan
        found.append(Bucket(float(edges[index]), float(edges[index + 1]), int(of_bucket.size), mean, std))
    return found
