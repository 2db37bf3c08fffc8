"""Scoring what a run left, by the server's own `scoring`: the last prediction with its error, and the curve."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ingestion.collect import CollectedPrediction
from ingestion.dataset import Dataset
from scoring import Score, score
from scoring.errors import ScoringError
from scoring.reading import read_table


@dataclass(frozen=True)
class Point:
    """Scores by part at one moment of a run."""

    seconds: float
    values: dict[str, float]


@dataclass
class Curve:
    """How a run learned: `last` has the scores that count by part, `problems` what could not be scored."""

    points: list[Point] = field(default_factory=list)
    last: dict[str, Score] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def scored_curve(dataset: Dataset, predictions: Iterable[CollectedPrediction]) -> Curve:
    """Score the predictions of one run on every part whose solution the dataset holds; read the others only.

    The highest number that is there for all parts counts, as on the server.
    """
    curve = Curve()
    numbers: dict[int, list[CollectedPrediction]] = {}
    for prediction in predictions:
        numbers.setdefault(-1 if prediction.number is None else prediction.number, []).append(prediction)
    parts = {one.part for found in numbers.values() for one in found}
    complete = [number for number, found in numbers.items() if {one.part for one in found} == parts]
    for number in sorted(complete):
        is_last = number == max(complete)
        values = {}
        for one in numbers[number]:
            measured = _measured(dataset, one, curve, is_last)
            if measured is not None:
                values[one.part] = measured.value
                if is_last:
                    curve.last[one.part] = measured
        if values:
            curve.points.append(Point(max(one.seconds for one in numbers[number]), values))
    curve.last = {part: curve.last[part] for part in ("valid", "test") if part in curve.last}
    return curve


def _shape(dataset: Dataset, part: str) -> tuple[int, int] | None:
    """The shape that predictions of a part must have, as far as features and training targets tell."""
    features = {"valid": dataset.valid, "test": dataset.test}[part]
    if features is None or dataset.solutions.get("train") is None:
        return None
    return features.X.shape[0], dataset.solutions["train"].shape[1]


def _measured(dataset: Dataset, one: CollectedPrediction, curve: Curve, is_last: bool) -> Score | None:
    solution = dataset.solutions.get(one.part)
    task, metric = str(dataset.info["task"]), str(dataset.info["metric"])
    try:
        table = read_table(one.path, shape=_shape(dataset, one.part))
        if solution is None:
            return None
        return score(solution, table, task=task, metric=metric, stderr=is_last, prediction_name=one.name)
    except ScoringError as error:
        if is_last:
            curve.problems.append(str(error))
        return None
