"""Skewness and kurtosis of features, and what principal components say, as auto-sklearn's meta-features."""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kurtosis, skew

Floats = NDArray[np.float64]
Values = dict[str, float | None]

SHARE = 0.95  # of the variance
MOST_COMPONENT_ROWS = 4_000


def statistical(X: Floats) -> Values:
    """Minimum, maximum, mean and population standard deviation of the columns' skewness and excess kurtosis.

    X: (n, q) without gaps. Constant columns have neither and are left out.
    """
    varied = X[:, np.ptp(X, axis=0) > 0]
    found: Values = {}
    for name, measure in (("Skewness", skew), ("Kurtosis", kurtosis)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns that are nearly constant
            values = np.asarray(measure(varied, axis=0)) if varied.size else np.zeros(0)
        values = values[np.isfinite(values)]
        for suffix, of in (("Min", np.min), ("Max", np.max), ("Mean", np.mean), ("STD", np.std)):
            found[name + suffix] = float(of(values)) if values.size else None
    return found


def principal_components(X: Floats) -> Values:
    """The share of components that hold 95% of the variance, and kurtosis and skewness of the first one.

    X: (n, q) without gaps, numbers standardised as in auto-sklearn. The sign of a component is arbitrary, and so
    would be the skewness: the first one's largest loading is made positive.
    """
    names = ("PCAFractionOfComponentsFor95PercentVariance", "PCAKurtosisFirstPC", "PCASkewnessFirstPC")
    step = -(-len(X) // MOST_COMPONENT_ROWS)
    centred = X[::step] - X[::step].mean(axis=0)
    if min(centred.shape) < 2 or not np.isfinite(centred).all() or not centred.any():
        return dict.fromkeys(names)
    try:
        _, spread, loadings = np.linalg.svd(centred, full_matrices=False)
    except np.linalg.LinAlgError:
        return dict.fromkeys(names)
    held = np.cumsum(spread**2) / np.sum(spread**2)
    needed = min(int(np.searchsorted(held, SHARE)) + 1, len(held))
    first = centred @ (loadings[0] * np.sign(loadings[0][np.argmax(np.abs(loadings[0]))]))
    return dict(zip(names, (needed / X.shape[1], float(kurtosis(first)), float(skew(first))), strict=True))
