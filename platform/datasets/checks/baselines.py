"""Quick baselines: what four untuned methods reach on a part of the rows, and so whether a task is worth setting.

The methods are those of the challenge's own measure of difficulty: nearest neighbours, naive Bayes, random forest,
and a linear model by stochastic gradient descent (ridge regression for numbers).
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse

from datasets.checks.material import HIDDEN_PARTS, Material
from scoring import ScoringError
from scoring import score as compute_score

FEWEST_TRAIN, FEWEST_SCORED = 50, 20
MOST_ROWS, MOST_SCORED, MOST_FEATURES = 1_200, 1_200, 500
MOST_CLASSES = 100
MOST_PRODUCTS = 30_000_000  # values times classes, which one pass of the linear model multiplies
SEED = 0


@dataclass(frozen=True)
class Baseline:
    """What the best baseline reached on `rows` rows of a part.

    `value` is the normalised score by the dataset's metric with its standard error. `rare_error` is the share of
    the smallest class (or rarest label) that it gets wrong, from 0 to 1; None for regression.
    """

    method: str
    part: str
    rows: int
    value: float
    stderr: float
    rare_error: float | None


@dataclass(frozen=True)
class _Sample:
    """Features and targets that the methods learn from, features to predict, and their targets and solution."""

    X: Any
    y: np.ndarray
    X_scored: Any
    y_scored: np.ndarray
    solution: np.ndarray
    part: str


def best_baseline(material: Material) -> Baseline | None:
    """The best of the baselines by the dataset's metric; None where too little is there to learn or to score."""
    sample = _sample(material)
    if sample is None:
        return None
    reached = []
    for method, fit in _methods(material, sample).items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                reached.append(_measured(material, sample, method, fit(sample)))
        except (ValueError, ScoringError):
            continue  # a method that cannot do this task says nothing about it
    return max(reached, key=lambda one: one.value, default=None)


def _sample(material: Material) -> _Sample | None:
    parsed = material.parsed
    part = next((part for part in reversed(HIDDEN_PARTS) if part in parsed.solutions), None)
    if part is None or part not in parsed.features or material.facts.label_num > MOST_CLASSES:
        return None
    X, X_scored = parsed.features["train"], parsed.features[part]
    if X.shape[0] < FEWEST_TRAIN or X_scored.shape[0] < FEWEST_SCORED:
        return None
    rng = np.random.default_rng(SEED)
    rows, scored = _some(rng, X.shape[0], MOST_ROWS), _some(rng, X_scored.shape[0], MOST_SCORED)
    X, X_scored = X[rows], X_scored[scored]
    if not scipy.sparse.issparse(X):
        columns = _some(rng, X.shape[1], MOST_FEATURES)
        X, X_scored = _scaled(X[:, columns], X_scored[:, columns])
    else:
        X, X_scored = _without_gaps(X), _without_gaps(X_scored)
    y, y_scored = parsed.targets["train"][rows], parsed.targets[part][scored]
    return _Sample(X, y, X_scored, y_scored, material.scored(part)[scored], part)


def _some(rng: np.random.Generator, total: int, most: int) -> np.ndarray:
    return np.arange(total) if total <= most else np.sort(rng.choice(total, most, replace=False))


