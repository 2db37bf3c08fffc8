"""The gate for targets: what is refused, with which sentence, and which layouts are understood."""

import numpy as np
import pytest

from scoring import BadPredictionError, BadSolutionError, UnknownNameError, score
from scoring.names import canonical_metric, canonical_task


def auc(solution, prediction, task="binary", **more):
    return score(solution, prediction, task=task, metric="auc", stderr=False, **more)


@pytest.mark.parametrize("bad, word", [(np.nan, "NaN"), (np.inf, "infinite"), (-np.inf, "infinite")])
def test_it_names_row_and_column_of_a_value_that_is_not_finite(bad, word):
    prediction = np.full((4, 2), 0.5)
    prediction[2, 1] = bad
    solution = np.eye(2)[[0, 1, 0, 1]]
    with pytest.raises(BadPredictionError, match=f"^The prediction holds .*{word}.* row 3, column 2"):
        auc(solution, prediction, "multilabel")
    with pytest.raises(BadSolutionError, match=r"^The solution holds .* in row 3, column 2"):
        auc(prediction, solution, "multilabel")


def test_it_uses_the_file_names_it_was_given():
    with pytest.raises(BadPredictionError, match=r"^iris_test.predict has 2 rows, 3 are expected\.$"):
        auc([0, 1, 1], [0.2, 0.3], prediction_name="iris_test.predict")


@pytest.mark.parametrize(
    "solution, prediction, sentence",
    [
        ([0, 1], np.zeros((2, 2)), "The prediction has 2 columns, 1 is expected."),
        (np.eye(3), np.zeros((1, 9)), "The prediction has 1 row of 9 columns, 3 rows of 3 columns are expected."),
        ([0, 1], ["a", "b"], "The prediction holds <U1 values, real numbers are expected."),
        ([0, 1], [0.1, 1j], "The prediction holds complex128 values, real numbers are expected."),
        ([0, 1], np.zeros((2, 1, 1)), "The prediction has shape (2, 1, 1), a table of samples by columns"),
    ],
)
def test_it_refuses_what_is_no_table_of_the_right_shape(solution, prediction, sentence):
    with pytest.raises(BadPredictionError) as refused:
        auc(solution, prediction)
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("metric", ["BAC", "AUC", "F1", "PAC"])
def test_a_column_of_class_numbers_is_expanded(first, metric):
    numbers = np.array([0, 1, 2, 3, 1, 2, 0])
    prediction = np.random.default_rng(0).random((7, 4))
    expected = score(np.eye(4)[numbers], prediction, task="multiclass", metric=metric, stderr=False)
    given = score(numbers + first, prediction, task="multiclass", metric=metric, stderr=False)
    assert given.value == expected.value


def test_a_two_class_column_of_minus_one_and_one_is_expanded_too():
    prediction = np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    expected = auc(np.eye(2)[[0, 1, 1]], prediction, "multiclass").value
    assert auc([-1, 1, 1], prediction, "multiclass").value == expected


def test_class_numbers_on_both_sides_are_expanded():
    scored = score([3, 1, 2, 2], [3, 1, 2, 1], task="multiclass", metric="bac", stderr=False)
    assert scored.raw == pytest.approx((1 + 1 + 0.5) / 3)


@pytest.mark.parametrize(
    "solution, columns, error",
    [([0, 1, 5], 3, BadPredictionError), ([0, 1, 1.5], 3, BadSolutionError), ([-4, 1, 9], 2, BadPredictionError)],
)
def test_class_numbers_that_do_not_fit_are_refused(solution, columns, error):
    with pytest.raises(error):
        auc(solution, np.full((3, columns), 0.5), "multiclass")


def test_fractions_beside_class_numbers_are_refused():
    with pytest.raises(BadPredictionError, match="in row 2, a class number"):
        auc([0, 1, 2], [0, 0.5, 2], "multiclass")


def test_a_single_sample_stays_one_row():
    one_row = np.array([[0.0, 1.0, 1.0]])
    assert score(one_row, [[0.2, 0.9, 0.8]], task="multilabel", metric="f1", stderr=False).value == 1.0
    with pytest.raises(BadPredictionError, match="3 rows of 1 column"):
        auc(one_row, [0.2, 0.9, 0.8], "multilabel")


@pytest.mark.parametrize(
    "text, name",
    [
        ("r2", "R2"),
        ("R2_metric", "R2"),
        ("a", "ABS"),
        ("a_metric", "ABS"),
        ("abs", "ABS"),
        ("bac_multiclass", "BAC"),
        ("bac_binary_score", "BAC"),
        ("'auc_metric'", "AUC"),
        ("F1_Metric", "F1"),
        ("pac_multilabel", "PAC"),
    ],
)
def test_metrics_have_many_spellings(text, name):
    assert canonical_metric(text) == name


@pytest.mark.parametrize("text", ["binary", "Binary.Classification", "binary classification"])
def test_tasks_have_many_spellings(text):
    assert canonical_task(text) == "binary.classification"


@pytest.mark.parametrize("text", ["", "accuracy", "r2r2", "metric"])
def test_an_unknown_metric_lists_the_known_ones(text):
    with pytest.raises(UnknownNameError, match="R2, ABS, BAC, AUC, F1, PAC"):
        canonical_metric(text)


@pytest.mark.parametrize("text", ["", "classification", "binary.regression", "unary"])
def test_an_unknown_task_lists_the_known_ones(text):
    with pytest.raises(UnknownNameError, match=r"binary\.classification"):
        canonical_task(text)


def test_an_unknown_convention_is_refused():
    with pytest.raises(UnknownNameError, match="chapter, libscores"):
        auc([0, 1], [0, 1], convention="book")
