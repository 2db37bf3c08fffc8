"""Cross-entropies that PAC is made of."""

import numpy as np

from scoring.measured import EPSILON
from scoring.targets import Floats, Targets


def label_entropies(frequencies: Floats) -> Floats:
    """Cross-entropy of predicting each column's own frequency of positives.

    Parameters
    ----------
    frequencies : ndarray of float64, shape (..., C)
        Shares of positives.

    Returns
    -------
    ndarray of float64, in nats

    Examples
    --------
    >>> np.exp(-label_entropies(np.array([0.5, 1.0]))).round(12).tolist()
    [0.5, 1.0]
    """
    others = 1.0 - frequencies
    return -(frequencies * np.log(np.maximum(EPSILON, frequencies)) + others * np.log(np.maximum(EPSILON, others)))


def class_entropy(frequencies: Floats) -> Floats:
    """Cross-entropy of predicting the class frequencies; (..., C) gives (...).

    Parameters
    ----------
    frequencies : ndarray of float64, shape (..., C)
        Shares of positives.

    Returns
    -------
    ndarray of float64, in nats

    Examples
    --------
    >>> float(np.exp(-class_entropy(np.array([0.25, 0.25, 0.25, 0.25]))).round(12))
    0.25
    """
    bounded = np.maximum(EPSILON, frequencies)
    bounded = bounded / bounded.sum(axis=-1, keepdims=True)
    return np.asarray(-(frequencies * np.log(bounded)).sum(axis=-1))


def label_losses(targets: Targets, column: int) -> Floats:
    """(P,) cross-entropy of each row in one column.

    Parameters
    ----------
    targets : Targets
    column : int

    Returns
    -------
    ndarray of float64, in nats

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> pair = check_pair([[0, 1], [1, 1]], [[0.2, 0.7], [0.4, 0.9]], task="multilabel.classification")
    >>> targets = to_classification(pair, task="multilabel.classification")
    >>> np.exp(-label_losses(targets, 1)).round(12).tolist()
    [0.7, 0.9]
    """
    scores = np.clip(targets.scores[:, column], EPSILON, 1.0 - EPSILON)
    return -np.log(np.where(targets.positive[:, column], scores, 1.0 - scores))


def class_losses(targets: Targets) -> tuple[Floats, int]:
    """(P,) cross-entropy of each row, rows divided by their sum, and the number of all-zero rows.

    Only the entry of the true class matters, so the table itself is never divided.

    Parameters
    ----------
    targets : Targets

    Examples
    --------
    >>> from scoring.targets import check_pair, to_classification
    >>> solution, prediction = [[1, 0], [0, 1], [0, 1]], [[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]]
    >>> pair = check_pair(solution, prediction, task="multiclass.classification")
    >>> targets = to_classification(pair, task="multiclass.classification")
    >>> losses, zero_rows = class_losses(targets)
    >>> np.exp(-losses).round(12).tolist(), zero_rows
    ([0.8, 0.4, 0.9], 0)
    """
    sums = targets.scores.sum(axis=1)
    own = targets.scores[np.arange(targets.sample_count), targets.labels]
    zero = sums == 0.0
    share = own / np.maximum(sums, EPSILON)
    share[zero] = 1.0 / targets.column_count
    return -np.log(np.clip(share, EPSILON, 1.0 - EPSILON)), int(np.count_nonzero(zero))
