"""Podium's metrics: six scores for four kinds of task, with standard errors. numpy only.

>>> from scoring import score
>>> score([1.0, 2.0, 3.0], [1.1, 1.9, 3.2], task="regression", metric="r2", stderr=False).metric
'R2'
"""

from scoring.errors import (
    BadPredictionError,
    BadSolutionError,
    ScoringError,
    UndefinedMetricError,
    UnknownNameError,
)
from scoring.evaluate import Score, score, score_all
from scoring.resamples import block_length

__all__ = [
    "BadPredictionError",
    "BadSolutionError",
    "Score",
    "ScoringError",
    "UndefinedMetricError",
    "UnknownNameError",
    "block_length",
    "score",
    "score_all",
]
