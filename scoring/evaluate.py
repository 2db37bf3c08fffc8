"""`score` and `score_all`: one call from arrays to a Score."""

from dataclasses import dataclass

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

# How far the two conventions may lie apart for the chapter's replicates to describe both.
_AGREEMENT = 1e-9


@dataclass(frozen=True, slots=True)
class Score:
    """Value of one metric.

    Attributes:
        task, metric, convention: canonical names.
        value: normalised, 0 for guessing and 1 for perfect. NaN or infinite only under `libscores`.
        raw: before normalising.
        stderr: bootstrap standard error of `value` for the scored rows; None when it was not asked
            for or is not defined.
        left_out: how many classes, labels or outputs the solution does not define the metric on.
        replicates: (replicates,) float32 bootstrap values of `value`, or None.
        warnings: sentences for the person who scored.
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
    solution_name: str = targets.SOLUTION_NAME,
    prediction_name: str = targets.PREDICTION_NAME,
) -> Score:
    """Score a prediction against a solution.

    Args:
        solution: (P, C) or (P,) real numbers; multi-class as C one-hot columns or one column of
            class numbers.
        prediction: real numbers of the same shape.
        task, metric: in any usual spelling (`scoring.names`).
        convention: `chapter`, or `libscores` for the reference scorer with its quirks.
        stderr: whether to compute the standard error.
        replicates: number of bootstrap replicates.
        seed: of the resamples; the same seed and solution give every entrant the same resamples.
        solution_name, prediction_name: what error sentences call the two, such as file names.

    Raises:
        BadPredictionError, BadSolutionError, UndefinedMetricError: one sentence each.
        UnknownNameError: no such task, metric or convention.

    >>> score([0, 0, 1, 1], [0.1, 0.6, 0.4, 0.9], task="binary", metric="auc", stderr=False).value
    0.5
    """
    task, metric = canonical_task(task), canonical_metric(metric)
    names = (solution_name, prediction_name)
    if canonical_convention(convention) == LIBSCORES:
        return _score_as_reference(
            solution, prediction, task, metric, stderr=stderr, replicates=replicates, seed=seed, names=names
        )
    pair = targets.check_pair(
        solution, prediction, task=task, solution_name=solution_name, prediction_name=prediction_name
    )
    subject = pair if metric in REGRESSION_METRICS else targets.to_classification(pair, task=task)
    return _score_checked(subject, task, metric, replicates=replicates if stderr else 0, seed=seed)


def score_all(
    solution: ArrayLike,
    prediction: ArrayLike,
    *,
    task: str,
    convention: str = CHAPTER,
    stderr: bool = True,
    replicates: int = 200,
    seed: int = 0,
) -> dict[str, Score]:
    """Return every metric that makes sense for the task: R2 and ABS, or BAC, AUC, F1 and PAC.

    A metric that the solution leaves undefined is absent.

    Raises:
        As `score`; UndefinedMetricError when no metric is defined.
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
            )
        except UndefinedMetricError as error:
            reason = error
    if reason is not None and not scores:
        raise reason
    return scores


def _score_checked(
    subject: targets.Pair | targets.Targets, task: str, metric: str, *, replicates: int, seed: int
) -> Score:
    """Score what passed the gate; `replicates` 0 leaves the standard error out."""
    if isinstance(subject, targets.Pair):
        measured = metrics.REGRESSION_FUNCTIONS[metric](subject)
    else:
        measured = metrics.CLASSIFICATION_FUNCTIONS[metric](subject)
    values = bootstrap.replicate_values(metric, subject, count=replicates, seed=seed) if replicates else None
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
    stderr: bool,
    replicates: int,
    seed: int,
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
    if stderr:
        try:
            chapter = score(truth, guess, task=task, metric=metric, replicates=replicates, seed=seed)
        except ScoringError:
            chapter = None
    agree = chapter is not None and abs(chapter.value - value) <= _AGREEMENT * max(1.0, abs(value))
    warnings: tuple[str, ...] = ()
    if stderr and not agree:
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
