"""Do entrants differ over the datasets? Friedman's test, Nemenyi's critical difference, and how many would do.

Source: Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7, section 3.2.2.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, chi2, f, studentized_range

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Friedman:
    """The test over N datasets and k entrants.

    `chi2` and its p-value are Friedman's without a correction for ties, as Demšar has it; `chi2_ties` is corrected
    for ties, as scipy has it; `f` is Iman and Davenport's, NaN where it is infinite. `mean_ranks` (k,) are means
    of fractional ranks.
    """

    n: int
    k: int
    mean_ranks: Floats
    chi2: float
    p_chi2: float
    chi2_ties: float
    p_ties: float
    f: float
    p_f: float

    @property
    def differs(self) -> bool:
        """Whether the entrants differ at 5%, by the test that is corrected for ties."""
        return bool(self.p_ties < 0.05)


def friedman(ranks: Floats) -> Friedman:
    """Friedman's test that all entrants are alike.

    Parameters
    ----------
    ranks : array of shape (k, N)
        Fractional ranks of k >= 2 entrants on N >= 1 datasets.

    Returns
    -------
    Friedman
        p-values are 1 and statistics 0 where all ranks are equal.

    Notes
    -----
    chi2 = 12 N / (k (k + 1)) (sum R_j^2 - k (k + 1)^2 / 4); F_F = (N - 1) chi2 / (N (k - 1) - chi2) with k - 1 and
    (k - 1)(N - 1) degrees of freedom. The correction divides chi2 by 1 - sum (t^3 - t) / (N k (k^2 - 1)), where t
    are the sizes of groups of equal ranks.
    """
    k, n = ranks.shape
    means = ranks.mean(axis=1)
    plain = 12 * n / (k * (k + 1)) * (float(means @ means) - k * (k + 1) ** 2 / 4)
    plain = max(plain, 0.0)
    room = 1 - _tied(ranks) / (n * k * (k * k - 1))
    corrected = plain / room if room > 1e-12 else 0.0
    rest = n * (k - 1) - plain
    ratio = (n - 1) * plain / rest if rest > 1e-9 else math.nan
    p_f = float(f.sf(ratio, k - 1, (k - 1) * (n - 1))) if n > 1 and math.isfinite(ratio) else math.nan
    return Friedman(
        n,
        k,
        means,
        plain,
        float(chi2.sf(plain, k - 1)),
        corrected,
        float(chi2.sf(corrected, k - 1)),
        ratio,
        p_f,
    )


def _tied(ranks: Floats) -> float:
    """The sum of t^3 - t over the groups of t equal ranks of each dataset."""
    total = 0.0
    for column in ranks.T:
        sizes = np.unique(column, return_counts=True)[1].astype(np.float64)
        total += float((sizes**3 - sizes).sum())
    return total


@lru_cache(maxsize=1000)
def q_value(k: int, alpha: float = 0.05) -> float:
    """Nemenyi's q for k entrants: the studentized range with infinite degrees of freedom, over root 2."""
    return float(studentized_range.ppf(1 - alpha, k, np.inf) / math.sqrt(2))


def critical_difference(k: int, n: int, alpha: float = 0.05) -> float:
    """CD = q sqrt(k (k + 1) / (6 N)): mean ranks that lie less apart are not told apart."""
    return q_value(k, alpha) * math.sqrt(k * (k + 1) / (6 * n))


def datasets_needed(k: int, gap: float, alpha: float = 0.05) -> int | None:
    """How many datasets make a gap between two mean ranks as large as the critical difference.

    None where there is no gap, which no number of datasets would tell.
    """
    if gap <= 0:
        return None
    return math.ceil(k * (k + 1) / 6 * (q_value(k, alpha) / gap) ** 2 - 1e-9)


def nemenyi(mean_ranks: Floats, k: int, n: int) -> Floats:
    """p-values of all pairs of these entrants, of k that were ranked on n datasets; symmetric, 1 on the diagonal.

    Equal to `scikit_posthocs.posthoc_nemenyi_friedman` where the mean ranks are those of all k.
    """
    gaps = np.abs(mean_ranks[:, None] - mean_ranks[None, :]) / math.sqrt(k * (k + 1) / (6 * n))
    distinct, place = np.unique(gaps, return_inverse=True)
    found = np.asarray(studentized_range.sf(distinct * math.sqrt(2), k, np.inf))
    values: Floats = np.clip(found[place].reshape(gaps.shape), 0.0, 1.0)
    np.fill_diagonal(values, 1.0)
    return values


def groups(sorted_means: Floats, difference: float) -> list[tuple[int, int]]:
    """The bars of a critical-difference diagram: first and last place of each longest run within the difference.

    `sorted_means` rise. Runs of one entrant are no bars.
    """
    found: list[tuple[int, int]] = []
    for first in range(len(sorted_means)):
        last = int(np.searchsorted(sorted_means, sorted_means[first] + difference, side="left")) - 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


@dataclass(frozen=True)
class SignTest:
    """Two entrants: on how many datasets the first and the second is ahead, equal ones, two-sided p-value."""

    first: int
    second: int
    equal: int
    p: float


def sign_test(ranks: Floats) -> SignTest:
    """The test for two entrants, ranks of shape (2, N); equal datasets say nothing (Demšar 2006, 3.1.4)."""
    first, second = int((ranks[0] < ranks[1]).sum()), int((ranks[1] < ranks[0]).sum())
    decided = first + second
    p = float(binomtest(first, decided).pvalue) if decided else 1.0
    return SignTest(first, second, ranks.shape[1] - decided, p)
