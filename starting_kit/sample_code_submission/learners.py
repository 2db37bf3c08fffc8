"""Learners that can be grown: a size now, a larger one later, and an estimate at every size between.

Each has `grow(X, Y, size)` and `estimate(X) -> (n, c)`; `size` counts trees, boosting rounds or iterations.
"""

from __future__ import annotations

import contextlib
import os
import time
import warnings

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, log_softmax
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

MOST_LINEAR_CELLS = 20_000_000  # rows x columns of the target; more rows are sampled


class _OutOfTime(Exception):
    """The time given to a linear model is over; the best weights so far stand."""


def threads():
    """Return how many threads to use: OMP_NUM_THREADS where it is set, else the cores of this process."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not every system tells
        cores = os.cpu_count() or 1
    named = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(named)) if named.isdigit() and int(named) else cores)


class Forest:
    """Extra-trees or random forest; averages its trees, or takes their median for the metric ABS."""

    def __init__(self, goal, *, extra=True, features="sqrt", leaf=1, seed=0, node_bytes=2**26):
        self.goal = goal
        self.size = 0
        classifies = goal.kind == "multiclass"
        kinds = {
            (True, True): ExtraTreesClassifier,
            (True, False): ExtraTreesRegressor,
            (False, True): RandomForestClassifier,
            (False, False): RandomForestRegressor,
        }
        self.leaf = leaf
        self.node_bytes = node_bytes
        self.model = kinds[extra, classifies](
            n_estimators=1,
            max_features=features,
            min_samples_leaf=leaf,
            n_jobs=threads(),
            random_state=seed % 2**32,
            warm_start=True,
        )

    def grow(self, X, Y, size):
        """Add trees until there are `size`."""
        columns = Y.shape[1]
        # A tree keeps its estimate for every column in every node; leaves are widened until one tree fits.
        leaf = int(np.ceil(len(X) * 2 * (64 + 8 * columns) / self.node_bytes))
        self.model.set_params(n_estimators=size, min_samples_leaf=max(self.leaf, leaf))
        if self.goal.kind == "multiclass":
            self.model.fit(X, Y.argmax(axis=1))
        else:
            self.model.fit(X, Y if columns > 1 else Y.ravel())
        self.columns = columns
        self.size = size

    def estimate(self, X):
        """Return estimates (n, c)."""
        if self.goal.kind == "multiclass":
            estimate = np.zeros((len(X), self.columns))
            estimate[:, self.model.classes_] = self.model.predict_proba(X)
            return estimate
        if self.goal.metric == "abs":
            single = [tree.predict(X) for tree in self.model.estimators_[:300]]
            return np.median(single, axis=0).reshape(len(X), -1)
        return self.model.predict(X).reshape(len(X), -1)

    def importances(self):
        """Return how much each column was used (f,)."""
        return self.model.feature_importances_


class Boosting:
    """Histogram gradient boosting, one model for each label or number where there are several."""

    def __init__(self, goal, *, rate=0.1, leaves=31, leaf=20, columns=1.0, seed=0, seconds=None):
        self.goal = goal
        self.seconds = seconds
        self.size = 0
        self.settings = {
            "learning_rate": rate,
            "max_leaf_nodes": leaves,
            "min_samples_leaf": leaf,
            "max_features": columns,
            "early_stopping": False,
            "warm_start": True,
            "random_state": seed % 2**32,
        }
        self.models = {}

    def _new(self):
        if self.goal.is_regression:
            loss = "absolute_error" if self.goal.metric == "abs" else "squared_error"
            return HistGradientBoostingRegressor(loss=loss, **self.settings)
        return HistGradientBoostingClassifier(**self.settings)

    def grow(self, X, Y, size):
        """Add rounds until there are `size`, or the time given is over.

        Rounds are added in doubling portions, since on a busy machine a round can take a hundred times as long.
        """
        ends = time.monotonic() + self.seconds if self.seconds else np.inf
        self.frequencies = Y.mean(axis=0)
        if self.goal.kind == "multiclass":
            columns = {0: Y.argmax(axis=1)}
        else:
            columns = {c: Y[:, c] for c in range(Y.shape[1]) if Y[:, c].min() < Y[:, c].max()}
        while self.size < size and time.monotonic() < ends:
            portion = min(size, max(4, 2 * self.size))
            for column, target in columns.items():
                model = self.models.setdefault(column, self._new())
                model.set_params(max_iter=portion)
                model.fit(X, target)
            self.size = portion

    def estimate(self, X):
        """Return estimates (n, c); a label with one value keeps its frequency."""
        estimate = np.tile(self.frequencies, (len(X), 1))
        for column, model in self.models.items():
            if self.goal.is_regression:
                estimate[:, column] = model.predict(X)
            elif self.goal.kind == "multiclass":
                estimate[:] = 0
                estimate[:, model.classes_] = model.predict_proba(X)
            else:
                estimate[:, column] = model.predict_proba(X)[:, 1]
        return estimate


class Linear:
    """A linear model of all columns at once, fitted by L-BFGS: softmax, logistic, squared or absolute loss."""

    def __init__(self, goal, *, strength=1e-3, seconds=None):
        self.goal = goal
        self.strength = strength
        self.seconds = seconds
        self.size = 0
        self.weights = None

    def _scaled(self, X):
        if sparse.issparse(X):
            return X
        scaled = (X - self.middle) / self.spread
        return np.clip(scaled, -6, 6, out=scaled)

    def grow(self, X, Y, size):
        """Go on until `size` iterations were made, or the time given is over."""
        if self.weights is None:
            if not sparse.issparse(X):
                self.middle = X.mean(axis=0, dtype=np.float64).astype(np.float32)
                spread = X.std(axis=0, dtype=np.float64).astype(np.float32)
                self.spread = np.where(spread > 0, spread, 1).astype(np.float32)
            # Targets of a regression are learned in units of their spread.
            self.offset = Y.mean(axis=0) if self.goal.is_regression else np.zeros(Y.shape[1])
            self.unit = np.maximum(Y.std(axis=0), 1e-12) if self.goal.is_regression else np.ones(Y.shape[1])
            self.weights = np.zeros((X.shape[1] + 1) * Y.shape[1])
        if len(Y) > MOST_LINEAR_CELLS // Y.shape[1]:
            kept = np.random.default_rng(0).choice(len(Y), MOST_LINEAR_CELLS // Y.shape[1], replace=False)
            X, Y = X[np.sort(kept)], Y[np.sort(kept)]
        Z, T = self._scaled(X), ((Y - self.offset) / self.unit).astype(np.float32)
        self.ends = time.monotonic() + self.seconds if self.seconds else np.inf
        self.best = (np.inf, self.weights)
        options = {"maxiter": size - self.size, "maxcor": 6}
        with contextlib.suppress(_OutOfTime):
            minimize(self._objective, self.weights, args=(Z, T), jac=True, method="L-BFGS-B", options=options)
        self.weights = self.best[1]
        self.size = size

    def _objective(self, flat, Z, T):
        if time.monotonic() > self.ends and np.isfinite(self.best[0]):
            raise _OutOfTime
        W = flat.reshape(-1, T.shape[1])
        scores = Z @ W[:-1].astype(Z.dtype) + W[-1].astype(Z.dtype)
        if self.goal.kind == "multiclass":
            logs = log_softmax(scores, axis=1)
            loss = -(T * logs).sum()
            slope = np.exp(logs) - T
        elif not self.goal.is_regression:
            loss = (np.logaddexp(0, scores) - T * scores).sum()
            slope = expit(scores) - T
        elif self.goal.metric == "abs":
            distance = np.sqrt((scores - T) ** 2 + 0.01)
            loss = distance.sum()
            slope = (scores - T) / distance
        else:
            loss = 0.5 * ((scores - T) ** 2).sum()
            slope = scores - T
        rows = len(T)
        gradient = np.empty_like(W)
        gradient[:-1] = Z.T @ (slope.astype(Z.dtype) / Z.dtype.type(rows))
        gradient[:-1] += self.strength * W[:-1]
        gradient[-1] = slope.sum(axis=0, dtype=np.float64) / rows
        loss = float(loss) / rows + 0.5 * self.strength * float((W[:-1] ** 2).sum())
        if loss < self.best[0]:
            self.best = (loss, flat.copy())
        return loss, gradient.ravel()

    def estimate(self, X):
        """Return estimates (n, c)."""
        W = self.weights.reshape(-1, len(self.unit))
        scores = self._scaled(X) @ W[:-1].astype(X.dtype) + W[-1]
        if self.goal.is_regression:
            return scores * self.unit + self.offset
        return np.exp(log_softmax(scores, axis=1)) if self.goal.kind == "multiclass" else expit(scores)


warnings.filterwarnings("ignore", module="sklearn")
