"""What the search for hyper-parameters gains over a library's defaults, dataset by dataset."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tuning:
    """The same method tuned and with its defaults on the same datasets.

    Attributes
    ----------
    pairs : int
        Datasets on which both have a score; `better`, `equal` and `worse` add up to it, from the tuned side.
    missing : int
        Datasets on which the tuned method has no score; `missing_default` those where the default has none.
    failed : int
        Tuned scores that are no better than guessing (at most 0); `failed_default` likewise.
    mean_gain, median_gain : float
        Of tuned minus default over the pairs; NaN without any.
    p_value : float
        Two-sided Wilcoxon signed-rank test; NaN where no pair differs.
    """

    pairs: int
    better: int
    equal: int
    worse: int
    missing: int
    missing_default: int
    failed: int
    failed_default: int
    mean_gain: float
    median_gain: float
    p_value: float


def tuning(default: Floats, tuned: Floats) -> Tuning:
    """Compare the scores of tuned methods with those of their defaults.

    Parameters
    ----------
    default, tuned : (n,) arrays
        Scores on the same datasets, or on the same pairs of dataset and method; NaN where one is missing.

    Source
    ------
    The chapter "Analysis of the AutoML Challenge Series 2015-2018", section 10.5.4; Wilcoxon (1945) for the test.
    Pairs are counted as they are, without a threshold: equal means equal to the last digit.
    """
    both = np.isfinite(default) & np.isfinite(tuned)
    gains = tuned[both] - default[both]
    differs = gains[gains != 0]
    return Tuning(
        pairs=gains.size,
        better=int((gains > 0).sum()),
        equal=int((gains == 0).sum()),
        worse=int((gains < 0).sum()),
        missing=int(np.isnan(tuned).sum()),
        missing_default=int(np.isnan(default).sum()),
        failed=int((tuned <= 0).sum()),
        failed_default=int((default <= 0).sum()),
        mean_gain=float(gains.mean()) if gains.size else np.nan,
        median_gain=float(np.median(gains)) if gains.size else np.nan,
        p_value=float(stats.wilcoxon(gains).pvalue) if differs.size else np.nan,
    )
