"""The AutoML dataset format on the side that holds the labels: load, write, check, and lay out for a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from ingestion.dataset_check import DatasetFacts, DatasetReport, Parsed, Problem, check_dataset
from ingestion.dataset_files import (
    METRIC_IN_INFO,
    PUBLIC_SUFFIXES,
    SOLUTION_SUFFIXES,
    canonical_metric,
    canonical_task,
    dataset_folder,
    expanded_solution,
    feature_types,
    general_type,
    public_files,
    solution_files,
    write_info,
    write_rows,
)
from ingestion.dataset_input import cached_features, count_labels, has_missing, open_tables, prepare_input
from ingestion.program.data import PARTS, class_indices
from ingestion.program.errors import DataError

__all__ = [
    "PUBLIC_SUFFIXES",
    "SOLUTION_SUFFIXES",
    "DataError",
    "Dataset",
    "DatasetFacts",
    "DatasetReport",
    "Parsed",
    "Part",
    "Problem",
    "check_dataset",
    "load_dataset",
    "prepare_input",
    "public_files",
    "solution_files",
    "write_dataset",
]


class Part(NamedTuple):
    """Features (n, feat_num) as ndarray or CSR, and targets as a model gets them, or None where unknown."""

    X: Any
    y: Any | None


@dataclass(frozen=True)
class Dataset:
    """A dataset with all that its folder holds.

    `solutions` has the arrays (n, columns) as they are scored, by part; class indices of a multi-class task
    are expanded to one-hot columns there.
    """

    name: str
    info: dict[str, Any]
    feat_types: list[str]
    train: Part
    valid: Part | None
    test: Part | None
    solutions: dict[str, Any]


def load_dataset(folder: Path) -> Dataset:
    """Read a whole dataset, its features from the cache in the folder where that was made from this very text.

    Raises DataError naming file and line where something cannot be read.
    Only reading is checked here; `check_dataset` finds the rest.
    """
    folder = dataset_folder(folder)
    tables, task = open_tables(folder)
    parts: dict[str, Part | None] = {}
    raw = {part: tables.solution(part) for part in PARTS}
    label_num = count_labels(tables.info, raw)
    solutions = {}
    known = cached_features(folder, tables.name)
    for part in PARTS:
        solution = raw[part]
        rows = None if solution is None else len(solution)
        features = known.get(part) if known else tables.features(part, rows)
        classes = None
        if solution is not None:
            classes = class_indices(solution, task, label_num, tables.path(part, "solution").name)
            solutions[part] = expanded_solution(solution, classes, task, label_num)
        parts[part] = None if features is None else Part(features, classes)
    train = parts["train"]
    if train is None:
        raise DataError(f"{tables.name}_train.data", "is missing")
    types, _ = feature_types(tables, train.X)
    return Dataset(tables.name, tables.info, types, train, parts["valid"], parts["test"], solutions)


def write_dataset(
    folder: Path,
    name: str,
    *,
    task: str,
    metric: str,
    time_budget: float,
    train: tuple[Any, Any],
    valid: tuple[Any, Any | None] | None = None,
    test: tuple[Any, Any | None],
    feat_types: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    sparse: bool = False,
    indices_only: bool = False,
    private_info: Mapping[str, Any] | None = None,
) -> Path:
    """Write the text format into `folder` (made where absent) and return it.

    Each part is (features, targets); targets are None where unknown, else as a model gets them: (n,) class
    indices or numbers, or (n, C). Sparse data of ones may be written as `indices_only` (sparse_binary). Raises
    ValueError for an unknown task or metric.
    """
    full_task, short_metric = canonical_task(task), canonical_metric(metric)
    if full_task is None or short_metric is None:
        raise ValueError(f"{task!r} with {metric!r} is not a known task and metric")
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"train": train, "test": test} | ({"valid": valid} if valid is not None else {})
    targets = {part: np.asarray(y, dtype=np.float64) for part, (_, y) in parts.items() if y is not None}
    label_num = _classes_of(full_task, targets, label_names)
    for part, y in targets.items():
        column = y.reshape(len(y), -1)
        solution = expanded_solution(column, column[:, 0].astype(np.int64), full_task, label_num)
        write_rows(folder / f"{name}_{part}.solution", solution)
        columns = solution.shape[1]
    for part, (features, _) in parts.items():
        write_rows(folder / f"{name}_{part}.data", _as_layout(features, sparse), indices_only=indices_only)
    types = list(feat_types) if feat_types is not None else ["Numerical"] * train[0].shape[1]
    lines = {"_feat.type": types, "_feat.name": feature_names, "_label.name": label_names}
    for suffix, words in lines.items():
        if words is not None:
            (folder / f"{name}{suffix}").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    info = {
        "usage": "Podium dataset",
        "name": name,
        "task": full_task,
        "target_type": "Numerical" if full_task == "regression" else "Binary",
        "feat_type": general_type(types),
        "metric": METRIC_IN_INFO[short_metric],
        "time_budget": time_budget,
        "feat_num": int(train[0].shape[1]),
        "target_num": columns,
        "label_num": label_num,
        **{f"{part}_num": int(parts[part][0].shape[0]) if part in parts else 0 for part in PARTS},
        "has_categorical": "Categorical" in types,
        "has_missing": any(has_missing(features) for features, _ in parts.values()),
        "is_sparse": sparse,
    }
    write_info(folder / f"{name}_public.info", info)
    if private_info is not None:
        write_info(folder / f"{name}_private.info", private_info)
    return folder


def _classes_of(task: str, targets: Mapping[str, Any], label_names: Sequence[str] | None) -> int:
    if task in ("regression", "binary.classification"):
        return 0 if task == "regression" else 2
    widths = [y.shape[1] for y in targets.values() if y.ndim == 2 and y.shape[1] > 1]
    if widths:
        return int(widths[0])
    return len(label_names) if label_names else 1 + int(max(y.max() for y in targets.values()))


def _as_layout(features: Any, sparse: bool) -> Any:
    if sparse:
        return scipy.sparse.csr_matrix(features)
    return features.toarray() if scipy.sparse.issparse(features) else np.asarray(features, dtype=np.float64)
