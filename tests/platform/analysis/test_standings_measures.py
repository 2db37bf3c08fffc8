"""Ranks, tests over datasets and error bars: the published numbers, and what always holds."""

import csv
import json
import math

import numpy as np
import pytest
import scikit_posthocs
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as some

from analysis.measures import bootstrap, significance
from analysis.measures.ranks import mean_rank, mean_reciprocal_rank, order, ranks
from datasets.checks.difficulty import rows_needed
from tests.shared import shared_case

NAN = math.nan


@pytest.fixture(scope="module")
def vectors():
    return json.loads((shared_case("analysis") / "vectors.json").read_text())


def as_scores(rows):
    return np.array([[NAN if value is None else value for value in row] for row in rows], dtype=float)


@pytest.mark.parametrize(
    ("method", "key"),
    [("dense", "avg_rank_dense"), ("average", "avg_rank_method_average"), ("min", "avg_rank_method_min")],
)
def test_average_ranks_are_those_of_codalab_and_of_its_variants(vectors, method, key):
    case = vectors["average_rank"]
    found = mean_rank(ranks(as_scores(case["scores"].values()), method))
    assert dict(zip(case["scores"], found, strict=True)) == pytest.approx(case[key])


def test_equal_average_ranks_go_to_who_submitted_first(vectors):
    case = vectors["average_rank"]
    dense = ranks(as_scores(case["scores"].values()))
    assert dense.tolist() == list(map(list, case["dense_ranks"].values()))
    received = np.array([np.datetime64(case["submitted"][name][:-1]).astype(float) for name in case["scores"]])
    assert [list(case["scores"])[row] for row in order(mean_rank(dense), received)] == case["order"]


def test_the_published_average_ranks_of_automl5_follow_from_dense_ranks_alone(vectors):
    """Three of its eight entries are known with their places; the other five take the places that are left."""
    case = vectors["average_rank"]["published_AutoML5"]
    known = np.array(list(case["competition_ranks"].values()))
    places = np.zeros((8, 5))
    for task in range(5):
        best = known[:, task]
        taken = {place + shift for place in best for shift in range((best == place).sum())}
        places[:, task] = [*best, *sorted(set(range(1, 9)) - taken)]
    assert ranks(-places, "min")[:3].tolist() == known.tolist()
    published = [case["published_avg_rank"][name] for name in case["competition_ranks"]]
    assert mean_rank(ranks(-places))[:3].tolist() == pytest.approx(published)
    assert mean_rank(ranks(-places, "min"))[2] == pytest.approx(5.6)


def test_ranks_of_scores_that_are_all_missing_or_all_equal_are_one():
    assert ranks(np.full((3, 2), NAN)).tolist() == [[1, 1]] * 3
    assert ranks(np.zeros((3, 1)), "average").tolist() == [[2]] * 3
    assert mean_rank(np.ones((2, 0))).tolist() == [1, 1]


@given(some.lists(some.integers(-20, 20), min_size=2, max_size=12))
@settings(max_examples=30, deadline=None)
def test_ranks_do_not_change_with_a_rising_function_of_the_scores(values):
    scores = np.array(values, dtype=float)[:, None] / 20
    for method in ("dense", "min", "average"):
        assert ranks(scores, method).tolist() == ranks(np.exp(3 * scores), method).tolist()
    assert mean_reciprocal_rank(ranks(scores)).max() == 1


def test_friedman_and_nemenyi_are_those_that_demsar_printed(vectors):
    case = vectors["friedman_nemenyi"]["demsar2006"]
    test = significance.friedman(np.array(case["ranks"]).T)
    assert np.round(test.mean_ranks, 3).tolist() == case["published_mean_ranks"]
    assert (round(test.chi2, 2), round(test.f, 2)) == (case["published_chi2"], case["published_F_F"])
    assert test.f == pytest.approx(case["F_F"])
    assert significance.q_value(4) == pytest.approx(case["q_0.05"], abs=1e-6)
    assert significance.critical_difference(4, 14) == pytest.approx(case["CD"], abs=1e-6)


