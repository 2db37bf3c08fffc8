"""Turns the features a dataset holds into numbers that every learner here can use.

Dense data become one float32 table without gaps: missing values are filled by the median and marked in
columns of their own; a categorical column gains its target means (cross-fitted, so that a row never sees its
own target) and its frequencies. Sparse data stay sparse for the linear learner, scaled like text, and give
the trees a dense table of the columns most related to the target.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

SMOOTHING = 10.0  # a category's mean is drawn to the overall mean as if by this many more rows
FOLDS = 5
MOST_ENCODED_COLUMNS = 400
MOST_INDICATORS = 100
NARROW_COLUMNS = 1000


def category_flags(feat_types, count):
    """Return a boolean array (count,): which columns are declared categorical."""
    flags = [str(kind).strip().lower().startswith("categ") for kind in feat_types or []]
    return np.array(flags) if len(flags) == count else np.zeros(count, dtype=bool)


class DenseTable:
    """Encoder of a dense table; `wide` and `narrow` views are the same array."""

    def __init__(self, categorical, chronological=False, seed=0):
        self.categorical = np.flatnonzero(categorical)
        self.chronological = chronological
        self.seed = seed

    def fit(self, X, Y):
        """Learn medians, indicators and encodings from X (n, f) and target columns Y (n, c)."""
        columns = max(1, MOST_ENCODED_COLUMNS // max(1, len(self.categorical)))
        self.targets = Y[:, : min(columns, Y.shape[1])].astype(np.float64)
        gaps = np.isnan(X)
        self.medians = np.zeros(X.shape[1])
        for column in range(X.shape[1]):
            known = X[~gaps[:, column], column]
            self.medians[column] = np.median(known) if known.size else 0.0
        share = gaps.mean(axis=0)
        order = np.argsort(-share)[:MOST_INDICATORS]
        self.indicators = np.sort(order[(share[order] > 0.01) & (share[order] < 1.0)])
        self.encodings = [Encoding(X[:, column], self.targets) for column in self.categorical]
        return self

    def learning_view(self, X):
        """Return the (wide, narrow) views of the very rows that `fit` saw, with cross-fitted encodings."""
        encoded = []
        folds = np.arange(len(X)) * FOLDS // max(1, len(X))
        if not self.chronological:
            folds = np.random.default_rng(self.seed).permutation(folds)
        for column, encoding in zip(self.categorical, self.encodings, strict=True):
            means = np.empty((len(X), self.targets.shape[1]))
            for fold in range(FOLDS):
                inside = folds == fold
                if inside.any():
                    part = Encoding(X[~inside, column], self.targets[~inside])
                    means[inside] = part.means_of(X[inside, column])
            encoded.append(np.column_stack([means, encoding.counts_of(X[:, column])]))
        table = self._assemble(X, encoded)
        return table, table

    def view(self, X):
        """Return the (wide, narrow) views of new rows."""
        encoded = [
            np.column_stack([encoding.means_of(X[:, column]), encoding.counts_of(X[:, column])])
            for column, encoding in zip(self.categorical, self.encodings, strict=True)
        ]
        table = self._assemble(X, encoded)
        return table, table

    def _assemble(self, X, encoded):
        filled = X.astype(np.float32)
        gaps = np.isnan(filled)
        if gaps.any():
            np.copyto(filled, self.medians.astype(np.float32), where=gaps)
        limit = np.float32(1e30)  # beyond it, the squares that learners take would overflow
        np.clip(filled, -limit, limit, out=filled)
        blocks = [filled, *(block.astype(np.float32) for block in encoded)]
        if len(self.indicators):
            blocks.append(gaps[:, self.indicators].astype(np.float32))
        return filled if len(blocks) == 1 else np.hstack(blocks)


class Encoding:
    """Smoothed target means and frequencies of the categories of one column."""

    def __init__(self, column, targets):
        column = np.where(np.isnan(column), np.inf, column)
        self.levels, codes, counts = np.unique(column, return_inverse=True, return_counts=True)
        self.counts = counts
        self.prior = targets.mean(axis=0) if len(targets) else np.zeros(targets.shape[1])
        sums = np.zeros((len(self.levels), targets.shape[1]))
        np.add.at(sums, codes, targets)
        self.means = (sums + SMOOTHING * self.prior) / (counts[:, None] + SMOOTHING)

    def _find(self, column):
        column = np.where(np.isnan(column), np.inf, column)
        place = np.searchsorted(self.levels, column).clip(0, max(0, len(self.levels) - 1))
        known = self.levels[place] == column if len(self.levels) else np.zeros(len(column), dtype=bool)
        return place, known

    def means_of(self, column):
        """Return the target means (n, c); a category never seen gets the overall mean."""
        place, known = self._find(column)
        if not len(self.levels):
            return np.tile(self.prior, (len(column), 1))
        return np.where(known[:, None], self.means[place], self.prior)

    def counts_of(self, column):
        """Return how often each row's category was seen, as log(1 + count) (n,)."""
        place, known = self._find(column)
        if not len(self.levels):
            return np.zeros(len(column))
        return np.log1p(np.where(known, self.counts[place], 0))


