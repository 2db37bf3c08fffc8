"""Checking an uploaded dataset: every problem with its place, what is wrong and how to mend it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ingestion.budget import LONGEST_WALL_SECONDS, format_duration
from ingestion.dataset_files import (
    METRIC_IN_INFO,
    PRIVATE_SUFFIXES,
    PUBLIC_SUFFIXES,
    SOLUTION_SUFFIXES,
    Tables,
    canonical_metric,
    canonical_task,
    dataset_folder,
    feature_types,
)
from ingestion.program.data import PARTS, class_indices
from ingestion.program.errors import DataError, printable
from ingestion.program.info import (
    COUNT_KEYS,
    MOST_CLASSES,
    TASKS,
    count_of,
    find_name,
    parse_info,
    read_lines,
    read_small_text,
)

DEFAULT_METRICS = {
    "binary.classification": "AUC",
    "multiclass.classification": "BAC",
    "multilabel.classification": "F1",
    "regression": "R2",
}


# Told how far something has come: a fraction from 0 to 1, and a sentence for the person who waits.
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Problem:
    """One finding: where, what is wrong, and what would mend it (may be empty)."""

    place: str
    message: str
    mend: str = ""

    def __post_init__(self) -> None:
        for name in ("place", "message", "mend"):
            object.__setattr__(self, name, printable(getattr(self, name)))

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


@dataclass(frozen=True)
class DatasetFacts:
    """What the data themselves say; counts of absent parts are 0. Fractions are of the training part.

    `class_balance` is the entropy of the class frequencies over its largest value (mean over columns for
    multi-label), None for regression. `ratio` is training rows over features. `metric` is a short name.
    """

    task: str
    metric: str
    target_type: str
    time_budget: float | None
    feat_num: int
    target_num: int
    label_num: int
    train_num: int
    valid_num: int
    test_num: int
    has_missing: bool
    missing_fraction: float
    is_sparse: bool
    sparsity: float
    categorical_count: int
    class_balance: float | None
    is_chronological: bool
    has_valid_solution: bool
    has_test_solution: bool
    layout: str
    ratio: float


@dataclass(frozen=True)
class Parsed:
    """What was read of a dataset, by part, so that nobody needs to read the text again.

    `features` are float64 (n, feat_num), ndarray or CSR; `solutions` (n, c) as written; `targets` as a model gets
    them: (n,) class indices or numbers, or (n, C) for multi-label. `types` has one word for each feature. What a
    file lacks is not in the dictionaries.
    """

    features: dict[str, Any]
    solutions: dict[str, Any]
    targets: dict[str, Any]
    types: list[str]


@dataclass
class DatasetReport:
    """What checking a dataset found. `facts` and `parsed` are None where the data could not be understood."""

    name: str = ""
    info: dict[str, Any] = field(default_factory=dict)
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    facts: DatasetFacts | None = None
    parsed: Parsed | None = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether the dataset can be imported."""
        return not self.errors


def check_dataset(folder: Path, *, progress: Progress | None = None) -> DatasetReport:
    """Check a folder in AutoML format. Never raises for bad input: what is wrong is in the report.

    progress: called before each part is read, with the share of the bytes read so far and a sentence.
    """
    check = _Check(folder, progress)
    try:
        check.run()
    except DataError as error:
        check.error(error.place, error.message)
    except OSError as error:
        name = Path(error.filename).name if isinstance(error.filename, str) else ""
        check.error(name, f"cannot be read: {error.strerror or error}")
    except MemoryError:
        what = "the dataset needs more memory to read than this machine has"
        check.error("", what, "Import it on a larger machine.")
    return check.report


