"""The one gate for targets: what comes out of it can be scored without looking at it again."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scoring.errors import BadPredictionError, BadSolutionError, ScoringError, UndefinedMetricError
from scoring.names import MULTICLASS

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]

SOLUTION_NAME = "The solution"
PREDICTION_NAME = "The prediction"
CLIPPED_SHARE_WORTH_A_WARNING = 0.01


@dataclass(frozen=True, slots=True)
class Pair:
    """Solution and prediction as finite float64 tables of one shape (P, C), P >= 1, not yet mapped."""

    solution: Floats
    prediction: Floats
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Targets:
    """A pair mapped for the classification metrics.

    Attributes:
        positive: (P, C), where the solution is in the upper half of its range.
        scores: (P, C) float64 in [0, 1].
        exclusive: the columns are the classes of a multi-class task (C >= 2); otherwise every
            column is a binary problem of its own.
        one_hot: every row has exactly one positive.
        labels: (P,) first positive column of each row; used for exclusive or one-hot targets.
        warnings: sentences for the person who scored.
    """

    positive: Bools
    scores: Floats
    exclusive: bool
    one_hot: bool
    labels: Ints
    warnings: tuple[str, ...] = field(default=())

    @property
    def sample_count(self) -> int:
        return int(self.positive.shape[0])

    @property
    def column_count(self) -> int:
        return int(self.positive.shape[1])


def as_table(values: ArrayLike, *, name: str, error: type[ScoringError]) -> Floats:
    """Return `values` as a float64 table (P, C); a vector becomes one column. Never copies without need.

    Raises:
        BadPredictionError, BadSolutionError (as given by `error`): not real numbers, or more than
            two dimensions.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise error(f"{name} holds {array.dtype} values, real numbers are expected.")
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2 or array.shape[1] == 0:
        raise error(f"{name} has shape {array.shape}, a table of samples by columns is expected.")
    with np.errstate(over="ignore"):
        return np.asarray(array, dtype=np.float64)


def check_shape(
    shape: tuple[int, ...], expected: tuple[int, ...], *, name: str, error: type[ScoringError]
) -> None:
    """Raise `error` with a sentence that says which of rows and columns differ from what is expected."""
    if shape == expected:
        return
    if shape[1] == expected[1]:
        raise error(f"{name} has {_count(shape[0], 'row')}, {_are_expected(expected[0])}.")
    if shape[0] == expected[0]:
        raise error(f"{name} has {_count(shape[1], 'column')}, {_are_expected(expected[1])}.")
    raise error(
        f"{name} has {_count(shape[0], 'row')} of {_count(shape[1], 'column')}, "
        f"{_count(expected[0], 'row')} of {_count(expected[1], 'column')} are expected."
    )


def check_finite(table: Floats, *, name: str, error: type[ScoringError]) -> None:
    """Raise `error` naming the first row and column that holds NaN or infinity."""
    # Minimum and maximum carry NaN and infinity along, so no boolean copy of the table is needed.
    if table.size == 0 or (np.isfinite(table.min()) and np.isfinite(table.max())):
        return
    row, column = np.unravel_index(int(np.argmin(np.isfinite(table))), table.shape)
    value = table[row, column]
    word = "NaN" if np.isnan(value) else "an infinite value"
    raise error(f"{name} holds {word} in row {row + 1}, column {column + 1}; finite numbers are expected.")


def check_pair(
    solution: ArrayLike,
    prediction: ArrayLike,
    *,
    task: str,
    solution_name: str = SOLUTION_NAME,
    prediction_name: str = PREDICTION_NAME,
) -> Pair:
    """Return the pair, checked: same shape, finite, at least one sample, not one value everywhere.

    A multi-class solution of one column of class numbers (from 0 or from 1) is expanded to one
    column for each class of the prediction.

    Raises:
        BadSolutionError, BadPredictionError, UndefinedMetricError: one sentence each.
    """
    truth = as_table(solution, name=solution_name, error=BadSolutionError)
    if truth.shape[0] == 0:
        raise UndefinedMetricError(f"{solution_name} has no sample, so no metric is defined on it.")
    check_finite(truth, name=solution_name, error=BadSolutionError)
    if truth.min() == truth.max():
        value = f"{truth.flat[0]:g}"
        raise UndefinedMetricError(
            f"{solution_name} has one value everywhere ({value}), so no metric is defined on it."
        )
    guess = as_table(prediction, name=prediction_name, error=BadPredictionError)
    warnings: tuple[str, ...] = ()
    if task == MULTICLASS and truth.shape[1] == 1 and guess.shape[0] == truth.shape[0]:
        check_finite(guess, name=prediction_name, error=BadPredictionError)
        truth, guess, warnings = _expand_class_numbers(truth, guess, solution_name, prediction_name)
    check_shape(guess.shape, truth.shape, name=prediction_name, error=BadPredictionError)
    check_finite(guess, name=prediction_name, error=BadPredictionError)
    return Pair(truth, guess, warnings)


