"""The AutoML dataset format on the side that holds the labels: load, write, check, and lay out for a run."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from ingestion.dataset_check import DatasetFacts, DatasetReport, Problem, check_dataset
from ingestion.dataset_files import (
    METRIC_IN_INFO,
    PUBLIC_SUFFIXES,
    SOLUTION_SUFFIXES,
    Tables,
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
from ingestion.program.data import (
    CACHE_FOLDER,
    CACHE_INDEX,
    CACHE_VERSION,
    PARTS,
    class_indices,
    read_cached,
    write_cached,
)
from ingestion.program.info import FLAG_KEYS, find_name, read_info
from ingestion.program.text import DataError

__all__ = [
    "PUBLIC_SUFFIXES",
    "SOLUTION_SUFFIXES",
    "DataError",
    "Dataset",
    "DatasetFacts",
    "DatasetReport",
    "Part",
    "Problem",
    "check_dataset",
    "load_dataset",
    "prepare_input",
    "public_files",
    "solution_files",
    "write_dataset",
]

# What a hidden dataset tells under its alias; other keys could name it.
_KEYS_UNDER_ALIAS = ("name", "task", "target_type", "feat_type", "metric", "time_budget")


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
    """Read a whole dataset. Raises DataError naming file and line where something cannot be read.

    Only reading is checked here; `check_dataset` finds the rest.
    """
    folder = dataset_folder(folder)
    tables, task = _open_tables(folder)
    parts: dict[str, Part | None] = {}
    raw = {part: tables.solution(part) for part in PARTS}
    label_num = _label_num(tables.info, raw)
    solutions = {}
    for part in PARTS:
        solution = raw[part]
        features = tables.features(part, None if solution is None else len(solution))
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


def _open_tables(folder: Path) -> tuple[Tables, str]:
    name = find_name(folder)
    info = read_info(folder / f"{name}_public.info")
    task = canonical_task(info.get("task"))
    if task is None:
        raise DataError(f"{name}_public.info", f"the task {info.get('task')!r} is not known")
    return Tables(folder, name, info), task


def _label_num(info: Mapping[str, Any], solutions: Mapping[str, Any]) -> int:
    """Number of classes: columns of the solutions, or for a column of indices what info and indices say."""
    said = info.get("label_num")
    found = [said if isinstance(said, int) else 0]
    for solution in solutions.values():
        if solution is not None and solution.size:
            width = solution.shape[1]
            found.append(width if width > 1 else 0)
    if max(found) > 1:
        return max(found)
    highest = [s.max() for s in solutions.values() if s is not None and s.size and np.isfinite(s).all()]
    return int(max([1.0, *highest])) + 1


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
        "has_missing": any(_has_missing(features) for features, _ in parts.values()),
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


def _has_missing(features: Any) -> bool:
    values = features.data if scipy.sparse.issparse(features) else np.asarray(features, dtype=np.float64)
    return bool(np.isnan(values).any())


def prepare_input(
    source: Path,
    destination: Path,
    *,
    alias: str | None = None,
    metric: str | None = None,
    time_budget: float | None = None,
) -> Path:
    """Lay out what a run may see of a dataset under `destination` and return it.

    Text of the parts, training targets, types and the effective info file (this metric, this budget, the
    counts of the data), with a binary cache; under the alias where one is given, and then without names of
    features and labels or keys that could tell what the data are. Never a hidden label. Files are made
    read-only. Raises DataError where the data cannot be read, FileExistsError where `destination` holds
    something.
    """
    source = dataset_folder(source)
    if destination.exists() and any(destination.iterdir()):
        raise FileExistsError(f"{destination} is not empty")
    tables, task = _open_tables(source)
    name = alias or tables.name
    cache = destination / CACHE_FOLDER
    cache.mkdir(parents=True, exist_ok=True)
    solutions = {part: tables.solution(part) for part in PARTS}
    if solutions["train"] is None:
        raise DataError(f"{tables.name}_train.solution", "is missing")
    features = _fill_cache(tables, cache, solutions)
    for path in public_files(source):
        suffix = path.name[len(tables.name) :]
        if suffix not in ("_public.info", "_feat.type") and not (alias and suffix.endswith(".name")):
            shutil.copyfile(path, destination / f"{name}{suffix}")
    types, _ = feature_types(tables, features["train"])
    (destination / f"{name}_feat.type").write_text("".join(f"{kind}\n" for kind in types), encoding="utf-8")
    info = _effective_info(tables, task, features, types, solutions)
    info["name"] = name
    info["metric"] = METRIC_IN_INFO.get(canonical_metric(metric) or "", metric) if metric else info.get("metric")
    info["time_budget"] = time_budget if time_budget is not None else info.get("time_budget")
    if alias:
        told = {*_KEYS_UNDER_ALIAS, *FLAG_KEYS}
        info = {key: value for key, value in info.items() if key in told or key.endswith("_num")}
    write_info(destination / f"{name}_public.info", info)
    for path in destination.rglob("*"):
        if path.is_file():
            path.chmod(0o444)
    return destination


def _effective_info(
    tables: Tables,
    task: str,
    features: Mapping[str, Any],
    types: Sequence[str],
    solutions: Mapping[str, Any],
) -> dict[str, Any]:
    """The info file's values with the counts and flags that the data have."""
    label_num = _label_num(tables.info, solutions)
    counts = {
        "feat_num": int(features["train"].shape[1]),
        "target_num": label_num if task == "multiclass.classification" else int(solutions["train"].shape[1]),
        "label_num": {"regression": 0, "binary.classification": 2}.get(task, label_num),
        **{f"{part}_num": int(features[part].shape[0]) if part in features else 0 for part in PARTS},
        "has_categorical": "Categorical" in types,
        "has_missing": any(_has_missing(values) for values in features.values()),
        "is_sparse": tables.layout != "dense",
        "feat_type": general_type(types),
        "task": task,
    }
    return {**tables.info, **counts}


