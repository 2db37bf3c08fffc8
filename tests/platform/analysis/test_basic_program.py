"""The basic methods cope with every kind of data, search without harm, and run in the sandbox."""

from pathlib import Path

import numpy as np
import pytest

from analysis.basic.archives import archive
from analysis.basic.program import BasicModel, model
from analysis.basic.program.goal import Goal
from analysis.basic.program.selective import SelectiveNaiveBayes, cutting_cost, interval_cost, merged
from ingestion.traits import trait_named
from scoring import score
from tests.ingestion.runs import Runner, usable_sandbox

KINDS = (
    "sparse", "sparse_binary", "binary", "multiclass", "multilabel", "regression", "missing", "categorical",
    "one_feature", "rare_class", "sparse_multilabel", "no_valid",
)  # fmt: skip
KINDS_OF_FORESTS = ("multilabel", "regression", "rare_class")  # which take longer
PLENTY = 1e6  # seconds


def learned(method: str, kind: str, *, tuned: bool = False):
    """A method's predictions on the test part of a made dataset, its solution, and the info."""
    trait = trait_named(kind)
    table = trait.make(np.random.default_rng(3))
    train, valid, _ = table.rows
    is_wide = trait.task == "multiclass.classification"
    columns = int(table.y.max()) + 1 if is_wide else 1 if table.y.ndim == 1 else table.y.shape[1]
    info = {"task": trait.task, "metric": f"{trait.metric}_metric", "target_num": columns, "time_budget": PLENTY}
    made = type("Model", (BasicModel,), {"method": method, "is_tuned": tuned})(info)
    answers = [made.predict(table.X[train + valid :]) for _ in made.fit(table.X[:train], table.y[:train])]
    answers.append(made.predict(table.X[train + valid :]))
    solution = table.y[train + valid :]
    return answers, np.eye(columns)[solution] if is_wide else solution, trait


@pytest.mark.parametrize("method", ["knn", "nb", "rf", "sgd", "snb"])
def test_a_method_answers_on_every_kind_of_data(method):
    for kind in KINDS_OF_FORESTS if method == "rf" else KINDS:
        (answer,), solution, trait = learned(method, kind)
        assert np.isfinite(answer).all(), kind
        found = score(solution, answer, task=trait.task, metric=trait.metric, stderr=False)
        assert found.value > -0.5, kind


def test_one_class_or_one_number_is_all_there_is_to_learn():
    for task in ("binary.classification", "regression"):
        for method in ("knn", "nb", "sgd", "snb"):
            made = type("Model", (BasicModel,), {"method": method})({"task": task, "target_num": 1})
            list(made.fit(np.arange(6.0)[:, None], np.ones(6)))
            assert (made.predict(np.zeros((3, 1))) == 1).all()


@pytest.mark.parametrize(("method", "kind"), [("knn", "multiclass"), ("nb", "sparse"), ("sgd", "regression")])
def test_a_search_answers_with_the_defaults_first(method, kind, monkeypatch, capsys):
    monkeypatch.setattr(model, "MOST_TRIALS", 4)
    answers, _, _ = learned(method, kind, tuned=True)
    (default,), _, _ = learned(method, kind)
    assert len(answers) == 2
    np.testing.assert_array_equal(answers[0], default)
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 4 and told[0].endswith("defaults")


def test_what_cannot_learn_loses_a_search(monkeypatch, capsys):
    monkeypatch.setattr(model, "MOST_TRIALS", 2)
    drawn = model.METHODS["knn"].__class__(
        model.METHODS["knn"].make, lambda rng, Z, goal: {"weights": "unknown"}, scaled=True, many=True
    )
    monkeypatch.setitem(model.METHODS, "knn", drawn)
    answers, _, _ = learned("knn", "multiclass", tuned=True)
    np.testing.assert_array_equal(answers[0], answers[1])
    assert "-inf" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("task", "metric", "scale"),
    [
        ("binary.classification", "bac", 2),
        ("binary.classification", "auc", 2),
        ("multilabel.classification", "bac", 2),
        ("multilabel.classification", "auc", 2),
        ("regression", "r2", 1),
        ("regression", "abs", 1),
    ],
)
def test_a_search_judges_by_the_metric_of_the_platform(task, metric, scale):
    rng = np.random.default_rng(0)
    columns = 3 if task == "multilabel.classification" else 1
    y = rng.normal(size=(80, columns)) if task == "regression" else rng.integers(0, 2, (80, columns))
    values = np.clip(0.4 * y + 0.6 * rng.random(y.shape), 0, 1)
    told = score(y, values, task=task, metric=metric, stderr=False).value
    goal = Goal({"task": task, "metric": f"{metric}_metric", "target_num": columns})
    inside = np.hstack([1 - values, values]) if task == "binary.classification" else values
    quality = goal.quality(goal.targets(y), inside)
    assert told == pytest.approx(scale * quality - (scale - 1), abs=1e-9)


def test_a_feature_of_noise_stays_in_one_piece_and_a_telling_one_is_cut_once():
    noise = np.tile([[5, 5]], (8, 1))
    starts, gain = merged(noise)
    assert (list(starts), gain) == ([0], 0.0)
    telling = np.array([[10, 0]] * 4 + [[0, 10]] * 4)
    starts, gain = merged(telling)
    assert list(starts) == [0, 4]
    by_hand = interval_cost([40, 40]) + cutting_cost(80, 1) - 2 * interval_cost([40, 0]) - cutting_cost(80, 2)
    assert gain == pytest.approx(float(by_hand))


def test_the_cost_of_an_interval_is_that_of_the_paper():
    # log C(n + J - 1, J - 1) + log(n! / (n1! n2!)), n = 3, J = 2, counts 1 and 2: log 4 + log 3.
    assert interval_cost([1, 2]) == pytest.approx(np.log(12))
    # log n + log C(n + I - 1, I - 1), n = 3, I = 2: log 3 + log 4.
    assert cutting_cost(3, 2) == pytest.approx(np.log(12))


def test_the_selective_naive_bayes_leaves_noise_and_copies_out():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    tells = y + rng.normal(0, 0.4, 400)
    X = np.column_stack([rng.normal(size=(400, 5)), tells, tells])
    X[::9, 5] = np.nan
    found = SelectiveNaiveBayes(lambda: PLENTY).fit(X, y)
    assert [feature.column for feature in found.features] == [6]
    chances = found.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (chances.argmax(axis=1) == y).mean() > 0.8


@pytest.mark.bubblewrap
def test_the_archive_runs_in_the_sandbox(tmp_path):
    runner = Runner(usable_sandbox("bubblewrap"), tmp_path)

    def packed(folder: Path) -> Path:
        folder.parent.mkdir(parents=True, exist_ok=True)
        return archive("nb", is_tuned=False, scratch=folder.parent)

    result = runner.submission(packed, seconds=120, memory=2**30)
    assert result.status == "ok", result.log_tail
    assert result.predictions
