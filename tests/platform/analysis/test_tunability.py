"""Tunability and portfolios: the published best configuration, and what greedy choices must keep."""

import csv

import numpy as np
import pytest

from analysis.measures.portfolio import A_SMFO, CANE, greedy, portfolio
from analysis.measures.tunability import pareto, tunability
from tests.shared import shared_case

# Three datasets, four configurations; the first is the package's default.
SCORES = np.array([[0.5, 0.9, 0.6, 0.7], [0.6, 0.5, 0.8, 0.7], [0.7, 0.75, 0.6, 0.9]])


@pytest.fixture(scope="module")
def metamimic():
    """AUC of 999 xgboost configurations on 22 datasets."""
    rows = list(csv.DictReader(shared_case("analysis/metamimic_results.csv").open()))
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    scores = np.full((len(datasets), 999), np.nan)
    for row in rows:
        scores[datasets.index(row["dataset"]), int(row["param_index"])] = float(row["auc"])
    return scores


def test_the_best_single_xgboost_configuration_is_the_published_one(metamimic):
    found = tunability(metamimic)
    assert found.single + 1002 == 1323
    assert found.regret[found.single] == pytest.approx(0.0232, abs=5e-5)
    assert found.missing == 0


def test_gains_are_over_the_defaults_and_over_the_best_single_configuration():
    found = tunability(SCORES, default=0)
    assert found.best.tolist() == [0.9, 0.8, 0.9] and found.best_at.tolist() == [1, 2, 3]
    assert found.gain == pytest.approx([0.4, 0.2, 0.2])
    assert found.single == 3
    assert found.gain_over_single == pytest.approx([0.2, 0.1, 0.0])


def test_a_missing_score_counts_as_the_worst_of_its_dataset():
    scores = SCORES.copy()
    scores[2, 3] = np.nan
    found = tunability(scores)
    assert found.missing == 1
    assert found.regret[3] == pytest.approx((0.2 + 0.1 + 0.15) / 3)


@pytest.mark.parametrize("scores", [np.full((2, 3), np.nan), np.empty((0, 3)), np.empty((2, 0))])
def test_without_scores_there_is_no_configuration(scores):
    assert tunability(scores, None).single == -1
    assert len(portfolio(scores, 5).chosen) == 0


def test_a_portfolio_begins_with_the_best_single_configuration_and_gets_no_worse(metamimic):
    found = portfolio(metamimic, 6, rule=CANE)
    normalised = metamimic.max(axis=1, keepdims=True) - metamimic
    normalised /= normalised.max(axis=1, keepdims=True)
    assert found.chosen[0] == normalised.mean(axis=0).argmin()
    assert (np.diff(found.loss) < 0).all() and (np.diff(found.regret) <= 1e-12).all()
    assert (found.left_out >= found.regret - 1e-12).all()


def test_the_rank_rule_sums_the_lowest_rank_of_each_dataset():
    found = portfolio(SCORES, 4, rule=A_SMFO)
    assert found.chosen.tolist() == [3, 1, 2]
    assert found.loss == pytest.approx([5 / 3, 4 / 3, 1.0])
    assert found.regret[-1] == pytest.approx(0.0)


def test_it_ends_where_nothing_helps_any_more():
    chosen, loss = greedy(np.array([[1.0, 0.0], [1.0, 0.0]]), 5)
    assert chosen.tolist() == [1] and loss.tolist() == [0.0]


def test_the_front_has_what_no_other_beats_in_cost_and_score():
    cost, score = np.array([1.0, 2.0, 2.0, 3.0, np.nan]), np.array([0.5, 0.7, 0.6, 0.7, 0.9])
    assert pareto(cost, score).tolist() == [True, True, False, False, False]