def test_friedman_agrees_with_the_automl_benchmark_and_with_scipy(vectors):
    case = vectors["friedman_nemenyi"]["amlb2019_1h"]
    scores = np.array(case["scores"]).T
    test = significance.friedman(ranks(scores, "average"))
    assert test.mean_ranks.round(6).tolist() == list(case["mean_ranks"].values())
    assert test.chi2_ties == pytest.approx(case["friedman_chi2"])
    assert test.p_ties == pytest.approx(case["p"], rel=1e-6)
    assert significance.critical_difference(5, test.n) == pytest.approx(case["CD_0.05"], abs=1e-6)
    tied = scores.round(2)
    expected = scipy.stats.friedmanchisquare(*tied)
    assert significance.friedman(ranks(tied, "average")).chi2_ties == pytest.approx(expected.statistic)


def test_the_published_places_of_the_automl_benchmark_are_dense_ranks_of_means():
    folder = shared_case("analysis")
    with (folder / "result_summary.csv").open() as results, (folder / "tasks_leaderboard.csv").open() as places:
        means = {row["task"]: row for row in csv.DictReader(results)}
        published = list(csv.DictReader(places))
    frameworks = [name for name in published[0] if name not in ("type", "task")]
    # A number in brackets counts folds that failed; what they were replaced with is not in the file.
    complete = [
        row for row in published if all(means[row["task"]][name].replace(".", "").isdigit() for name in frameworks)
    ]
    # Two classes are judged by AUC, more by log loss.
    signs = np.array([-1 if row["type"] == "multiclass" else 1 for row in complete])
    scores = signs * [[float(means[row["task"]][name]) for row in complete] for name in frameworks]
    assert len(complete) >= 25
    assert ranks(scores).tolist() == [[float(row[name]) for row in complete] for name in frameworks]


def test_p_values_of_pairs_are_those_of_scikit_posthocs():
    scores = np.random.default_rng(5).normal(size=(5, 12)).round(1)
    fractional = ranks(scores, "average")
    found = significance.nemenyi(fractional.mean(axis=1), 5, 12)
    expected = scikit_posthocs.posthoc_nemenyi_friedman(-scores.T).to_numpy()
    assert np.allclose(found, expected, atol=1e-6)


def test_who_are_all_alike_differ_by_nothing():
    test = significance.friedman(ranks(np.ones((3, 4)), "average"))
    assert (test.chi2, test.chi2_ties, test.p_ties, test.differs) == (0, 0, 1, False)
    assert significance.datasets_needed(3, 0.0) is None


def test_so_many_datasets_as_needed_make_the_critical_difference_as_small_as_the_gap():
    wanted = significance.datasets_needed(8, 1.5)
    assert significance.critical_difference(8, wanted) <= 1.5 < significance.critical_difference(8, wanted - 1)


def test_bars_of_the_diagram_join_the_longest_runs_within_the_difference():
    assert significance.groups(np.array([1.0, 1.5, 2.2, 4.0]), 1.3) == [(0, 2)]
    assert significance.groups(np.array([1.0, 2.0, 3.0]), 1.5) == [(0, 1), (1, 2)]
    assert significance.groups(np.array([1.0, 5.0]), 1.0) == []


def test_two_entrants_are_compared_by_signs():
    found = significance.sign_test(np.array([[1, 1, 1, 1.5], [2, 2, 2, 1.5]]))
    assert (found.first, found.second, found.equal) == (3, 0, 1)
    assert found.p == pytest.approx(0.25)


def test_error_bars_by_formula(vectors):
    case = vectors["error_bars"]
    accuracy, balanced, area = (case[key] for key in ("accuracy_se", "bac_se", "auc_hanley_mcneil"))
    assert bootstrap.accuracy_error(accuracy["E"], accuracy["N"]) == pytest.approx(accuracy["se"])
    errors = np.array([balanced["p1"], balanced["p2"]])
    rows = np.array([balanced["m1"], balanced["m2"]])
    assert bootstrap.balanced_accuracy_error(errors, rows) == pytest.approx(balanced["se"])
    assert bootstrap.auc_error(area["auc"], area["npos"], area["nneg"]) == pytest.approx(area["se"])


def test_a_test_set_needs_fifty_over_e_rows(vectors):
    for error, rows in vectors["test_size_rule"]["cases"]:
        assert rows_needed(error) == rows
        assert bootstrap.relative_error(error, rows) <= 1 / math.sqrt(50)


