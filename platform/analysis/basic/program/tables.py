"""Features as the methods take them: nothing missing, and scaled where a method measures distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

DENSE_COLUMNS = 1_000  # a sparse table with fewer columns is treated as a dense one
DENSE_BYTES = 2**30  # unless it were larger than this


def as_table(X: Any) -> Any:
    """The features as a dense array or as CSR; a narrow sparse table becomes dense. What is missing stays NaN."""
    if sparse.issparse(X):
        is_narrow = X.shape[1] < DENSE_COLUMNS and 8 * X.shape[0] * X.shape[1] < DENSE_BYTES
        return X.toarray() if is_narrow else sparse.csr_matrix(X, dtype=float)
    return np.asarray(X, dtype=float)


class Filled:
    """Puts the training part's median of its column in place of what is missing, of sparse tables 0.

    With `scaled`, dense columns get mean 0 and deviation 1, and sparse ones are divided by their largest value.
    """

    def __init__(self, *, scaled: bool) -> None:
        self.scaled = scaled

    def fit(self, X: Any) -> Filled:
        """Learn medians and scales from the training part (n, f)."""
        if sparse.issparse(X):
            known = self._known(X)
            self.scale = np.asarray(abs(known).max(axis=0).todense()).ravel() if known.shape[0] else 1.0
            self.scale = np.where(self.scale > 0, self.scale, 1.0)
            return self
        known = np.where(np.isfinite(X), X, np.nan)
        has_any = np.isfinite(known).any(axis=0)
        self.median = np.zeros(X.shape[1])
        if has_any.any():
            self.median[has_any] = np.nanmedian(known[:, has_any], axis=0)
        filled = np.where(np.isfinite(X), X, self.median)
        self.mean, self.scale = filled.mean(axis=0), filled.std(axis=0)
        self.scale = np.where(self.scale > 0, self.scale, 1.0)
        return self

    def transform(self, X: Any) -> Any:
        """The same for any part (n, f)."""
        if sparse.issparse(X):
            known = self._known(X)
            return sparse.csr_matrix(known @ sparse.diags(1 / self.scale)) if self.scaled else known
        filled = np.where(np.isfinite(X), X, self.median)
        return (filled - self.mean) / self.scale if self.scaled else filled

    @staticmethod
    def _known(X: Any) -> Any:
        known = X.copy()
        known.data[~np.isfinite(known.data)] = 0.0
        return known
