"""The six metrics under the chapter's convention, on targets that passed the gate.

Equations 10.2 to 10.14 of "Analysis of the AutoML Challenge Series 2015-2018". Each function returns
what is not yet normalised and the base R; `Measured.value` is (raw - R) / (1 - R).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scoring.errors import BadPredictionError, UndefinedMetricError
from scoring.targets import BLOCK_SIZE, Bools, Floats, Ints, Pair, Targets

EPSILON = 1e-15
SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
# Below this distance from 1 the base is 1 but for rounding: a single class, whose entropy is 0.
# The smallest honest distance, one odd sample among a billion, is above 1e-8.
SMALLEST_ROOM = 1e-12


@dataclass(frozen=True, slots=True)
class Measured:
    """One metric: `raw`, the base R that guessing reaches, and how many columns were left out."""

    raw: float
    base: float
    left_out: int = 0
    warnings: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        return normalise(self.raw, self.base)


def normalise(raw: float, base: float) -> float:
    """Equation 10.2: 0 for guessing, 1 for perfect."""
    return (raw - base) / (1.0 - base)


def column_counts(targets: Targets) -> Ints:
    """(C,) number of positives in each column."""
    if targets.one_hot_labels is not None:
        counts: Ints = np.bincount(targets.one_hot_labels, minlength=targets.column_count)
    else:
        counts = targets.positive.sum(axis=0, dtype=np.intp)
    return counts


def decisions(targets: Targets) -> Bools:
    """(P, C) decided positives of targets whose columns are separate problems: score >= 0.5."""
    return targets.scores >= 0.5


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

    Parameters, returns and raises as `r2`.

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
    if 0.0 < spread < math.inf and error < math.inf and (error > 0.0 or np.array_equal(truth, guess)):
        return error / spread
    return _scaled_error_ratio(truth, guess, total)


def _scaled_error_ratio(truth: Floats, guess: Floats, total: Callable[[Floats], float]) -> float:
    """The same ratio where squares or differences leave the range of a double: everything in its own unit."""
    # Halves first, so that no difference overflows.
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

    Raises
    ------
    UndefinedMetricError
        There is none.
    """
    if pair.solution.shape[1] == 1:
        return np.zeros(1, dtype=np.intp)  # the gate refuses one value everywhere
    kept = np.flatnonzero(pair.solution.min(axis=0) < pair.solution.max(axis=0))
    if kept.size == 0:
        raise UndefinedMetricError("Every column of the solution has one value only, so the metric is undefined.")
    return kept


def kept_columns(targets: Targets, metric: str) -> Ints:
    """Columns that the metric is defined on (metrics.md, "Two conventions").

    A column without positives is left out of BAC, AUC and F1; one without negatives out of AUC and
    of BAC where columns are separate problems.
    """
    positives = column_counts(targets)
    keep = positives > 0
    if metric == "AUC" or (metric == "BAC" and not targets.exclusive):
        keep &= positives < targets.sample_count
    kept = np.flatnonzero(keep)
    if kept.size == 0:
        raise UndefinedMetricError(f"No column of the solution has what {metric} needs, so it is undefined.")
    return kept


def guessing_base(targets: Targets, kept: Ints) -> float:
    """R of BAC and F1: one half, or one over the number of classes that are present."""
    if not targets.exclusive:
        return 0.5
    if kept.size < 2:
        raise UndefinedMetricError("The solution holds one class only, so the metric is undefined.")
    return 1.0 / kept.size


def bac(targets: Targets) -> Measured:
    """Balanced accuracy, equations 10.5 to 10.8: mean of sensitivity and specificity, or of class recalls."""
    kept = kept_columns(targets, "BAC")
    base = guessing_base(targets, kept)
    positives = column_counts(targets)[kept]
    if targets.exclusive:
        true_positives, _ = class_counts(targets)
        rates = true_positives[kept] / positives
    else:
        true_positives, found = label_counts(targets)
        negatives = targets.sample_count - positives
        false_positives = found[kept] - true_positives[kept]
        rates = 0.5 * (true_positives[kept] / positives + (1.0 - false_positives / negatives))
    return Measured(float(np.mean(rates)), base, targets.column_count - kept.size)


def f1(targets: Targets) -> Measured:
    """F1, equation 10.12: harmonic mean of precision and recall, 0 where a present class is never found."""
    kept = kept_columns(targets, "F1")
    base = guessing_base(targets, kept)
    positives = column_counts(targets)[kept]
    true_positives, found = class_counts(targets) if targets.exclusive else label_counts(targets)
    scores = 2.0 * true_positives[kept] / (positives + found[kept])
    return Measured(float(np.mean(scores)), base, targets.column_count - kept.size)


def class_counts(targets: Targets) -> tuple[Ints, Ints]:
    """(C,) true positives and (C,) found positives under the decision for the highest score."""
    decided = targets.decided
    if targets.one_hot_labels is not None:
        right = decided == targets.one_hot_labels
    else:
        right = targets.positive[np.arange(decided.size), decided]
    columns = targets.column_count
    return np.bincount(decided[right], minlength=columns), np.bincount(decided, minlength=columns)


