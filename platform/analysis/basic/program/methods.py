"""The methods, with their library's default hyper-parameters or with others that a search draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from .goal import Goal
from .selective import SelectiveNaiveBayes
from .tables import Filled

Parameters = dict[str, Any]
CLASSES_OF_NUMBERS = 10  # into which naive Bayes cuts numbers that are to be predicted
ROWS_AT_ONCE = 5_000


@dataclass
class Setting:
    """What a method learns with, beside its hyper-parameters. `left` tells the seconds that are left."""

    goal: Goal
    seed: int
    cores: int
    left: Callable[[], float]


@dataclass(frozen=True)
class Method:
    """One basic method.

    `make` returns an estimator for a setting, a table and hyper-parameters; `draw` draws others at random.
    `scaled` methods measure distances. `many` take several labels at once, others learn each by itself.
    """

    make: Callable[[Setting, Any, Parameters], Any]
    draw: Callable[[np.random.Generator, Any, Goal], Parameters]
    scaled: bool = False
    many: bool = False
    fills: bool = True  # wants nothing missing


class Learner:
    """A method that has learned: predictions are (n, goal.columns)."""

    def __init__(self, method: Method, setting: Setting, parameters: Parameters) -> None:
        self.method, self.setting, self.parameters = method, setting, parameters

    def fit(self, X: Any, y: Any) -> Learner:
        """Learn from a table (n, f) and targets (n,) or (n, columns)."""
        self.filled = Filled(scaled=self.method.scaled).fit(X) if self.method.fills else None
        Z = self._seen(X)
        columns = [y] if y.ndim == 1 or self.method.many else list(y.T)
        self.models = [self._one(Z, column) for column in columns]
        return self

    def predict(self, X: Any) -> Any:
        """Return predictions (n, goal.columns), in pieces, so that no method's memory grows with the rows."""
        pieces = [
            self._predicted(self._seen(X[start : start + ROWS_AT_ONCE]))
            for start in range(0, X.shape[0], ROWS_AT_ONCE)
        ]
        return np.vstack(pieces) if pieces else np.zeros((0, self.setting.goal.columns))

    def _seen(self, X: Any) -> Any:
        return X if self.filled is None else self.filled.transform(X)

    def _one(self, Z: Any, y: Any) -> Any:
        if len(np.unique(y, axis=0)) < 2:
            return y[0]  # the only answer there is to learn
        return self.method.make(self.setting, Z, dict(self.parameters)).fit(Z, y)

    def _predicted(self, Z: Any) -> Any:
        goal = self.setting.goal
        if goal.has_classes:
            return _of_classes(self.models[0], Z, goal.columns)
        if goal.is_regression:
            return np.column_stack([_numbers(model, Z) for model in self.models])
        if self.method.many and hasattr(self.models[0], "predict_proba"):
            return _of_labels(self.models[0], Z)
        return np.column_stack([_of_label(model, Z) for model in self.models])


def _numbers(model: Any, Z: Any) -> Any:
    if not hasattr(model, "predict"):
        return np.tile(np.atleast_1d(model), (Z.shape[0], 1))
    with np.errstate(all="ignore"):
        return np.nan_to_num(model.predict(Z), nan=0.0, posinf=1e30, neginf=-1e30)


def _of_classes(model: Any, Z: Any, columns: int) -> Any:
    """Probabilities of all classes, also of those that the training part lacks (n, columns)."""
    spread = np.zeros((Z.shape[0], columns))
    if not hasattr(model, "predict_proba"):
        spread[:, int(model)] = 1.0
        return spread
    spread[:, np.asarray(model.classes_).astype(int)] = _probabilities(model, Z)
    return spread


def _probabilities(model: Any, Z: Any) -> Any:
    with np.errstate(all="ignore"):
        found = np.asarray(model.predict_proba(Z))
    return np.where(np.isfinite(found), found, 1.0 / found.shape[1])


def _of_label(model: Any, Z: Any) -> Any:
    if not hasattr(model, "predict_proba"):
        return np.full((Z.shape[0], np.size(model)), np.ravel(model), dtype=float)
    return _of_classes(model, Z, 2)[:, 1]


def _of_labels(model: Any, Z: Any) -> Any:
    """Of a model of several labels: one (n, 2) for each, or (n, 1) where its only answer is known."""
    columns = []
    for classes, part in zip(model.classes_, model.predict_proba(Z), strict=True):
        where = np.flatnonzero(np.asarray(classes) == 1)
        columns.append(part[:, where[0]] if where.size else np.zeros(Z.shape[0]))
    return np.column_stack(columns)


