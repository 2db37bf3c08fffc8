"""How far two scores of the same entrants agree: validation with test, one phase with another."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
SIGMA_OF_MAD = 1.4826  # standard deviations of a normal distribution in one median absolute deviation
SIGMA_OF_MEAN = 1.253314  # the same in one mean absolute deviation
OUTLYING = 3.5  # Iglewicz and Hoaglin's limit


def pearson(first: ArrayLike, second: ArrayLike) -> float:
    """Return Pearson's correlation of two (n,) arrays; NaN below two pairs or where one is constant."""
    return _correlation("pearsonr", first, second)


def spearman(first: ArrayLike, second: ArrayLike) -> float:
    """Return Spearman's rank correlation of two (n,) arrays; NaN below two pairs or where one is constant."""
    return _correlation("spearmanr", first, second)


def kendall(first: ArrayLike, second: ArrayLike) -> float:
    """Return Kendall's tau b of two (n,) arrays; NaN below two pairs or where one is constant."""
    return _correlation("kendalltau", first, second)


def _correlation(measure: str, first: ArrayLike, second: ArrayLike) -> float:
    from scipy import stats  # here: every process of the site knows of analyses, and few compute them

    one, other = _pairs(first, second)
    if len(one) < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        return float("nan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        warnings.simplefilter("ignore", stats.NearConstantInputWarning)
        return float(getattr(stats, measure)(one, other).statistic)


def _pairs(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    known = np.isfinite(one) & np.isfinite(other)
    return one[known], other[known]


def robust_z(values: ArrayLike) -> Floats:
    """Return how many robust standard deviations each of (n,) values lies from their median; NaN stays NaN.

    Notes
    -----
    (x - median) / (1.4826 MAD), after Iglewicz and Hoaglin 1993, "How to detect and handle outliers". Where more
    than half of the values are equal, MAD is 0 and the mean absolute deviation takes its place, as they advise;
    where all are equal, nothing is an outlier.
    """
    found = np.asarray(values, dtype=np.float64)
    known = found[np.isfinite(found)]
    if not len(known):
        return np.full_like(found, np.nan)
    away = np.abs(known - np.median(known))
    spread = SIGMA_OF_MAD * np.median(away) or SIGMA_OF_MEAN * away.mean()
    z = found - np.median(known)
    return z / spread if spread > 0 else z * 0


@dataclass(frozen=True)
class Agreement:
    """Two scores of n entrants compared. `gap` (n,) is the first minus the second, NaN where one is missing;
    `robust_z` (n,) is that of the gaps, and `outliers` are the places where it is beyond 3.5 either way.
    """

    n: int
    pearson: float
    spearman: float
    kendall: float
    gap: Floats
    robust_z: Floats
    outliers: tuple[int, ...]

    @property
    def mean_gap(self) -> float:
        """Of the entrants who have both; NaN for nobody."""
        return float(np.nanmean(self.gap)) if self.n else float("nan")

    @property
    def overfitted(self) -> tuple[int, ...]:
        """The outliers whose first score is too good for their second."""
        return tuple(place for place in self.outliers if self.robust_z[place] > 0)


def agreement(first: ArrayLike, second: ArrayLike) -> Agreement:
    """Return how far two scores of the same entrants agree; both are (n,), NaN where one is missing."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    gap = one - other
    z = robust_z(gap)
    outliers = tuple(int(place) for place in np.flatnonzero(np.nan_to_num(np.abs(z)) > OUTLYING))
    return Agreement(
        n=int(np.isfinite(gap).sum()),
        pearson=pearson(one, other),
        spearman=spearman(one, other),
        kendall=kendall(one, other),
        gap=gap,
        robust_z=z,
        outliers=outliers,
    )
