"""`score` and `score_all`: one call from arrays to a Score."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring import bootstrap, libscores, metrics, targets
from scoring.errors import BadPredictionError, BadSolutionError, ScoringError, UndefinedMetricError
from scoring.names import (
    CHAPTER,
    CLASSIFICATION_METRICS,
    LIBSCORES,
    REGRESSION,
    REGRESSION_METRICS,
    canonical_convention,
    canonical_metric,
    canonical_task,
)
from scoring.resamples import units_of

# How far the two conventions may lie apart for the chapter's replicates to describe both.
_AGREEMENT = 1e-9


@dataclass(frozen=True, slots=True)
class Score:
    """Value of one metric.

    Attributes
    ----------
    task, metric, convention : str
        Canonical names.
    value : float
        Normalised, 0 for guessing and 1 for perfect. NaN or infinite only under `libscores`.
    raw : float
        Before normalising.
    stderr : float or None
        Bootstrap standard error of `value`: the noise of the scored rows, not of seeds or machines.
        None when it was not asked for or is not defined.
    left_out : int
        How many classes, labels or outputs the solution does not define the metric on.
    replicates : ndarray of float32, shape (replicates,), or None
        Bootstrap values of `value`.
    warnings : tuple of str
        Sentences for the person who scored.

    Examples
    --------
    >>> scored = score([0, 1, 1], [0.2, 0.9, 0.4], task="binary", metric="bac", stderr=False)
    >>> scored.value, scored.raw, scored.stderr
    (0.5, 0.75, None)
    """

    task: str
    metric: str
    convention: str
    value: float
    raw: float
    stderr: float | None
    left_out: int
    replicates: NDArray[np.float32] | None
    warnings: tuple[str, ...]


def score(
    solution: ArrayLike,
    prediction: ArrayLike,
    *,
    task: str,
    metric: str,
    convention: str = CHAPTER,
    stderr: bool = True,
    replicates: int = 200,
    seed: int = 0,
    blocks: int | None = None,
    groups: ArrayLike | None = None,
    solution_name: str = targets.SOLUTION_NAME,
    prediction_name: str = targets.PREDICTION_NAME,
) -> Score:
    """Score a prediction against a solution (equations 10.2 to 10.14).

    Parameters
    ----------
    solution : array_like, shape (P, C) or (P,)
        Real numbers; multi-class as C one-hot columns or one column of class numbers.
    prediction : array_like
        Real numbers of the same shape.
    task, metric : str
        In any usual spelling (`scoring.names`).
    convention : {"chapter", "libscores"}
        `libscores` is the reference scorer with its quirks.
    stderr : bool
        Whether to compute the standard error.
    replicates : int
        Number of bootstrap replicates, at least 1.
    seed : int
        Of the resamples, not negative; the same seed and solution give every entrant the same ones.
    blocks : int, optional
        For chronological data: rows are in the order of time and this many of them in a row are
        resampled together. `scoring.block_length` gives the usual length.
    groups : array_like, shape (P,), optional
        For grouped data: rows of equal number or word are resampled together.
    solution_name, prediction_name : str
        What error sentences call the two, such as file names.

    Returns
    -------
    Score

    Raises
    ------
    BadPredictionError, BadSolutionError, UndefinedMetricError
        One sentence each.
    UnknownNameError
        No such task, metric or convention.
    ValueError
        `replicates`, `seed`, `blocks` or `groups` make no sense.

    Examples
    --------
    >>> score([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], task="binary", metric="auc", stderr=False).value
    0.5
    >>> days = ["Mon", "Mon", "Tue", "Tue"]
    >>> score([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], task="binary", metric="auc", groups=days).replicates.shape
    (200,)
    """
    task, metric = canonical_task(task), canonical_metric(metric)
    names = (solution_name, prediction_name)
    if replicates < 1 or seed < 0:
        raise ValueError("At least 1 replicate and a seed that is not negative are needed.")
    resampling = _Resampling(replicates, seed, blocks, groups)
    if canonical_convention(convention) == LIBSCORES:
        return _score_as_reference(
            solution, prediction, task, metric, resampling=resampling if stderr else None, names=names
        )
    pair = targets.check_pair(
        solution,
        prediction,
        task=task,
        expand=metric not in REGRESSION_METRICS,
        solution_name=solution_name,
        prediction_name=prediction_name,
    )
    subject = pair if metric in REGRESSION_METRICS else targets.to_classification(pair, task=task)
    return _score_checked(subject, task, metric, resampling=resampling if stderr else None)


def score_all(
    solution: ArrayLike,
    prediction: ArrayLike,
    *,
    task: str,
    convention: str = CHAPTER,
    stderr: bool = True,
    replicates: int = 200,
    seed: int = 0,
    blocks: int | None = None,
    groups: ArrayLike | None = None,
) -> dict[str, Score]:
    """Return every metric that makes sense for the task: R2 and ABS, or BAC, AUC, F1 and PAC.

    A metric that the solution leaves undefined is absent.

    Parameters
    ----------
    solution, prediction, task, convention, stderr, replicates, seed, blocks, groups
        As of `score`.

    Returns
    -------
    dict of str to Score
        By canonical name.

    Raises
    ------
    As `score`; UndefinedMetricError when no metric is defined.

    Examples
    --------
    >>> scores = score_all([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], task="regression", stderr=False)
    >>> {name: scored.value for name, scored in scores.items()}
    {'R2': 0.5, 'ABS': 0.5}
    """
    chosen = REGRESSION_METRICS if canonical_task(task) == REGRESSION else CLASSIFICATION_METRICS
    scores: dict[str, Score] = {}
    reason: UndefinedMetricError | None = None
    for metric in chosen:
        try:
            scores[metric] = score(
                solution,
                prediction,
                task=task,
                metric=metric,
                convention=convention,
                stderr=stderr,
                replicates=replicates,
                seed=seed,
                blocks=blocks,
                groups=groups,
            )
        except UndefinedMetricError as error:
            reason = error
    if reason is not None and not scores:
        raise reason
    return scores


class _Resampling(NamedTuple):
    """What `score` was asked about resamples."""

    replicates: int
    seed: int
    blocks: int | None
    groups: ArrayLike | None


def _score_checked(
    subject: targets.Pair | targets.Targets, task: str, metric: str, *, resampling: _Resampling | None
) -> Score:
    """Score what passed the gate; without `resampling` the standard error is left out."""
    if isinstance(subject, targets.Pair):
        measured = metrics.REGRESSION_FUNCTIONS[metric](subject)
    else:
        measured = metrics.CLASSIFICATION_FUNCTIONS[metric](subject)
    values = None
    if resampling is not None:
        units = units_of(subject.solution.shape[0], blocks=resampling.blocks, groups=resampling.groups)
        values = bootstrap.replicate_values(
            metric, subject, count=resampling.replicates, seed=resampling.seed, units=units
        )
    return Score(
        task=task,
        metric=metric,
        convention=CHAPTER,
        value=measured.value,
        raw=measured.raw,
        stderr=None if values is None else bootstrap.standard_error(values),
        left_out=measured.left_out,
        replicates=None if values is None else values.astype(np.float32),
        warnings=subject.warnings + measured.warnings,
    )


def _score_as_reference(
    solution: ArrayLike,
    prediction: ArrayLike,
    task: str,
    metric: str,
    *,
    resampling: _Resampling | None,
    names: tuple[str, str],
) -> Score:
    """Score under the libscores convention; its standard error is the chapter's where both agree."""
    truth = targets.as_table(solution, name=names[0], error=BadSolutionError)
    guess = targets.as_table(prediction, name=names[1], error=BadPredictionError)
    if truth.shape[0] == 0:
        raise UndefinedMetricError(f"{names[0]} has no sample, so no metric is defined on it.")
    targets.check_shape(guess.shape, truth.shape, name=names[1], error=BadPredictionError)
    measured = libscores.measure(truth, guess, task=task, metric=metric)
    value = libscores.value_of(measured)
    chapter: Score | None = None
    if resampling is not None:
        try:
            chapter = score(truth, guess, task=task, metric=metric, **resampling._asdict())
        except ScoringError:
            chapter = None
    agree = chapter is not None and abs(chapter.value - value) <= _AGREEMENT * max(1.0, abs(value))
    warnings: tuple[str, ...] = ()
    if resampling is not None and not agree:
        warnings = ("The standard error is not defined where the reference scorer leaves the equations.",)
    return Score(
        task=task,
        metric=metric,
        convention=LIBSCORES,
        value=value,
        raw=measured.raw,
        stderr=chapter.stderr if chapter is not None and agree else None,
        left_out=0,
        replicates=chapter.replicates if chapter is not None and agree else None,
        warnings=warnings,
    )
