"""Standard errors: against a plain bootstrap, a closed form, and what the resamples promise."""

import time

import numpy as np
import pytest

from scoring import bootstrap, score
from scoring.resamples import Resamples
from scoring.targets import check_pair, to_classification
from tests.scoring.test_properties import TABLE, Drawn, make, value

every_metric = pytest.mark.parametrize("task, metric", TABLE)


def plain_bootstrap(drawn: Drawn, task: str, metric: str, *, count: int = 500) -> float:
    """Copies of rows instead of weights, drawn within class for the classification metrics."""
    generator = np.random.default_rng(11)
    middle = (drawn.solution.min() + drawn.solution.max()) / 2
    classes = (drawn.solution >= middle) @ (2 ** np.arange(drawn.solution.shape[1]))
    if metric in ("R2", "ABS"):
        classes = np.zeros(len(classes))
    groups = [np.flatnonzero(classes == k) for k in np.unique(classes)]
    values = []
    for _ in range(count):
        rows = np.concatenate([generator.choice(group, group.size) for group in groups])
        resampled = Drawn(drawn.solution[rows], drawn.prediction[rows])
        if metric not in ("R2", "ABS") and task == "regression":
            # The mid-range is the solution's; a resample may not move it.
            resampled.solution = (resampled.solution >= middle) * np.ptp(drawn.solution) + drawn.solution.min()
        values.append(value(resampled, task, metric))
    return float(np.std(values, ddof=1))


@every_metric
def test_the_standard_error_is_that_of_a_plain_bootstrap(task, metric):
    drawn = make(task, 4, 300)
    scored = score(drawn.solution, drawn.prediction, task=task, metric=metric, replicates=1000)
    # Two bootstraps of 500 and 1000 replicates differ by 4 % themselves; overlapping labels are
    # weighted differently from the copies here, within each label instead of each set of labels.
    tolerance = 0.25 if task == "multilabel" else 0.15
    assert scored.stderr == pytest.approx(plain_bootstrap(drawn, task, metric), rel=tolerance)


@every_metric
def test_replicates_are_float32_centred_on_the_value_and_repeatable(task, metric):
    drawn = make(task, 5, 400)
    asked = {"task": task, "metric": metric, "replicates": 300}
    scored = score(drawn.solution, drawn.prediction, seed=7, **asked)
    assert scored.replicates.dtype == np.float32
    assert scored.replicates.shape == (300,)
    assert scored.replicates.mean() == pytest.approx(scored.value, abs=scored.stderr)
    assert scored.stderr == pytest.approx(np.std(scored.replicates, ddof=1), rel=1e-3)
    again = score(drawn.solution, drawn.prediction, seed=7, **asked)
    assert np.array_equal(scored.replicates, again.replicates)
    other = score(drawn.solution, drawn.prediction, seed=8, **asked)
    assert not np.array_equal(scored.replicates, other.replicates)


@every_metric
def test_the_block_size_changes_nothing(task, metric, monkeypatch):
    drawn = make(task, 6, 50)
    pair = check_pair(drawn.solution, drawn.prediction, task=task)
    subject = pair if metric in ("R2", "ABS") else to_classification(pair, task=task)
    whole = bootstrap.replicate_values(metric, subject, count=40, seed=2)
    real = Resamples.blocks
    monkeypatch.setattr(Resamples, "blocks", lambda self, size=0: real(self, 150))
    assert bootstrap.replicate_values(metric, subject, count=40, seed=2) == pytest.approx(whole, abs=1e-12)


def test_the_value_of_a_replicate_is_the_score_of_the_rows_it_drew():
    drawn = make("binary", 9, 40, grid=10)
    targets = to_classification(check_pair(drawn.solution, drawn.prediction, task="binary"), task="binary")
    resamples = Resamples.of_subject(targets, count=6, seed=3)
    weights = np.concatenate([block for _, block in resamples.blocks()]).astype(int)
    for metric in ("BAC", "AUC", "F1", "PAC"):
        scored = score(drawn.solution, drawn.prediction, task="binary", metric=metric, replicates=6, seed=3)
        for replicate, counts in zip(scored.replicates, weights, strict=True):
            rows = np.repeat(resamples.rows, counts)
            copied = Drawn(drawn.solution[rows], drawn.prediction[rows])
            assert replicate == pytest.approx(value(copied, "binary", metric), abs=1e-6)


