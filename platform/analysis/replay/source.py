"""Reading what the organizers of the 2015/16 challenge published after it: no database, no writing.

Source: the files of LishengSun/AutoML-2016-simulations-and-analyses, with which the figures of the chapter
"Analysis of the AutoML Challenge Series 2015-2018" were made. Nine systems and four basic methods were run again
on the test sets of all thirty datasets; their scores are rounded to two or three digits there.
"""

import csv
import datetime as dt
import io
import json
import lzma
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from accounts.refusals import Refused

ORIGIN = "LishengSun/AutoML-2016-simulations-and-analyses"
TABLES = (
    "info.csv",
    "scores_winner.csv",
    "errorbars_winner.csv",
    "scores_pure_model_def_hp.csv",
    "meta_feature.csv",
)
ROUNDS = ("Preparation", "Novice", "Intermediate", "Advanced", "Expert", "Master")
A_ROUND = 5  # datasets; the tables are in the order of the rounds
USUAL_BUDGET = 1200.0  # where the info file has none (evita)
# Columns of the meta-features that are empty, because their values are lists, or were never computed.
LISTS = (
    "ClassOccurences", "Kurtosisses", "LandmarkWorstNodeLearner", "MissingValues", "NumSymbols", "PCA",
    "Skewnesses",
)  # fmt: skip
METHODS = {"KNN": "knn", "NAIVE BAYES": "nb", "RANDOMFOREST": "rf", "SGD(LINEAR)": "sgd"}
SPREADS = {"KNN": "KNN_std", "NAIVE BAYES": "NAIVE_BAYES_std", "RANDOMFOREST": "RANDOMFOREST_std"}
SPREADS["SGD(LINEAR)"] = "SGD(LINEAR)_std"
CURVES_OF = ("aad_freiburg", "abhishek")

Cells = dict[tuple[str, str], float]  # by dataset and by system or method; what is missing has no entry


@dataclass(frozen=True)
class DatasetFacts:
    """What the info file of a dataset says. `run_budget` are the seconds that the learning curves were given."""

    name: str
    round: int
    task: str
    metric: str
    feat_num: int
    target_num: int
    label_num: int
    train_num: int
    valid_num: int
    test_num: int
    is_sparse: bool
    has_missing: bool
    time_budget: float
    run_budget: float
    meta_features: dict[str, float | None] = field(hash=False)


@dataclass(frozen=True)
class CurvePoint:
    """A numbered prediction: seconds since the first of its run, and its score on the test part."""

    number: int
    seconds: float
    score: float


@dataclass(frozen=True)
class PredictionFile:
    """A published prediction of a test part, with the score that was published for it."""

    dataset: str
    model: str
    path: Path
    score: float

    def content(self) -> bytes:
        """Its text."""
        return lzma.decompress(self.path.read_bytes())


@dataclass(frozen=True)
class Published:
    """Everything that is there. Scores are normalised; `same` is under BAC, of regressions R2."""

    folder: Path
    datasets: tuple[DatasetFacts, ...]
    systems: tuple[str, ...]
    scores: Cells
    same: Cells
    spreads: Cells
    default: Cells
    default_spreads: Cells
    tuned: Cells
    curves: dict[tuple[str, str], tuple[CurvePoint, ...]]  # by system and dataset
    unstamped: int  # predictions of the curves that have a score and no time

    @cached_property
    def predictions(self) -> tuple[PredictionFile, ...]:
        """The prediction files, none where only the tables are there."""
        listed = next(iter(sorted(self.folder.rglob("expected.json"))), None)
        if listed is None:
            return ()
        return tuple(
            PredictionFile(one["dataset"], model_of(one["file"]), listed.parent / one["file"], one["score"])
            for one in json.loads(listed.read_text())
        )

    def reference(self, name: str) -> Path | None:
        """A solution or info file of a dataset, as it was published beside the predictions."""
        return next(iter(sorted(self.folder.rglob(f"reference/{name}"))), None)


def read(folder: Path) -> Published:
    """Read the tables under a folder, wherever they lie in it. Raises Refused with what is missing."""
    found = next(iter(sorted(folder.rglob(TABLES[1]))), None) if folder.is_dir() else None
    if found is None:
        raise Refused(f"There is no {TABLES[1]} in {folder}.", status=404, mend=f"Give the folder of {ORIGIN}.")
    tables = found.parent
    missing = [name for name in TABLES if not (tables / name).exists()]
    if missing:
        raise Refused(f"{tables} lacks {', '.join(missing)}.", status=404, mend=f"Take all files of {ORIGIN}.")
    winners, spread = _table(tables / "scores_winner.csv"), _table(tables / "errorbars_winner.csv")
    systems = tuple(name for name in next(iter(winners.values())) if not name.endswith("_SameLoss"))
    curves, unstamped = _curves(tables)
    default_spreads = tables / "errorbars_pure_model_def_hp.csv"
    tuned = tables / "scores_pure_model_autosklearn_hp.csv"
    return Published(
        folder=folder,
        datasets=_datasets(tables),
        systems=systems,
        scores=_cells(winners, {name: name for name in systems}),
        same=_cells(winners, {name: f"{name}_SameLoss" for name in systems}),
        spreads=_cells(spread, {name: f"{name}_std" for name in systems}),
        default=_cells(_table(tables / "scores_pure_model_def_hp.csv"), METHODS_COLUMNS),
        default_spreads=_cells(_table(default_spreads), SPREAD_COLUMNS) if default_spreads.exists() else {},
        tuned=_cells(_table(tuned), METHODS_COLUMNS) if tuned.exists() else {},
        curves=curves,
        unstamped=unstamped,
    )


