"""Quirks of the reference scorer that need no shared case to be checked."""

import zlib

import numpy as np
import pytest

from scoring import BadPredictionError, score
from scoring.oldsort import quicksort_order


def reference(solution, prediction, task, metric, **more):
    return score(solution, prediction, task=task, metric=metric, convention="libscores", **more)


def test_an_absent_class_counts_as_found():
    solution = np.eye(3)[[0, 1, 0]]
    assert reference(solution, solution, "multiclass", "BAC").value == pytest.approx(1.0)
    assert reference(solution, solution, "multiclass", "F1").value == pytest.approx(1.0)


def test_a_column_without_positives_has_auc_zero_and_one_without_negatives_none():
    prediction = [0.1, 0.2, 0.3]
    assert reference([0, 0, 0], prediction, "binary", "AUC").value == -1.0
    assert np.isnan(reference([1, 1, 1], prediction, "binary", "AUC").value)


def test_nan_predictions_rank_highest():
    assert reference([0, 1, 0], [0.1, np.nan, 0.9], "binary", "AUC").value == 1.0


def test_infinities_become_the_largest_other_value_and_nan_the_middle():
    solution = [1.0, 2.0, 3.0, 4.0]
    repaired = reference(solution, [1.0, np.inf, np.nan, 5.0], "regression", "R2").value
    assert repaired == pytest.approx(reference(solution, [1.0, 5.0, 3.0, 5.0], "regression", "R2").value)


def test_it_raises_where_the_reference_raised():
    with pytest.raises(BadPredictionError):
        reference([1.0, 2.0], [np.inf, np.inf], "regression", "R2")


def test_its_standard_error_is_the_chapters_where_both_agree_and_absent_elsewhere():
    solution, prediction = [0, 1, 1, 0, 1], [0.2, 0.7, 0.4, 0.5, 0.9]
    agreeing = reference(solution, prediction, "binary", "AUC")
    assert agreeing.stderr == score(solution, prediction, task="binary", metric="AUC").stderr
    apart = reference([0, 1, 0], [0.1, np.nan, 0.9], "binary", "AUC")
    assert apart.stderr is None
    assert apart.replicates is None
    assert apart.warnings


@pytest.mark.parametrize("size", [0, 1, 2, 17, 18, 100, 2000])
@pytest.mark.parametrize("distinct", [1, 3, 1000])
def test_the_old_quicksort_sorts_with_nan_last(size, distinct):
    generator = np.random.default_rng(size)
    values = generator.integers(0, distinct, size).astype(float)
    values[generator.random(size) < 0.3] = np.nan
    order = quicksort_order(values)
    assert sorted(order) == list(range(size))
    assert np.array_equal(values[order], np.sort(values), equal_nan=True)


def pseudo_random(size, distinct, nan_every):
    """Values that are the same everywhere and always, some of them NaN."""
    values, state = [], 12345
    for _ in range(size):
        state = (1103515245 * state + 12345) % 2**31
        is_nan = (state >> 8) % nan_every == 0
        values.append(np.nan if is_nan else float((state >> 4) % distinct))
    return np.array(values)


def pipe_organ(half, nan_places):
    values = np.concatenate([np.arange(half), np.arange(half)[::-1]]).astype(float)
    values[nan_places] = np.nan
    return values


@pytest.mark.parametrize(
    "values, checksum",
    [
        (pseudo_random(17, 5, 2), 2991496951),
        (pseudo_random(300, 4, 3), 3518309578),
        (pseudo_random(2000, 1000, 5), 3344446213),
        (pipe_organ(500, slice(None, None, 7)), 1971320680),
        (pipe_organ(2500, [5, 6]), 3314730878),  # split so often that heap sort takes over
    ],
)
def test_the_old_quicksort_leaves_equal_values_in_the_order_numpy_1_12_did(values, checksum):
    order = ",".join(map(str, quicksort_order(values).tolist()))
    assert zlib.crc32(order.encode()) == checksum


def test_a_constant_solution_beside_infinities_divides_the_ranks_by_zero():
    solution, prediction = [[1.0], [np.inf], [1.0]], [[0.9], [0.1], [0.8]]
    assert reference(solution, prediction, "binary", "AUC").value == np.inf
    lowest = reference([[1.0], [1.0], [np.inf]], [[0.1], [0.2], [0.9]], "binary", "AUC")
    assert np.isnan(lowest.value)


def test_the_running_mean_shows_at_large_offsets():
    solution = 1e9 + np.random.default_rng(0).exponential(size=500)
    prediction = solution + 0.3
    mean = solution[0]
    for place, found in enumerate(solution[1:], start=1):
        mean = place / (place + 1.0) * mean + 1.0 / (place + 1) * found
    expected = 1 - np.abs(solution - prediction).mean() / np.abs(solution - mean).mean()
    assert reference(solution, prediction, "regression", "ABS").value == pytest.approx(expected, rel=1e-12)
