"""Distributions of errors: the EDF, its form normalised by complexity, and the area under it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def uniform_weights(count: int) -> Floats:
    """Equal weights that sum to 1, (count,); empty for 0."""
    return np.full(count, 1.0 / count) if count else np.zeros(0)


def edf(errors: ArrayLike, thresholds: ArrayLike, weights: ArrayLike | None = None) -> Floats:
    """The share of models whose error is below each threshold, strictly.

    F(e) = sum_i w_i 1[e_i < e]; the paper's equations 1 (w_i = 1/n) and 4.

    Parameters
    ----------
    errors : (n,), n > 0
    thresholds : (t,)
    weights : (n,) that sum to 1; equal ones where none are given

    Returns
    -------
    (t,) of values from 0 to 1, not falling where the thresholds rise

    Raises
    ------
    ValueError
        Without any error there is no distribution.
    """
    values = np.asarray(errors, dtype=float)
    if not values.size:
        raise ValueError("There is no distribution of no errors.")
    shares = uniform_weights(values.size) if weights is None else np.asarray(weights, dtype=float)
    order = np.argsort(values, kind="stable")
    below = np.concatenate([[0.0], np.cumsum(shares[order])])
    # Rounding of a long sum must not lead above 1.
    found = below[np.searchsorted(values[order], np.asarray(thresholds, dtype=float))]
    return np.asarray(np.minimum(found, 1.0))


def edf_area(errors: ArrayLike, limit: float, weights: ArrayLike | None = None) -> float:
    """The area under the EDF from 0 up to an error, as a share of the whole: 1 - sum_i w_i min(1, e_i / limit).

    It is higher for a better space, between 0 and 1 for errors that are not negative (the paper's section 4.3).
    """
    values = np.asarray(errors, dtype=float)
    if limit <= 0:
        raise ValueError("The largest error of the area must be above 0.")
    shares = uniform_weights(values.size) if weights is None else np.asarray(weights, dtype=float)
    return float(1.0 - np.sum(shares * np.minimum(1.0, values / limit)))


class EmptyBinError(ValueError):
    """A bin of complexity holds no model, so that its share of the weight has nobody to carry it."""


@dataclass(frozen=True)
class ComplexityWeights:
    """Weights of n models by which every bin of complexity counts alike.

    `weights` are (n,), 0 for models outside the range or in dropped bins, and sum to 1; `bins` (n,) are the index
    of each model's bin, -1 outside; `counts` (k,) the models of each bin; `dropped` the bins that do not count.
    """

    weights: Floats
    bins: NDArray[np.int64]
    counts: NDArray[np.int64]
    edges: Floats
    dropped: tuple[int, ...]

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which models carry weight, (n,)."""
        return self.weights > 0


def complexity_weights(
    complexity: ArrayLike, bins: int, limits: tuple[float, float], *, strict: bool = True
) -> ComplexityWeights:
    """Weights 1 / (k m_j) for a model in bin j of k, which holds m_j models (the paper's section 4.2).

    Parameters
    ----------
    complexity : (n,), in any unit
    bins : k, of equal width
    limits : lowest and highest complexity
    strict : as the paper's notebooks have it: models count with lowest < c < highest alone, and an empty bin is
        an error. Otherwise both ends belong to the range (the highest to the last bin), and empty bins are
        dropped, the others sharing their weight.

    Raises
    ------
    EmptyBinError
        Of strict weights, where a bin is empty; of others, where all are.
    """
    return shared_weights([complexity], bins, limits, strict=strict)[0]


def shared_weights(
    complexities: Sequence[ArrayLike], bins: int, limits: tuple[float, float], *, strict: bool = False
) -> list[ComplexityWeights]:
    """The weights of several populations over the same bins: one that is empty in any of them is dropped in all.

    Only so do the normalised distributions speak of the same complexities. Otherwise as `complexity_weights`.
    """
    low, high = limits
    if not low < high or bins < 1:
        raise ValueError("The range of complexities must not be empty, and there must be a bin.")
    edges = np.linspace(low, high, bins + 1)
    placed = [_bins(np.asarray(one, dtype=float), edges, strict=strict) for one in complexities]
    counts = [np.bincount(one[one >= 0], minlength=bins) for one in placed]
    full = np.all(np.array(counts) > 0, axis=0)
    if strict and not full.all():
        raise EmptyBinError(f"{int((~full).sum())} of {bins} bins of complexity are empty.")
    if not full.any():
        raise EmptyBinError("No bin of complexity holds models of every population.")
    dropped = tuple(int(one) for one in np.flatnonzero(~full))
    share = 1.0 / int(full.sum())
    found = []
    for one, count in zip(placed, counts, strict=True):
        per_bin = np.where(full, share / np.maximum(count, 1), 0.0)
        weights = np.where(one >= 0, per_bin[np.maximum(one, 0)], 0.0)
        found.append(ComplexityWeights(weights, one, count, edges, dropped))
    return found


def _bins(complexity: Floats, edges: Floats, *, strict: bool) -> NDArray[np.int64]:
    low, high = edges[0], edges[-1]
    inside = (complexity > low) & (complexity < high) if strict else (complexity >= low) & (complexity <= high)
    found = np.minimum(np.digitize(complexity, edges) - 1, len(edges) - 2)
    return np.where(inside, found, -1).astype(np.int64)


def overlap(complexities: Sequence[ArrayLike]) -> tuple[float, float]:
    """The complexities that all populations reach: from the largest minimum to the smallest maximum.

    The lower end is as the paper chose it for its larger models (appendix B).
    """
    values = [np.asarray(one, dtype=float) for one in complexities]
    return max(float(one.min()) for one in values), min(float(one.max()) for one in values)
