"""Selective naive Bayes: a naive Bayes over few features, chosen by how much they explain for what they cost.

After M. Boullé, "MODL: a Bayes optimal discretization method for continuous attributes", Machine Learning 65
(2006), and "Compression-based averaging of selective naive Bayes classifiers", JMLR 8 (2007): every feature is
cut into intervals by the cost of describing them and the classes within; a feature that is best left in one
piece tells nothing and is dropped. Of the others, passes of adding and taking away find the set with the least
cost: that of naming the set, and minus the log likelihood of the classes. Only this best set is used, not the
average over sets of the second paper. Intervals are merged from at most 32 of equal frequency; a sparse feature
has two: 0 and not 0.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln, logsumexp

MOST_INTERVALS = 32
MOST_FEATURES = 500  # that the choice looks at: those that tell most by themselves
MOST_ROWS = 50_000  # by which a feature is cut
MOST_CELLS = 1_000_000  # rows x classes of the choice
PASSES = 3


def interval_cost(counts: Any) -> Any:
    """The cost of the classes within intervals, from counts (..., classes); MODL's third and fourth terms."""
    counts = np.asarray(counts, dtype=float)
    classes = counts.shape[-1]
    return gammaln(counts.sum(axis=-1) + classes) - gammaln(classes) - gammaln(counts + 1).sum(axis=-1)


def cutting_cost(rows: int, intervals: Any) -> Any:
    """The cost of naming so many intervals of `rows` rows: log n + log C(n + I - 1, I - 1)."""
    return np.log(max(rows, 1)) + gammaln(rows + intervals) - gammaln(rows + 1) - gammaln(intervals)


def merged(counts: Any) -> tuple[Any, float]:
    """Merge neighbours of intervals, given by counts (I, classes), while that may lower the cost.

    Returns where the best intervals begin (J,), of the given ones, and by how much they beat a single one.
    """
    groups = [np.asarray(row, dtype=float) for row in counts]
    starts = list(range(len(groups)))
    rows = int(np.sum(counts))
    cost = [float(interval_cost(group)) for group in groups]
    total = sum(cost)
    best, best_cost = list(starts), total + cutting_cost(rows, len(groups))
    joined = [float(interval_cost(a + b)) for a, b in pairwise(groups)]
    while len(groups) > 1:
        change = [joined[i] - cost[i] - cost[i + 1] for i in range(len(joined))]
        at = int(np.argmin(change))
        total += change[at]
        groups[at : at + 2] = [groups[at] + groups[at + 1]]
        cost[at : at + 2] = [joined[at]]
        del starts[at + 1]
        del joined[at]
        if at < len(joined):
            joined[at] = float(interval_cost(groups[at] + groups[at + 1]))
        if at > 0:
            joined[at - 1] = float(interval_cost(groups[at - 1] + groups[at]))
        if total + cutting_cost(rows, len(groups)) <= best_cost:
            best, best_cost = list(starts), total + cutting_cost(rows, len(groups))
    single = total + cutting_cost(rows, 1)
    return np.array(best), float(single - best_cost)


class Feature:
    """One feature in intervals: `cuts` are their upper ends, `table` (I, classes) the log of P(interval | class).

    Missing values of a dense feature are an interval of their own.
    """

    def __init__(self, column: int, cuts: Any, counts: Any, gain: float) -> None:
        self.column, self.cuts, self.gain = column, cuts, gain
        smooth = counts + 1.0 / len(counts)
        self.table = np.log(smooth / smooth.sum(axis=0))

    def codes(self, X: Any) -> Any:
        """The interval of every row (n,)."""
        return intervals_of(column_of(X, self.column), self.cuts)


def column_of(X: Any, column: int) -> Any:
    """One column as an array (n,)."""
    return X[:, [column]].toarray().ravel() if sparse.issparse(X) else X[:, column]


def intervals_of(values: Any, cuts: Any) -> Any:
    """The place of each value among the cuts; one more than the last for what is missing."""
    codes = np.searchsorted(cuts, values, side="left")
    return np.where(np.isfinite(values), codes, len(cuts) + 1)