def label_counts(targets: Targets) -> tuple[Ints, Ints]:
    """(C,) true positives and (C,) found positives with a threshold of 0.5 in each column."""
    decided = decisions(targets)
    found = decided.sum(axis=0, dtype=np.intp)
    decided &= targets.positive
    return decided.sum(axis=0, dtype=np.intp), found


def auc(targets: Targets) -> Measured:
    """Area under the ROC curve, equation 10.9, by average ranks; unweighted mean over columns.

    Parameters
    ----------
    targets : Targets

    Returns
    -------
    Measured
        Base 1/2; columns without positives or without negatives are left out.

    Raises
    ------
    UndefinedMetricError
        No column has both.

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> pair = check_pair([0, 1, 0, 1], [0.1, 0.2, 0.2, 0.3], task="binary.classification")
    >>> auc(to_classification(pair, task="binary.classification")).raw
    0.875
    """
    kept = kept_columns(targets, "AUC")
    areas = [column_auc(targets.positives_of(k), targets.scores[:, k]) for k in kept]
    return Measured(float(np.mean(areas)), 0.5, targets.column_count - kept.size)


def column_auc(positive: Bools, scores: Floats) -> float:
    """AUC of one column that has both kinds: n log n, ties included.

    The probability that a positive scores above a negative, a tie counting one half. The places of
    the rarer kind among all, less its places among itself, are its places among the other kind.

    Parameters
    ----------
    positive : ndarray of bool, shape (P,)
    scores : ndarray of float64, shape (P,)

    Examples
    --------
    >>> column_auc(np.array([True, False, False]), np.array([0.5, 0.5, 0.1]))
    0.75
    """
    count = int(np.count_nonzero(positive))
    positives_are_few = 2 * count <= positive.size
    few = np.sort(scores[positive if positives_are_few else ~positive])
    everything = np.sort(scores)
    # Twice the number of pairs in which one of the few is above one of the others, ties counting one.
    above = sum(
        int(np.searchsorted(everything, few, side=side).sum()) - int(np.searchsorted(few, few, side=side).sum())
        for side in SIDES
    )
    pairs = 2 * count * (positive.size - count)
    return (above if positives_are_few else pairs - above) / pairs


def pac(targets: Targets) -> Measured:
    """Probabilistic accuracy, equations 10.13 and 10.14: exp(-cross-entropy).

    The chapter prints 10.13 for multi-class without the minus sign and without y; both are meant.
    """
    frequencies = column_counts(targets) / targets.sample_count
    warnings: tuple[str, ...] = ()
    if targets.exclusive:
        base = float(np.exp(-class_entropy(frequencies)))
        losses, zero_rows = class_losses(targets)
        raw = float(np.exp(-np.mean(losses)))
        if zero_rows:
            warnings = (f"{zero_rows} rows of the prediction are all zero and count as uniform rows.",)
    else:
        base = float(np.mean(np.exp(-label_entropies(frequencies))))
        columns = range(targets.column_count)
        raw = float(np.mean([np.exp(-np.mean(label_losses(targets, k))) for k in columns]))
    if 1.0 - base < SMALLEST_ROOM:
        raise UndefinedMetricError("The solution holds one class only, so PAC is undefined.")
    return Measured(raw, base, 0, warnings)


def label_entropies(frequencies: Floats) -> Floats:
    """Cross-entropy of predicting each column's own frequency of positives."""
    others = 1.0 - frequencies
    return -(frequencies * np.log(np.maximum(EPSILON, frequencies)) + others * np.log(np.maximum(EPSILON, others)))


def class_entropy(frequencies: Floats) -> Floats:
    """Cross-entropy of predicting the class frequencies; (..., C) gives (...)."""
    bounded = np.maximum(EPSILON, frequencies)
    bounded = bounded / bounded.sum(axis=-1, keepdims=True)
    return np.asarray(-(frequencies * np.log(bounded)).sum(axis=-1))


def label_losses(targets: Targets, column: int) -> Floats:
    """(P,) cross-entropy of each row in one column."""
    scores = np.clip(targets.scores[:, column], EPSILON, 1.0 - EPSILON)
    return -np.log(np.where(targets.positive[:, column], scores, 1.0 - scores))


def class_losses(targets: Targets) -> tuple[Floats, int]:
    """(P,) cross-entropy of each row, rows divided by their sum, and the number of all-zero rows.

    Only the entry of the true class matters, so the table itself is never divided.
    """
    sums = targets.scores.sum(axis=1)
    own = targets.scores[np.arange(targets.sample_count), targets.labels]
    zero = sums == 0.0
    share = own / np.maximum(sums, EPSILON)
    share[zero] = 1.0 / targets.column_count
    return -np.log(np.clip(share, EPSILON, 1.0 - EPSILON)), int(np.count_nonzero(zero))


REGRESSION_FUNCTIONS: dict[str, Callable[[Pair], Measured]] = {"R2": r2, "ABS": abs_score}
CLASSIFICATION_FUNCTIONS: dict[str, Callable[[Targets], Measured]] = {
    "BAC": bac,
    "AUC": auc,
    "F1": f1,
    "PAC": pac,
}