METHODS_COLUMNS = {method: column for column, method in METHODS.items()}
SPREAD_COLUMNS = {METHODS[column]: spread for column, spread in SPREADS.items()}


def model_of(file: str) -> str:
    """The model of a prediction file: `aad_freiburg`, or the class of scikit-learn without its kind of task."""
    folder, _, name = file.partition("/")
    if folder.startswith("aad_freiburg"):
        return "aad_freiburg"
    model = name.partition("_test_")[2].partition(".predict")[0].removeprefix("OneVsRestClassifier_")
    return model.removesuffix("Classifier").removesuffix("Regressor")


def _text(path: Path) -> str:
    """A text whose lines may end as on old Macs."""
    return path.read_bytes().decode().replace("\r\n", "\n").replace("\r", "\n")


def _table(path: Path) -> dict[str, dict[str, str]]:
    """Rows by the lower-case name of the dataset, which is the column without a title."""
    rows = csv.DictReader(io.StringIO(_text(path)))
    return {row.pop("").strip().lower(): {key: value.strip() for key, value in row.items()} for row in rows}


def _cells(table: dict[str, dict[str, str]], columns: dict[str, str]) -> Cells:
    return {
        (dataset, name): float(row[column])
        for dataset, row in table.items()
        for name, column in columns.items()
        if row.get(column)
    }


def _datasets(tables: Path) -> tuple[DatasetFacts, ...]:
    features, budgets = _table(tables / "meta_feature.csv"), _budgets(tables)
    found = []
    for place, (name, row) in enumerate(_table(tables / "info.csv").items()):
        counts = {
            key: int(row[key])
            for key in ("feat_num", "target_num", "label_num", "train_num", "valid_num", "test_num")
        }
        task, budget = row["task"].strip("'"), float(row["time_budget"] or USUAL_BUDGET)
        found.append(
            DatasetFacts(
                name=name,
                round=place // A_ROUND,
                task=task,
                metric=row["metric"].strip("'"),
                is_sparse=row["is_sparse"] == "1",
                has_missing=row["has_missing"] == "1",
                time_budget=budget,
                run_budget=budgets.get(name, budget),
                meta_features=_values(features.get(name, {})),
                **counts,
            )
        )
    return tuple(found)


def _values(row: dict[str, str]) -> dict[str, float | None]:
    return {name: float(value) if value else None for name, value in row.items() if name not in LISTS}


def _budgets(tables: Path) -> dict[str, float]:
    path = tables / "time_budget_all_datasets.txt"
    lines = _text(path).splitlines() if path.exists() else []
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name.strip().lower(): float(seconds) for name, _, seconds in pairs}


SCORED = re.compile(r"set\d+ \((\w+?)_test_(\d+)\): score: (\S+)")
# Nanoseconds, of which Python's clock takes six digits.
STAMPED = re.compile(r"(\w+?)_test_(\d+)\.predict (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6})\d* ([+-]\d{4})")


def _curves(tables: Path) -> tuple[dict[tuple[str, str], tuple[CurvePoint, ...]], int]:
    """The curves by system and dataset, and how many predictions have a score and no time."""
    curves: dict[tuple[str, str], tuple[CurvePoint, ...]] = {}
    unstamped = 0
    for system in CURVES_OF:
        folder = next(iter(sorted(tables.rglob(f"{system}/scores.txt"))), None)
        if folder is None:
            continue
        stamps = _stamps(folder.parent / f"results_{system}_timestamp.txt")
        points: dict[str, list[tuple[int, dt.datetime, float]]] = defaultdict(list)
        for match in SCORED.finditer(_text(folder)):
            key = match[1].lower(), int(match[2])
            if key in stamps:
                points[key[0]].append((key[1], stamps[key], float(match[3])))
            else:
                unstamped += 1
        for dataset, found in points.items():
            curves[system, dataset] = _since_the_first(found)
    return curves, unstamped


def _since_the_first(found: list[tuple[int, dt.datetime, float]]) -> tuple[CurvePoint, ...]:
    """When a run began is not published: its clock starts with its first prediction."""
    found.sort(key=lambda one: one[1])
    first = found[0][1]
    return tuple(CurvePoint(number, (at - first).total_seconds(), score) for number, at, score in found)


def _stamps(path: Path) -> dict[tuple[str, int], dt.datetime]:
    return {
        (match[1].lower(), int(match[2])): dt.datetime.strptime(
            f"{match[3]} {match[4]}", "%Y-%m-%d %H:%M:%S.%f %z"
        )
        for match in STAMPED.finditer(_text(path))
    }
