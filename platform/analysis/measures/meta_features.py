"""Meta-features of a dataset's training part, after auto-sklearn's set, with landmarks and an extra group.

The names are those of auto-sklearn (Feurer et al. 2015, "Efficient and Robust Automated Machine Learning", table 1
of its supplement; the chapter "Analysis of the AutoML Challenge Series", section 10.5.3, uses a subset of them).
Logarithms are natural, entropies in bits, standard deviations those of a population (n, not n - 1).

Where it differs from auto-sklearn: zeros of a sparse layout count as the values that they are (there only stored
values count in moments), a regression has no classes (there every value is one), and large data are measured on
a sample, which `sample` tells.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from analysis.measures import moments
from analysis.measures.encoding import Sample, draw
from analysis.measures.meta_names import EXTRA, TARGETS

Values = dict[str, float | None]
Tell = Callable[[float, str], None]

SEED = 0
BLOCK = 4_000_000  # values that are looked at at once
MOST_CLASSES = 30  # which pymfe compares one by one


@dataclass(frozen=True)
class MetaFeatures:
    """`values` by name, None where one has no value; `sample` says in words on what they were measured."""

    values: Values
    sample: str


def compute(
    X: Any, y: NDArray[Any], types: Sequence[str], *, task: str, seed: int = SEED, tell: Tell | None = None
) -> MetaFeatures:
    """All meta-features of a training part.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, p)
        Features; NaN is missing. It may be a file mapped into memory: it is read in blocks of rows.
    y : ndarray of shape (n,) or (n, c)
        Class indices, numbers, or for several labels zeros and ones.
    types : sequence of p names
        Numerical, Binary or Categorical.
    task : str
        The task by the info file's name.
    seed : int
        Of the samples and of the landmarks' methods.

    Raises
    ------
    ValueError
        Where there are no rows or no features, or the shapes do not fit.
    """
    if min(X.shape) < 1 or len(y) != X.shape[0] or len(types) != X.shape[1]:
        raise ValueError(f"features of shape {X.shape}, {len(y)} targets and {len(types)} types do not fit")
    from analysis.measures import landmarks  # loads scikit-learn, which nothing else here needs

    say = tell or (lambda share, what: None)
    is_categorical = np.array([kind.lower() == "categorical" for kind in types])
    say(0.0, "Counts values.")
    values = simple(X, is_categorical) | classes(y, task=task) | symbols(X, is_categorical)
    say(0.2, "Draws a sample.")
    sample = draw(X, y, is_categorical, seed=seed)
    say(0.3, "Measures skewness, kurtosis and principal components.")
    values |= moments.statistical(sample.encoded) | moments.principal_components(sample.encoded)
    say(0.5, "Runs landmarks.")
    values |= landmarks.compute(sample, task=task, seed=seed)
    say(0.8, "Measures the extra group.")
    values |= extra(sample, task=task, seed=seed)
    finite = {name: _finite(value) for name, value in values.items()}
    return MetaFeatures(finite, sample.sentence)


def simple(X: Any, is_categorical: NDArray[np.bool_]) -> Values:
    """Sizes, their ratios and logarithms, types, and missing values, over all rows.

    A ratio of types is 0 where there is none of the other type.
    """
    rows, columns = (int(length) for length in X.shape)
    nominal = int(is_categorical.sum())
    numeric = columns - nominal
    missing, in_features, in_rows = _missing(X)
    return {
        "NumberOfInstances": rows,
        "LogNumberOfInstances": float(np.log(rows)),
        "NumberOfFeatures": columns,
        "LogNumberOfFeatures": float(np.log(columns)),
        "DatasetRatio": columns / rows,
        "LogDatasetRatio": float(np.log(columns / rows)),
        "InverseDatasetRatio": rows / columns,
        "LogInverseDatasetRatio": float(np.log(rows / columns)),
        "NumberOfNumericFeatures": numeric,
        "NumberOfCategoricalFeatures": nominal,
        "RatioNumericalToNominal": numeric / nominal if nominal else 0.0,
        "RatioNominalToNumerical": nominal / numeric if numeric else 0.0,
        "NumberOfMissingValues": missing,
        "PercentageOfMissingValues": missing / (rows * columns),
        "NumberOfFeaturesWithMissingValues": in_features,
        "PercentageOfFeaturesWithMissingValues": in_features / columns,
        "NumberOfInstancesWithMissingValues": in_rows,
        "PercentageOfInstancesWithMissingValues": in_rows / rows,
    }


def _missing(X: Any) -> tuple[int, int, int]:
    """Missing values, features that have some, rows that have some."""
    if scipy.sparse.issparse(X):
        at = np.flatnonzero(np.isnan(X.data))
        rows = np.searchsorted(X.indptr, at, side="right")
        return int(at.size), int(np.unique(X.indices[at]).size), int(np.unique(rows).size)
    count, in_rows, in_features = 0, 0, np.zeros(X.shape[1], dtype=bool)
    step = max(1, BLOCK // X.shape[1])
    for start in range(0, X.shape[0], step):
        gaps = np.isnan(X[start : start + step])
        count += int(gaps.sum())
        in_rows += int(gaps.any(axis=1).sum())
        in_features |= gaps.any(axis=0)
    return count, int(in_features.sum()), in_rows


def classes(y: NDArray[Any], *, task: str) -> Values:
    """Number, probabilities and entropy of the classes; of several labels the means over the labels.

    Minimum, maximum and mean of the probabilities are over all values of all labels, as auto-sklearn has them.
    """
    names = TARGETS[:6]
    if task == "regression":
        return dict.fromkeys(names)
    columns = [np.asarray(column) for column in (y.T if y.ndim == 2 else [y])]
    shares = [np.unique(column, return_counts=True)[1] / len(column) for column in columns]
    together = np.concatenate(shares)
    found = (
        float(np.mean([len(one) for one in shares])),
        float(np.mean([-(one * np.log2(one)).sum() for one in shares])),
        float(together.min()),
        float(together.max()),
        float(together.mean()),
        float(np.mean([one.std() for one in shares])),
    )
    return dict(zip(names, found, strict=True))


def symbols(X: Any, is_categorical: NDArray[np.bool_]) -> Values:
    """How many different values the categorical features have; those with none at all are left out; 0 without "
    "any."""
    counts = np.array([len(values) for values in _distinct(X, np.flatnonzero(is_categorical))], dtype=np.float64)
    counts = counts[counts > 0]
    if not counts.size:
        return dict.fromkeys(TARGETS[6:], 0.0)
    found = (counts.min(), counts.max(), counts.mean(), counts.std(), counts.sum())
    return {name: float(value) for name, value in zip(TARGETS[6:], found, strict=True)}