class _Check:
    """One pass over one folder; collects problems and goes on as far as it makes sense."""

    def __init__(self, folder: Path, progress: Progress | None = None) -> None:
        self.folder = dataset_folder(folder)
        self.progress = progress
        self.report = DatasetReport()
        self.task = ""
        self.features: dict[str, Any] = {}
        self.solutions: dict[str, Any] = {}
        self.classes: dict[str, Any] = {}

    def error(self, place: str, message: str, mend: str = "") -> None:
        self.report.errors.append(Problem(place, message, mend or _usual_mend(place)))

    def warn(self, place: str, message: str, mend: str = "") -> None:
        self.report.warnings.append(Problem(place, message, mend))

    def attempt(self, read: Callable[[], Any]) -> Any | None:
        """What `read` returns, or None after its DataError has become an error of the report."""
        try:
            return read()
        except DataError as error:
            self.error(error.place, error.message)
            return None

    def run(self) -> None:
        if not self.folder.is_dir():
            self.error("", f"{self.folder.name} is not a folder", "Name the folder, or a zip of it.")
            return
        self.report.name = find_name(self.folder)
        self.name = self.report.name
        self.info_name = f"{self.name}_public.info"
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,99}", self.name):
            self.error(
                self.info_name,
                f"{self.name!r} cannot be the name of a dataset",
                "Use up to 100 letters, digits, dots, dashes and underscores in the names of the files.",
            )
            return
        self.info()
        self.strangers()
        tables = Tables(self.folder, self.name, self.report.info)
        if not tables.path("train", "data").is_file() and tables.path("", "data").is_file():
            self.raw_table(tables)
            return
        self.split_tables(tables)

    def info(self) -> None:
        """Read the info file: task, metric, time budget. Unknown keys are kept without a word."""
        info, notes = parse_info(read_small_text(self.folder / self.info_name))
        self.report.info = info
        for note in notes:
            self.warn(self.info_name, note)
        task = canonical_task(info.get("task"))
        if task is None:
            wrong = f"the task {info['task']!r} is not known" if info.get("task") else "there is no task"
            self.error(self.info_name, wrong, f"Write task = '...' with one of {', '.join(TASKS)}.")
        self.task = task or ""
        self.metric()
        budget = info.get("time_budget")
        if budget is None:
            self.warn(self.info_name, "there is no time_budget; the phase's budget is used")
        elif isinstance(budget, bool | str) or not math.isfinite(budget) or budget <= 0:
            self.error(self.info_name, f"time_budget is {budget!r}, not a number of seconds above zero")
        elif budget > LONGEST_WALL_SECONDS:
            most = format_duration(LONGEST_WALL_SECONDS)
            self.error(self.info_name, f"time_budget is {budget!r} seconds; a run has {most} at most")

    def metric(self) -> None:
        info = self.report.info
        metric = canonical_metric(info.get("metric"))
        known = ", ".join(METRIC_IN_INFO.values())
        if info.get("metric") and metric is None:
            self.error(self.info_name, f"the metric {info['metric']!r} is not known", f"Write one of {known}.")
        if not info.get("metric") and self.task:
            default = METRIC_IN_INFO[DEFAULT_METRICS[self.task]]
            self.warn(self.info_name, f"there is no metric; {default} is taken", f"Write one of {known}.")

    def strangers(self) -> None:
        """Name files that are no part of the dataset; they are not imported."""
        known = {self.name + suffix for suffix in PUBLIC_SUFFIXES + SOLUTION_SUFFIXES + PRIVATE_SUFFIXES}
        known.add(f"{self.name}.data")
        strange = sorted(p.name for p in self.folder.iterdir() if p.name not in known and p.name != "cache")
        if strange:
            shown = ", ".join(strange[:5]) + (f" and {len(strange) - 5} more" if len(strange) > 5 else "")
            self.warn("", f"not part of the dataset and not imported: {shown}")

    def raw_table(self, tables: Tables) -> None:
        """A table that is not split: check it as far as it goes, and say what is missing."""
        missing = ", ".join(f"{self.name}_{part}.data" for part in ("train", "test"))
        solutions = ", ".join(f"{self.name}_{part}.solution" for part in ("train", "test"))
        self.error(
            f"{self.name}.data",
            "this is a raw table that is not split; it cannot be imported as a task until it is",
            f"Split its rows into {missing} (and {self.name}_valid.data), with {solutions}; "
            "prepare_dataset does that.",
        )
        self.read_part(tables, "")
        features = self.features.get("")
        if features is not None:
            self.types(tables, features)

    def split_tables(self, tables: Tables) -> None:
        if tables.path("", "data").is_file():
            self.warn(f"{self.name}.data", "the table before splitting is not imported, its parts are")
        for part in ("train", "test"):
            if not tables.path(part, "data").is_file():
                self.error(f"{self.name}_{part}.data", "is missing", "Every dataset needs it.")
            if not tables.path(part, "solution").is_file():
                self.error(f"{self.name}_{part}.solution", "is missing", "Every dataset needs it.")
        sizes = {part: _size(tables.path(part, "data")) for part in PARTS}
        read = 0
        for part, size in sizes.items():
            if self.progress and size:
                self.progress(read / sum(sizes.values()), f"Reading {self.name}_{part}.data.")
            self.read_part(tables, part)
            read += size
        train = self.features.get("train")
        types = self.types(tables, train) if train is not None else None
        if train is None or types is None or not self.task or "train" not in self.classes:
            return
        self.compare_parts()
        facts = self.facts(tables, train, types)
        self.compare_info(facts)
        self.names(facts)
        self.report.facts = facts
        self.report.parsed = Parsed(self.features, self.solutions, self.classes, types)

    def read_part(self, tables: Tables, part: str) -> None:
        """Read features and solution of a part and compare their rows."""
        solution = self.attempt(lambda: tables.solution(part))
        rows = None if solution is None else len(solution)
        features = self.attempt(lambda: tables.features(part, rows))
        data_name, solution_name = tables.path(part, "data").name, tables.path(part, "solution").name
        if features is not None:
            if features.shape[0] == 0:
                self.error(data_name, "holds no rows")
                return
            self.features[part] = features
            values = features.data if scipy.sparse.issparse(features) else features
            if bool(np.isinf(values).any()):
                self.warn(data_name, "holds infinite values, which many methods cannot use")
        if features is None and solution is not None and part == "valid":
            self.warn(solution_name, f"is of no use without {data_name}")
            return
        if features is not None and rows is not None and features.shape[0] != rows:
            self.error(
                data_name,
                f"has {features.shape[0]} rows, {solution_name} has {rows}",
                "Each line of the one needs its line in the other.",
            )
        if solution is not None:
            self.read_targets(part, solution, solution_name)

    def read_targets(self, part: str, solution: Any, name: str) -> None:
        if not bool(np.isfinite(solution).all()):
            row = int(np.flatnonzero(~np.isfinite(solution).all(axis=1))[0]) + 1
            self.error(f"{name} row {row}", "a target is missing or infinite", "Every row needs a target.")
            return
        if not self.task:
            return
        label_num = count_of(self.report.info, "label_num") or 0
        known = label_num if label_num > 1 else None
        classes = self.attempt(lambda: class_indices(solution, self.task, known, name))
        if classes is None:
            return
        self.solutions[part], self.classes[part] = solution, classes
        if bool((classes == classes[:1]).all()):
            what = f"every row has the same target ({len(classes)} rows)"
            mend = "Nothing can be scored where all targets are equal; choose another split."
            (self.warn if part == "train" else self.error)(name, what, mend)

    def types(self, tables: Tables, features: Any) -> list[str] | None:
        found = self.attempt(lambda: feature_types(tables, features))
        if found is None:
            return None
        types, inferred = found
        if inferred:
            self.warn(
                f"{self.name}_feat.type",
                f"is missing; types are inferred from the values: {_counted(types)}",
                "Add the file with Numerical, Binary or Categorical, one line for each feature.",
            )
        return list(types)

    def compare_parts(self) -> None:
        """Widths must agree between parts; classes without training rows are named."""
        widths = {part: features.shape[1] for part, features in self.features.items()}
        targets = {part: solution.shape[1] for part, solution in self.solutions.items()}
        for part in PARTS:
            if widths.get(part, widths["train"]) != widths["train"]:
                self.error(
                    f"{self.name}_{part}.data",
                    f"has {widths[part]} features, {self.name}_train.data has {widths['train']}",
                )
            if targets.get(part, targets["train"]) != targets["train"]:
                self.error(
                    f"{self.name}_{part}.solution",
                    f"has {targets[part]} columns, {self.name}_train.solution has {targets['train']}",
                )
            if self.task == "multiclass.classification" and part in self.classes and part != "train":
                unseen = np.setdiff1d(self.classes[part], self.classes["train"])
                if unseen.size:
                    shown = ", ".join(map(str, unseen[:5].tolist()))
                    self.warn(f"{self.name}_{part}.solution", f"has classes without training rows: {shown}")

    def facts(self, tables: Tables, train: Any, types: list[str]) -> DatasetFacts:
        info = self.report.info
        rows = {part: int(features.shape[0]) for part, features in self.features.items()}
        label_num = self.label_num()
        target_num = self.solutions["train"].shape[1]
        if self.task == "multiclass.classification":
            target_num = label_num
        missing, zeros = _missing_and_zeros(train)
        budget = info.get("time_budget")
        metric = canonical_metric(info.get("metric")) or DEFAULT_METRICS[self.task]
        usable = isinstance(budget, int | float) and not isinstance(budget, bool)
        return DatasetFacts(
            task=self.task,
            metric=metric,
            target_type=str(info.get("target_type") or _target_type(self.task)),
            time_budget=float(budget) if usable and budget is not None else None,
            feat_num=int(train.shape[1]),
            target_num=int(target_num),
            label_num=label_num,
            train_num=rows["train"],
            valid_num=rows.get("valid", 0),
            test_num=rows.get("test", 0),
            has_missing=any(_missing_and_zeros(features)[0] > 0 for features in self.features.values()),
            missing_fraction=missing,
            is_sparse=tables.layout != "dense",
            sparsity=zeros,
            categorical_count=types.count("Categorical"),
            class_balance=_balance(self.classes["train"], self.task, label_num),
            is_chronological=info.get("is_chronological_order") is True,
            has_valid_solution="valid" in self.solutions,
            has_test_solution="test" in self.solutions,
            layout=tables.layout,
            ratio=rows["train"] / train.shape[1],
        )

    def label_num(self) -> int:
        """Number of classes: 0 for regression, 2 for binary, columns where there are several."""
        if self.task in ("regression", "binary.classification"):
            return 0 if self.task == "regression" else 2
        width = int(self.solutions["train"].shape[1])
        if width > 1 or self.task == "multilabel.classification":
            return width
        said = count_of(self.report.info, "label_num", most=MOST_CLASSES) or 0
        found = 1 + max(int(classes.max()) for classes in self.classes.values() if classes.size)
        return max(found, said)

    def compare_info(self, facts: DatasetFacts) -> None:
        """Where a number of the info file disagrees with the data, say which and use the data."""
        info = self.report.info
        for key in COUNT_KEYS:
            real, said = getattr(facts, key), info.get(key)
            if said is None and key == "valid_num" and real == 0:
                continue
            if said is None:
                self.warn(self.info_name, f"there is no {key}; the data have {real}")
            elif said != real and not (key == "label_num" and facts.task == "regression"):
                self.warn(self.info_name, f"{key} is {said}, the data have {real}; {real} is used")
        if info.get("is_sparse") not in (None, facts.is_sparse):
            layout = "sparse" if facts.is_sparse else "dense"
            self.warn(self.info_name, f"is_sparse is {int(bool(info['is_sparse']))}, the data are {layout}")
        if facts.has_missing and info.get("has_missing") is False:
            self.warn(self.info_name, "has_missing is 0, the data have missing values")
        if facts.valid_num and not facts.has_valid_solution:
            self.warn(f"{self.name}_valid.solution", "is missing; there will be no validation score")

    def names(self, facts: DatasetFacts) -> None:
        """Lengths of the optional files of names."""
        for suffix, expected in (("_feat.name", facts.feat_num), ("_label.name", facts.label_num)):
            path = self.folder / f"{self.name}{suffix}"
            if path.is_file() and expected and len(read_lines(path)) != expected:
                self.warn(path.name, f"has {len(read_lines(path))} names, {expected} are expected")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _usual_mend(place: str) -> str:
    """What a file has to look like, for an error that says nothing better; `place` begins with its name."""
    file = place.split(" line ")[0].split(" row ")[0]
    mends = {
        ".data": "Write one sample a line, with blanks between: numbers and NaN for missing ones, or index:value "
        "with indices from 1 to feat_num.",
        ".solution": "Write the targets of one sample a line: numbers with blanks between.",
        "_feat.type": "Write Numerical, Binary or Categorical, one line for each feature.",
        "_public.info": "Write lines of the form key = value.",
    }
    one_info = "A dataset has one file <name>_public.info, and <name> begins the names of its other files."
    return next((mend for suffix, mend in mends.items() if file.endswith(suffix)), "" if place else one_info)


