"""Small made datasets, one for each trait that the datasets of a blind phase may have.

A program that ran on the datasets it could see often fails on the first one that is sparse, or has gaps, or lacks
a validation part. These are made from a seed, so that the same check can be repeated anywhere, and written as
text like real ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ingestion.dataset import write_dataset

BINARY, MULTICLASS = "binary.classification", "multiclass.classification"
MULTILABEL, REGRESSION = "multilabel.classification", "regression"

ROWS = (120, 40, 60)  # of the train, valid and test parts
COLUMNS = 8
WORDS = 2_000  # columns of the sparse datasets


@dataclass(frozen=True)
class Table:
    """All rows of one dataset: features (n, f) as ndarray or CSR, targets (n,) or (n, C), rows of each part."""

    X: Any
    y: Any
    rows: tuple[int, int, int] = ROWS
    feat_types: Sequence[str] | None = None
    indices_only: bool = False


@dataclass(frozen=True)
class Trait:
    """One trait of a dataset. `make` returns the table for a generator of random numbers."""

    name: str
    title: str
    task: str
    metric: str
    make: Callable[[np.random.Generator], Table] = field(repr=False, compare=False)

    @property
    def dataset_name(self) -> str:
        """The name that the program sees, plain letters as those of real datasets."""
        return self.name.replace("_", "")


def write_trait(trait: Trait, folder: Path, *, seed: int = 0, time_budget: float = 20.0) -> Path:
    """Write the dataset of a trait in AutoML text format into `folder`, with all solutions; returns the folder.

    The same seed gives the same bytes.
    """
    table = trait.make(np.random.default_rng([seed, *trait.name.encode()]))
    train, valid, _ = table.rows
    ends = (slice(0, train), slice(train, train + valid), slice(train + valid, None))
    parts = [(table.X[rows], table.y[rows]) for rows in ends]
    return write_dataset(
        folder,
        trait.dataset_name,
        task=trait.task,
        metric=trait.metric,
        time_budget=time_budget,
        train=parts[0],
        valid=parts[1] if valid else None,
        test=parts[2],
        feat_types=table.feat_types,
        sparse=scipy.sparse.issparse(table.X),
        indices_only=table.indices_only,
    )


def _numbers(rng: np.random.Generator, rows: int = sum(ROWS), columns: int = COLUMNS) -> Any:
    """Features (rows, columns) with three digits, so that the text stays small."""
    return rng.normal(size=(rows, columns)).round(3)


def _signal(rng: np.random.Generator, X: Any, outputs: int = 1) -> Any:
    """Noisy sums of columns (n, outputs), one standard deviation of signal for half of noise."""
    filled = X if scipy.sparse.issparse(X) else np.nan_to_num(np.asarray(X, dtype=np.float64))
    sums = np.asarray(filled @ rng.normal(size=(X.shape[1], outputs)))
    return sums / np.maximum(sums.std(axis=0), 1e-9) + 0.5 * rng.normal(size=sums.shape)


def _two_classes(rng: np.random.Generator, X: Any, share: float = 0.5) -> Any:
    sums = _signal(rng, X)[:, 0]
    return (sums > np.quantile(sums, 1 - share)).astype(int)


def _words(rng: np.random.Generator, *, only_ones: bool = False) -> Any:
    """Sparse rows (n, WORDS) with about 20 values each; two are empty, the first of all where they are ones."""
    rows = sum(ROWS)
    X = scipy.sparse.random(rows, WORDS, density=0.01, format="lil", random_state=rng)
    # As in real text some columns are frequent, so that there is something to learn.
    X[:, :20] = rng.random((rows, 20)) < 0.3
    X[[0 if only_ones else rows // 2, -2], :] = 0
    X = X.tocsr()
    X.data = np.ones_like(X.data) if only_ones else (1 + 9 * X.data).round(2)
    X.eliminate_zeros()
    return X


def _dense(rng: np.random.Generator) -> Table:
    X = _numbers(rng)
    return Table(X, _two_classes(rng, X))


def _sparse(rng: np.random.Generator) -> Table:
    X = _words(rng)
    return Table(X, _two_classes(rng, X))


def _sparse_binary(rng: np.random.Generator) -> Table:
    X = _words(rng, only_ones=True)
    return Table(X, _two_classes(rng, X), indices_only=True)


def _binary(rng: np.random.Generator) -> Table:
    """One class in eight rows, and columns of very different scales, one of them constant."""
    X = _numbers(rng)
    y = _two_classes(rng, X, share=0.125)
    X = (X * 10.0 ** np.arange(-3, COLUMNS - 3)).round(6)
    X[:, 3] = 7
    return Table(X, y)


def _multiclass(rng: np.random.Generator) -> Table:
    X = _numbers(rng)
    y = _signal(rng, X, outputs=5).argmax(axis=1)
    y[:5] = np.arange(5)
    return Table(X, y)


def _labels(rng: np.random.Generator, X: Any) -> Any:
    """Six labels (n, 6), from frequent to rare: the last one is set in a single row of each part."""
    sums = _signal(rng, X, outputs=6)
    shares_without = (0.3, 0.5, 0.6, 0.7, 0.9, 1.0)
    cuts = [np.quantile(column, share) for column, share in zip(sums.T, shares_without, strict=True)]
    y = (sums > cuts).astype(int)
    y[[1, sum(ROWS[:1]), sum(ROWS[:2])], 5] = 1
    return y


def _multilabel(rng: np.random.Generator) -> Table:
    X = _numbers(rng)
    return Table(X, _labels(rng, X))


def _sparse_multilabel(rng: np.random.Generator) -> Table:
    X = _words(rng)
    return Table(X, _labels(rng, X))


def _regression(rng: np.random.Generator) -> Table:
    """Targets with a long tail, far from 0."""
    X = _numbers(rng)
    return Table(X, (1_000 + 100 * np.exp(_signal(rng, X)[:, 0])).round(2))


def _missing(rng: np.random.Generator) -> Table:
    """A fifth of all values is missing, most of one column, and one row of the test part as a whole."""
    X = _numbers(rng)
    y = _two_classes(rng, X)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[rng.random(len(X)) < 0.95, 2] = np.nan
    X[-1] = np.nan
    return Table(X, y)


def _categorical(rng: np.random.Generator) -> Table:
    """Codes of few and of many categories; the test part has one that no training row has."""
    X = _numbers(rng)
    X[:, 0] = rng.integers(0, 3, size=len(X))
    X[:, 1] = 1_000_003 * rng.integers(1, 50, size=len(X))
    X[:, 2] = rng.integers(0, 2, size=len(X))
    y = _two_classes(rng, X[:, 2:])
    X[-1, :2] = (9, 77)
    types = ["Categorical", "Categorical", "Binary", *["Numerical"] * (COLUMNS - 3)]
    return Table(X, y, feat_types=types)


def _one_feature(rng: np.random.Generator) -> Table:
    X = _numbers(rng, columns=1)
    return Table(X, _two_classes(rng, X))


def _wide(rng: np.random.Generator) -> Table:
    rows = (40, 15, 15)
    X = _numbers(rng, sum(rows), 3_000)
    return Table(X, _two_classes(rng, X), rows)


def _long(rng: np.random.Generator) -> Table:
    rows = (20_000, 2_000, 2_000)
    X = _numbers(rng, sum(rows), 5)
    return Table(X, _two_classes(rng, X), rows)


def _rare_class(rng: np.random.Generator) -> Table:
    """Five classes, of which one has a single training row and one has two."""
    X = _numbers(rng)
    y = _signal(rng, X, outputs=3).argmax(axis=1)
    y[[10, 50, 90]] = (3, 4, 4)
    y[ROWS[0] + 3], y[ROWS[0] + 4], y[-2], y[-1] = 3, 4, 3, 4
    return Table(X, y)


def _no_valid(rng: np.random.Generator) -> Table:
    rows = (ROWS[0], 0, ROWS[2])
    X = _numbers(rng, sum(rows))
    return Table(X, _two_classes(rng, X), rows)


# Each but the last of the sparse ones differs from `dense` in one thing, so that a failure tells its cause.
TRAITS = (
    Trait("dense", "dense numbers", BINARY, "auc", _dense),
    Trait("sparse", "sparse numbers", BINARY, "bac", _sparse),
    Trait("sparse_binary", "sparse ones, first row empty", BINARY, "bac", _sparse_binary),
    Trait("binary", "two classes, one rare", BINARY, "bac", _binary),
    Trait("multiclass", "five classes", MULTICLASS, "pac", _multiclass),
    Trait("multilabel", "several labels a row", MULTILABEL, "f1", _multilabel),
    Trait("regression", "a number to predict", REGRESSION, "r2", _regression),
    Trait("missing", "missing values", BINARY, "auc", _missing),
    Trait("categorical", "categorical features", BINARY, "auc", _categorical),
    Trait("one_feature", "one feature", BINARY, "auc", _one_feature),
    Trait("wide", "more features than rows", BINARY, "auc", _wide),
    Trait("long", "many rows", BINARY, "auc", _long),
    Trait("rare_class", "a class with one training row", MULTICLASS, "bac", _rare_class),
    Trait("sparse_multilabel", "sparse, several labels a row", MULTILABEL, "auc", _sparse_multilabel),
    Trait("no_valid", "no validation part", BINARY, "auc", _no_valid),
)


def trait_named(name: str) -> Trait:
    """The trait of this name. Raises KeyError where there is none."""
    return {trait.name: trait for trait in TRAITS}[name]
