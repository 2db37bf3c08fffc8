"""The area under learning curves, agreement of two scores, and what another metric says."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.measures.agreement import agreement, robust_z
from analysis.measures.curves import VARIANTS, area, areas, beyond, score_at
from analysis.measures.mismatch import common_metric, mismatch
from tests.shared import shared_case

SCORES = st.floats(-1, 1)


def vector(name: str) -> dict:
    return json.loads(shared_case("analysis/vectors.json").read_text())[name]


def test_the_areas_are_those_of_autodl():
    known = vector("alc")
    found = areas(known["t"], known["score"], known["T"])
    for variant in VARIANTS:
        assert found[variant.key] == pytest.approx(known[variant.key], abs=1e-12)
    assert area([], [], known["T"]) == known["no_prediction"]
    assert score_at(known["t"], known["score"], known["T"]) == known["fixed_time_score"]
    late = known["late_prediction_ignored"]
    assert area(late["t"], late["score"], known["T"]) == pytest.approx(late["log_t0_60_step"], abs=1e-12)


def test_who_is_ahead_at_any_time_need_not_be_ahead_in_the_end():
    known, pair = vector("alc"), vector("alc")["any_time_vs_fixed_time"]
    fast = area(pair["fast"]["t"], pair["fast"]["score"], known["T"])
    slow = area(pair["slow"]["t"], pair["slow"]["score"], known["T"])
    assert (fast, slow) == pytest.approx((pair["alc_fast"], pair["alc_slow"]), abs=1e-12)
    assert pair["fast"]["score"][-1] < pair["slow"]["score"][-1] and fast > slow


@given(SCORES, st.floats(1, 1e5))
def test_the_area_of_a_constant_score_from_the_start_is_that_score(score, budget):
    for variant in VARIANTS:
        found = area([0.0], [score], budget, t0=variant.t0, rule=variant.rule)
        assert found == pytest.approx(score, abs=1e-9)


@given(st.lists(st.tuples(st.floats(0, 2000), SCORES), max_size=8), SCORES)
def test_predictions_beyond_the_budget_and_without_a_score_change_no_area(points, score):
    seconds, scores = [one for one, _ in points], [one for _, one in points]
    more = areas([*seconds, 1200.5, 3.0], [*scores, score, math.nan], 1200)
    assert more == pytest.approx(areas(seconds, scores, 1200))


def test_the_order_in_which_predictions_are_told_does_not_matter():
    assert areas([900, 10, 300], [0.6, 0.2, 0.5], 1200) == areas([10, 300, 900], [0.2, 0.5, 0.6], 1200)


def test_what_came_after_the_budget_is_told_against_its_end():
    found = beyond([10, 1200, 3000, 3600], [0.1, 0.2, 0.45, 0.4], 1200)
    assert (found.at_budget, found.at_end) == (0.2, 0.4)
    assert found.gain == pytest.approx(1.0) and found.doubled_at == pytest.approx(2.5)
    assert beyond([10, 1200], [0.1, 0.2], 1200) is None


def test_a_gain_over_nothing_is_no_number():
    found = beyond([10, 1500], [-0.1, 0.5], 1200)
    assert found.at_budget == -0.1 and math.isnan(found.gain)
    assert beyond([1500], [0.5], 1200).at_budget == 0.0


def test_validation_and_test_agree_as_the_reference_says():
    known = vector("validation_vs_test")
    found = agreement(known["validation"], known["test"])
    assert found.n == 6
    for name in ("pearson", "spearman", "kendall"):
        assert getattr(found, name) == pytest.approx(known[name], abs=1e-12)
    assert found.gap == pytest.approx(known["gap"], abs=1e-12)
    assert found.robust_z == pytest.approx(known["robust_z"], abs=1e-6)
    assert list(found.outliers) == known["outliers_|z|>3.5"] == list(found.overfitted)


@pytest.mark.parametrize(
    ("first", "second", "n"),
    [([], [], 0), ([0.5], [0.4], 1), ([0.5, 0.5], [0.5, 0.5], 2), ([math.nan, 0.2], [0.1, math.nan], 0)],
    ids=["nobody", "one entrant", "all tied", "all missing"],
)
def test_too_little_to_correlate_has_no_correlation_and_no_outlier(first, second, n):
    found = agreement(first, second)
    assert found.n == n and math.isnan(found.spearman) and not found.outliers
    assert mismatch(first, second).n == n


@given(st.lists(st.tuples(SCORES, SCORES), min_size=3, max_size=12))
def test_rank_correlations_do_not_change_with_a_monotone_transform(pairs):
    first = np.round([one for one, _ in pairs], 3)
    second = np.round([other for _, other in pairs], 3)
    before, after = agreement(first, second), agreement(np.exp(first), second)
    assert before.spearman == pytest.approx(after.spearman, nan_ok=True)
    assert before.kendall == pytest.approx(after.kendall, nan_ok=True)
    swapped = mismatch(first, second).swapped
    assert swapped == pytest.approx(mismatch(second, first).swapped, nan_ok=True)


def test_one_who_differs_is_an_outlier_also_where_all_others_are_equal():
    assert list(np.abs(robust_z([0.0] * 9 + [0.4])) > 3.5) == [False] * 9 + [True]


def test_two_metrics_may_order_entrants_otherwise():
    found = mismatch([0.9, 0.8, 0.7, math.nan], [0.5, 0.6, 0.4, 0.9])
    assert (found.n, found.winner_place, found.same_winner) == (3, 2, False)
    assert found.swapped == pytest.approx(1 / 3)
    assert mismatch([0.9, 0.9], [0.1, 0.2]).same_winner
    assert (common_metric("regression"), common_metric("binary.classification")) == ("R2", "BAC")