def _counted(types: list[str]) -> str:
    kinds = [(kind, types.count(kind)) for kind in ("Numerical", "Binary", "Categorical")]
    return ", ".join(f"{count} {kind}" for kind, count in kinds if count)


def _missing_and_zeros(features: Any) -> tuple[float, float]:
    """Fractions of missing values and of zeros among all values."""
    total = features.shape[0] * features.shape[1]
    values = features.data if scipy.sparse.issparse(features) else features
    missing = int(np.count_nonzero(np.isnan(values)))
    return missing / total, (total - int(np.count_nonzero(values))) / total


def _balance(classes: Any, task: str, label_num: int) -> float | None:
    if task == "regression":
        return None
    if task == "multilabel.classification":
        positive = classes.mean(axis=0)
        return float(np.mean([_entropy(np.array([share, 1 - share])) / math.log(2) for share in positive]))
    shares = np.bincount(classes, minlength=label_num) / len(classes)
    return _entropy(shares) / math.log(max(2, label_num))


def _entropy(shares: Any) -> float:
    positive = shares[shares > 0]
    return max(0.0, float(-(positive * np.log(positive)).sum()))


def _target_type(task: str) -> str:
    return {"regression": "Numerical", "multiclass.classification": "Categorical"}.get(task, "Binary")
