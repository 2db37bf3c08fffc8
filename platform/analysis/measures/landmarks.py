"""Landmarks: what very simple methods reach in a cross-validation, as meta-features.

Two families. `Landmark...` are auto-sklearn's: accuracy in five folds of rows in their order, neither shuffled nor
stratified (its test for the kind of target is never true), so that its published numbers can be compared.
`StratifiedLandmark...` are ours: balanced accuracy in five stratified, shuffled folds, which does not depend on
the order of the rows or on the share of the largest class. A regression has `LandmarkR2...`: R2 in shuffled folds.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from analysis.measures.encoding import Floats, Sample
from analysis.measures.meta_names import LANDMARKS, METHODS, NUMBERS, STRATIFIED

Values = dict[str, float | None]
Folds = list[tuple[NDArray[np.int64], NDArray[np.int64]]]
Make = Callable[[], BaseEstimator]

FOLDS = 5
TREE_SEED = 42  # auto-sklearn's
MOST_ROWS, MOST_COLUMNS, FEWEST_COLUMNS = 3_200, 300, 10
MOST_PRODUCTS = 5_000  # columns times classes or labels: what trees and methods that learn one by one cost


def compute(sample: Sample, *, task: str, seed: int) -> Values:
    """All landmarks; None where a method cannot learn the task, or where the task has others."""
    found: Values = dict.fromkeys(LANDMARKS)
    X, y = sample.small(MOST_ROWS, _columns(sample.y, task))
    if len(X) < 2 * FOLDS or not X.shape[1]:
        return found
    if task == "regression":
        folds = list(KFold(FOLDS, shuffle=True, random_state=seed).split(X))
        numbers = zip(NUMBERS, _regressors(), strict=True)
        return found | {f"LandmarkR2{name}": _reached(make, X, y, folds, r2_score) for name, make in numbers}
    makers = dict(zip(METHODS, _classifiers(several=y.ndim == 2), strict=True))
    plain = list(KFold(FOLDS).split(X))
    found |= {f"Landmark{name}": _reached(makers[name], X, y, plain, accuracy_score) for name in METHODS}
    if y.ndim == 2:
        return found  # there is no one class to stratify by
    shuffled = _stratified(X, y, seed)
    return found | {
        f"StratifiedLandmark{name}": _reached(makers[name], X, y, shuffled, balanced_accuracy_score)
        for name in STRATIFIED
    }


def _columns(y: NDArray[Any], task: str) -> int:
    """So many columns that what is learned of them takes seconds, whatever the number of classes or labels."""
    if task == "regression":
        return MOST_COLUMNS
    several = y.shape[1] if y.ndim == 2 else len(np.unique(y))
    return min(MOST_COLUMNS, max(FEWEST_COLUMNS, MOST_PRODUCTS // max(1, several)))


def _stratified(X: Floats, y: NDArray[Any], seed: int) -> Folds:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with fewer rows than folds
        try:
            return list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(X, y))
        except ValueError:  # every class has fewer rows than folds
            return list(KFold(FOLDS, shuffle=True, random_state=seed).split(X))


def _classifiers(*, several: bool) -> list[Make]:
    """In the order of METHODS. Methods that know one target alone learn several labels one by one."""

    def each(make: Make) -> Make:
        return (lambda: OneVsRestClassifier(make())) if several else make

    def tree(**more: Any) -> Make:
        return lambda: DecisionTreeClassifier(random_state=TREE_SEED, **more)

    return [
        each(LinearDiscriminantAnalysis),
        each(GaussianNB),
        tree(),
        tree(criterion="entropy", max_depth=1),
        tree(criterion="entropy", max_depth=1, max_features=1),
        lambda: KNeighborsClassifier(n_neighbors=1),
    ]


def _regressors() -> list[Make]:
    return [
        Ridge,
        lambda: DecisionTreeRegressor(random_state=TREE_SEED),
        lambda: DecisionTreeRegressor(max_depth=1, random_state=TREE_SEED),
        lambda: KNeighborsRegressor(n_neighbors=1),
    ]


def _reached(make: Make, X: Floats, y: NDArray[Any], folds: Folds, measure: Callable[..., Any]) -> float | None:
    """The mean over the folds; None where the method fails in one of them."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # collinear features, classes that a fold does not have
        for train, test in folds:
            try:
                fitted: Any = make()
                fitted.fit(X[train], y[train])
                found.append(float(measure(y[test], fitted.predict(X[test]))))
            except (ValueError, IndexError, np.linalg.LinAlgError):  # the second: features that do not vary
                return None
    return float(np.mean(found))