def _fill_cache(tables: Tables, cache: Path, solutions: Mapping[str, Any]) -> dict[str, Any]:
    """Write the binary cache of all parts and return their features.

    A cache beside the source is taken over when it was made from exactly these text files.
    """
    digests = {part: _digest(tables.path(part, "data")) for part in PARTS if tables.path(part, "data").is_file()}
    if "train" not in digests:
        raise DataError(f"{tables.name}_train.data", "is missing")
    entries = _taken_over(tables.folder / CACHE_FOLDER, cache, digests)
    features = {}
    for part in digests:
        if part not in entries:
            known = solutions[part]
            rows = len(known) if known is not None else tables.info.get(f"{part}_num")
            entries[part] = write_cached(cache, part, tables.features(part, rows))
        features[part] = read_cached(cache, part, entries[part])
    targets = solutions["train"]
    np.save(cache / "train.solution.npy", targets)
    if features["train"].shape[0] != len(targets):
        raise DataError(
            f"{tables.name}_train.data",
            f"has {features['train'].shape[0]} rows, {tables.name}_train.solution has {len(targets)}",
        )
    index = {"version": CACHE_VERSION, "parts": entries, "text": digests}
    (cache / CACHE_INDEX).write_text(json.dumps(index))
    return features


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def _taken_over(old: Path, cache: Path, digests: Mapping[str, str]) -> dict[str, Any]:
    """Entries of an older cache whose text is the same, with their files copied."""
    try:
        index = json.loads((old / CACHE_INDEX).read_text())
        if index["version"] != CACHE_VERSION or index["text"] != dict(digests):
            return {}
        entries = dict(index["parts"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    for path in old.glob("*.npy"):
        if path.is_file() and not path.is_symlink():
            shutil.copyfile(path, cache / path.name)
    return entries
