"""The chapter's convention against its equations written down once more, sample by sample."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import UndefinedMetricError, score

EPSILON = 1e-15


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def columns(table):
    return list(zip(*table, strict=True))


def plain_regression(solution, prediction, power):
    scores = []
    for truth, guess in zip(columns(solution), columns(prediction), strict=True):
        truth, guess = [Fraction(x) for x in truth], [Fraction(x) for x in guess]
        if len(set(truth)) > 1:
            error = mean(abs(y - q) ** power for y, q in zip(truth, guess, strict=True))
            scores.append(1 - error / mean(abs(y - mean(truth)) ** power for y in truth))
    return float(mean(scores)) if scores else None


def plain_auc(solution, prediction):
    areas = []
    for truth, guess in zip(columns(solution), columns(prediction), strict=True):
        high = [q for y, q in zip(truth, guess, strict=True) if y]
        low = [q for y, q in zip(truth, guess, strict=True) if not y]
        if high and low:
            areas.append(mean(Fraction((a > b) * 2 + (a == b), 2) for a in high for b in low))
    return float(2 * mean(areas) - 1) if areas else None


def decisions(prediction, exclusive):
    if exclusive:
        return [[int(k == row.index(max(row))) for k in range(len(row))] for row in prediction]
    return [[int(q >= 0.5) for q in row] for row in prediction]


def plain_counted(solution, prediction, exclusive, metric):
    rates = []
    for truth, found in zip(columns(solution), columns(decisions(prediction, exclusive)), strict=True):
        positives, negatives = sum(truth), len(truth) - sum(truth)
        true_positives = sum(1 for y, d in zip(truth, found, strict=True) if y and d)
        true_negatives = sum(1 for y, d in zip(truth, found, strict=True) if not y and not d)
        if metric == "F1" and positives:
            precision = Fraction(true_positives, sum(found)) if sum(found) else Fraction(0)
            recall = Fraction(true_positives, int(positives))
            rates.append(2 * precision * recall / (precision + recall) if true_positives else Fraction(0))
        elif metric == "BAC" and positives and exclusive:
            rates.append(Fraction(true_positives, int(positives)))
        elif metric == "BAC" and positives and negatives:
            rates.append(
                Fraction(true_positives, int(positives)) / 2 + Fraction(true_negatives, int(negatives)) / 2
            )
    if not rates or (exclusive and len(rates) < 2):
        return None
    base = Fraction(1, len(rates)) if exclusive else Fraction(1, 2)
    return float((mean(rates) - base) / (1 - base))


def clipped(share):
    return min(1 - EPSILON, max(EPSILON, share))


def entropy(shares):
    return -sum(share * math.log(share) for share in shares if share > 0)


def plain_pac(solution, prediction, exclusive):
    frequencies = [mean(truth) for truth in columns(solution)]
    if exclusive:
        losses = [
            # The reference guards the division by a sum with the same epsilon.
            -math.log(clipped(row[truth.index(1)] / max(EPSILON, sum(row)) if sum(row) else 1 / len(row)))
            for truth, row in zip(solution, prediction, strict=True)
        ]
        raw, base = math.exp(-mean(losses)), math.exp(-entropy(frequencies))
    else:
        raw = mean(
            math.exp(mean(math.log(clipped(q) if y else 1 - clipped(q)) for y, q in zip(*pair, strict=True)))
            for pair in zip(columns(solution), columns(prediction), strict=True)
        )
        base = mean(math.exp(-entropy([share, 1 - share])) for share in frequencies)
    return None if 1 - base < 1e-12 else (raw - base) / (1 - base)


def plain(solution, prediction, task, metric):
    if len({y for row in solution for y in row}) == 1:
        return None
    exclusive = task == "multiclass" and len(solution[0]) > 1
    if metric in ("R2", "ABS"):
        return plain_regression(solution, prediction, 2 if metric == "R2" else 1)
    if metric == "AUC":
        return plain_auc(solution, prediction)
    if metric == "PAC":
        return plain_pac(solution, prediction, exclusive)
    return plain_counted(solution, prediction, exclusive, metric)


probabilities = st.sampled_from([0.0, 0.5, 1.0, 1e-16, 0.25, math.nextafter(0.5, 0), 5e-324]) | st.floats(0, 1)
numbers = st.integers(-5, 5).map(float) | st.floats(-1e3, 1e3).map(lambda x: round(x, 3))


@st.composite
def drawn_cases(draw):
    task = draw(st.sampled_from(["binary", "multiclass", "multilabel", "regression"]))
    rows = draw(st.integers(1, 9))
    width = 1 if task == "binary" else draw(st.integers(2 if task == "multiclass" else 1, 4))
    if task == "multiclass":
        places = draw(st.lists(st.integers(0, width - 1), min_size=rows, max_size=rows))
        solution = [[float(k == place) for k in range(width)] for place in places]
    else:
        entries = numbers if task == "regression" else st.sampled_from([0.0, 1.0])
        solution = draw(st.lists(st.lists(entries, min_size=width, max_size=width), min_size=rows, max_size=rows))
    guesses = numbers if task == "regression" else probabilities
    prediction = draw(st.lists(st.lists(guesses, min_size=width, max_size=width), min_size=rows, max_size=rows))
    metrics = ["R2", "ABS"] if task == "regression" else ["BAC", "AUC", "F1", "PAC", "R2", "ABS"]
    return solution, prediction, task, draw(st.sampled_from(metrics))


@settings(max_examples=400, deadline=None)
@given(case=drawn_cases())
def test_every_metric_is_what_its_equation_says_or_undefined_where_that_has_no_value(case):
    solution, prediction, task, metric = case
    expected = plain(solution, prediction, task, metric)
    if expected is None:
        with pytest.raises(UndefinedMetricError):
            score(solution, prediction, task=task, metric=metric, stderr=False)
    else:
        found = score(solution, prediction, task=task, metric=metric, stderr=False)
        assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("metric", ["R2", "ABS"])
@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1e-160, 5e-324, 1e150, 1e300, 1e307])
def test_units_beyond_the_range_of_squares_change_nothing(metric, unit):
    solution, prediction = np.array([1.0, 2.0, 3.0, 7.0]), np.array([1.0, 3.0, 3.0, 6.0])
    near = score(solution, prediction, task="regression", metric=metric, stderr=False).value
    far = score(solution * unit, prediction * unit, task="regression", metric=metric, replicates=5)
    assert far.value == pytest.approx(near, rel=1e-9)
    assert far.replicates == pytest.approx(
        score(solution, prediction, task="regression", metric=metric, replicates=5).replicates, rel=1e-6
    )


@pytest.mark.parametrize("metric", ["BAC", "AUC", "F1", "PAC"])
def test_a_solution_coded_with_the_largest_numbers_is_mapped_like_any_other(metric):
    solution, prediction = np.array([0, 1, 0, 1, 1]), np.array([0.25, 0.75, 0.5, 0.375, 0.875])
    expected = score(solution, prediction, task="binary", metric=metric, stderr=False).value
    large = 1.6e308
    coded = score(
        large * (2 * solution - 1), large * (2 * prediction - 1), task="binary", metric=metric, stderr=False
    )
    assert coded.value == pytest.approx(expected, abs=1e-12)


def test_r2_below_the_smallest_number_is_refused():
    with pytest.raises(ValueError, match="so far from the solution"):
        score([1, 2, 3], [1e300, 2, 3], task="regression", metric="R2")


def test_regression_metrics_take_class_numbers_as_numbers():
    scored = score([0, 1, 2, 2], [0.5, 1, 2, 1], task="multiclass", metric="R2", stderr=False)
    assert scored.value == pytest.approx(plain_regression([[0], [1], [2], [2]], [[0.5], [1], [2], [1]], 2))
