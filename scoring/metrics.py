"""The six metrics under the chapter's convention, on targets that passed the gate.

Equations 10.2 to 10.14 of "Analysis of the AutoML Challenge Series 2015-2018". Each function returns
what is not yet normalised and the base R; `Measured.value` is (raw - R) / (1 - R).
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from scoring.counts import class_counts, column_counts, guessing_base, kept_columns, label_counts
from scoring.entropy import class_entropy, class_losses, label_entropies, label_losses
from scoring.errors import UndefinedMetricError
from scoring.measured import SMALLEST_ROOM, Measured
from scoring.regression import abs_score, r2
from scoring.targets import Bools, Floats, Pair, Targets

SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")


def bac(targets: Targets) -> Measured:
    """Balanced accuracy, equations 10.5 to 10.8: mean of sensitivity and specificity, or of class recalls.

    Parameters
    ----------
    targets : Targets
        Checked by the gate and mapped.

    Returns
    -------
    Measured
        Base 1/2, or one over the number of classes that are present.

    Raises
    ------
    UndefinedMetricError
        One class only, or no column has positives and negatives.

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> solution, prediction = [[1, 0], [0, 1], [0, 1]], [[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]]
    >>> pair = check_pair(solution, prediction, task="multiclass.classification")
    >>> targets = to_classification(pair, task="multiclass.classification")
    >>> bac(targets).raw
    0.75
    """
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
    """F1, equation 10.12: harmonic mean of precision and recall, 0 where a present class is never found.

    Parameters
    ----------
    targets : Targets
        Checked by the gate and mapped.

    Returns
    -------
    Measured
        Base as of `bac`; classes and labels without a positive sample are left out.

    Raises
    ------
    UndefinedMetricError
        One class only, or no positive at all.

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> solution, prediction = [[1, 0], [0, 1], [0, 1]], [[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]]
    >>> pair = check_pair(solution, prediction, task="multiclass.classification")
    >>> targets = to_classification(pair, task="multiclass.classification")
    >>> round(f1(targets).raw, 12)
    0.666666666667
    """
    kept = kept_columns(targets, "F1")
    base = guessing_base(targets, kept)
    positives = column_counts(targets)[kept]
    true_positives, found = class_counts(targets) if targets.exclusive else label_counts(targets)
    scores = 2.0 * true_positives[kept] / (positives + found[kept])
    return Measured(float(np.mean(scores)), base, targets.column_count - kept.size)


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

    Parameters
    ----------
    targets : Targets
        Checked by the gate and mapped.

    Returns
    -------
    Measured
        Base: PAC of predicting the class frequencies of the scored solution.

    Raises
    ------
    UndefinedMetricError
        One class only.

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> solution, prediction = [[1, 0], [0, 1], [0, 1]], [[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]]
    >>> pair = check_pair(solution, prediction, task="multiclass.classification")
    >>> targets = to_classification(pair, task="multiclass.classification")
    >>> round(pac(targets).raw, 12) == round((0.8 * 0.4 * 0.9) ** (1 / 3), 12)
    True
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


REGRESSION_FUNCTIONS: dict[str, Callable[[Pair], Measured]] = {"R2": r2, "ABS": abs_score}
CLASSIFICATION_FUNCTIONS: dict[str, Callable[[Targets], Measured]] = {
    "BAC": bac,
    "AUC": auc,
    "F1": f1,
    "PAC": pac,
}
