"""Row weights of bootstrap replicates, the same for every entrant of a task.

They depend on the solution, the seed and the number of replicates only, so differences between
entrants are paired. How rows are drawn:

- regression: all rows alike, with replacement;
- classification: within class, so that each class keeps its size in every replicate;
- overlapping labels: rows cannot be drawn within each label at once; there the weights are
  exponential (the Bayesian bootstrap, whose weights are never zero);
- blocks of chronological data and groups: exponential weights too, one for each block or group,
  which its rows share, so that no replicate loses a class.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from scoring.targets import Floats, Ints, Pair, Targets

# Weights held at once: 200,000 of 8 bytes, so that a block and its temporaries stay in the cache.
BLOCK_SIZE = 200_000
# From this many rows on, in strata of at least this size, Poisson counts take the place of drawn rows.
LARGE_SAMPLE = 200_000
LARGE_STRATUM = 10_000


def _poisson_table() -> Floats:
    """(65536,) counts in the proportions of a Poisson distribution of mean 1, to look random bytes up in."""
    shares = [math.exp(-1.0) / math.factorial(count) for count in range(9)]
    ends = np.round(np.cumsum(shares) * 2**16).astype(np.intp)
    return np.searchsorted(ends, np.arange(2**16), side="right").astype(np.float64)


POISSON_TABLE = _poisson_table()


@dataclass(frozen=True, slots=True)
class Resamples:
    """Row weights of all replicates, made block by block.

    Attributes
    ----------
    rows : ndarray of int, shape (P,)
        The row that each weight belongs to: rows sorted by stratum.
    starts, sizes : ndarray of int, shape (P,)
        Where the stratum of each sorted row begins, and its size.
    count : int
        Number of replicates.
    seed : int
        Of the generator; any non-negative integer.
    units : ndarray of int, shape (P,), or None
        The unit (row, group or block) of each row, from 0, whose exponential weight its rows share;
        None draws single rows within their strata.
    """

    rows: Ints
    starts: Ints
    sizes: Ints
    count: int
    seed: int
    units: Ints | None = None

    @classmethod
    def within(cls, strata: Ints, *, count: int, seed: int) -> "Resamples":
        """Rows are drawn with replacement inside their stratum; `strata` is (P,) numbers from 0."""
        rows = np.argsort(strata, kind="stable")
        sizes = np.bincount(strata)
        starts = np.cumsum(sizes) - sizes
        ordered = strata[rows]
        return cls(rows, starts[ordered], sizes[ordered], count, seed)

    @classmethod
    def of_units(cls, units: Ints, *, count: int, seed: int) -> "Resamples":
        """Units keep their rows together and get exponential weights, which are never 0."""
        rows = np.arange(units.size)
        return cls(rows, rows, rows, count, seed, units)

    @classmethod
    def of_subject(
        cls, subject: Pair | Targets, *, count: int, seed: int, units: Ints | None = None
    ) -> "Resamples":
        """By units where they are given; else all rows alike for a Pair, within class for Targets.

        Where labels overlap every row is a unit.
        """
        samples = subject.solution.shape[0]
        if units is not None:
            return cls.of_units(units, count=count, seed=seed)
        if isinstance(subject, Pair):
            return cls.within(np.zeros(samples, dtype=np.intp), count=count, seed=seed)
        if subject.column_count == 1:
            return cls.within(subject.positive[:, 0].astype(np.intp), count=count, seed=seed)
        if subject.one_hot_labels is not None:
            return cls.within(subject.one_hot_labels, count=count, seed=seed)
        return cls.of_units(np.arange(samples), count=count, seed=seed)

    def blocks(self, size: int = BLOCK_SIZE) -> Iterator[tuple[slice, Floats]]:
        """Yield (which replicates, their weights (b, P)); the numbers do not depend on the block size.

        The weights of a replicate add up to P, and within a stratum to its size.
        """
        generator = np.random.default_rng(self.seed)
        samples = self.rows.size
        height = max(1, min(self.count, size // samples))
        large = samples >= LARGE_SAMPLE and self.sizes.min() >= LARGE_STRATUM
        edges = np.append(np.flatnonzero(np.diff(self.starts, prepend=-1)), samples)
        for first in range(0, self.count, height):
            last = min(self.count, first + height)
            if self.units is not None:
                weights = self._draw_units(generator, last - first, self.units)
            elif large:
                weights = _draw_poisson(generator, last - first, edges)
            else:
                weights = self._draw(generator, last - first)
            yield slice(first, last), weights

    def _draw_units(self, generator: np.random.Generator, height: int, units: Ints) -> Floats:
        """Exponential weights of the units (the Bayesian bootstrap), given to their rows."""
        drawn = generator.standard_exponential((height, int(units.max()) + 1), method="inv")
        weights = drawn[:, units]
        weights *= units.size / weights.sum(axis=1, keepdims=True)
        return weights

    def _draw(self, generator: np.random.Generator, height: int) -> Floats:
        """Count how often each row is drawn, with one vectorised draw for all strata."""
        samples = self.rows.size
        drawn = generator.random((height, samples))
        drawn *= self.sizes
        places = drawn.astype(np.intp)
        # A draw just under 1 can round up to the size itself in a very large stratum.
        np.minimum(places, self.sizes - 1, out=places)
        places += self.starts + samples * np.arange(height)[:, np.newaxis]
        counts = np.bincount(places.ravel(), minlength=height * samples)
        return counts.reshape(height, samples).astype(np.float64)


def _draw_poisson(generator: np.random.Generator, height: int, edges: Ints) -> Floats:
    """Poisson counts, scaled to the size of each stratum: what drawing many rows comes to, but faster."""
    drawn = generator.integers(0, 2**16, (height, edges[-1]), dtype=np.uint16)
    weights = POISSON_TABLE[drawn]
    for low, high in pairwise(edges):
        part = weights[:, low:high]
        part *= (high - low) / part.sum(axis=1, keepdims=True)
    return weights


def units_of(sample_count: int, *, blocks: int | None = None, groups: ArrayLike | None = None) -> Ints | None:
    """The units that are resampled whole: blocks of consecutive rows, or groups of rows.

    Parameters
    ----------
    sample_count : int
        P.
    blocks : int, optional
        Length of a block in rows.
    groups : array_like, shape (P,), optional
        A number or word for each row; equal ones belong together.

    Returns
    -------
    ndarray of int, shape (P,), or None
        Number of each row's unit, from 0; None where neither is given.

    Raises
    ------
    ValueError
        Both are given, a block is shorter than one row, or groups do not fit the rows.

    Examples
    --------
    >>> units_of(5, blocks=2).tolist()
    [0, 0, 1, 1, 2]
    >>> units_of(3, groups=["b", "a", "b"]).tolist()
    [1, 0, 1]
    """
    if blocks is not None and groups is not None:
        raise ValueError("Rows are resampled by blocks or by groups, not by both.")
    if blocks is not None:
        if blocks < 1:
            raise ValueError(f"A block of {blocks} rows is too short; 1 is the least.")
        return np.arange(sample_count) // int(blocks)
    if groups is None:
        return None
    names = np.asarray(groups)
    if names.shape != (sample_count,):
        raise ValueError(f"The groups have shape {names.shape}, ({sample_count},) is expected.")
    return np.unique(names, return_inverse=True)[1].astype(np.intp)


def block_length(sample_count: int) -> int:
    """The usual length of a block for the variance of a mean of dependent rows: the cube root of P, rounded up.

    Hall, Horowitz and Jing (1995), Biometrika 82, 561-574.

    Parameters
    ----------
    sample_count : int
        P.

    Examples
    --------
    >>> block_length(1000), block_length(1001)
    (10, 11)
    """
    root = int(np.cbrt(sample_count))
    return max(1, root if root**3 >= sample_count else root + 1)
