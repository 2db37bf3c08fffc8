"""A single feature that gives the target away: alone it ranks or reproduces the target (nearly) perfectly."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from datasets.checks.finding import Finding, Severity, listed, said
from datasets.checks.material import Material, filled_counts

NEARLY_PERFECT = 0.999
# A feature that ranks so few rows of a class perfectly may do so by chance.
FEWEST_OF_A_CLASS = 20
FIRST_LOOK = 400  # rows of a first look; only suspects are looked at whole
# By so much a nearly perfect feature may fall short in the first look.
SHORT = 0.02
MOST_SUSPECTS = 200
MOST_LABELS = 40
MOST_STORED = 50_000_000  # values of a sparse table that are looked at, over all labels


def telling_features(material: Material) -> Iterator[Finding]:
    """Compare each feature of the training part with the target.

    Binary and multi-label tasks by the area under the ROC curve; multi-class tasks by the share of the feature's
    variance that lies between classes; regression by the correlation of values and of ranks, whatever the sign.
    Sparse features by correlation and by the ROC area of whether they are zero.
    """
    train = material.parsed.features["train"]
    place = material.data("train")
    for what, target in _targets(material):
        found = sorted(_suspects(train, target, material.is_regression))
        if not found:
            continue
        names = listed([material.feature(column) for column in found])
        verb = "gives" if len(found) == 1 else "give"
        sentence = f"{said(len(found), 'feature')} alone {verb} {what} away: {names}"
        mend = "See whether it was recorded after the target was known, or is a copy of it; then drop it."
        yield Finding("giveaway", Severity.WARNING, place, sentence, mend)


def _targets(material: Material) -> Iterator[tuple[str, np.ndarray]]:
    """(what it is, values (n,)) of each target that is worth a look."""
    targets = material.parsed.targets["train"]
    if material.is_regression:
        for column in np.asarray(targets, dtype=np.float64).reshape(len(targets), -1).T[:MOST_LABELS]:
            if len(column) >= FEWEST_OF_A_CLASS and np.ptp(column) > 0:
                yield "the target", column
    elif targets.ndim == 2:
        for index, column in enumerate(targets.T[: _labels_looked_at(material)]):
            if FEWEST_OF_A_CLASS <= column.sum() <= len(column) - FEWEST_OF_A_CLASS:
                yield f"label {material.label(index)}", column
    elif np.sort(np.bincount(targets))[-2:].min() >= FEWEST_OF_A_CLASS:
        yield "the class", targets


def _labels_looked_at(material: Material) -> int:
    """How many labels are compared: fewer where each look at a large sparse table takes long."""
    train = material.parsed.features["train"]
    return max(1, min(MOST_LABELS, MOST_STORED // max(1, train.nnz))) if material.is_sparse else MOST_LABELS


def _suspects(train: Any, target: np.ndarray, is_regression: bool) -> list[int]:
    """Columns that nearly give the target, first by a part of the rows, then by all."""
    if scipy.sparse.issparse(train):
        # A column that is zero far more often than the target has its usual value cannot follow it.
        least = (len(target) - int(np.unique(target, return_counts=True)[1].max())) // 2
        often = np.flatnonzero(filled_counts(train) >= max(1, least))
        strength = _sparse_strength(train[:, often], target, is_regression) if often.size else np.zeros(0)
        return list(often[strength >= NEARLY_PERFECT].tolist())
    strength = _strength_of(is_regression, target)
    if len(train) <= FIRST_LOOK:
        return list(np.flatnonzero(strength(train, target) >= NEARLY_PERFECT).tolist())
    rows = _first_rows(target, is_regression)
    first = strength(train[rows], target[rows])
    suspects = np.flatnonzero(first >= NEARLY_PERFECT - SHORT)[:MOST_SUSPECTS]
    if not suspects.size:
        return []
    whole = strength(train[:, suspects], target)
    return list(suspects[whole >= NEARLY_PERFECT].tolist())


def _first_rows(target: np.ndarray, is_regression: bool) -> np.ndarray:
    """Rows for a first look, from the whole length; as many of either class where there are two."""
    if is_regression or int(target.max()) > 1:
        groups = [np.arange(len(target))]
    else:
        groups = [np.flatnonzero(target == value) for value in (0, 1)]
    most = FIRST_LOOK // len(groups)
    chosen = [group[np.linspace(0, len(group) - 1, min(most, len(group))).astype(int)] for group in groups]
    return np.sort(np.concatenate(chosen))


def _strength_of(is_regression: bool, target: np.ndarray) -> Any:
    if is_regression:
        return _correlation
    return _area if int(target.max()) <= 1 else _between_classes


def _filled(values: np.ndarray) -> np.ndarray:
    """Missing values as one more value, below all others, as a tree would see them."""
    gaps = np.isnan(values)
    if not bool(gaps.any()):
        return values
    lowest = np.fmin.reduce(values, axis=0)
    return np.where(gaps, np.where(np.isnan(lowest), 0.0, lowest - 1.0), values)


def _ranks(values: np.ndarray) -> np.ndarray:
    """(n, f) mean ranks of each column, ties sharing theirs."""
    return np.asarray(pd.DataFrame(values).rank().to_numpy())


def _area(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """(f,) ROC areas of each column for class 1, by rank sums, mirrored where below a half."""
    positive = classes == 1
    count, others = int(positive.sum()), int((~positive).sum())
    if not count or not others:
        return np.zeros(values.shape[1])
    sums = _ranks(_filled(values))[positive].sum(axis=0)
    area = (sums - count * (count + 1) / 2) / (count * others)
    return np.asarray(np.maximum(area, 1 - area))


def _between_classes(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """(f,) shares of each column's variance that lie between classes (the correlation ratio)."""
    filled = _filled(values)
    centred = filled - filled.mean(axis=0)
    total = (centred**2).sum(axis=0)
    counts = np.bincount(classes)
    member = scipy.sparse.csr_matrix((np.ones(len(classes)), (classes, np.arange(len(classes)))))
    sums = member @ centred
    between = (sums**2 / np.maximum(counts, 1)[:, np.newaxis]).sum(axis=0)
    return np.asarray(np.divide(between, total, out=np.zeros_like(total), where=total > 0))


