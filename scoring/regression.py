"""R2 and ABS, equations 10.3 and 10.4, on pairs that passed the gate."""

import math
from collections.abc import Callable

import numpy as np

from scoring.errors import BadPredictionError, UndefinedMetricError
from scoring.measured import Measured
from scoring.targets import BLOCK_SIZE, Floats, Ints, Pair

# Sums of squares below it have lost digits: the smallest double of full precision is 2e-308.
SMALLEST_SUM = 1e-280


def r2(pair: Pair) -> Measured:
    """Coefficient of determination, equation 10.3: 1 - MSE / VAR, mean over columns.

    Parameters
    ----------
    pair : Pair
        Checked by the gate.

    Returns
    -------
    Measured
        Base 0; columns of one single value are left out.

    Raises
    ------
    UndefinedMetricError
        No column of the solution has two values.
    BadPredictionError
        R2 is below the smallest double.

    Examples
    --------
    >>> from scoring.targets import check_pair
    >>> r2(check_pair([1, 2, 3], [1, 2, 4], task="regression")).value
    0.5
    """
    return _regression(pair, _sum_of_squares)


def abs_score(pair: Pair) -> Measured:
    """ABS, equation 10.4: 1 - MAE / MAD, the deviation taken about the mean; mean over columns.

    Parameters
    ----------
    pair : Pair
        Checked by the gate.

    Returns
    -------
    Measured
        Base 0; columns of one single value are left out.

    Raises
    ------
    UndefinedMetricError, BadPredictionError
        As `r2`.

    Examples
    --------
    >>> from scoring.targets import check_pair
    >>> abs_score(check_pair([1, 2, 3], [1, 2, 4], task="regression")).value
    0.5
    """
    return _regression(pair, _sum_of_distances)


def _regression(pair: Pair, total: Callable[[Floats], float]) -> Measured:
    kept = varying_columns(pair)
    with np.errstate(over="ignore", under="ignore"):
        ratios = [_error_ratio(pair.solution[:, k], pair.prediction[:, k], total) for k in kept]
    raw = 1.0 - math.fsum(ratios) / kept.size if max(ratios) < math.inf else -math.inf
    if raw == -math.inf:
        raise BadPredictionError(
            "The prediction is so far from the solution that its score is below the smallest number there is."
        )
    return Measured(raw, 0.0, pair.solution.shape[1] - kept.size)


def _error_ratio(truth: Floats, guess: Floats, total: Callable[[Floats], float]) -> float:
    """Sum of errors over sum of deviations of one column, both by `total`."""
    mean = accurate_mean(truth)
    errors, spreads = [], []
    for first in range(0, truth.size, BLOCK_SIZE):
        part = truth[first : first + BLOCK_SIZE]
        errors.append(total(part - guess[first : first + BLOCK_SIZE]))
        spreads.append(total(part - mean))
    error, spread = sum(errors), sum(spreads)
    in_range = SMALLEST_SUM < spread < math.inf and error < math.inf
    if in_range and (error > SMALLEST_SUM or np.array_equal(truth, guess)):
        return error / spread
    return _scaled_error_ratio(truth, guess, total)


def _scaled_error_ratio(truth: Floats, guess: Floats, total: Callable[[Floats], float]) -> float:
    """The same ratio where squares or differences leave the range of a double: everything in its own unit."""
    deviations = truth - truth[0]
    if not (np.isfinite(deviations).all() and np.isfinite(truth - guess).all()):
        truth, guess = truth / 2.0, guess / 2.0
        deviations = truth - truth[0]
    unit = float(np.abs(deviations).max())
    deviations = deviations / unit
    deviations -= np.mean(deviations)
    errors = np.abs(truth - guess)
    largest = float(errors.max())
    if largest == 0.0:
        return 0.0
    power = 2.0 if total is _sum_of_squares else 1.0
    ratio = total(errors / largest) / total(deviations)
    return float(np.float64(largest / unit) ** power * ratio)


def _sum_of_squares(values: Floats) -> float:
    return float(np.square(values, out=values).sum())


def _sum_of_distances(values: Floats) -> float:
    return float(np.abs(values, out=values).sum())


def accurate_mean(values: Floats) -> float:
    """Mean of a vector about its first value, so that a large offset does not eat the digits.

    Parameters
    ----------
    values : ndarray of float64, shape (P,)

    Examples
    --------
    >>> accurate_mean(np.array([1e9, 1e9 + 1, 1e9 + 5])) - 1e9
    2.0
    """
    origin = float(values[0])
    parts = (values[first : first + BLOCK_SIZE] for first in range(0, values.size, BLOCK_SIZE))
    return origin + math.fsum(float((part - origin).sum()) for part in parts) / values.size


def varying_columns(pair: Pair) -> Ints:
    """Columns of a regression solution that have more than one value; the gate promises at least one sample.

    Parameters
    ----------
    pair : Pair

    Returns
    -------
    ndarray of int

    Raises
    ------
    UndefinedMetricError
        There is none.

    Examples
    --------
    >>> from scoring.targets import check_pair
    >>> table = [[1, 5], [2, 5]]
    >>> varying_columns(check_pair(table, table, task="regression")).tolist()
    [0]
    """
    if pair.solution.shape[1] == 1:
        return np.zeros(1, dtype=np.intp)  # the gate refuses one value everywhere
    kept = np.flatnonzero(pair.solution.min(axis=0) < pair.solution.max(axis=0))
    if kept.size == 0:
        raise UndefinedMetricError("Every column of the solution has one value only, so the metric is undefined.")
    return kept
