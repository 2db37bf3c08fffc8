"""Whether meta-features tell which basic method wins on a dataset: linear discriminants, judged out of sample.

The chapter's section 10.5.5 (figure 10.10) shows 30 datasets cleanly separated by linear discriminants of 40
meta-features. With more features than datasets that happens whatever the labels: in sample everything is
separated, and left-out datasets are told worse than by always naming the most frequent method. So discriminants
are shrunk (Ledoit and Wolf's estimate of the covariance) where features are more than a third of the datasets, and
the leave-one-out accuracy always stands beside that of the most frequent method.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from analysis.measures.meta_names import is_landmark
from analysis.measures.similarity import usable

Floats = NDArray[np.float64]

FEWEST = 6  # datasets
MOST_FEATURES_SHARE = 1 / 3  # of the datasets, above which the discriminants are shrunk
BOOTSTRAPS = 100
TOP = 5
SEED = 0


@dataclass(frozen=True)
class Separation:
    """`points` (n, 2) are the datasets on the first two discriminants; the second is 0 for two labels.

    Accuracies are shares of the datasets: in sample and left out one by one, `plain_...` without shrinkage;
    `majority` that of always naming the most frequent label. `weights` (k,) are the lengths of the features'
    coefficients over the labels, standardised; `rank_low`, `rank_middle` and `rank_high` are the 5, 50 and 95%
    points of their ranks in bootstraps of the datasets, and `often` the share of these in which they are among the
    first TOP.
    """

    names: tuple[str, ...]
    points: Floats
    is_shrunk: bool
    in_sample: float
    left_out: float
    plain_in_sample: float
    plain_left_out: float
    majority: float
    weights: Floats
    rank_low: Floats
    rank_middle: Floats
    rank_high: Floats
    often: Floats
    n: int
    seed: int

    @property
    def beats_majority(self) -> bool:
        """Whether left-out datasets are told better than by the most frequent label."""
        return self.left_out > self.majority


def separate(X: Floats, labels: NDArray[np.int64], names: Sequence[str], *, seed: int = SEED) -> Separation | None:
    """Discriminants of meta-features X (n, k) for labels (n,); None for too few datasets, or only one label.

    Landmarks are dropped: they are what such methods reached, and would tell the label by itself.
    """
    described = [column for column, name in enumerate(names) if not is_landmark(name)]
    X, kept = usable(X[:, described], [names[column] for column in described])
    counts = np.bincount(labels) if len(labels) else np.zeros(1, dtype=np.int64)
    if len(labels) < FEWEST or not kept or (counts > 0).sum() < 2:
        return None
    is_shrunk = len(kept) > len(labels) * MOST_FEATURES_SHARE
    fitted = _fitted(X, labels, is_shrunk=is_shrunk)
    plain = _fitted(X, labels, is_shrunk=False) if is_shrunk else fitted
    left_out = _left_out(X, labels, is_shrunk=is_shrunk)
    ranks = _bootstrap_ranks(X, labels, is_shrunk=is_shrunk, seed=seed)
    low, middle, high = np.percentile(ranks, [5, 50, 95], axis=0)
    return Separation(
        names=kept,
        points=_points(fitted, X, is_shrunk=is_shrunk),
        is_shrunk=is_shrunk,
        in_sample=float(fitted.score(X, labels)),
        left_out=left_out,
        plain_in_sample=float(plain.score(X, labels)),
        plain_left_out=_left_out(X, labels, is_shrunk=False) if is_shrunk else left_out,
        majority=float(counts.max() / len(labels)),
        weights=_weights(fitted),
        rank_low=low,
        rank_middle=middle,
        rank_high=high,
        often=(ranks <= TOP).mean(axis=0),
        n=len(labels),
        seed=seed,
    )


def _fitted(X: Floats, labels: NDArray[np.int64], *, is_shrunk: bool) -> Pipeline:
    method = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto") if is_shrunk else None
    pipeline = make_pipeline(StandardScaler(), method or LinearDiscriminantAnalysis())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of collinear features, of which there are many
        return pipeline.fit(X, labels)


def _left_out(X: Floats, labels: NDArray[np.int64], *, is_shrunk: bool) -> float:
    """Accuracy on datasets that were left out one by one; a label that only one dataset has is never told."""
    right = 0
    for index in range(len(labels)):
        others = np.arange(len(labels)) != index
        if len(np.unique(labels[others])) < 2:
            right += int(labels[others][0] == labels[index])
            continue
        try:
            fitted = _fitted(X[others], labels[others], is_shrunk=is_shrunk)
        except np.linalg.LinAlgError:
            continue  # no discriminants, no answer
        right += int(fitted.predict(X[[index]])[0] == labels[index])
    return right / len(labels)


def _points(fitted: Pipeline, X: Floats, *, is_shrunk: bool) -> Floats:
    found = _shrunk_points(fitted, X) if is_shrunk else np.asarray(fitted.transform(X))[:, :2]
    return np.column_stack([found, np.zeros(len(found))]) if found.shape[1] == 1 else found


def _shrunk_points(fitted: Pipeline, X: Floats) -> Floats:
    """The directions in which the classes' means differ most by the shrunk covariance within them.

    scikit-learn's own ones take the scatter between classes as the difference of two estimates, each shrunk by
    itself: with more features than datasets the first of them is a direction in which no two datasets differ.
    """
    method = fitted[-1]
    lower = np.linalg.cholesky(method.covariance_)
    centred = method.means_ - method.priors_ @ method.means_
    between = solve_triangular(lower, (np.sqrt(method.priors_)[:, None] * centred).T, lower=True)
    directions, _, _ = np.linalg.svd(between, full_matrices=False)
    whitened = solve_triangular(lower, (fitted[:-1].transform(X) - method.priors_ @ method.means_).T, lower=True)
    return np.asarray(whitened.T @ directions[:, : min(2, len(method.classes_) - 1)])


def _weights(fitted: Pipeline) -> Floats:
    return np.asarray(np.linalg.norm(np.atleast_2d(fitted[-1].coef_), axis=0))


def _bootstrap_ranks(X: Floats, labels: NDArray[np.int64], *, is_shrunk: bool, seed: int) -> Floats:
    """The rank of each feature's weight in bootstraps of the datasets, (bootstraps, k); 1 is the largest."""
    rng = np.random.default_rng(seed)
    ranks = []
    for _ in range(BOOTSTRAPS):
        drawn = rng.integers(0, len(labels), len(labels))
        if len(np.unique(labels[drawn])) < 2:
            continue
        try:
            weights = _weights(_fitted(X[drawn], labels[drawn], is_shrunk=is_shrunk))
        except (np.linalg.LinAlgError, ValueError):
            continue
        ranks.append(1 + np.argsort(np.argsort(-weights, kind="stable"), kind="stable"))
    return np.array(ranks if ranks else [np.arange(1, X.shape[1] + 1)], dtype=np.float64)