def test_every_entrant_meets_the_same_resamples():
    first, second = make("multiclass", 1, 60), make("multiclass", 1, 60)
    second.prediction = second.prediction[::-1].copy()
    weights = []
    for drawn in (first, second):
        targets = to_classification(
            check_pair(drawn.solution, drawn.prediction, task="multiclass.classification"),
            task="multiclass.classification",
        )
        weights.append(
            np.concatenate([block for _, block in Resamples.of_subject(targets, count=9, seed=1).blocks()])
        )
    assert np.array_equal(*weights)


def test_no_replicate_loses_a_class_and_each_keeps_its_size():
    classes = np.repeat([0, 1, 2, 3], [1, 2, 40, 300])
    np.random.default_rng(0).shuffle(classes)
    resamples = Resamples.within(classes, count=200, seed=5)
    for _, weights in resamples.blocks():
        for k in range(4):
            assert (weights[:, classes[resamples.rows] == k].sum(axis=1) == (classes == k).sum()).all()


def test_a_rare_label_is_never_lost():
    solution = np.zeros((200, 2))
    solution[0, 0] = 1
    solution[:90, 1] = 1
    prediction = np.random.default_rng(0).random((200, 2))
    for metric in ("BAC", "AUC", "F1", "PAC"):
        scored = score(solution, prediction, task="multilabel", metric=metric)
        assert np.isfinite(scored.replicates).all()
        assert scored.stderr > 0


def test_the_standard_error_of_bac_and_auc_equals_their_closed_form():
    drawn = make("binary", 12, 900)
    positive = drawn.solution[:, 0] == 1
    high, low = drawn.prediction[positive, 0], drawn.prediction[~positive, 0]
    asked = {"task": "binary", "replicates": 4000}
    sensitivity, specificity = np.mean(high >= 0.5), np.mean(low < 0.5)
    binomial = sensitivity * (1 - sensitivity) / high.size + specificity * (1 - specificity) / low.size
    bac = score(drawn.solution, drawn.prediction, metric="bac", **asked)
    assert bac.stderr == pytest.approx(np.sqrt(binomial), rel=0.05)
    wins = (high[:, None] > low[None, :]) + 0.5 * (high[:, None] == low[None, :])
    delong = np.var(wins.mean(axis=1)) / high.size + np.var(wins.mean(axis=0)) / low.size
    auc = score(drawn.solution, drawn.prediction, metric="auc", **asked)
    assert auc.stderr == pytest.approx(2 * np.sqrt(delong), rel=0.05)


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel"])
def test_the_first_order_expansion_of_auc_is_close_to_the_exact_replicates(task, monkeypatch):
    drawn = make(task, 13, 600, grid=20)
    asked = {"task": task, "metric": "auc", "replicates": 200}
    exact = score(drawn.solution, drawn.prediction, **asked)
    monkeypatch.setattr(bootstrap, "EXACT_AUC_WORK", 0)
    expanded = score(drawn.solution, drawn.prediction, **asked)
    assert expanded.stderr == pytest.approx(exact.stderr, rel=0.05)
    assert np.corrcoef(exact.replicates, expanded.replicates)[0, 1] > 0.99


def test_a_resample_without_spread_is_not_counted_for_r2():
    scored = score([0.0, 1.0], [0.0, 0.9], task="regression", metric="r2")
    assert np.isnan(scored.replicates).any()
    assert np.isfinite(scored.stderr)
    assert score([1.0, 2.0], [1, 2], task="regression", metric="r2", replicates=1).stderr is None


def test_without_standard_error_there_are_no_replicates():
    scored = score([0, 1], [0.1, 0.9], task="binary", metric="auc", stderr=False)
    assert scored.stderr is None
    assert scored.replicates is None


@pytest.mark.parametrize("decimals", [2, 16])
def test_two_hundred_replicates_of_a_large_auc_take_less_than_half_a_second(decimals):
    generator = np.random.default_rng(1)
    solution = (generator.random(20_000) < 0.4).astype(float)
    prediction = np.round(generator.random(20_000), decimals)
    times = []
    for _ in range(3):
        start = time.process_time()
        score(solution, prediction, task="binary", metric="auc", replicates=200)
        times.append(time.process_time() - start)
    assert min(times) < 0.5
