"""Resamples of whole blocks and groups, and of very many rows."""

import numpy as np
import pytest

from scoring import block_length, resamples, score, score_all
from scoring.resamples import Resamples, units_of
from tests.scoring.test_properties import TABLE, make

every_metric = pytest.mark.parametrize("task, metric", TABLE)


def stderr(drawn, task, metric, **more):
    asked = {"task": task, "metric": metric, "replicates": 600, "seed": 3}
    return score(drawn.solution, drawn.prediction, **asked, **more).stderr


@every_metric
def test_groups_of_one_row_give_about_the_error_of_rows(task, metric):
    drawn = make(task, 4, 400)
    grouped = stderr(drawn, task, metric, groups=np.arange(400))
    assert grouped == pytest.approx(stderr(drawn, task, metric), rel=0.2)


@every_metric
@pytest.mark.parametrize("way", ["groups", "blocks"])
def test_copies_of_a_row_in_one_unit_do_not_make_the_error_smaller(task, metric, way):
    drawn = make(task, 5, 150)
    alone = stderr(drawn, task, metric, groups=np.arange(150))
    drawn.solution, drawn.prediction = (
        np.repeat(array, 4, axis=0) for array in (drawn.solution, drawn.prediction)
    )
    together = {"groups": np.repeat(np.arange(150), 4)} if way == "groups" else {"blocks": 4}
    assert stderr(drawn, task, metric, **together) == pytest.approx(alone, rel=1e-6)
    # Rows alone would take the copies for news: half the error of a quarter of the data.
    assert stderr(drawn, task, metric) < 0.7 * alone


