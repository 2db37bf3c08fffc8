"""The six metrics under the chapter's convention, on targets that passed the gate.

Equations 10.2 to 10.14 of "Analysis of the AutoML Challenge Series 2015-2018". Each function returns
what is not yet normalised and the base R; `Measured.value` is (raw - R) / (1 - R).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scoring.errors import UndefinedMetricError
from scoring.targets import Bools, Floats, Ints, Pair, Targets

EPSILON = 1e-15
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
    if targets.one_hot:
        counts: Ints = np.bincount(targets.labels, minlength=targets.column_count)
    else:
        counts = targets.positive.sum(axis=0, dtype=np.intp)
    return counts


def decisions(targets: Targets) -> Bools:
    """(P, C) decided positives of targets whose columns are separate problems: score >= 0.5."""
    return targets.scores >= 0.5


def decided_class(targets: Targets) -> Ints:
    """(P,) class of the highest score; the first index wins a tie."""
    decided: Ints = targets.scores.argmax(axis=1)
    return decided


def r2(pair: Pair) -> Measured:
    """Coefficient of determination, equation 10.3: 1 - MSE / VAR, mean over columns."""
    return _regression(pair, np.square)


def abs_score(pair: Pair) -> Measured:
    """ABS, equation 10.4: 1 - MAE / MAD, the deviation taken about the mean; mean over columns."""
    return _regression(pair, np.abs)


def _regression(pair: Pair, distance: Callable[[Floats], Floats]) -> Measured:
    kept = varying_columns(pair)
    total = 0.0
    for column in kept:
        truth = pair.solution[:, column]
        error = float(np.mean(distance(truth - pair.prediction[:, column])))
        spread = float(np.mean(distance(truth - accurate_mean(truth))))
        total += 1.0 - error / spread
    return Measured(total / kept.size, 0.0, pair.solution.shape[1] - kept.size)


def accurate_mean(values: Floats) -> float:
    """Mean of a vector about its first value, so that a large offset does not eat the digits."""
    origin = float(values[0])
    return origin + float(np.mean(values - origin))


def varying_columns(pair: Pair) -> Ints:
    """Columns of a regression solution that have more than one value; the gate promises at least one sample."""
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
    decided = decided_class(targets)
    if targets.one_hot:
        right = decided == targets.labels
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
    """Area under the ROC curve, equation 10.9, by average ranks; unweighted mean over columns."""
    kept = kept_columns(targets, "AUC")
    areas = [column_auc(targets.positive[:, k], targets.scores[:, k]) for k in kept]
    return Measured(float(np.mean(areas)), 0.5, targets.column_count - kept.size)


def column_auc(positive: Bools, scores: Floats) -> float:
    """AUC of one column that has both kinds: n log n, ties included.

    The probability that a positive scores above a negative, a tie counting one half, is read off the
    places of the sorted positives among the sorted negatives.
    """
    high = np.sort(scores[positive])
    low = np.sort(scores[~positive])
    below = int(np.searchsorted(low, high, side="left").sum())
    below_or_tied = int(np.searchsorted(low, high, side="right").sum())
    return (below + below_or_tied) / (2.0 * high.size * low.size)


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