def _expand_class_numbers(
    truth: Floats, guess: Floats, solution_name: str, prediction_name: str
) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Expand a column of class numbers to one column for each class, in the prediction too if it has one."""
    present = np.unique(truth)
    if guess.shape[1] == 1 and present.size == 2:
        return truth, guess, ()
    fractional = np.flatnonzero(truth[:, 0] != np.floor(truth[:, 0]))
    if fractional.size:
        row = int(fractional[0])
        raise BadSolutionError(
            f"{solution_name} holds {truth[row, 0]:g} in row {row + 1}, a whole class number is expected."
        )
    if guess.shape[1] == 1:
        return *_expand_both(truth, guess, prediction_name), ()
    class_count = guess.shape[1]
    lowest, highest = present[0], present[-1]
    warnings: tuple[str, ...] = ()
    if lowest >= 0 and highest <= class_count - 1:
        numbers = truth[:, 0].astype(np.intp)
        if lowest > 0 and highest < class_count:
            warnings = (f"{solution_name} holds class numbers {lowest:g} to {highest:g}, read as counted from 0.",)
    elif lowest >= 1 and highest <= class_count:
        numbers = truth[:, 0].astype(np.intp) - 1
    elif class_count == 2 and (lowest, highest) == (-1.0, 1.0) and present.size == 2:
        numbers = (truth[:, 0] > 0.0).astype(np.intp)
    else:
        raise BadPredictionError(
            f"{prediction_name} has {_count(class_count, 'column')}, but {solution_name[0].lower()}"
            f"{solution_name[1:]} holds class numbers from {lowest:g} to {highest:g}."
        )
    return _one_hot(numbers, class_count), guess, warnings


def _expand_both(truth: Floats, guess: Floats, prediction_name: str) -> tuple[Floats, Floats]:
    fractional = np.flatnonzero(guess[:, 0] != np.floor(guess[:, 0]))
    if fractional.size:
        row = int(fractional[0])
        raise BadPredictionError(
            f"{prediction_name} holds {guess[row, 0]:g} in row {row + 1}, "
            "a class number or one column for each class is expected."
        )
    classes = np.union1d(truth, guess)
    return (
        _one_hot(np.searchsorted(classes, truth[:, 0]), classes.size),
        _one_hot(np.searchsorted(classes, guess[:, 0]), classes.size),
    )


def _one_hot(numbers: Ints, class_count: int) -> Floats:
    table = np.zeros((numbers.size, class_count))
    table[np.arange(numbers.size), numbers] = 1.0
    return table


def to_classification(pair: Pair, *, task: str) -> Targets:
    """Map a pair by the solution's own minimum and maximum and clip the prediction to [0, 1].

    The solution's upper half becomes positive. This lets solutions coded -1/+1 or 1/2 and
    regression targets be scored by the classification metrics (metrics.md; normalize_array of the
    reference).
    """
    truth = pair.solution
    lowest, highest = float(truth.min()), float(truth.max())
    positive = truth >= (lowest + highest) / 2.0
    scores, clipped = _map_scores(pair.prediction, lowest, highest)
    warnings = list(pair.warnings)
    if clipped > CLIPPED_SHARE_WORTH_A_WARNING:
        warnings.append(
            f"{clipped:.1%} of the predicted values lie outside the solution's range "
            f"[{lowest:g}, {highest:g}] and were clipped to it."
        )
    exclusive = task == MULTICLASS and truth.shape[1] > 1
    row_counts = positive.sum(axis=1, dtype=np.int32)
    one_hot = bool(truth.shape[1] > 1 and row_counts.min() == 1 and row_counts.max() == 1)
    if exclusive and not one_hot:
        rows = int(np.count_nonzero(row_counts != 1))
        warnings.append(f"The solution has {_count(rows, 'row')} without exactly one class.")
    labels = positive.argmax(axis=1)
    return Targets(positive, scores, exclusive, one_hot, labels, tuple(warnings))


def _map_scores(prediction: Floats, lowest: float, highest: float) -> tuple[Floats, float]:
    """Return the mapped and clipped scores, and the share of values that had to be clipped."""
    inside = prediction.min() >= lowest and prediction.max() <= highest
    clipped = 0.0
    if not inside:
        outside = np.count_nonzero(prediction < lowest) + np.count_nonzero(prediction > highest)
        clipped = outside / prediction.size
    if lowest == 0.0 and highest == 1.0:
        return (prediction if inside else np.clip(prediction, 0.0, 1.0)), clipped
    scores = prediction - lowest
    scores /= highest - lowest
    np.clip(scores, 0.0, 1.0, out=scores)
    return scores, clipped


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _are_expected(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'} expected"
