"""A bounded sample of a dataset as numbers without gaps: imputed and one-hot, for what cannot take all of it.

As auto-sklearn prepares data before it measures them: missing numbers become the mean, numbers are standardised,
categorical features become one column for each value, and a missing value is a value of its own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_ROWS = 10_000
MOST_FEATURES = 500
MOST_VALUES = 4_000_000  # rows times features
MOST_SYMBOLS = 30  # columns of one categorical feature: its most frequent values


@dataclass(frozen=True)
class Sample:
    """`encoded` (n, q) are the features without gaps, `y` (n,) or (n, c) the targets; `sentence` says of what."""

    encoded: Floats
    y: NDArray[Any]
    sentence: str

    def small(self, rows: int = 400, columns: int = 12) -> tuple[Floats, NDArray[Any]]:
        """Evenly spread rows and columns of it, at most so many: for what is expensive to measure."""
        n, q = self.encoded.shape
        keep, take = _evenly(n, rows), _evenly(q, columns)
        return self.encoded[np.ix_(keep, take)], self.y[keep]


def draw(X: Any, y: NDArray[Any], is_categorical: NDArray[np.bool_], *, seed: int) -> Sample:
    """A sample of rows in their order and of features; everything where that is small enough.

    Of many features those of a dense matrix are drawn at random; of a sparse one the fullest are taken, because
    nearly all of a random choice would be empty.
    """
    rng = np.random.default_rng(seed)
    columns = _columns(X, rng)
    rows = _some(rng, X.shape[0], min(MOST_ROWS, max(1, MOST_VALUES // len(columns))))
    part = _dense(X, rows, columns)
    encoded = one_hot(part, is_categorical[columns])
    return Sample(encoded, np.asarray(y)[rows], _sentence(X, rows, columns, encoded, seed))


def one_hot(X: Floats, is_categorical: NDArray[np.bool_]) -> Floats:
    """Features (n, p) as numbers without gaps (n, q); see the module. Columns with no value at all become 0."""
    found: list[Floats] = []
    for column, categorical in zip(X.T, is_categorical, strict=True):
        found += _indicators(column) if categorical else [_standardised(column)]
    return np.column_stack(found) if found else np.zeros((len(X), 0))


def _standardised(column: Floats) -> Floats:
    known = column[~np.isnan(column)]
    if not known.size:
        return np.zeros(len(column))
    filled = np.where(np.isnan(column), known.mean(), column)
    spread = filled.std()
    return (filled - filled.mean()) / spread if spread > 0 else np.zeros(len(column))


def _indicators(column: Floats) -> list[Floats]:
    gaps = np.isnan(column)
    values, counts = np.unique(column[~gaps], return_counts=True)
    frequent = np.sort(values[np.argsort(-counts, kind="stable")[:MOST_SYMBOLS]])
    columns = [(column == value).astype(np.float64) for value in frequent]
    return [*columns, gaps.astype(np.float64)] if gaps.any() else columns


def _columns(X: Any, rng: np.random.Generator) -> NDArray[np.int64]:
    if X.shape[1] <= MOST_FEATURES or not scipy.sparse.issparse(X):
        return _some(rng, X.shape[1], MOST_FEATURES)
    filled = np.bincount(X.indices, minlength=X.shape[1])
    return np.sort(np.argsort(-filled, kind="stable")[:MOST_FEATURES])


def _some(rng: np.random.Generator, count: int, most: int) -> NDArray[np.int64]:
    return np.arange(count) if count <= most else np.sort(rng.choice(count, most, replace=False))


def _evenly(count: int, most: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.int64)) if count else np.arange(0)


def _dense(X: Any, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Floats:
    if scipy.sparse.issparse(X):
        return np.asarray(X[rows][:, columns].toarray(), dtype=np.float64)
    return np.asarray(X[np.ix_(rows, columns)], dtype=np.float64)


def _sentence(X: Any, rows: NDArray[np.int64], columns: NDArray[np.int64], encoded: Floats, seed: int) -> str:
    of = f"{encoded.shape[1]:,} columns after one-hot encoding"
    if len(rows) == X.shape[0] and len(columns) == X.shape[1]:
        return f"All {X.shape[0]:,} rows and {X.shape[1]:,} features; {of}."
    how = "the fullest" if scipy.sparse.issparse(X) and len(columns) < X.shape[1] else "drawn"
    return (
        f"Statistics, principal components and landmarks on {len(rows):,} of {X.shape[0]:,} rows and "
        f"{len(columns):,} of {X.shape[1]:,} features ({how}, seed {seed}); {of}."
    )