class SelectiveNaiveBayes:
    """A classifier as scikit-learn has them. `left` tells the seconds that learning may take."""

    def __init__(self, left: Callable[[], float], seed: int = 0) -> None:
        self.left, self.seed = left, seed

    def fit(self, X: Any, y: Any) -> SelectiveNaiveBayes:
        """Learn from X (n, f), dense with NaN where missing or sparse, and classes (n,)."""
        self.classes_, own = np.unique(y, return_inverse=True)
        counts = np.bincount(own)
        self.prior = np.log(counts / counts.sum())
        until = self.left() / 2
        known = self._known(X, own, lambda: self.left() > until)
        known.sort(key=lambda feature: -feature.gain)
        self.features = self._chosen(X, own, known[:MOST_FEATURES])
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes (n, classes)."""
        sums = np.tile(self.prior, (X.shape[0], 1))
        for feature in self.features:
            sums += feature.table[feature.codes(X)]
        return np.exp(sums - logsumexp(sums, axis=1, keepdims=True))

    def _known(self, X: Any, own: Any, goes_on: Callable[[], bool]) -> list[Feature]:
        """The features that tell something by themselves."""
        if sparse.issparse(X):
            return self._known_of_sparse(X, own)
        rows = np.arange(len(own))
        if len(own) > MOST_ROWS:
            rows = np.sort(np.random.default_rng(self.seed).choice(len(own), MOST_ROWS, replace=False))
        found = []
        for column in range(X.shape[1]):
            feature = self._cut(X[rows, column], own[rows], column)
            found += [feature] if feature is not None else []
            if column % 100 == 99 and not goes_on():
                break
        return found

    def _cut(self, values: Any, own: Any, column: int) -> Feature | None:
        """The feature in its best intervals; None where it is best left in one."""
        finite = values[np.isfinite(values)]
        if not finite.size:
            return None
        cuts = np.unique(np.quantile(finite, np.arange(1, MOST_INTERVALS) / MOST_INTERVALS, method="lower"))
        codes = intervals_of(values, cuts)
        counts = np.zeros((len(cuts) + 2, len(self.classes_)))
        np.add.at(counts, (codes, own), 1)
        ordered, missing = counts[:-1], counts[-1:]
        starts, gain = merged(ordered)
        if missing.any():
            gain += float(interval_cost(counts.sum(axis=0)) - interval_cost(ordered.sum(axis=0)))
            gain -= float(interval_cost(missing[0]))
        if gain <= 0:
            return None
        within = np.add.reduceat(ordered, starts, axis=0)
        return Feature(column, cuts[starts[1:] - 1], np.vstack([within, missing]), gain)

    def _known_of_sparse(self, X: Any, own: Any) -> list[Feature]:
        """All features at once, each in two intervals: 0 and not 0."""
        is_there = sparse.csr_matrix((np.ones_like(X.data), X.indices, X.indptr), shape=X.shape)
        is_there.data[(X.data == 0) | ~np.isfinite(X.data)] = 0.0
        one_hot = sparse.csr_matrix((np.ones(len(own)), (np.arange(len(own)), own)))
        there = np.asarray((is_there.T @ one_hot).todense())
        absent = np.bincount(own, minlength=len(self.classes_)) - there
        rows = len(own)
        single = float(interval_cost(np.bincount(own))) + cutting_cost(rows, 1)
        gains = single - interval_cost(there) - interval_cost(absent) - cutting_cost(rows, 2)
        best = np.argsort(-gains, kind="stable")[:MOST_FEATURES]
        return [
            Presence(int(column), absent[column], there[column], float(gains[column]))
            for column in best
            if gains[column] > 0
        ]

    def _chosen(self, X: Any, own: Any, known: list[Feature]) -> list[Feature]:
        """The set with the least cost that passes of adding and taking away find, the best features first."""
        most = max(100, MOST_CELLS // len(self.classes_))
        rows = np.arange(len(own))
        if len(own) > most:
            rows = np.sort(np.random.default_rng(self.seed).choice(len(own), most, replace=False))
        X, own = X[rows], own[rows]
        X = X.tocsc() if sparse.issparse(X) else X
        sums, chosen = np.tile(self.prior, (len(own), 1)), np.zeros(len(known), dtype=bool)
        codes: dict[int, Any] = {}
        cost = self._cost(sums, own, 0, len(known), len(rows))
        until = 0.3 * self.left()
        for _ in range(PASSES):
            before = cost
            for place, feature in enumerate(known):
                if self.left() < until:
                    break
                if place not in codes:
                    codes[place] = feature.codes(X).astype(np.uint8)
                step = feature.table[codes[place]] * (-1 if chosen[place] else 1)
                count = int(chosen.sum()) + (-1 if chosen[place] else 1)
                new = self._cost(sums + step, own, count, len(known), len(rows))
                if new < cost:
                    cost, sums = new, sums + step
                    chosen[place] = not chosen[place]
            if cost >= before:
                break
        return [feature for feature, is_in in zip(known, chosen, strict=True) if is_in]

    @staticmethod
    def _cost(sums: Any, own: Any, count: int, features: int, rows: int) -> float:
        """The cost of a set of `count` features: log(K + 1) + log C(K + k - 1, k) - log likelihood."""
        naming = np.log(features + 1)
        if count and features:
            naming += gammaln(features + count) - gammaln(count + 1) - gammaln(features)
        return float(naming - (sums[np.arange(rows), own] - logsumexp(sums, axis=1)).sum())


class Presence(Feature):
    """A sparse feature: whether it is 0."""

    def __init__(self, column: int, absent: Any, there: Any, gain: float) -> None:
        super().__init__(column, np.zeros(0), np.vstack([absent, there]).astype(float), gain)

    def codes(self, X: Any) -> Any:
        """1 where it is not 0, (n,)."""
        values = column_of(X, self.column)
        return (np.isfinite(values) & (values != 0)).astype(int)
