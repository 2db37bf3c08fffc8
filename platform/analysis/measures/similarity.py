"""How alike datasets are by their meta-features."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def usable(X: Floats, names: Sequence[str]) -> tuple[Floats, tuple[str, ...]]:
    """The features that vary, their gaps filled with the median: (n, k) and names."""
    known = [column for column in range(X.shape[1]) if len(np.unique(X[np.isfinite(X[:, column]), column])) > 1]
    kept = np.where(np.isfinite(X[:, known]), X[:, known], np.nan)
    if known:
        kept = np.where(np.isnan(kept), np.nanmedian(kept, axis=0), kept)
    return kept, tuple(names[column] for column in known)


def distances(X: Floats) -> Floats:
    """Mean absolute difference of scaled meta-features between each two of n datasets, (n, n).

    X: (n, k) with NaN where one has no value. Every feature is scaled to 0..1 over these datasets (L1 distance as
    in auto-sklearn's search for known datasets, Feurer et al. 2015, divided by the number of features that both
    have). Features that do not vary say nothing and are left out; NaN where two datasets share no feature.
    """
    _, kept = usable(X, [str(column) for column in range(X.shape[1])])
    values = np.where(np.isfinite(X), X, np.nan)[:, [int(column) for column in kept]]
    if not kept:
        return np.full((len(X), len(X)), np.nan)
    scaled = (values - np.nanmin(values, axis=0)) / np.ptp(usable(values, kept)[0], axis=0)
    gaps = np.abs(scaled[:, None, :] - scaled[None, :, :])
    shared = np.isfinite(gaps).sum(axis=2)
    total = np.where(np.isfinite(gaps), gaps, 0.0).sum(axis=2)
    return np.where(shared > 0, total / np.maximum(shared, 1), np.nan)


def nearest(distance: Floats, *, count: int) -> list[list[int]]:
    """For each dataset the others, the nearest first, at most so many; those without a distance are left out."""
    found = []
    for index, row in enumerate(distance):
        order = [int(other) for other in np.argsort(row, kind="stable") if other != index]
        found.append([other for other in order if np.isfinite(row[other])][:count])
    return found
