"""The one gate for targets: what comes out of it can be scored without looking at it again."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

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


# Numbers looked at together, so that a second look finds them in the cache: 512 kB.
BLOCK_SIZE = 65_536


@dataclass(frozen=True, slots=True)
class Pair:
    """Solution and prediction as finite float64 tables of one shape (P, C), P >= 1, not yet mapped.

    Attributes
    ----------
    solution, prediction : ndarray of float64, shape (P, C)
    solution_range, prediction_range : tuple of float
        Minimum and maximum of the whole table.
    labels : ndarray of int, shape (P,), or None
        Class of each row where the solution is known to be one-hot with the values 0 and 1.
    highest_columns : ndarray of int, shape (P,), or None
        Column of the first highest prediction of each row, where the gate came to know it.
    warnings : tuple of str
        Sentences for the person who scored.
    """

    solution: Floats
    prediction: Floats
    solution_range: tuple[float, float]
    prediction_range: tuple[float, float]
    labels: Ints | None = None
    highest_columns: Ints | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Targets:
    """A pair mapped for the classification metrics.

    Attributes
    ----------
    solution : ndarray of float64, shape (P, C)
    middle : float
        Of the solution's range; what reaches it is positive.
    scores : ndarray of float64, shape (P, C)
        The prediction, mapped into [0, 1].
    exclusive : bool
        The columns are the classes of a multi-class task (C >= 2); otherwise every column is a
        binary problem of its own.
    one_hot_labels : ndarray of int, shape (P,), or None
        The positive column of each row where every row has exactly one and C >= 2.
    highest_columns : ndarray of int, shape (P,), or None
        Column of the first highest score of each row, where it is known already.
    warnings : tuple of str
        Sentences for the person who scored.
    """

    solution: Floats
    middle: float
    scores: Floats
    exclusive: bool
    one_hot_labels: Ints | None
    highest_columns: Ints | None = None
    warnings: tuple[str, ...] = ()

    @property
    def one_hot(self) -> bool:
        """Whether every row has exactly one positive among several columns."""
        return self.one_hot_labels is not None

    @property
    def sample_count(self) -> int:
        """P."""
        return int(self.solution.shape[0])

    @property
    def column_count(self) -> int:
        """C."""
        return int(self.solution.shape[1])

    @cached_property
    def positive(self) -> Bools:
        """(P, C), where the solution is in the upper half of its range; made when first asked for."""
        return np.asarray(self.solution >= self.middle)

    @cached_property
    def labels(self) -> Ints:
        """(P,) first positive column of each row; 0 where a row has none."""
        return self.positive.argmax(axis=1) if self.one_hot_labels is None else self.one_hot_labels

    @cached_property
    def decided(self) -> Ints:
        """(P,) column of the highest score of each row; the first index wins a tie."""
        return self.scores.argmax(axis=1) if self.highest_columns is None else self.highest_columns

    def positives_of(self, column: int) -> Bools:
        """(P,) where one column is positive."""
        if self.one_hot_labels is not None:
            return np.asarray(self.one_hot_labels == column)
        return self.positive[:, column]


def as_table(values: ArrayLike, *, name: str, error: type[ScoringError]) -> Floats:
    """Return `values` as a float64 table (P, C); a vector becomes one column. Never copies without need.

    Parameters
    ----------
    values : array_like
    name : str
        What the sentence calls it.
    error : type
        BadPredictionError or BadSolutionError.

    Raises
    ------
    BadPredictionError, BadSolutionError
        As given by `error`: not real numbers, or more than two dimensions.

    Examples
    --------
    >>> as_table([True, False], name="x.predict", error=BadPredictionError).tolist()
    [[1.0], [0.0]]
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
    """Raise `error` with a sentence that says which of rows and columns differ from what is expected.

    Parameters
    ----------
    shape, expected : tuple of int
        Rows and columns.
    name : str
        What the sentence calls the table.
    error : type
        BadPredictionError or BadSolutionError.

    Examples
    --------
    >>> check_shape((40, 1), (45, 1), name="iris_test.predict", error=BadPredictionError)
    Traceback (most recent call last):
    scoring.errors.BadPredictionError: iris_test.predict has 40 rows, 45 are expected.
    """
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