class OfNumbers:
    """A classifier that predicts numbers: they are cut into classes of equal frequency.

    The prediction is the mean of the classes' means, weighed by their probabilities.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def fit(self, X: Any, y: Any) -> OfNumbers:
        """Learn from X and numbers (n,)."""
        cuts = np.unique(np.quantile(y, np.arange(1, CLASSES_OF_NUMBERS) / CLASSES_OF_NUMBERS))
        classes = np.unique(np.searchsorted(cuts, y, side="left"), return_inverse=True)[1]
        self.means = np.array([y[classes == one].mean() for one in range(classes.max() + 1)])
        self.constant = None if len(self.means) > 1 else self.means[0]
        if self.constant is None:
            self.inner.fit(X, classes)
        return self

    def predict(self, X: Any) -> Any:
        """Return numbers (n,)."""
        if self.constant is not None:
            return np.full(X.shape[0], self.constant)
        return _probabilities(self.inner, X) @ self.means


def _knn(setting: Setting, Z: Any, parameters: Parameters) -> Any:
    parameters["n_neighbors"] = min(parameters.get("n_neighbors", 5), Z.shape[0])
    kind = KNeighborsRegressor if setting.goal.is_regression else KNeighborsClassifier
    return kind(n_jobs=setting.cores, **parameters)


def _draw_knn(rng: np.random.Generator, Z: Any, goal: Goal) -> Parameters:
    return {
        "n_neighbors": int(np.round(np.exp(rng.uniform(0, np.log(100))))),
        "weights": str(rng.choice(["uniform", "distance"])),
        **({} if sparse.issparse(Z) else {"p": int(rng.integers(1, 3))}),
    }


def _naive_bayes(setting: Setting, Z: Any, parameters: Parameters) -> Any:
    inner: Any
    if not sparse.issparse(Z):
        inner = GaussianNB(**parameters)
    elif Z.nnz and Z.data.min() < 0:
        inner = BernoulliNB(**parameters)
    else:
        inner = MultinomialNB(**parameters)
    return OfNumbers(inner) if setting.goal.is_regression else inner


def _draw_naive_bayes(rng: np.random.Generator, Z: Any, goal: Goal) -> Parameters:
    if sparse.issparse(Z):
        return {"alpha": float(10 ** rng.uniform(-3, 2)), "fit_prior": bool(rng.integers(2))}
    return {"var_smoothing": float(10 ** rng.uniform(-12, 0))}


def _forest(setting: Setting, Z: Any, parameters: Parameters) -> Any:
    kind = RandomForestRegressor if setting.goal.is_regression else RandomForestClassifier
    return kind(random_state=setting.seed, n_jobs=setting.cores, **parameters)


def _draw_forest(rng: np.random.Generator, Z: Any, goal: Goal) -> Parameters:
    root = np.sqrt(Z.shape[1]) / Z.shape[1]
    drawn: Parameters = {
        "max_features": float(np.exp(rng.uniform(np.log(root / 3), np.log(min(1.0, 8 * root))))),
        "min_samples_leaf": int(np.round(np.exp(rng.uniform(0, np.log(20))))),
        "bootstrap": bool(rng.integers(2)),
    }
    if not goal.is_regression:
        drawn["criterion"] = str(rng.choice(["gini", "entropy"]))
    return drawn


def _linear(setting: Setting, Z: Any, parameters: Parameters) -> Any:
    if setting.goal.is_regression:
        return SGDRegressor(random_state=setting.seed, **parameters)
    return SGDClassifier(loss="log_loss", random_state=setting.seed, n_jobs=setting.cores, **parameters)


def _draw_linear(rng: np.random.Generator, Z: Any, goal: Goal) -> Parameters:
    return {
        "alpha": float(10 ** rng.uniform(-7, -1)),
        "penalty": str(rng.choice(["l2", "l1", "elasticnet"])),
        "l1_ratio": float(rng.uniform(0, 1)),
        "learning_rate": str(rng.choice(["optimal", "invscaling", "adaptive"])),
        "eta0": float(10 ** rng.uniform(-4, -1)),
        "average": bool(rng.integers(2)),
    }


def _selective(setting: Setting, Z: Any, parameters: Parameters) -> Any:
    inner = SelectiveNaiveBayes(setting.left, setting.seed)
    return OfNumbers(inner) if setting.goal.is_regression else inner


def _draw_nothing(rng: np.random.Generator, Z: Any, goal: Goal) -> Parameters:
    return {}


METHODS: dict[str, Method] = {
    "knn": Method(_knn, _draw_knn, scaled=True, many=True),
    "nb": Method(_naive_bayes, _draw_naive_bayes),
    "rf": Method(_forest, _draw_forest, many=True),
    "sgd": Method(_linear, _draw_linear, scaled=True),
    "snb": Method(_selective, _draw_nothing, fills=False),
}
