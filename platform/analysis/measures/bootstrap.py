"""How sure is a place? Paired bootstrap of the scores behind a board, and error bars by formula.

Replicates are n x T x B: the b-th values of all entrants on a dataset come of the same drawn rows of its test set,
so that entrants are compared pair by pair (Efron and Tibshirani 1993, chapters 6 and 13).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.measures.ranks import TOLERANCE, Floats, ranks

Replicates = NDArray[np.float32]
Bools = NDArray[np.bool_]
DRAWS = 2000  # of datasets and rows
COVERED = 0.95
SUBSAMPLE_SHARE = 0.1


@dataclass(frozen=True)
class Drawn:
    """Scores as they could have come out: n x T x B, without gaps where a score is not missing.

    `paired` of the `present` scores have replicates of their own; for `normal` ones values were drawn around the
    score by its standard error, each by itself, and `fixed` ones have neither and do not move.
    """

    values: Replicates
    present: int
    paired: int
    normal: int
    fixed: int


def drawn_scores(
    scores: Floats, stderr: Floats, replicates: Replicates, *, seed: int, digits: int = 4, count: int = 200
) -> Drawn:
    """Replicates of every score, made up from standard errors where there are none.

    Parameters
    ----------
    scores, stderr : arrays of shape (n, T)
        NaN where one is missing.
    replicates : array of shape (n, T, B)
        B may be 0. NaN where a score has none.
    seed : int
        Of the normal draws.
    digits : int
        To how many decimals scores are rounded. Draws are rounded alike, so that equal ones are as rare.
    count : int
        How many values to draw where B is 0.

    Returns
    -------
    Drawn
        A value that is undefined in a replicate is the score itself.
    """
    count = replicates.shape[2] or count
    values = np.repeat(scores[:, :, None], count, axis=2).astype(np.float32)
    own: Bools = np.zeros(scores.shape, dtype=bool)
    if replicates.shape[2]:
        own = np.asarray(np.isfinite(replicates).any(axis=2))
        values = np.where(np.isfinite(replicates), replicates, values)
    present = ~np.isnan(scores)
    values[~present] = np.nan
    normal = present & ~own & (np.nan_to_num(stderr) > 0)
    generator = np.random.Generator(np.random.PCG64(seed))
    noise = generator.standard_normal((int(normal.sum()), count))
    values[normal] = (scores[normal][:, None] + noise * stderr[normal][:, None]).astype(np.float32)
    values = values.round(digits)
    counts = [int(one.sum()) for one in (present, own & present, normal)]
    return Drawn(values, counts[0], counts[1], counts[2], counts[0] - counts[1] - counts[2])


def by_rows(values: Replicates) -> tuple[Floats, Floats]:
    """Mean ranks (dense) and mean scores in every replicate: both n x B. The datasets are as they are.

    A missing score counts 0 and stands last.
    """
    return ranks(values).mean(axis=1), np.nan_to_num(values).mean(axis=1, dtype=np.float64)


def by_datasets_then_rows(values: Replicates, *, seed: int, draws: int = DRAWS) -> Floats:
    """Mean ranks (dense) n x draws, with the datasets drawn with replacement, and then the rows of each."""
    count, tasks, replicates = values.shape
    found = ranks(values)
    generator = np.random.Generator(np.random.PCG64(seed))
    which = generator.integers(tasks, size=(draws, tasks))
    rows = generator.integers(replicates, size=(draws, tasks))
    total = np.zeros((count, draws))
    for place in range(tasks):
        total += found[:, which[:, place], rows[:, place]]
    return np.asarray(total / tasks)


def wins(numbers: Floats) -> Floats:
    """In what share of the draws each entrant has the smallest number; equal ones share it; (n,), sums to 1."""
    best = numbers <= numbers.min(axis=0, keepdims=True) + TOLERANCE
    return np.asarray((best / best.sum(axis=0, keepdims=True)).mean(axis=1))


def win_probabilities(numbers: Floats) -> Floats:
    """In what share of the draws the entrant of the row has a smaller number than that of the column: n x n.

    Equal ones count half, so that P(i beats j) + P(j beats i) = 1; 1/2 on the diagonal.
    """
    count = len(numbers)
    found = np.empty((count, count))
    for row in range(count):
        gap = numbers[row] - numbers
        found[row] = (gap < -TOLERANCE).mean(axis=1) + (np.abs(gap) <= TOLERANCE).mean(axis=1) / 2
    return found


def interval(numbers: Floats, covered: float = COVERED) -> tuple[Floats, Floats]:
    """The percentile interval over the last axis: lower and upper ends."""
    rest = 100 * (1 - covered) / 2
    low, high = np.percentile(numbers, [rest, 100 - rest], axis=-1)
    return low, high


def centred_interval(numbers: Floats, about: Floats, covered: float = COVERED) -> tuple[Floats, Floats]:
    """The percentile interval of draws (n, B), moved so that their mean lies on what they are about, (n,).

    For ranks: in draws equal scores drift apart and leaders fall back, so that mean ranks of draws lie on average
    behind the rank that they are drawn for, and a plain interval might not hold it. It does not go below rank 1.
    """
    low, high = interval(numbers, covered)
    shift = about - numbers.mean(axis=-1)
    return np.maximum(low + shift, np.minimum(about, 1.0)), high + shift


def not_told_apart(numbers: Floats, row: int, covered: float = COVERED) -> Bools:
    """Which entrants' paired interval of the difference to that of the row covers 0; (n,), true for itself."""
    low, high = interval(numbers - numbers[row], covered)
    return np.asarray((low <= TOLERANCE) & (high >= -TOLERANCE))


