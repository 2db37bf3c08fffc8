"""Recompute published scores: a folder of real predictions with the scores they were given."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring.errors import BadSolutionError, ScoringError
from scoring.evaluate import score
from scoring.info import ScoringInfo, read_scoring_info
from scoring.names import CHAPTER, LIBSCORES, canonical_metric, canonical_task
from scoring.reading import MAX_BYTES, open_regular, read_table
from scoring.targets import Floats

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

    Parameters
    ----------
    folder : Path
    convention : {"chapter", "libscores"}

    Returns
    -------
    list of ReplayRow
        In the order of `expected.json`.

    Raises
    ------
    BadSolutionError
        The folder has no readable `expected.json`.

    Examples
    --------
    >>> import tempfile
    >>> entry = {"file": "a.predict", "dataset": "a", "task": "regression", "metric": "R2", "score": 0.5}
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     (folder / "reference").mkdir()
    ...     _ = (folder / "reference" / "a_test.solution").write_text("1\\n2\\n3\\n")
    ...     _ = (folder / "a.predict").write_text("1\\n2\\n4\\n")
    ...     _ = (folder / "expected.json").write_text(json.dumps([entry]))
    ...     replay(folder)
    [ReplayRow(file='a.predict', dataset='a', value=0.5, expected=0.5, ok=True, message='')]
    """
    reference = _Reference(folder / REFERENCE_FOLDER, finite=convention != LIBSCORES)
    return [_replay_one(folder, entry, reference, convention) for entry in _expected_entries(folder)]


class _Reference:
    """The solutions and info files; the solution read last is kept, as entries come by dataset."""

    def __init__(self, folder: Path, *, finite: bool) -> None:
        self.folder = folder
        self.finite = finite
        self._kept: tuple[Path, Floats] | None = None

    def solution(self, dataset: str, part: str) -> Floats:
        path = _with_or_without_xz(self.folder / f"{dataset}_{part}.solution")
        if self._kept is None or self._kept[0] != path:
            self._kept = (path, read_table(path, what="solution", finite=self.finite))
        return self._kept[1]

    def info(self, dataset: str) -> ScoringInfo:
        return read_scoring_info(self.folder / f"{dataset}_public.info")


def _expected_entries(folder: Path) -> list[dict[str, Any]]:
    path = folder / EXPECTED_NAME
    try:
        with open_regular(path) as stream:
            entries = json.loads(stream.read(MAX_BYTES))
    except OSError as problem:
        raise BadSolutionError(f"{path} cannot be read: {problem.strerror}.") from None
    except (ValueError, RecursionError):
        raise BadSolutionError(f"{path} is not JSON.") from None
    if not isinstance(entries, list) or not all(map(_is_entry, entries)):
        raise BadSolutionError(f"{path} is not a list of objects with file, dataset and score.")
    return entries


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict) or not {"file", "dataset", "score"} <= entry.keys():
        return False
    words = [entry["file"], entry["dataset"], *(entry.get(key) or "" for key in ("task", "metric", "part"))]
    numbers = [entry["score"], entry.get("published_score") or 0.0]
    return all(isinstance(word, str) for word in words) and all(isinstance(n, int | float) for n in numbers)


def _replay_one(folder: Path, entry: dict[str, Any], reference: _Reference, convention: str) -> ReplayRow:
    expected = float(entry["score"])
    try:
        value = _value(folder, entry, reference, convention)
    except ScoringError as error:
        return ReplayRow(entry["file"], entry["dataset"], None, expected, ok=False, message=str(error))
    targets = [expected]
    if entry.get("published_score") is not None:
        targets.append(float(entry["published_score"]))
    ok = all(abs(value - target) <= TOLERANCE * max(1.0, abs(target)) for target in targets)
    return ReplayRow(entry["file"], entry["dataset"], value, expected, ok=ok)


def _value(folder: Path, entry: dict[str, Any], reference: _Reference, convention: str) -> float:
    dataset, part = entry["dataset"], entry.get("part") or "test"
    task, metric = entry.get("task"), entry.get("metric")
    if not (task and metric):
        info = reference.info(dataset)
        task, metric = task or info.task, metric or info.metric
    if not (task and metric):
        raise BadSolutionError(f"{dataset}_public.info names no task or no metric.")
    prediction_path = folder / entry["file"]
    prediction = read_table(_with_or_without_xz(prediction_path), finite=reference.finite)
    return score(
        reference.solution(dataset, part),
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