def range_of(table: Floats, *, name: str, error: type[ScoringError]) -> tuple[float, float]:
    """Minimum and maximum of a table, read once.

    Parameters
    ----------
    table : ndarray of float64, shape (P, C)
        With at least one value.
    name : str
        What the sentence calls it.
    error : type
        BadPredictionError or BadSolutionError.

    Raises
    ------
    BadPredictionError, BadSolutionError
        As given by `error`: a value is NaN or infinite; the sentence names its row and column.

    Examples
    --------
    >>> range_of(np.array([[0.5, -1.0]]), name="x.predict", error=BadPredictionError)
    (-1.0, 0.5)
    """
    # Minimum and maximum carry NaN and infinity along, so no boolean copy of the table is needed.
    lowest, highest = zip(*((part.min(), part.max()) for part in _cached_parts(table)), strict=True)
    ends = float(np.min(lowest)), float(np.max(highest))
    if np.isfinite(ends).all():
        return ends
    row, column = np.unravel_index(int(np.argmin(np.isfinite(table))), table.shape)
    word = "NaN" if np.isnan(table[row, column]) else "an infinite value"
    raise error(f"{name} holds {word} in row {row + 1}, column {column + 1}; finite numbers are expected.")


def _cached_parts(table: Floats) -> Iterator[Floats]:
    """The values of a table in parts that fit the cache, or the whole where it is not contiguous."""
    for view in (table, table.T):
        if view.flags.c_contiguous:
            flat = view.reshape(-1)
            yield from (flat[first : first + BLOCK_SIZE] for first in range(0, flat.size, BLOCK_SIZE))
            return
    yield table


