"""The reference scorer's own numbers, where the folder of shared cases is present."""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

from scoring import BadPredictionError, ScoringError, UndefinedMetricError, score
from scoring import replay as replaying
from tests.shared import shared_case

pytestmark = pytest.mark.shared

DIGITS_DO_NOT_COUNT = {"constant_target_rounding", "pac_divided_by_eps"}


@cache
def cases() -> list[dict[str, Any]]:
    return json.loads(shared_case("metrics/vectors.json").read_text())["cases"]


def table(rows: list[list[float | str]]) -> np.ndarray:
    return np.array([[float(value) for value in row] for row in rows])


def label(case: dict[str, Any]) -> str:
    return f"{case['id']} {case['name']} {case['metric']}"


def test_libscores_repeats_every_number_nan_infinity_and_error_of_the_reference():
    wrong = []
    for case in cases():
        solution, prediction = table(case["solution"]), table(case["prediction"])
        reference = case["reference"]
        asked = {"task": case["task"], "metric": case["metric"], "convention": "libscores", "stderr": False}
        if reference["status"] == "error":
            with pytest.raises(ScoringError):
                score(solution, prediction, **asked)
            continue
        scored = score(solution, prediction, **asked)
        if DIGITS_DO_NOT_COUNT & set(case["flags"]):
            continue
        same = np.isclose(scored.value, float(reference["score"]), rtol=1e-9, atol=1e-13, equal_nan=True)
        if "unnormalised" in reference:
            same &= np.isclose(scored.raw, float(reference["unnormalised"]), rtol=1e-9, atol=1e-13, equal_nan=True)
        if not same:
            wrong.append((label(case), scored.value, reference["score"]))
    assert not wrong
    assert len(cases()) == 523


def has_zero_rows(case: dict[str, Any], solution: np.ndarray, prediction: np.ndarray) -> bool:
    if case["metric"] != "pac_metric" or not case["task"].startswith("multiclass") or solution.shape[1] == 1:
        return False
    mapped = np.clip((prediction - solution.min()) / (solution.max() - solution.min()), 0, 1)
    return bool((mapped.sum(axis=1) == 0).any())


def test_chapter_equals_the_reference_where_inputs_are_finite_and_nothing_was_left_out():
    wrong, compared = [], 0
    for case in cases():
        solution, prediction = table(case["solution"]), table(case["prediction"])
        if not (np.isfinite(solution).all() and np.isfinite(prediction).all()):
            continue
        try:
            scored = score(solution, prediction, task=case["task"], metric=case["metric"], stderr=False)
        except UndefinedMetricError:
            continue
        if scored.left_out or has_zero_rows(case, solution, prediction):
            continue
        compared += 1
        if not np.isclose(scored.value, float(case["reference"]["score"]), rtol=1e-9, atol=1e-9):
            wrong.append((label(case), scored.value, case["reference"]["score"]))
    assert not wrong
    assert compared > 350


def test_chapter_calls_a_metric_undefined_only_where_a_solution_has_one_value_or_one_class():
    for case in cases():
        solution, prediction = table(case["solution"]), table(case["prediction"])
        if not (np.isfinite(solution).all() and np.isfinite(prediction).all()):
            continue
        try:
            score(solution, prediction, task=case["task"], metric=case["metric"], stderr=False)
        except UndefinedMetricError:
            assert (solution.min(axis=0) == solution.max(axis=0)).all(), label(case)


def test_chapter_refuses_every_prediction_that_is_not_finite():
    seen = 0
    for case in cases():
        solution, prediction = table(case["solution"]), table(case["prediction"])
        if np.isfinite(prediction).all() or not np.isfinite(solution).all():
            continue
        if solution.min() == solution.max():
            continue
        seen += 1
        with pytest.raises(BadPredictionError, match=r"row \d+, column \d+"):
            score(solution, prediction, task=case["task"], metric=case["metric"])
    assert seen > 20


def test_all_144_published_predictions_of_2016_give_the_published_scores(monkeypatch):
    by_reference = []

    def score_by_both(*arrays, **asked):
        # Reading takes most of the time, so each file is read once for both conventions.
        by_reference.append(score(*arrays, **{**asked, "convention": "libscores"}).value)
        return score(*arrays, **asked)

    monkeypatch.setattr(replaying, "score", score_by_both)
    rows = replaying.replay(shared_case("published_2016"))
    assert [row for row in rows if not row.ok] == []
    assert len(rows) == 144
    assert by_reference == pytest.approx([row.expected for row in rows], rel=1e-9, abs=1e-9)


def test_published_predictions_replay_under_the_old_convention_too(tmp_path):
    folder = shared_case("published_2016")
    entries = json.loads((folder / "expected.json").read_text())
    chosen = [entry for entry in entries if entry["dataset"] in ("sylvine", "waldo", "flora")]
    (tmp_path / "expected.json").write_text(json.dumps(chosen))
    for name in ("reference", *{entry["file"].partition("/")[0] for entry in chosen}):
        (tmp_path / name).symlink_to(folder / name)
    rows = replaying.replay(tmp_path, convention="libscores")
    assert len(rows) == len(chosen) > 5
    assert all(row.ok for row in rows)