def _distinct(X: Any, columns: NDArray[np.int64]) -> list[set[float]]:
    """The values of each of the columns, without NaN; in blocks of rows, as the file behind them is laid out."""
    found: list[set[float]] = [set() for _ in columns]
    if not columns.size:
        return found
    step = max(1, BLOCK // len(columns))
    for start in range(0, X.shape[0], step):
        block = X[start : start + step][:, columns]
        block = block.toarray() if scipy.sparse.issparse(block) else np.asarray(block)
        for values, column in zip(found, block.T, strict=True):
            values.update(np.unique(column[~np.isnan(column)]).tolist())
    return found


def extra(sample: Sample, *, task: str, seed: int) -> Values:
    """pymfe's statistical, information-theoretic and tree-based features of a small part of the sample.

    Only for tasks with one class a row; nothing where pymfe cannot measure it.
    """
    if task not in ("binary.classification", "multiclass.classification"):
        return {}
    from pymfe.mfe import MFE

    X, y = sample.small()
    if not 2 <= len(np.unique(y)) <= MOST_CLASSES:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            measure = MFE(groups=["statistical", "info-theory", "model-based"], random_state=seed)
            measure.fit(X, y, suppress_warnings=True)
            names, found = measure.extract(suppress_warnings=True)
        except Exception:  # of many small measures, which fail in as many ways; they are an extra
            return {}
    return {f"{EXTRA}{name}": _finite(value) for name, value in zip(names, found, strict=True)}


def _finite(value: Any) -> float | None:
    if not isinstance(value, int | float | np.integer | np.floating) or not np.isfinite(value):
        return None
    return float(value)