class SparseTable:
    """Encoder of a CSR table: scaled rows for the linear learner, a dense choice of columns for trees."""

    def __init__(self, most_columns, narrow_bytes):
        self.most_columns = most_columns
        self.narrow_bytes = narrow_bytes

    def fit(self, X, Y):
        """Learn column weights, and which columns to keep, from CSR X (n, f) and targets Y (n, c)."""
        seen = np.bincount(X.indices, minlength=X.shape[1])
        self.textual = bool(X.nnz == 0 or X.data.min() >= 0)
        kept = np.flatnonzero(seen > 0)
        if len(kept) > self.most_columns:
            kept = np.sort(kept[np.argsort(-seen[kept], kind="stable")[: self.most_columns]])
        self.kept = kept
        rows = X.shape[0]
        if self.textual:
            self.scale = np.log((1.0 + rows) / (1.0 + seen[kept])) + 1.0
        else:
            largest = np.asarray(abs(X[:, kept]).max(axis=0).todense()).ravel()
            self.scale = 1.0 / np.maximum(largest, 1e-12)
        wide = self._wide(X)
        columns = int(np.clip(self.narrow_bytes // (4 * max(1, rows)), 10, NARROW_COLUMNS))
        self.narrow = self._most_related(wide, Y, columns)
        return self

    @staticmethod
    def _most_related(wide, Y, count):
        centred = Y - Y.mean(axis=0)
        squares = np.asarray(wide.multiply(wide).sum(axis=0)).ravel()
        related = np.zeros(wide.shape[1])
        for start in range(0, centred.shape[1], 16):
            products = wide.T @ centred[:, start : start + 16]
            related = np.maximum(related, np.abs(products).max(axis=1))
        related /= np.sqrt(np.maximum(squares, 1e-12))
        return np.sort(np.argsort(-related, kind="stable")[:count])

    def _wide(self, X):
        wide = X[:, self.kept].astype(np.float32)
        if self.textual:
            wide.data = np.log1p(wide.data)
        wide = wide @ sparse.diags(self.scale.astype(np.float32))
        if self.textual:
            lengths = np.sqrt(np.asarray(wide.multiply(wide).sum(axis=1)).ravel())
            wide = sparse.diags(1.0 / np.maximum(lengths, 1e-12).astype(np.float32)) @ wide
        return sparse.csr_matrix(wide)

    def learning_view(self, X):
        """Return the (wide CSR, narrow dense) views of the rows that `fit` saw."""
        return self.view(X)

    def view(self, X):
        """Return the (wide CSR, narrow dense float32) views of rows."""
        wide = self._wide(X)
        return wide, wide[:, self.narrow].toarray().astype(np.float32)
