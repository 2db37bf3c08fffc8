"""The sample submission copes with every kind of data, is quick to answer, keeps its time, and gets better."""

import importlib
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_digits

from scoring import score

SAMPLE = Path(__file__).resolve().parents[2] / "starting_kit" / "sample_code_submission"
OWN_MODULES = ("model", "learners", "outputs", "search", "tables")


@pytest.fixture(scope="module")
def model() -> Iterator[ModuleType]:
    """The sample's model.py, imported as the supervisor does it, and forgotten afterwards."""
    sys.path.insert(0, str(SAMPLE))
    yield importlib.import_module("model")
    sys.path.remove(str(SAMPLE))
    for name in OWN_MODULES:
        sys.modules.pop(name, None)


@dataclass
class Learned:
    """What a run of fit gave: seconds and prediction at each yield, and the whole time."""

    answers: list[tuple[float, np.ndarray]]
    seconds: float

    def has_answered_within(self, budget: float) -> bool:
        """Whether it ended in time or, where the machine was busy meanwhile, improved an answer in time."""
        return self.seconds < budget or sum(seconds < budget for seconds, _ in self.answers) >= 2


def learn(
    model: ModuleType, info: dict[str, Any], X: Any, y: Any, new: Any, *, budget: float, monkeypatch: Any
) -> Learned:
    """Drive the model as the supervisor does, with a clock that starts now."""
    began = time.monotonic()
    monkeypatch.setenv("PODIUM_TIME_BUDGET", str(budget))
    monkeypatch.setenv("PODIUM_CLOCK_START", repr(began))
    monkeypatch.setenv("PODIUM_SEED", "1")
    made = model.Model({"test_num": new.shape[0], **info})
    answers = []
    for _ in made.fit(X, y):
        predicted = made.predict(new)
        answers.append((time.monotonic() - began, predicted))
    answers.append((time.monotonic() - began, made.predict(new)))
    return Learned(answers, time.monotonic() - began)


def value(info: dict[str, Any], solution: Any, predicted: Any) -> float:
    return score(solution, predicted, task=info["task"], metric=info["metric"], stderr=False).value


def test_on_digits_it_answers_at_once_improves_and_ends_in_time(
    model: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = load_digits(return_X_y=True)
    info = {"task": "multiclass.classification", "metric": "bac_metric", "target_num": 10, "label_num": 10}
    learned = learn(model, info, X[:1000], y[:1000], X[1000:], budget=8, monkeypatch=monkeypatch)
    solution = np.eye(10)[y[1000:]]
    first, last = (value(info, solution, learned.answers[place][1]) for place in (0, -1))
    assert learned.answers[0][0] < 4
    assert learned.has_answered_within(8)
    assert len(learned.answers) >= 3
    assert last > 0.9 and last > first


def test_where_only_pairs_of_a_few_features_matter_it_finds_them_among_probes(
    model: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 150))
    y = (X[:, 3] * X[:, 77] + 0.8 * X[:, 40] > 0).astype(int)
    info = {"task": "binary.classification", "metric": "bac", "target_num": 1}
    learned = learn(model, info, X[:1200], y[:1200], X[1200:], budget=10, monkeypatch=monkeypatch)
    assert learned.answers[-1][1].shape == (800,)
    assert value(info, y[1200:], learned.answers[-1][1]) > 0.65


def test_categories_and_gaps_in_multi_label_data(model: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 6))
    codes = rng.integers(0, 60, size=900)
    X[:, 2] = codes * 10**15
    y = np.column_stack([codes % 2, X[:, 0] > 0.5, (codes % 3 == 0) & (X[:, 1] > 0)]).astype(int)
    X[rng.random(X.shape) < 0.05] = np.nan
    info = {
        "task": "multilabel.classification",
        "metric": "f1_metric",
        "target_num": 3,
        "feat_type": ["Numerical", "Numerical", "Categorical", "Numerical", "Numerical", "Numerical"],
    }
    learned = learn(model, info, X[:600], y[:600], X[600:], budget=7, monkeypatch=monkeypatch)
    assert learned.answers[-1][1].shape == (300, 3)
    assert value(info, y[600:], learned.answers[-1][1]) > 0.6


def test_three_hundred_thousand_sparse_features(model: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    rows, columns, words = 700, 300_000, 80
    y = rng.integers(0, 4, size=rows)
    # Each class has words of its own, mixed with words that tell nothing.
    own = y[:, None] * 500 + rng.integers(0, 500, size=(rows, 20))
    other = rng.integers(2000, columns, size=(rows, words - 20))
    indices = np.sort(np.hstack([own, other]), axis=1).astype(np.int32)
    parts = (np.ones(rows * words), indices.ravel(), np.arange(rows + 1) * words)
    X = sparse.csr_matrix(parts, shape=(rows, columns))
    X.sum_duplicates()
    info = {"task": "multiclass.classification", "metric": "pac_metric", "target_num": 4, "label_num": 4}
    learned = learn(model, info, X[:500], y[:500], X[500:], budget=8, monkeypatch=monkeypatch)
    assert learned.answers[0][0] < 4 and learned.has_answered_within(8)
    # 0 is guessing; how far it comes in the time depends on what else the machine does.
    assert value(info, np.eye(4)[y[500:]], learned.answers[-1][1]) > 0.2


def test_medians_for_abs(model: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_diabetes(return_X_y=True)
    # A long tail draws means away from medians.
    y = np.exp(y / 40)
    info = {"task": "regression", "metric": "a_metric", "target_num": 1}
    learned = learn(model, info, X[:300], y[:300], X[300:], budget=7, monkeypatch=monkeypatch)
    predicted = learned.answers[-1][1]
    assert value(info, y[300:], predicted) > value(info, y[300:], np.full(142, np.median(y[:300])))
    assert predicted.mean() < y[300:].mean()


@pytest.mark.parametrize(
    ("task", "y"),
    [
        ("binary.classification", np.array([0, 1, 0, 1, 1, 0])),
        ("binary.classification", np.zeros(6, dtype=int)),
        ("multiclass.classification", np.array([0, 1, 2, 0, 1, 1])),
        ("multilabel.classification", np.array([[0, 1], [1, 1], [0, 1], [1, 1], [0, 1], [1, 1]])),
        ("regression", np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])),
    ],
    ids=["binary", "one class", "multi-class", "multi-label with a constant label", "regression"],
)
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_a_handful_of_rows_is_no_reason_to_fail(
    model: ModuleType, monkeypatch: pytest.MonkeyPatch, task: str, y: np.ndarray, is_sparse: bool
) -> None:
    X: Any = np.arange(18.0).reshape(6, 3) % 5
    if is_sparse:
        X = sparse.csr_matrix((X.ravel(), np.tile([1, 700, 1400], 6), np.arange(7) * 3), shape=(6, 1500))
    metric = "r2" if task == "regression" else "bac"
    info = {"task": task, "metric": metric, "target_num": 3 if task.startswith("multiclass") else 1}
    learned = learn(model, info, X, y, X, budget=4, monkeypatch=monkeypatch)
    predicted = learned.answers[-1][1]
    assert len(predicted) == 6 and np.isfinite(predicted).all()


def test_a_budget_that_is_already_over_still_gets_an_answer(
    model: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(3000, 40)), rng.integers(0, 2, size=3000)
    info = {"task": "binary.classification", "metric": "auc", "target_num": 1}
    learned = learn(model, info, X, y, X[:50], budget=0.2, monkeypatch=monkeypatch)
    assert learned.seconds < 4
    assert learned.answers[0][1].shape == (50,)
