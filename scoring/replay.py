"""Recompute published scores: a folder of real predictions with the scores they were given."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring.errors import BadSolutionError, ScoringError
from scoring.evaluate import score
from scoring.info import read_scoring_info
from scoring.names import CHAPTER, LIBSCORES, canonical_metric, canonical_task
from scoring.reading import read_table

EXPECTED_NAME = "expected.json"
REFERENCE_FOLDER = "reference"
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class ReplayRow:
    """One prediction: its value, the expected one, and whether they agree to 1e-9."""

    file: str
    dataset: str
    value: float | None
    expected: float
    ok: bool
    message: str = ""


def replay(folder: Path, *, convention: str = CHAPTER) -> list[ReplayRow]:
    """Score every file that `expected.json` of the folder names, through the public reader.

    The folder holds `reference/<dataset>_test.solution` and `reference/<dataset>_public.info`, found
    by exact name: by prefix, WALLIS was once scored with WALDO's metric. Files may end in `.xz`.
    An entry has `file`, `dataset`, `score` and may have `task`, `metric`, `published_score` and
    `part`.

    Raises:
        BadSolutionError: the folder has no readable `expected.json`.
    """
    return [_replay_one(folder, entry, convention) for entry in _expected_entries(folder)]


def _expected_entries(folder: Path) -> list[dict[str, Any]]:
    path = folder / EXPECTED_NAME
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        raise BadSolutionError(f"{path} cannot be read: {problem.strerror}.") from None
    except ValueError:
        raise BadSolutionError(f"{path} is not JSON.") from None
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and {"file", "dataset", "score"} <= entry.keys() for entry in entries
    ):
        raise BadSolutionError(f"{path} is not a list of objects with file, dataset and score.")
    return entries


def _replay_one(folder: Path, entry: dict[str, Any], convention: str) -> ReplayRow:
    expected = float(entry["score"])
    try:
        value = _value(folder, entry, convention)
    except ScoringError as error:
        return ReplayRow(entry["file"], entry["dataset"], None, expected, ok=False, message=str(error))
    targets = [expected]
    if entry.get("published_score") is not None:
        targets.append(float(entry["published_score"]))
    ok = all(abs(value - target) <= TOLERANCE * max(1.0, abs(target)) for target in targets)
    return ReplayRow(entry["file"], entry["dataset"], value, expected, ok=ok)


def _value(folder: Path, entry: dict[str, Any], convention: str) -> float:
    reference = folder / REFERENCE_FOLDER
    dataset, part = entry["dataset"], entry.get("part", "test")
    task, metric = entry.get("task"), entry.get("metric")
    if not (task and metric):
        info = read_scoring_info(reference / f"{dataset}_public.info")
        task, metric = task or info.task, metric or info.metric
    if not (task and metric):
        raise BadSolutionError(f"{dataset}_public.info names no task or no metric.")
    finite = convention != LIBSCORES
    solution_path = _with_or_without_xz(reference / f"{dataset}_{part}.solution")
    solution = read_table(solution_path, what="solution", finite=finite)
    prediction_path = folder / entry["file"]
    prediction = read_table(_with_or_without_xz(prediction_path), finite=finite)
    return score(
        solution,
        prediction,
        task=canonical_task(task),
        metric=canonical_metric(metric),
        convention=convention,
        stderr=False,
        prediction_name=prediction_path.name,
        solution_name=f"{dataset}_{part}.solution",
    ).value


def _with_or_without_xz(path: Path) -> Path:
    """The path itself where it exists, else the same name with `.xz` behind it."""
    return path if path.exists() else path.with_name(path.name + ".xz")
