"""Average ranks: the challenge's dense ranks, and the variants by which others rank.

Scores are n x T, higher is better, NaN where one is missing. Scores within 1e-12 of each other are equal.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

Floats = NDArray[np.float64]
Method = Literal["dense", "min", "average"]
METHODS: tuple[Method, ...] = ("dense", "min", "average")
TOLERANCE = 1e-12


def ranks(scores: NDArray[np.floating], method: Method = "dense") -> Floats:
    """The rank of every entrant on every dataset, 1 is best.

    Parameters
    ----------
    scores : array of shape (n, ...)
        Each column is ranked by itself; NaN is missing.
    method : {"dense", "min", "average"}
        What equal scores get: the next whole rank for all of them and no gap behind, their best place and a gap,
        or the mean of their places. A missing score stands behind all others; several of them are equal.

    Returns
    -------
    ranks : float array of the shape of `scores`

    Notes
    -----
    "dense" is the challenge's: chapter, section 10.3; CodaLab's `rank_values` (equal within 1e-12, missing is
    last + 1).
    """
    filled: Floats = np.where(np.isnan(scores), -np.inf, scores).astype(np.float64)
    if filled.size == 0:
        return np.ones_like(filled)
    steps = _steps(filled)
    if method == "dense":
        return steps.astype(np.float64) + 1
    return np.asarray(rankdata(steps, method=method, axis=0), dtype=np.float64)


def _steps(values: Floats) -> NDArray[np.int64]:
    """How many distinct values lie above each, column by column."""
    order = np.argsort(-values, axis=0, kind="stable")
    falling = np.take_along_axis(values, order, axis=0)
    with np.errstate(invalid="ignore"):  # -inf minus -inf
        drop = falling[:-1] - falling[1:] > TOLERANCE
    steps = np.zeros(values.shape, dtype=np.int64)
    steps[1:] = np.cumsum(drop, axis=0)
    found = np.empty_like(steps)
    np.put_along_axis(found, order, steps, axis=0)
    return found


def mean_rank(found: Floats, weights: Floats | None = None) -> Floats:
    """⟨R⟩: the mean of the ranks over the datasets, weighted where weights (T,) are given; shape (n,)."""
    if found.shape[1] == 0:
        return np.ones(len(found))
    return np.asarray(np.average(found, axis=1, weights=weights), dtype=np.float64)


def mean_reciprocal_rank(found: Floats) -> Floats:
    """The mean of 1/rank over the datasets, which rewards winning datasets; higher is better; shape (n,)."""
    return np.asarray((1 / found).mean(axis=1)) if found.shape[1] else np.ones(len(found))


def mean_score(scores: Floats) -> Floats:
    """⟨S⟩: the mean score, a missing one counts 0; shape (n,)."""
    return np.asarray(np.nan_to_num(scores).mean(axis=1)) if scores.shape[1] else np.zeros(len(scores))


def order(values: Floats, received: Floats) -> NDArray[np.int64]:
    """The rows from the smallest value to the greatest; of equal ones (within 1e-12) the earlier comes first."""
    steps = _steps(-values)
    return np.lexsort((received, steps))


def agreement_weights(scores: Floats, stderr: Floats) -> Floats:
    """How much each dataset tells its entrants apart: weights (T,) that sum to 1.

    The weight of a dataset is proportional to the share of pairs of entrants whose scores lie more than 1.96
    standard errors of their difference apart, the errors taken as independent. Equal weights where no pair does.
    """
    count, tasks = scores.shape
    shares = np.zeros(tasks)
    upper = np.triu_indices(count, 1)
    for task in range(tasks):
        gaps = np.abs(scores[:, None, task] - scores[None, :, task])[upper]
        error = np.sqrt(stderr[:, None, task] ** 2 + stderr[None, :, task] ** 2)[upper]
        shares[task] = np.mean(np.nan_to_num(gaps) > 1.96 * np.nan_to_num(error, nan=np.inf)) if gaps.size else 0.0
    total = shares.sum()
    return shares / total if total > 0 else np.full(tasks, 1 / max(1, tasks))
