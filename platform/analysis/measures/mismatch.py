"""What another metric would have said of the same predictions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.measures.agreement import kendall, spearman

Floats = NDArray[np.float64]
EPSILON = 1e-12  # scores closer than this are equal
COMMON_METRICS = ("BAC", "R2")


def common_metric(task_kind: str) -> str:
    """Return the metric that all datasets of a kind of task have in common: R2 for regression, else BAC.

    As the chapter's figure 10.9 has it.
    """
    return "R2" if task_kind == "regression" else "BAC"


@dataclass(frozen=True)
class Mismatch:
    """The scores of n entrants on one dataset under two metrics.

    `swapped` is the share of pairs that the metrics order the other way round, of all pairs that both tell apart;
    NaN without such a pair. `winner_place` is the place, from 1, that the first metric's winner has under the
    second; `same_winner` whether the second metric has the same best entrant.
    """

    n: int
    spearman: float
    kendall: float
    swapped: float
    winner_place: int | None
    same_winner: bool | None


def mismatch(first: ArrayLike, second: ArrayLike) -> Mismatch:
    """Return how the order of entrants changes from one metric to another; both (n,), NaN where one is missing.

    Of several winners under the first metric the one that is best under the second counts, because the metrics
    do not contradict each other then.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    known = np.isfinite(one) & np.isfinite(other)
    one, other = one[known], other[known]
    if not len(one):
        return Mismatch(0, float("nan"), float("nan"), float("nan"), None, None)
    best = other[one >= one.max() - EPSILON].max()
    place = 1 + int(np.sum(other > best + EPSILON))
    return Mismatch(len(one), spearman(one, other), kendall(one, other), _swapped(one, other), place, place == 1)


def _swapped(one: Floats, other: Floats) -> float:
    rows, columns = np.triu_indices(len(one), 1)
    first, second = _sign(one[rows] - one[columns]), _sign(other[rows] - other[columns])
    told = (first != 0) & (second != 0)
    return float(np.mean(first[told] != second[told])) if told.any() else float("nan")


def _sign(difference: Floats) -> Floats:
    return np.where(np.abs(difference) <= EPSILON, 0.0, np.sign(difference))
