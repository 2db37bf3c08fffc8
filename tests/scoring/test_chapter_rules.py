"""What the chapter's convention does where the equations are silent (metrics.md, "Two conventions")."""

import numpy as np
import pytest

from scoring import UndefinedMetricError, score, score_all

THREE_CLASSES = np.eye(3)[[0, 1, 2, 0, 1, 2]]
CLASS_TWO_ABSENT = np.eye(3)[[0, 1, 0, 0, 1, 1]]


def value(solution, prediction, task, metric, **more):
    return score(solution, prediction, task=task, metric=metric, stderr=False, **more)


@pytest.mark.parametrize("metric", ["BAC", "AUC", "F1"])
def test_an_absent_class_is_left_out_of_the_mean_and_of_the_number_of_classes(metric):
    prediction = np.array([[0.8, 0.1], [0.3, 0.7], [0.4, 0.6], [0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    with_a_third = np.column_stack([prediction, np.zeros(6)])
    scored = value(CLASS_TWO_ABSENT, with_a_third, "multiclass", metric)
    assert scored.left_out == 1
    assert scored.value == value(CLASS_TWO_ABSENT[:, :2], prediction, "multiclass", metric).value


def test_a_label_that_every_row_has_is_left_out_of_auc_and_bac_but_kept_for_f1():
    solution = np.array([[1, 0], [1, 1], [1, 0], [1, 1]])
    prediction = np.array([[0.9, 0.1], [0.2, 0.7], [0.9, 0.6], [0.9, 0.8]])
    for metric in ("BAC", "AUC"):
        scored = value(solution, prediction, "multilabel", metric)
        assert scored.left_out == 1
        assert scored.value == value(solution[:, 1], prediction[:, 1], "binary", metric).value
    kept = value(solution, prediction, "multilabel", "F1")
    assert kept.left_out == 0
    assert kept.raw == pytest.approx((2 * 3 / (3 + 4) + 2 * 2 / (2 + 3)) / 2)


def test_a_class_that_is_present_and_never_predicted_has_f1_zero():
    always_first = np.tile([1.0, 0.0, 0.0], (6, 1))
    scored = value(THREE_CLASSES, always_first, "multiclass", "F1")
    assert scored.raw == pytest.approx((2 * 2 / (2 + 6)) / 3)
    assert value([1, 0, 1, 0], [0, 0, 0, 0], "binary", "F1").value == -1.0


@pytest.mark.parametrize("metric", ["R2", "ABS", "BAC", "AUC", "F1", "PAC"])
@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, -7.3, 1e6])
def test_one_value_everywhere_in_the_solution_leaves_every_metric_undefined(metric, constant):
    with pytest.raises(UndefinedMetricError, match="one value everywhere"):
        value([constant] * 5, np.linspace(0, 1, 5), "binary", metric)


@pytest.mark.parametrize("metric", ["BAC", "AUC", "F1", "PAC"])
def test_one_class_alone_leaves_the_multiclass_metrics_undefined(metric):
    with pytest.raises(UndefinedMetricError):
        value(np.eye(3)[[1, 1, 1]], np.full((3, 3), 1 / 3), "multiclass", metric)


def test_no_sample_is_undefined():
    with pytest.raises(UndefinedMetricError, match="no sample"):
        value(np.zeros((0, 1)), np.zeros((0, 1)), "regression", "R2")


def test_an_all_zero_row_under_multiclass_pac_is_a_uniform_row_and_is_reported():
    prediction = np.array([[0.8, 0.1, 0.1], [0, 0, 0], [0.1, 0.1, 0.8]])
    uniform = prediction.copy()
    uniform[1] = 1 / 3
    solution = np.eye(3)
    scored = value(solution, prediction, "multiclass", "PAC")
    assert scored.value == pytest.approx(value(solution, uniform, "multiclass", "PAC").value)
    assert any("all zero" in warning for warning in scored.warnings)


@pytest.mark.parametrize("low, high", [(-1, 1), (1, 2), (0, 0.5)])
@pytest.mark.parametrize("metric", ["BAC", "AUC", "F1", "PAC"])
def test_solutions_coded_otherwise_score_the_same(low, high, metric):
    solution = np.array([0, 1, 1, 0, 1, 0, 0])
    prediction = np.array([0.1, 0.8, 0.3, 0.6, 0.9, 0.2, 0.25])
    expected = value(solution, prediction, "binary", metric).value
    coded = value(low + (high - low) * solution, low + (high - low) * prediction, "binary", metric)
    assert coded.value == pytest.approx(expected, abs=1e-12)


def test_a_constant_output_of_a_regression_is_left_out():
    solution = np.array([[1.0, 3.0], [2.0, 3.0], [4.0, 3.0]])
    prediction = np.array([[1.1, 9.0], [2.0, 9.0], [3.0, 9.0]])
    scored = value(solution, prediction, "regression", "R2")
    assert scored.left_out == 1
    assert scored.value == value(solution[:, 0], prediction[:, 0], "regression", "R2").value


def test_it_warns_when_more_than_one_percent_of_the_values_were_clipped():
    solution = np.tile([0, 1], 100)
    prediction = np.tile([0.2, 0.7], 100)
    assert value(solution, prediction, "binary", "AUC").warnings == ()
    prediction[:3] = 1.5
    assert any("clipped" in warning for warning in value(solution, prediction, "binary", "AUC").warnings)


def test_the_base_of_f1_is_not_what_guessing_reaches_on_unbalanced_classes():
    generator = np.random.default_rng(3)
    solution = (generator.random(200_000) < 0.2).astype(float)
    scored = value(solution, generator.random(200_000), "binary", "F1")
    assert scored.value == pytest.approx(-0.43, abs=0.01)


def test_a_binary_score_does_not_depend_on_lying_or_standing_vectors():
    solution, prediction = [0, 1, 1, 0], [0.1, 0.9, 0.4, 0.6]
    standing = value(np.reshape(solution, (-1, 1)), np.reshape(prediction, (-1, 1)), "binary", "BAC")
    assert value(solution, prediction, "binary", "BAC").value == standing.value == 0.0


def test_large_offsets_do_not_eat_the_digits_of_r2_and_abs():
    generator = np.random.default_rng(0)
    solution, noise = generator.integers(0, 1000, 500) / 8, generator.integers(-20, 20, 500) / 8
    for metric in ("R2", "ABS"):
        near = value(solution, solution + noise, "regression", metric).value
        far = value(solution + 2.0**33, solution + noise + 2.0**33, "regression", metric).value
        assert far == pytest.approx(near, rel=1e-9)


def test_time_does_not_explode_on_ties():
    solution = np.tile([0, 1], 500_000)
    assert value(solution, np.full(1_000_000, 0.5), "binary", "AUC").value == 0.0


def test_score_all_gives_the_metrics_that_make_sense():
    assert set(score_all([0, 1, 1], [0.1, 0.9, 0.3], task="binary")) == {"BAC", "AUC", "F1", "PAC"}
    assert set(score_all([0.5, 1.5, 2], [0.1, 0.9, 0.3], task="regression")) == {"R2", "ABS"}
    only_f1 = score_all([[1, 0], [1, 0]], [[0.9, 0.1], [0.2, 0.1]], task="multilabel", stderr=False)
    assert set(only_f1) == {"F1"}
    with pytest.raises(UndefinedMetricError):
        score_all([1, 1], [0.1, 0.2], task="binary")
