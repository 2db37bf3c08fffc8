"""Quirks of the reference scorer that need no shared case to be checked."""

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