def _correlation(values: np.ndarray, target: np.ndarray) -> np.ndarray:
    """(f,) the larger of the absolute correlations of values and of ranks."""
    filled = _filled(values)
    by_value = _pearson(filled, target)
    by_rank = _pearson(_ranks(filled), _ranks(target[:, np.newaxis])[:, 0])
    return np.asarray(np.maximum(by_value, by_rank))


def _pearson(values: np.ndarray, target: np.ndarray) -> np.ndarray:
    centred, aim = values - values.mean(axis=0), target - target.mean()
    spread = np.sqrt((centred**2).sum(axis=0) * (aim**2).sum())
    return np.asarray(np.abs(np.divide(aim @ centred, spread, out=np.zeros_like(spread), where=spread > 0)))


def _sparse_strength(train: Any, target: np.ndarray, is_regression: bool) -> np.ndarray:
    """(f,) absolute correlation with the target, or the ROC area of being zero where that is larger."""
    rows = train.shape[0]
    if not is_regression and int(target.max()) > 1:
        return np.zeros(train.shape[1])
    aim = target - target.mean()
    values = np.nan_to_num(train.data)
    csr = scipy.sparse.csr_matrix((values, train.indices, train.indptr), shape=train.shape)
    sums = np.bincount(train.indices, weights=values, minlength=train.shape[1])
    squares = np.bincount(train.indices, weights=values**2, minlength=train.shape[1])
    spread = np.sqrt(np.maximum(squares - sums**2 / rows, 0) * (aim**2).sum())
    strength = np.abs(np.divide(csr.T @ aim, spread, out=np.zeros_like(spread), where=spread > 1e-12))
    if is_regression:
        return np.asarray(strength)
    ones = scipy.sparse.csr_matrix(((values != 0).astype(float), train.indices, train.indptr), shape=train.shape)
    shares = (ones.T @ (target == 1)) / max(1, (target == 1).sum())
    others = (ones.T @ (target != 1)) / max(1, (target != 1).sum())
    return np.asarray(np.maximum(strength, 0.5 + np.abs(shares - others) / 2))