@every_metric
def test_no_replicate_of_groups_loses_a_class(task, metric):
    drawn = make(task, 6, 60)
    groups = np.minimum(np.argsort(np.argsort(drawn.solution[:, 0], kind="stable")) // 10, 4)
    scored = score(drawn.solution, drawn.prediction, task=task, metric=metric, groups=groups)
    assert np.isfinite(scored.replicates).all()
    assert scored.stderr > 0


def test_blocks_see_the_dependence_of_chronological_rows():
    generator = np.random.default_rng(0)
    noise = generator.normal(size=3000)
    for place in range(1, 3000):
        noise[place] += 0.95 * noise[place - 1]
    solution = generator.normal(size=3000) * 3
    asked = {"task": "regression", "metric": "R2", "stderr": True}
    rows = score(solution, solution + noise, **asked).stderr
    assert score(solution, solution + noise, blocks=100, **asked).stderr > 1.5 * rows


def test_one_unit_alone_has_no_standard_error():
    scored = score([0, 1, 1, 0], [0.1, 0.9, 0.4, 0.3], task="binary", metric="auc", groups=["a"] * 4)
    assert scored.stderr is None
    assert score([0, 1, 1], [0.1, 0.9, 0.4], task="binary", metric="auc", blocks=3).stderr is None


def test_words_and_numbers_name_groups_alike_and_score_all_passes_them_on():
    drawn = make("binary", 7, 60)
    numbers = np.arange(60) % 7
    asked = {"task": "binary", "replicates": 20}
    by_number = score_all(drawn.solution, drawn.prediction, groups=numbers, **asked)
    by_word = score_all(drawn.solution, drawn.prediction, groups=[f"day {k}" for k in numbers], **asked)
    for metric, scored in by_number.items():
        assert np.array_equal(scored.replicates, by_word[metric].replicates)
    by_block = score_all(drawn.solution, drawn.prediction, blocks=5, **asked)
    assert not np.array_equal(by_block["AUC"].replicates, by_number["AUC"].replicates)


def test_every_entrant_meets_the_same_resamples_of_groups_in_both_conventions():
    drawn = make("binary", 7, 60)
    asked = {"task": "binary", "metric": "pac", "groups": np.arange(60) // 3, "seed": 9}
    chapter = score(drawn.solution, drawn.prediction, **asked)
    reference = score(drawn.solution, drawn.prediction, convention="libscores", **asked)
    assert np.array_equal(chapter.replicates, reference.replicates)


@pytest.mark.parametrize(
    "more, sentence",
    [
        ({"blocks": 2, "groups": [0, 0, 1]}, "not by both"),
        ({"blocks": 0}, "too short"),
        ({"groups": [0, 1]}, r"shape \(2,\), \(3,\) is expected"),
        ({"replicates": 0}, "At least 1 replicate"),
        ({"seed": -1}, "not negative"),
    ],
)
def test_resampling_that_makes_no_sense_is_refused(more, sentence):
    with pytest.raises(ValueError, match=sentence):
        score([0, 1, 1], [0.1, 0.9, 0.4], task="binary", metric="auc", **more)


def test_the_usual_block_is_the_cube_root_of_the_rows():
    assert [block_length(count) for count in (1, 2, 8, 27, 28, 10**6, 10**6 + 1)] == [1, 2, 2, 3, 4, 100, 101]
    assert units_of(7, blocks=3).tolist() == [0, 0, 0, 1, 1, 1, 2]


def test_very_many_rows_are_counted_by_poisson_with_each_class_at_its_size(monkeypatch):
    monkeypatch.setattr(resamples, "LARGE_SAMPLE", 1000)
    monkeypatch.setattr(resamples, "LARGE_STRATUM", 500)
    strata = np.repeat([0, 1], [4000, 1000])
    weights = np.concatenate([block for _, block in Resamples.within(strata, count=200, seed=1).blocks()])
    assert weights[:, :4000].sum(axis=1) == pytest.approx(4000)
    assert weights[:, 4000:].sum(axis=1) == pytest.approx(1000)
    assert weights.var() == pytest.approx(1.0, rel=0.02)
    shares = np.bincount(resamples.POISSON_TABLE.astype(int)) / 2**16
    assert shares[:4] == pytest.approx(np.exp(-1) / np.array([1, 1, 2, 6]), abs=2e-5)
    assert resamples.POISSON_TABLE.mean() == pytest.approx(1.0, abs=1e-4)


@every_metric
def test_poisson_counts_give_the_error_of_drawn_rows(task, metric, monkeypatch):
    drawn = make(task, 8, 2000)
    exact = stderr(drawn, task, metric)
    monkeypatch.setattr(resamples, "LARGE_SAMPLE", 1000)
    monkeypatch.setattr(resamples, "LARGE_STRATUM", 100)
    assert stderr(drawn, task, metric) == pytest.approx(exact, rel=0.12)


def test_a_rare_class_keeps_very_many_rows_from_being_counted_by_poisson():
    strata = np.zeros(resamples.LARGE_SAMPLE, dtype=int)
    strata[:3] = 1
    _, weights = next(Resamples.within(strata, count=2, seed=0).blocks())
    assert np.array_equal(weights, weights.astype(int))
    assert weights[0, -3:].sum() == 3


def test_the_standard_errors_of_multiclass_bac_and_of_pac_equal_their_closed_forms():
    drawn = make("multiclass", 9, 1500)
    labels, decided = drawn.solution.argmax(axis=1), drawn.prediction.argmax(axis=1)
    recalls = np.array([np.mean(decided[labels == k] == k) for k in range(3)])
    variance = np.sum(recalls * (1 - recalls) / np.bincount(labels)) / 9
    asked = {"task": "multiclass", "replicates": 4000}
    bac = score(drawn.solution, drawn.prediction, metric="bac", **asked)
    assert bac.stderr == pytest.approx(np.sqrt(variance) / (1 - 1 / 3), rel=0.05)
    losses = -np.log(drawn.prediction[drawn.solution == 1] / drawn.prediction.sum(axis=1))
    within = sum(losses[labels == k].var() * np.sum(labels == k) for k in range(3)) / 1500**2
    pac = score(drawn.solution, drawn.prediction, metric="pac", **asked)
    assert pac.stderr == pytest.approx(pac.raw * np.sqrt(within) / (1 - 1 / 3), rel=0.05)
