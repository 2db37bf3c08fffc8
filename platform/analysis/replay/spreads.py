"""The error bars of the published tables, by their authors' recipe, from predictions that were published, too."""

import numpy as np
from numpy.typing import NDArray

import scoring
from analysis.measures.bootstrap import SUBSAMPLE_SHARE

TIMES = 100
SEED = 2016


def subsample_spread(
    solution: NDArray[np.float64], prediction: NDArray[np.float64], *, task: str, metric: str, convention: str
) -> float:
    """The standard deviation of 100 scores on a tenth of the rows each, drawn without replacement.

    Parameters
    ----------
    solution, prediction : arrays of shape (P, C)
        As `scoring.score` takes them.
    task, metric, convention : str
        As of `scoring.score`.

    Returns
    -------
    float
        Normalised. NaN where fewer than two subsamples have a score.

    Notes
    -----
    Source: the tables of errors beside the chapter's scores. It is about `subsample_factor()` standard errors.
    """
    generator = np.random.Generator(np.random.PCG64(SEED))
    size = max(int(len(solution) * SUBSAMPLE_SHARE), 1)
    scores = []
    for _ in range(TIMES):
        rows = generator.choice(len(solution), size, replace=False)
        try:
            found = scoring.score(
                solution[rows], prediction[rows], task=task, metric=metric, convention=convention, stderr=False
            )
        except scoring.UndefinedMetricError:
            continue  # a subsample of one class alone
        scores.append(found.value)
    return float(np.std(scores)) if len(scores) > 1 else float("nan")