def _scaled(X: np.ndarray, X_scored: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both tables by the training rows' mean and spread, gaps at the mean, outliers bounded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column without any value has no mean
        finite = np.where(np.isfinite(X), X, np.nan)
        mean, spread = np.nanmean(finite, axis=0), np.nanstd(finite, axis=0)
    spread = np.where((spread > 0) & np.isfinite(spread), spread, 1.0)
    tables = [np.clip((table - mean) / spread, -10, 10) for table in (X, X_scored)]
    return np.nan_to_num(tables[0]), np.nan_to_num(tables[1])


def _without_gaps(csr: Any) -> Any:
    filled = np.clip(np.nan_to_num(csr.data), -1e6, 1e6)
    return scipy.sparse.csr_matrix((filled, csr.indices, csr.indptr), shape=csr.shape)


def _methods(material: Material, sample: _Sample) -> dict[str, Callable[[_Sample], np.ndarray]]:
    """Functions from the sample to predictions (rows, columns), by the name of their method."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import Ridge, SGDClassifier
    from sklearn.naive_bayes import BernoulliNB, GaussianNB
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    forest: dict[str, Any] = {"n_estimators": 30, "random_state": SEED, "n_jobs": 1, "min_samples_leaf": 2}
    found: dict[str, Any] = {}
    if material.is_regression:
        found = {"nearest neighbours": KNeighborsRegressor(), "ridge regression": Ridge()}
        if not material.is_sparse:
            found["random forest"] = RandomForestRegressor(max_features="sqrt", **forest)
        return {name: partial(_predicted, model) for name, model in found.items()}
    found = {"nearest neighbours": KNeighborsClassifier()}
    if not material.is_sparse:
        found["random forest"] = RandomForestClassifier(class_weight="balanced", **forest)
    if sample.y.ndim == 1:
        found["naive Bayes"] = BernoulliNB() if material.is_sparse else GaussianNB()
        if sample.X.size * sample.solution.shape[1] <= MOST_PRODUCTS:
            found["linear model"] = SGDClassifier(
                loss="log_loss", class_weight="balanced", max_iter=30, tol=1e-2, random_state=SEED
            )
    return {name: partial(_classified, model) for name, model in found.items()}


def _predicted(model: Any, sample: _Sample) -> np.ndarray:
    """Numbers (rows, columns)."""
    return np.asarray(model.fit(sample.X, sample.y).predict(sample.X_scored))


def _classified(model: Any, sample: _Sample) -> np.ndarray:
    """Probabilities (rows, columns) as the solution has its columns."""
    columns = sample.solution.shape[1]
    given = model.fit(sample.X, sample.y).predict_proba(sample.X_scored)
    if sample.y.ndim == 2:
        # One table for each label; a label that never or always occurs has a single column.
        shares = [_of_class(table, list(known), 1) for table, known in zip(given, model.classes_, strict=True)]
        return np.column_stack(shares)
    known = model.classes_.tolist()
    if columns == 1:
        return _of_class(given, known, 1)[:, np.newaxis]
    return np.column_stack([_of_class(given, known, index) for index in range(columns)])


def _of_class(given: np.ndarray, known: list[int], wanted: int) -> np.ndarray:
    return given[:, known.index(wanted)] if wanted in known else np.zeros(len(given))


def _measured(material: Material, sample: _Sample, method: str, predicted: np.ndarray) -> Baseline:
    facts = material.facts
    score = compute_score(
        sample.solution, predicted, task=facts.task, metric=facts.metric, stderr=True, replicates=50, seed=SEED
    )
    rare_error = None if material.is_regression else _rare_error(sample, predicted)
    return Baseline(method, sample.part, len(sample.solution), score.value, float(score.stderr or 0.0), rare_error)


def _rare_error(sample: _Sample, predicted: np.ndarray) -> float | None:
    """The share of the rows of the smallest class, or of the rarest label, that is predicted as another."""
    truth = sample.y_scored
    if truth.ndim == 2:
        chosen = predicted > 0.5
        counts = truth.sum(axis=0)
        column = int(np.argmin(np.where(counts > 0, counts, len(truth) + 1)))
        return float((~chosen[truth[:, column] == 1, column]).mean()) if counts[column] else None
    chosen_class = predicted.argmax(axis=1) if predicted.shape[1] > 1 else (predicted[:, 0] > 0.5).astype(int)
    counts = np.bincount(truth)
    rarest = int(np.argmin(np.where(counts > 0, counts, len(truth) + 1)))
    return float((chosen_class[truth == rarest] != rarest).mean())
