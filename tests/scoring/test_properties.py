"""One test for each property, over a table of all metrics and tasks."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from scoring import score

CLASSIFICATION = ("BAC", "AUC", "F1", "PAC")
TASKS = ("binary", "multiclass", "multilabel")
TABLE = [(task, metric) for task in TASKS for metric in CLASSIFICATION]
TABLE += [("regression", metric) for metric in ("R2", "ABS", *CLASSIFICATION)]
every_metric = pytest.mark.parametrize("task, metric", TABLE)
few_examples = settings(max_examples=25, deadline=None)


@dataclass
class Drawn:
    solution: np.ndarray
    prediction: np.ndarray


def make(task: str, seed: int, samples: int, *, grid: int = 0) -> Drawn:
    """A solution in which every class is present and absent, and a prediction that knows something."""
    generator = np.random.default_rng(seed)
    if task == "regression":
        solution = generator.normal(size=(samples, 1)) * 3 + 1
        return Drawn(solution, solution + generator.normal(size=(samples, 1)))
    if task == "multiclass":
        solution = np.eye(3)[generator.permutation(np.arange(samples) % 3)]
    elif task == "multilabel":
        solution = np.column_stack([generator.permutation(np.arange(samples) % k == 0) for k in (2, 3, 2)])
        solution = solution.astype(float)
    else:
        solution = generator.permutation(np.arange(samples) % 3 == 0).astype(float).reshape(-1, 1)
    prediction = np.clip(0.3 * solution + 0.6 * generator.random(solution.shape), 0.01, 0.99)
    return Drawn(solution, np.round(prediction * grid) / grid if grid else prediction)


def value(drawn: Drawn, task: str, metric: str) -> float:
    return score(drawn.solution, drawn.prediction, task=task, metric=metric, stderr=False).value


seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(6, 60)


@every_metric
@few_examples
@given(seed=seeds, samples=sizes)
def test_the_order_of_rows_does_not_matter(task, metric, seed, samples):
    drawn = make(task, seed, samples, grid=4)
    order = np.random.default_rng(seed).permutation(samples)
    shuffled = Drawn(drawn.solution[order], drawn.prediction[order])
    assert value(shuffled, task, metric) == pytest.approx(value(drawn, task, metric), abs=1e-12)


@every_metric
@few_examples
@given(seed=seeds, samples=sizes)
def test_a_perfect_prediction_scores_one_and_none_scores_more(task, metric, seed, samples):
    drawn = make(task, seed, samples)
    assert value(drawn, task, metric) <= 1.0
    if task != "regression" or metric != "PAC":  # probabilities of a regression are never perfect
        assert value(Drawn(drawn.solution, drawn.solution), task, metric) == pytest.approx(1.0, abs=1e-9)


@every_metric
@few_examples
@given(seed=seeds, samples=sizes)
def test_float32_fortran_order_and_read_only_arrays_are_fine_and_inputs_stay_unchanged(
    task, metric, seed, samples
):
    drawn = make(task, seed, samples, grid=8)
    exact = drawn.solution.astype(np.float32), drawn.prediction.astype(np.float32)
    expected = value(Drawn(exact[0].astype(float), exact[1].astype(float)), task, metric)
    assert value(Drawn(*exact), task, metric) == expected
    frozen = [np.asfortranarray(array.astype(float)) for array in exact]
    before = [array.copy() for array in frozen]
    for array in frozen:
        array.setflags(write=False)
    scored = score(*frozen, task=task, metric=metric, replicates=5)
    assert scored.value == pytest.approx(expected, abs=1e-12)
    assert all(np.array_equal(was, now) for was, now in zip(before, frozen, strict=True))


@every_metric
@pytest.mark.parametrize("convention", ["chapter", "libscores"])
def test_other_kinds_of_arrays_score_the_same_and_are_left_alone(task, metric, convention):
    drawn = make(task, 3, 40, grid=8)
    asked = {"task": task, "metric": metric, "convention": convention, "replicates": 3}
    expected = score(drawn.solution, drawn.prediction, **asked).value
    wide = [np.repeat(np.repeat(array, 2, axis=0), 3, axis=1) for array in (drawn.solution, drawn.prediction)]
    kinds = {
        "strided": [array[::2, ::3] for array in wide],
        "reversed twice": [array[::-1].copy()[::-1] for array in (drawn.solution, drawn.prediction)],
        "big-endian": [array.astype(">f8") for array in (drawn.solution, drawn.prediction)],
        "lists": [array.tolist() for array in (drawn.solution, drawn.prediction)],
        "extended": [array.astype(np.longdouble) for array in (drawn.solution, drawn.prediction)],
    }
    if task != "regression":
        kinds["booleans and halves"] = [drawn.solution.astype(bool), drawn.prediction.astype(np.float16)]
    for name, (solution, prediction) in kinds.items():
        before = np.array(solution), np.array(prediction)
        assert score(solution, prediction, **asked).value == pytest.approx(expected, abs=1e-12), name
        assert np.array_equal(before[0], solution), name
        assert np.array_equal(before[1], prediction), name


@every_metric
def test_the_reference_leaves_nan_and_infinity_of_its_inputs_alone(task, metric):
    drawn = make(task, 3, 40)
    drawn.prediction[::5] = np.nan
    drawn.prediction[1::7] = np.inf
    drawn.prediction[2::7] = -np.inf
    before = drawn.prediction.copy()
    score(drawn.solution, drawn.prediction, task=task, metric=metric, convention="libscores")
    assert np.array_equal(before, drawn.prediction, equal_nan=True)


@every_metric
@few_examples
@given(seed=seeds, samples=sizes, grid=st.sampled_from([0, 2]))
def test_scores_stay_within_their_bounds(task, metric, seed, samples, grid):
    drawn = make(task, seed, samples, grid=grid)
    drawn.prediction = np.random.default_rng(seed).permuted(drawn.prediction, axis=0)
    scored = score(drawn.solution, drawn.prediction, task=task, metric=metric, stderr=False)
    assert scored.value <= scored.raw <= 1.0
    if metric in CLASSIFICATION:
        assert scored.raw >= 0.0
    if metric in ("BAC", "F1"):
        classes = drawn.solution.shape[1] if task == "multiclass" else 2
        assert scored.value >= -1.0 / (classes - 1) - 1e-12
    if metric == "AUC":
        assert scored.value >= -1.0


@pytest.mark.parametrize("task", TASKS)
@few_examples
@given(seed=seeds, samples=sizes, power=st.sampled_from([0.5, 2.0, 3.0]))
def test_auc_ignores_increasing_transforms_inside_the_range_that_merge_no_values(task, seed, samples, power):
    drawn = make(task, seed, samples, grid=50)
    bent = Drawn(drawn.solution, drawn.prediction**power)
    assume(np.unique(bent.prediction).size == np.unique(drawn.prediction).size)
    assert value(bent, task, "AUC") == value(drawn, task, "AUC")


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("metric", ["BAC", "AUC"])
@few_examples
@given(seed=seeds, samples=sizes, constant=st.floats(0, 1))
def test_a_constant_prediction_scores_zero(task, metric, seed, samples, constant):
    drawn = make(task, seed, samples)
    drawn.prediction = np.full(drawn.solution.shape, constant)
    assert value(drawn, task, metric) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("task", TASKS)
@few_examples
@given(seed=seeds, samples=sizes)
def test_predicting_the_class_frequencies_scores_pac_zero(task, seed, samples):
    drawn = make(task, seed, samples)
    drawn.prediction = np.broadcast_to(drawn.solution.mean(axis=0), drawn.solution.shape)
    assert value(drawn, task, "PAC") == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("metric", ["R2", "ABS"])
@few_examples
@given(seed=seeds, samples=sizes)
def test_predicting_the_mean_scores_zero(metric, seed, samples):
    drawn = make("regression", seed, samples)
    drawn.prediction = np.full(drawn.solution.shape, drawn.solution.mean())
    assert value(drawn, "regression", metric) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("metric", ["BAC", "AUC"])
def test_random_predictions_score_zero_on_average(task, metric):
    drawn = make(task, 1, 300)
    generator = np.random.default_rng(2)
    values = [
        value(Drawn(drawn.solution, generator.random(drawn.solution.shape)), task, metric) for _ in range(300)
    ]
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(len(values))


@pytest.mark.parametrize("metric", ["BAC", "AUC"])
@pytest.mark.parametrize(
    "solution",
    [[[0], [1], [1], [0], [1]], np.eye(3)[[0, 1, 2, 0, 0]], [[1, 0], [0, 0], [1, 1], [0, 1], [1, 0]]],
    ids=TASKS,
)
def test_over_all_orders_of_any_prediction_the_mean_score_is_exactly_zero(metric, solution):
    task = {1: "binary", 2: "multilabel", 3: "multiclass"}[np.shape(solution)[1]]
    prediction = np.random.default_rng(4).integers(0, 4, np.shape(solution)) / 3
    orders = itertools.permutations(range(5))
    values = [value(Drawn(np.array(solution), prediction[list(order)]), task, metric) for order in orders]
    assert np.mean(values) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("metric", ["R2", "ABS"])
def test_predicting_the_mean_of_every_output_scores_zero(metric):
    solution = np.random.default_rng(0).normal(size=(50, 3)) * [1, 10, 1000]
    prediction = np.broadcast_to(solution.mean(axis=0), solution.shape)
    assert value(Drawn(solution, prediction), "regression", metric) == pytest.approx(0.0, abs=1e-12)


@few_examples
@given(seed=seeds, samples=sizes, grid=st.sampled_from([0, 5]))
def test_binary_and_multilabel_equal_scikit_learn_where_its_definition_is_the_same(seed, samples, grid):
    for task in ("binary", "multilabel"):
        drawn = make(task, seed, samples, grid=grid)
        decided = (drawn.prediction >= 0.5).astype(int)
        auc = sklearn_metrics.roc_auc_score(drawn.solution, drawn.prediction, average="macro")
        assert value(drawn, task, "AUC") == pytest.approx(2 * auc - 1, abs=1e-12)
        columns = range(drawn.solution.shape[1])
        bac = [
            sklearn_metrics.balanced_accuracy_score(drawn.solution[:, k], decided[:, k], adjusted=True)
            for k in columns
        ]
        assert value(drawn, task, "BAC") == pytest.approx(np.mean(bac), abs=1e-12)
        f1 = [sklearn_metrics.f1_score(drawn.solution[:, k], decided[:, k], zero_division=0) for k in columns]
        assert value(drawn, task, "F1") == pytest.approx(2 * np.mean(f1) - 1, abs=1e-12)
        pac = [
            np.exp(
                -sklearn_metrics.log_loss(drawn.solution[:, k], np.clip(drawn.prediction[:, k], 1e-15, 1 - 1e-15))
            )
            for k in columns
        ]
        raw = score(drawn.solution, drawn.prediction, task=task, metric="PAC", stderr=False).raw
        assert raw == pytest.approx(np.mean(pac), rel=1e-9)


@few_examples
@given(seed=seeds, samples=sizes)
def test_multiclass_and_regression_equal_scikit_learn_where_its_definition_is_the_same(seed, samples):
    drawn = make("multiclass", seed, samples)
    truth, decided = drawn.solution.argmax(axis=1), drawn.prediction.argmax(axis=1)
    bac = sklearn_metrics.balanced_accuracy_score(truth, decided, adjusted=True)
    assert value(drawn, "multiclass", "BAC") == pytest.approx(bac, abs=1e-12)
    f1 = sklearn_metrics.f1_score(truth, decided, average="macro", zero_division=0)
    assert value(drawn, "multiclass", "F1") == pytest.approx((f1 - 1 / 3) / (1 - 1 / 3), abs=1e-12)
    shares = drawn.prediction / drawn.prediction.sum(axis=1, keepdims=True)
    auc = sklearn_metrics.roc_auc_score(drawn.solution, drawn.prediction, average="macro")
    assert value(drawn, "multiclass", "AUC") == pytest.approx(2 * auc - 1, abs=1e-12)
    raw = score(drawn.solution, drawn.prediction, task="multiclass", metric="PAC", stderr=False).raw
    assert raw == pytest.approx(np.exp(-sklearn_metrics.log_loss(truth, shares)), rel=1e-9)
    drawn = make("regression", seed, samples)
    r2 = sklearn_metrics.r2_score(drawn.solution, drawn.prediction)
    assert value(drawn, "regression", "R2") == pytest.approx(r2, rel=1e-9, abs=1e-12)


@every_metric
@few_examples
@given(seed=seeds, samples=sizes)
def test_both_conventions_agree_where_the_equations_define_a_value(task, metric, seed, samples):
    drawn = make(task, seed, samples, grid=16)
    arguments = {"task": task, "metric": metric, "stderr": False}
    chapter = score(drawn.solution, drawn.prediction, **arguments)
    reference = score(drawn.solution, drawn.prediction, convention="libscores", **arguments)
    assert chapter.left_out == 0
    assert chapter.value == pytest.approx(reference.value, rel=1e-9, abs=1e-9)
    assert chapter.raw == pytest.approx(reference.raw, rel=1e-9, abs=1e-9)
