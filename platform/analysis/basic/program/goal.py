"""What is to be predicted, and how good a prediction is by the dataset's metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import metrics

BINARY, MULTICLASS = "binary.classification", "multiclass.classification"
MULTILABEL, REGRESSION = "multilabel.classification", "regression"
LEAST = 1e-6  # of a probability, before its logarithm is taken


class Goal:
    """The task of a dataset. Predictions inside this program are always (n, `columns`).

    These are probabilities of classes or of labels, or numbers.
    """

    def __init__(self, info: dict[str, Any]) -> None:
        self.task = str(info["task"])
        self.metric = str(info.get("metric", "")).split("_")[0].lower()
        count = int(info.get("target_num") or 1)
        self.columns = max(count, 2) if self.has_classes else count

    @property
    def has_classes(self) -> bool:
        """Whether a row has exactly one of several classes."""
        return self.task in (BINARY, MULTICLASS)

    @property
    def has_labels(self) -> bool:
        """Whether a row may have any of several labels."""
        return self.task == MULTILABEL

    @property
    def is_regression(self) -> bool:
        """Whether numbers are to be predicted."""
        return self.task == REGRESSION

    def targets(self, y: Any) -> Any:
        """The targets as learners take them: (n,) for one column, else (n, columns)."""
        y = np.asarray(y, dtype=float)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if not self.is_regression:
            y = y.astype(int)
        if self.has_classes and y.ndim == 1 and y.size:
            self.columns = max(self.columns, int(y.max()) + 1)
        return y

    def finished(self, values: Any) -> Any:
        """Predictions as the platform takes them: (n,) for one column, else (n, columns)."""
        if self.task == BINARY:
            return values[:, 1]
        return values[:, 0] if values.shape[1] == 1 else values

    def quality(self, y: Any, values: Any) -> float:
        """How good predictions (n, columns) of targets are: more is better. It follows the dataset's metric."""
        if self.is_regression:
            return _of_numbers(y, values, is_absolute=self.metric in ("a", "abs"))
        truth = np.eye(self.columns)[y] if self.has_classes else np.asarray(y, dtype=float).reshape(len(y), -1)
        if self.metric == "auc":
            return _areas(truth, values)
        if self.metric == "pac":
            return _likelihood(truth, values, one_of=self.has_classes)
        said = np.eye(self.columns)[values.argmax(axis=1)] if self.has_classes else (values > 0.5).astype(float)
        columns: Sequence[int] = [1] if self.task == BINARY and self.metric == "f1" else range(truth.shape[1])
        judge = _f1 if self.metric == "f1" else _recall if self.has_classes else _balanced
        return float(np.mean([judge(truth[:, column], said[:, column]) for column in columns]))


def _of_numbers(y: Any, values: Any, *, is_absolute: bool) -> float:
    y = np.asarray(y, dtype=float).reshape(len(values), -1)
    errors, spread = y - values, y - y.mean(axis=0)
    if is_absolute:
        return float(1 - np.abs(errors).mean() / max(np.abs(spread).mean(), 1e-12))
    return float(1 - (errors**2).mean() / max(y.var(axis=0).mean(), 1e-12))


def _areas(truth: Any, values: Any) -> float:
    """The mean area under the ROC curve over the columns that have both answers."""
    areas = [
        metrics.roc_auc_score(truth[:, column], values[:, column])
        for column in range(truth.shape[1])
        if 0 < truth[:, column].sum() < len(truth)
    ]
    return float(np.mean(areas)) if areas else 0.5


def _likelihood(truth: Any, values: Any, *, one_of: bool) -> float:
    """The mean log likelihood of a row."""
    values = np.clip(values, LEAST, 1 - LEAST)
    if one_of:
        return float((truth * np.log(values / values.sum(axis=1, keepdims=True))).sum(axis=1).mean())
    return float((truth * np.log(values) + (1 - truth) * np.log(1 - values)).mean())


def _recall(truth: Any, said: Any) -> float:
    return float(said[truth == 1].mean()) if (truth == 1).any() else 1.0


def _balanced(truth: Any, said: Any) -> float:
    return (_recall(truth, said) + _recall(1 - truth, 1 - said)) / 2


def _f1(truth: Any, said: Any) -> float:
    return float(metrics.f1_score(truth, said, zero_division=0))