def test_the_authors_subsample_spread_is_three_times_the_standard_error(vectors):
    assert bootstrap.subsample_factor() == pytest.approx(3)
    for name in ("madeline", "digits"):
        case = vectors["automl2016"]["error_bars"][name]
        assert case["bootstrap_se"] * bootstrap.subsample_factor() == pytest.approx(case["subsample"], rel=0.04)


@pytest.fixture(scope="module")
def draws():
    """Four entrants on three datasets, 50 replicates that share their rows; the last is far behind."""
    generator = np.random.default_rng(2)
    scores = np.array([[0.8, 0.7, 0.6], [0.79, 0.7, 0.61], [0.78, 0.72, NAN], [0.2, 0.1, 0.1]])
    noise = generator.normal(0, 0.02, (1, 3, 50)) + generator.normal(0, 0.005, (4, 3, 50))
    return scores, (scores[:, :, None] + noise).astype(np.float32)


def test_chances_of_a_pair_are_one_together_and_chances_to_lead_are_one_in_all(draws):
    mean_ranks, _ = bootstrap.by_rows(draws[1])
    found = bootstrap.win_probabilities(mean_ranks)
    assert np.allclose(found + found.T, 1)
    assert bootstrap.wins(mean_ranks).sum() == pytest.approx(1)
    anew = bootstrap.by_datasets_then_rows(draws[1], seed=3, draws=300)
    assert bootstrap.wins(anew).sum() == pytest.approx(1)
    assert bootstrap.wins(anew)[3] == 0


def test_datasets_are_drawn_the_same_with_the_same_seed(draws):
    first, again = (bootstrap.by_datasets_then_rows(draws[1], seed=3, draws=20) for _ in range(2))
    assert np.array_equal(first, again)


def test_paired_entrants_are_told_apart_where_their_own_intervals_overlap():
    noise = np.random.default_rng(1).normal(0, 0.05, 200)
    draws = -np.stack([0.8 + noise, 0.79 + noise])
    low, high = bootstrap.interval(-draws)
    assert low[0] < high[1]
    assert bootstrap.not_told_apart(draws, 0).tolist() == [True, False]
    assert bootstrap.tie_groups(draws, np.arange(2)).tolist() == [1, 2]


def test_scores_without_replicates_are_drawn_around_them_by_their_standard_error():
    scores, stderr = np.array([[0.5, 0.6, NAN]]), np.array([[0.1, NAN, NAN]])
    found = bootstrap.drawn_scores(scores, stderr, np.empty((1, 3, 0), np.float32), seed=1, count=400)
    assert (found.present, found.paired, found.normal, found.fixed) == (2, 0, 1, 1)
    assert found.values[0, 0].std() == pytest.approx(0.1, rel=0.15)
    assert np.ptp(found.values[0, 1]) == 0 and np.isnan(found.values[0, 2]).all()


def test_an_undefined_replicate_is_the_score_itself():
    replicates = np.array([[[0.4, NAN, 0.6]]], dtype=np.float32)
    found = bootstrap.drawn_scores(np.array([[0.5]]), np.array([[0.1]]), replicates, seed=1)
    assert found.values.tolist() == [[pytest.approx([0.4, 0.5, 0.6])]]


def test_draws_are_rounded_as_scores_are():
    found = bootstrap.drawn_scores(
        np.array([[0.8]]), np.array([[0.03]]), np.empty((1, 1, 0), np.float32), seed=1, digits=2
    )
    assert set(found.values[0, 0].astype(str)) <= {f"{step / 100:g}" for step in range(60, 101)}


def test_the_interval_of_a_mean_rank_holds_it_though_ranks_of_draws_lie_behind():
    """Three equal entrants share rank 1; in draws they are first, second and third by turns."""
    equal = np.array([[0.5, 0.5]] * 3)
    drawn = bootstrap.drawn_scores(equal, np.full((3, 2), 0.01), np.empty((3, 2, 0), np.float32), seed=1)
    mean_ranks, _ = bootstrap.by_rows(drawn.values)
    about = mean_rank(ranks(equal))
    assert bootstrap.interval(mean_ranks)[1].max() > 2 > mean_ranks.mean() - 0.1 > about.max()
    low, high = bootstrap.centred_interval(mean_ranks, about)
    assert (low <= about).all() and (about < high).all()
