"""What a metric wants to see: losses to choose by, and the last step from an estimate to a prediction.

Estimates are (n, c) arrays everywhere: probabilities of the c classes or labels (one column, the probability
of class 1, for a binary task), or the numbers of a regression.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

TINY = 1e-6
FEW_ROWS = 100


class Goal:
    """The task and metric of a dataset, and the target in the shapes that learners want."""

    def __init__(self, info, y):
        y = np.asarray(y, dtype=np.float64)
        task = str(info.get("task", "")).lower()
        metric = str(info.get("metric", "")).lower().split("_")[0]
        self.metric = {"a": "abs"}.get(metric, metric)
        self.kind = next((k for k in ("binary", "multiclass", "multilabel", "regression") if k in task), "")
        if not self.kind:
            self.kind = "multilabel" if y.ndim == 2 and y.shape[1] > 1 else "regression"
        if self.kind == "multiclass":
            if y.ndim == 2 and y.shape[1] > 1:
                y = y.argmax(axis=1)
            labels = y.ravel().astype(int)
            columns = max(int(labels.max()) + 1, _whole(info.get("target_num")), 2)
            self.labels = labels
            self.Y = np.eye(columns)[labels]
        else:
            self.Y = y.reshape(len(y), -1)
            self.labels = None
        if self.kind == "binary" and self.Y.min() < self.Y.max():
            self.Y = ((self.Y.min() + self.Y.max()) / 2 < self.Y).astype(np.float64)
        self.flat = y.ndim == 1 and self.kind in ("binary", "regression")
        self.is_regression = self.kind == "regression"

    def keep(self, rows):
        """Keep these rows only."""
        self.Y = self.Y[rows]

    def constant(self):
        """Return the best constant estimate (c,): class frequencies, the median for ABS, else the mean."""
        return np.median(self.Y, axis=0) if self.metric == "abs" else self.Y.mean(axis=0)

    def loss(self, Y, estimate):
        """Return how bad an estimate (n, c) is for this metric on targets Y (n, c); lower is better."""
        if self.is_regression:
            error = np.abs(Y - estimate) if self.metric == "abs" else (Y - estimate) ** 2
            return float(error.mean())
        surprise = self._surprise(Y, estimate)
        if self.metric == "auc":
            return -_auc(Y, estimate) + 0.01 * surprise
        if self.metric in ("bac", "f1"):
            tuned = Finish(self, Y, estimate).apply(estimate)
            return -self._decision_score(Y, tuned) - 0.5 * _auc(Y, estimate) + 0.05 * surprise
        return surprise

    def _surprise(self, Y, estimate):
        q = np.clip(estimate, TINY, 1 - TINY)
        if self.kind == "multiclass":
            q = q / q.sum(axis=1, keepdims=True)
            return float(-(Y * np.log(q)).sum(axis=1).mean())
        return float(-(Y * np.log(q) + (1 - Y) * np.log(1 - q)).mean())

    def _decision_score(self, Y, estimate):
        if self.kind == "multiclass":
            chosen = np.zeros_like(Y)
            chosen[np.arange(len(Y)), estimate.argmax(axis=1)] = 1
        else:
            chosen = (estimate >= 0.5).astype(float)
        present = Y.sum(axis=0) > 0
        hits = (Y * chosen).sum(axis=0)
        recall = hits / np.maximum(Y.sum(axis=0), 1)
        if self.metric == "f1":
            scores = 2 * hits / np.maximum(Y.sum(axis=0) + chosen.sum(axis=0), 1)
        elif self.kind == "multiclass":
            scores = recall
        else:
            wrong = 1 - Y
            scores = (recall + (wrong * (1 - chosen)).sum(axis=0) / np.maximum(wrong.sum(axis=0), 1)) / 2
        return float(scores[present].mean()) if present.any() else 0.0


class Finish:
    """The last step, tuned on rows that no learner has seen: where to cut, how sharp to be."""

    def __init__(self, goal, Y=None, estimate=None):
        self.goal = goal
        self.prior = np.clip(goal.Y.mean(axis=0), 1e-9, 1 - 1e-9)
        self.cuts = None
        self.power = 0.0
        self.sharpness = 1.0
        decides = goal.metric in ("bac", "f1")
        if goal.kind == "multiclass" and decides:
            self.power = 1.0 if goal.metric == "bac" else 0.0
            if Y is not None:
                self._tune_power(Y, estimate)
        elif not goal.is_regression and decides:
            self.cuts = self.prior.copy() if goal.metric == "bac" else np.full(len(self.prior), 0.4)
            if Y is not None:
                best = np.array([_best_cut(goal.metric, y, q) for y, q in zip(Y.T, estimate.T, strict=True)])
                self.cuts = (len(Y) * best + FEW_ROWS * self.cuts) / (len(Y) + FEW_ROWS)
        elif goal.metric == "pac" and Y is not None and len(Y) >= 50:
            self._tune_sharpness(Y, estimate)

    def _tune_power(self, Y, estimate):
        scores = {}
        for power in (0.0, 0.25, 0.5, 0.75, 1.0):
            scores[power] = self.goal._decision_score(Y, estimate / self.prior**power)
        best = max(scores.values())
        close = [power for power, value in scores.items() if value >= best - 0.002]
        # On few rows the tuned power is mostly noise, so it is drawn to what theory gives.
        self.power = (len(Y) * float(np.mean(close)) + FEW_ROWS * self.power) / (len(Y) + FEW_ROWS)

    def _tune_sharpness(self, Y, estimate):
        grid = (0.6, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0)
        self.sharpness = min(grid, key=lambda s: self.goal._surprise(Y, self._sharpen(estimate, s)))

    def _sharpen(self, estimate, sharpness):
        q = np.clip(estimate, TINY, 1 - TINY) ** sharpness
        if self.goal.kind == "multiclass":
            return q / q.sum(axis=1, keepdims=True)
        return q / (q + (1 - np.clip(estimate, TINY, 1 - TINY)) ** sharpness)

    def apply(self, estimate):
        """Return what to write for an estimate (n, c)."""
        goal = self.goal
        if goal.is_regression:
            return np.clip(estimate, goal.Y.min(axis=0), goal.Y.max(axis=0))
        if self.power:
            weighted = estimate / self.prior**self.power
            return weighted / np.maximum(weighted.sum(axis=1, keepdims=True), 1e-300)
        if self.cuts is not None:
            below = estimate / (2 * self.cuts)
            above = 0.5 + (estimate - self.cuts) / (2 * (1 - self.cuts))
            return np.where(estimate < self.cuts, below, above)
        if goal.metric == "pac":
            # Never certain: a single certain error costs more than all that certainty can win.
            return 0.995 * self._sharpen(estimate, self.sharpness) + 0.005 * self.prior
        return estimate


def _best_cut(metric, y, q):
    """Return the threshold for one column: the middle of those that are about as good as the best."""
    grid = np.unique(np.quantile(q, np.linspace(0.01, 0.99, 99)))
    positives, negatives = max(y.sum(), 1.0), max((1 - y).sum(), 1.0)
    scores = []
    for cut in grid:
        chosen = q >= cut
        hits = float(y[chosen].sum())
        if metric == "f1":
            scores.append(2 * hits / (positives + chosen.sum()))
        else:
            scores.append((hits / positives + (~chosen & (y == 0)).sum() / negatives) / 2)
    values = np.array(scores)
    slack = 0.25 / np.sqrt(max(20, len(y)))
    close = grid[values >= values.max() - slack * values.max() * 0.5]
    return float(np.clip(np.median(close), 1e-6, 1 - 1e-6))


def _auc(Y, estimate):
    values = []
    for y, q in zip(Y.T, estimate.T, strict=True):
        positives = y.sum()
        negatives = len(y) - positives
        if positives and negatives:
            ranks = rankdata(q)
            values.append((ranks[y > 0].sum() - positives * (positives + 1) / 2) / (positives * negatives))
    return float(np.mean(values)) if values else 0.5


def _whole(value):
    try:
        return int(float(value))
    except (TypeError, ValueError):
        return 0
