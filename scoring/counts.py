"""Counts that BAC, AUC and F1 are made of, and which columns they are defined on."""

import numpy as np

from scoring.errors import UndefinedMetricError
from scoring.targets import Bools, Ints, Targets


def column_counts(targets: Targets) -> Ints:
    """(C,) number of positives in each column.

    Parameters
    ----------
    targets : Targets

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> pair = check_pair([[0, 1], [1, 1]], [[0.2, 0.7], [0.4, 0.9]], task="multilabel.classification")
    >>> targets = to_classification(pair, task="multilabel.classification")
    >>> column_counts(targets).tolist()
    [1, 2]
    """
    if targets.one_hot_labels is not None:
        counts: Ints = np.bincount(targets.one_hot_labels, minlength=targets.column_count)
    else:
        counts = targets.positive.sum(axis=0, dtype=np.intp)
    return counts


def decisions(targets: Targets) -> Bools:
    """(P, C) decided positives of targets whose columns are separate problems: score >= 0.5.

    Parameters
    ----------
    targets : Targets

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> pair = check_pair([[0, 1], [1, 1]], [[0.2, 0.7], [0.4, 0.9]], task="multilabel.classification")
    >>> targets = to_classification(pair, task="multilabel.classification")
    >>> decisions(targets).tolist()
    [[False, True], [False, True]]
    """
    return targets.scores >= 0.5


def kept_columns(targets: Targets, metric: str) -> Ints:
    """Columns that the metric is defined on (metrics.md, "Two conventions").

    A column without positives is left out of BAC, AUC and F1; one without negatives out of AUC and
    of BAC where columns are separate problems.

    Parameters
    ----------
    targets : Targets
    metric : str
        Canonical name.

    Returns
    -------
    ndarray of int

    Raises
    ------
    UndefinedMetricError
        There is none.

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> pair = check_pair([[0, 1], [1, 1]], [[0.2, 0.7], [0.4, 0.9]], task="multilabel.classification")
    >>> targets = to_classification(pair, task="multilabel.classification")
    >>> kept_columns(targets, "AUC").tolist(), kept_columns(targets, "F1").tolist()
    ([0], [0, 1])
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
    """R of BAC and F1: one half, or one over the number of classes that are present.

    Parameters
    ----------
    targets : Targets
    kept : ndarray of int
        The classes that are present.

    Raises
    ------
    UndefinedMetricError
        Only one class is present.

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> solution, prediction = [[1, 0], [0, 1], [0, 1]], [[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]]
    >>> pair = check_pair(solution, prediction, task="multiclass.classification")
    >>> targets = to_classification(pair, task="multiclass.classification")
    >>> guessing_base(targets, np.array([0, 1]))
    0.5
    """
    if not targets.exclusive:
        return 0.5
    if kept.size < 2:
        raise UndefinedMetricError("The solution holds one class only, so the metric is undefined.")
    return 1.0 / kept.size


def class_counts(targets: Targets) -> tuple[Ints, Ints]:
    """(C,) true positives and (C,) found positives under the decision for the highest score.

    Parameters
    ----------
    targets : Targets

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> solution, prediction = [[1, 0], [0, 1], [0, 1]], [[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]]
    >>> pair = check_pair(solution, prediction, task="multiclass.classification")
    >>> targets = to_classification(pair, task="multiclass.classification")
    >>> [part.tolist() for part in class_counts(targets)]
    [[1, 1], [2, 1]]
    """
    decided = targets.decided
    if targets.one_hot_labels is not None:
        right = decided == targets.one_hot_labels
    else:
        right = targets.positive[np.arange(decided.size), decided]
    columns = targets.column_count
    return np.bincount(decided[right], minlength=columns), np.bincount(decided, minlength=columns)


def label_counts(targets: Targets) -> tuple[Ints, Ints]:
    """(C,) true positives and (C,) found positives with a threshold of 0.5 in each column.

    Parameters
    ----------
    targets : Targets

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> pair = check_pair([[0, 1], [1, 1]], [[0.2, 0.7], [0.4, 0.9]], task="multilabel.classification")
    >>> targets = to_classification(pair, task="multilabel.classification")
    >>> [part.tolist() for part in label_counts(targets)]
    [[0, 2], [0, 2]]
    """
    decided = decisions(targets)
    found = decided.sum(axis=0, dtype=np.intp)
    decided &= targets.positive
    return decided.sum(axis=0, dtype=np.intp), found