def tie_groups(numbers: Floats, order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Groups of entrants that are not told apart from the first of their group, numbered from 1; (n,).

    `order` are the rows from the first place to the last. Each group is opened by the first entrant that is told
    apart from who opened the one before; so members of a group need not be alike among themselves.
    """
    group = np.zeros(len(order), dtype=np.int64)
    number = 0
    alike: Bools = np.zeros(0, dtype=bool)
    first = 0  # the place of who opened the group
    for place, row in enumerate(order):
        if number == 0 or not alike[place - first]:
            number, first = number + 1, place
            # Those before have their group: of thousands who are all told apart this halves the work.
            alike = not_told_apart(numbers[order[place:]], 0)
        group[row] = number
    return group


def accuracy_error(error: float, rows: int) -> float:
    """The standard error of an error rate E measured on N rows: sqrt(E (1 - E) / N)."""
    return math.sqrt(error * (1 - error) / rows)


def balanced_accuracy_error(errors: Floats, rows: Floats) -> float:
    """The standard error of a balanced accuracy of C classes with error rates p on m rows each.

    sqrt(sum p (1 - p) / m) / C; with two classes the challenges' 0.5 sqrt(p1 q1 / m1 + p2 q2 / m2).
    """
    return float(np.sqrt((errors * (1 - errors) / rows).sum()) / len(errors))


def auc_error(auc: float, positives: int, negatives: int) -> float:
    """The standard error of an area under the ROC curve (Hanley and McNeil 1982, equation 1)."""
    one = auc / (2 - auc)
    two = 2 * auc * auc / (1 + auc)
    spread = auc * (1 - auc) + (positives - 1) * (one - auc**2) + (negatives - 1) * (two - auc**2)
    return math.sqrt(spread / (positives * negatives))


def relative_error(error: float, rows: int) -> float:
    """The standard error of an error rate as a share of it: sqrt((1 - E) / (N E))."""
    return math.sqrt((1 - error) / (rows * error))


def subsample_factor(share: float = SUBSAMPLE_SHARE) -> float:
    """By how much the spread over subsamples without replacement exceeds the standard error: sqrt((1 - f) / f).

    The authors of the challenge gave the standard deviation of 100 scores on 10% subsamples as error bars. A mean
    of f N of N rows has the variance s^2 (1 - f) / (f N), the score itself s^2 / N: 3 times too wide for f = 0.1.
    """
    return math.sqrt((1 - share) / share)