def check_pair(
    solution: ArrayLike,
    prediction: ArrayLike,
    *,
    task: str,
    expand: bool = True,
    solution_name: str = SOLUTION_NAME,
    prediction_name: str = PREDICTION_NAME,
) -> Pair:
    """Return the pair, checked: same shape, finite, at least one sample, not one value everywhere.

    A multi-class solution of one column of class numbers (from 0 or from 1) is expanded to one
    column for each class of the prediction.

    Parameters
    ----------
    solution, prediction : array_like, shape (P, C) or (P,)
    task : str
        Canonical name.
    expand : bool
        Whether a pair of single columns of class numbers is expanded; R2 and ABS take them as numbers.
    solution_name, prediction_name : str
        What the sentences call the two.

    Raises
    ------
    BadSolutionError, BadPredictionError, UndefinedMetricError
        One sentence each.

    Examples
    --------
    >>> check_pair([2, 1], [[0.1, 0.9], [0.8, 0.2]], task="multiclass.classification").solution.tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    truth = as_table(solution, name=solution_name, error=BadSolutionError)
    if truth.shape[0] == 0:
        raise UndefinedMetricError(f"{solution_name} has no sample, so no metric is defined on it.")
    labels = _one_hot_labels(truth) if task == MULTICLASS else None
    ends = (0.0, 1.0) if labels is not None else range_of(truth, name=solution_name, error=BadSolutionError)
    if ends[0] == ends[1]:
        raise UndefinedMetricError(
            f"{solution_name} has one value everywhere ({ends[0]:g}), so no metric is defined on it."
        )
    guess = as_table(prediction, name=prediction_name, error=BadPredictionError)
    warnings: tuple[str, ...] = ()
    if task == MULTICLASS and truth.shape[1] == 1 and guess.shape[0] == truth.shape[0]:
        range_of(guess, name=prediction_name, error=BadPredictionError)
        if expand or guess.shape[1] > 1:
            truth, guess, warnings = _expand_class_numbers(truth, guess, solution_name, prediction_name)
            ends = float(truth.min()), float(truth.max())
    check_shape(guess.shape, truth.shape, name=prediction_name, error=BadPredictionError)
    highest = None
    if labels is not None and guess.flags.c_contiguous:
        highest, guess_ends = _highest_columns(guess)
    if highest is None or not np.isfinite(guess_ends).all():
        guess_ends = range_of(guess, name=prediction_name, error=BadPredictionError)
    return Pair(truth, guess, ends, guess_ends, labels, highest, warnings)


def _highest_columns(table: Floats) -> tuple[Ints, tuple[float, float]]:
    """(P,) column of the first highest value of each row, and the range of the table, read once."""
    rows, columns = table.shape
    places = np.empty(rows, dtype=np.intp)
    lowest, highest = [], []
    height = max(1, BLOCK_SIZE // columns)
    starts = np.arange(height) * columns
    for first in range(0, rows, height):
        part = table[first : first + height]
        found = part.argmax(axis=1, out=places[first : first + height])
        lowest.append(part.min())
        highest.append(part.reshape(-1).take(starts[: len(part)] + found).max())
    return places, (float(np.min(lowest)), float(np.max(highest)))


def _one_hot_labels(table: Floats) -> Ints | None:
    """(P,) class of each row of a one-hot table of 0 and 1 with several columns; None for any other.

    Looked at in parts that fit the cache, and given up at the first part that is not one-hot.
    """
    rows, columns = table.shape
    if columns < 2 or not table.flags.c_contiguous:
        return None
    labels = np.empty(rows, dtype=np.intp)
    height = max(1, BLOCK_SIZE // columns)
    starts = np.arange(height) * columns
    for first in range(0, rows, height):
        part = table[first : first + height]
        places = part.argmax(axis=1, out=labels[first : first + height])
        # Nothing is negative and the rows' largest values, all 1, make up the sum: the rest is 0.
        own = part.reshape(-1).take(starts[: len(part)] + places)
        if part.min() != 0.0 or part.sum() != len(part) or own.min() != 1.0 or own.max() != 1.0:
            return None
    return labels


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

    Parameters
    ----------
    pair : Pair
    task : str
        Canonical name; decides whether columns exclude each other.

    Examples
    --------
    >>> pair = check_pair([-1, 1], [-0.5, 3.0], task="binary.classification")
    >>> to_classification(pair, task="binary.classification").scores.tolist()
    [[0.25], [1.0]]
    """
    truth = pair.solution
    lowest, highest = pair.solution_range
    # The sum of two very large values is infinite; the sum of their halves is not.
    middle = (lowest + highest) / 2.0 if abs(lowest + highest) < np.inf else lowest / 2.0 + highest / 2.0
    scores, clipped = _map_scores(pair)
    warnings = list(pair.warnings)
    if clipped > CLIPPED_SHARE_WORTH_A_WARNING:
        warnings.append(
            f"{clipped:.1%} of the predicted values lie outside the solution's range "
            f"[{lowest:g}, {highest:g}] and were clipped to it."
        )
    exclusive = task == MULTICLASS and truth.shape[1] > 1
    # Mapping and clipping can make values equal, so only an untouched prediction keeps its decisions.
    decided = pair.highest_columns if scores is pair.prediction else None
    targets = Targets(truth, middle, scores, exclusive, pair.labels, decided)
    if pair.labels is None and truth.shape[1] > 1:
        row_counts = targets.positive.sum(axis=1, dtype=np.int32)
        if row_counts.min() == 1 and row_counts.max() == 1:
            targets = replace(targets, one_hot_labels=targets.labels)
        elif exclusive:
            rows = int(np.count_nonzero(row_counts != 1))
            warnings.append(f"The solution has {_count(rows, 'row')} without exactly one class.")
    return replace(targets, warnings=tuple(warnings))


def _map_scores(pair: Pair) -> tuple[Floats, float]:
    """Return the mapped and clipped scores, and the share of values that had to be clipped."""
    prediction, (lowest, highest) = pair.prediction, pair.solution_range
    inside = pair.prediction_range[0] >= lowest and pair.prediction_range[1] <= highest
    clipped = 0.0
    if not inside:
        outside = np.count_nonzero(prediction < lowest) + np.count_nonzero(prediction > highest)
        clipped = outside / prediction.size
    if lowest == 0.0 and highest == 1.0:
        return (prediction if inside else np.clip(prediction, 0.0, 1.0)), clipped
    with np.errstate(over="ignore"):
        # The reference's own two steps; halved where the range itself is too large for a double.
        half = 1.0 if highest - lowest < np.inf else 0.5
        scores = prediction * half - lowest * half if half < 1.0 else prediction - lowest
        scores /= highest * half - lowest * half
    np.clip(scores, 0.0, 1.0, out=scores)
    return scores, clipped


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _are_expected(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'} expected"
