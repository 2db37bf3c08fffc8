"""Reading one dataset in AutoML format, from its binary cache where there is one, and writing predictions."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ingestion.program.arrays import ArrayError, open_array
from ingestion.program.errors import DataError
from ingestion.program.info import (
    MOST_CLASSES,
    TASKS,
    count_of,
    feature_count,
    find_name,
    read_feature_types,
    read_info,
)

PARTS = ("train", "valid", "test")
CACHE_FOLDER = "cache"
CACHE_INDEX = "cache.json"
CACHE_VERSION = 1
_LARGEST_INDEX = 16 * 1024 * 1024


def class_indices(solution: Any, task: str, label_num: int | None, what: str = "the solution") -> Any:
    """Targets as a model gets them, from a solution (n, c) as it is written.

    Binary (n,) of 0 and 1 (also from -1/1 and 1/2); multi-class (n,) class index from one-hot columns or
    from one column of indices counted from 0 or 1; multi-label (n, C); regression (n,), or (n, c) where
    there are several targets. Classes are int64, numbers float64. Raises DataError in one sentence.
    """
    if not solution.size:
        raise DataError(what, "holds no targets")
    if task == "regression":
        return solution[:, 0] if solution.shape[1] == 1 else solution
    if task == "multilabel.classification":
        return _zero_one(solution, what)
    if task == "binary.classification":
        if solution.shape[1] != 1:
            raise DataError(what, f"{solution.shape[1]} columns, a binary task has 1")
        return _zero_one(solution, what)[:, 0]
    if task != "multiclass.classification":
        raise DataError("task", f"{task!r} is none of {', '.join(TASKS)}")
    if solution.shape[1] > 1:
        one_hot = (solution == 1).sum(axis=1) + (solution != 0).sum(axis=1) == 2
        if not bool(one_hot.all()):
            line = int(np.flatnonzero(~one_hot)[0]) + 1
            raise DataError(f"{what} row {line}", "is not one-hot: one 1 and zeros are expected")
        return solution.argmax(axis=1).astype(np.int64)
    return _counted_from_zero(solution[:, 0], label_num, what)


def _zero_one(solution: Any, what: str) -> Any:
    found = np.unique(solution)
    for low, high in ((0, 1), (-1, 1), (1, 2)):
        if bool(np.isin(found, (low, high)).all()):
            return (solution == high).astype(np.int64)
    strange = next(value for value in found.tolist() if value not in (0, 1))
    raise DataError(what, f"holds {strange:g}; 0 and 1 are expected")


def _counted_from_zero(column: Any, label_num: int | None, what: str) -> Any:
    with np.errstate(invalid="ignore"):
        whole = (column >= 0) & (column < MOST_CLASSES) & (column == np.floor(column))
    if not bool(whole.all()):
        line = int(np.flatnonzero(~whole)[0])
        raise DataError(
            f"{what} row {line + 1}",
            f"{column[line]:g} is not a class index, a whole number from 0 to {MOST_CLASSES - 1}",
        )
    classes = column.astype(np.int64)
    if classes.size and label_num and classes.min() >= 1 and classes.max() == label_num:
        return classes - 1
    if classes.size and label_num and classes.max() >= label_num:
        raise DataError(what, f"holds class {classes.max()}, but there are {label_num} classes (label_num)")
    return classes


class Dataset:
    """One dataset as a run sees it: `name`, `info` (parsed, with feat_type as a list), and its parts.

    `features(part)` gives float64 features of shape (n, feat_num), dense or CSR; each call gives values
    that nobody has changed before, and changing them in place is allowed. `targets()` gives what
    `class_indices` says.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = find_name(folder)
        self.info = read_info(folder / f"{self.name}_public.info")
        self.info["feat_type"] = read_feature_types(folder, self.name, self.info)
        self.task = str(self.info.get("task", ""))
        self._index = read_index(folder)
        self._kept: dict[str, Any] = {}
        self._given: set[str] = set()

    @functools.cached_property
    def _layout(self) -> str:
        from ingestion.program.layouts import find_layout

        return find_layout(self.folder, self.name, self.info)

    def has(self, part: str) -> bool:
        """Whether the dataset has features for this part (valid may be absent)."""
        return part in self._index["parts"] or self._data_path(part).is_file()

    def _data_path(self, part: str) -> Path:
        return self.folder / f"{self.name}_{part}.data"

    @property
    def targets_per_row(self) -> int:
        """How many columns a prediction has: the number of classes for multi-class tasks."""
        key = "label_num" if self.task == "multiclass.classification" else "target_num"
        return count_of(self.info, key, most=MOST_CLASSES) or count_of(self.info, "target_num") or 1

    def features(self, part: str) -> Any:
        """Features of one part. Raises DataError where the file is at fault."""
        if part in self._index["parts"]:
            return read_cached(self.folder / CACHE_FOLDER, part, self._index["parts"][part])
        if part in self._kept:
            return self._kept[part].copy()
        features = self._read_text(part)
        if part not in self._given:
            # Most are asked for once: then there is never a second copy of them.
            self._given.add(part)
            return features
        self._kept[part] = features
        return features.copy()

    def _read_text(self, part: str) -> Any:
        # Imported here: most runs read the cache, and the time in which Python compiles this is counted.
        from ingestion.program.layouts import read_features

        path, rows = self._data_path(part), count_of(self.info, f"{part}_num")
        if self._layout == "dense":
            columns = count_of(self.info, "feat_num")
        else:
            columns = feature_count(self.info, f"{self.name}_public.info")
        try:
            return read_features(path, self._layout, columns, rows)
        except OSError as error:
            raise DataError(path.name, f"cannot be read: {error.strerror or error}") from error

    def targets(self) -> Any:
        """Targets of the training part. Raises DataError where the file is at fault."""
        cached = self.folder / CACHE_FOLDER / "train.solution.npy"
        path = self.folder / f"{self.name}_train.solution"
        if self._index["parts"] and cached.is_file():
            solution = _cached_targets(cached)
        elif path.is_file():
            from ingestion.program.text import read_dense

            solution = read_dense(path)
        else:
            raise DataError(path.name, "is missing")
        return class_indices(solution, self.task, count_of(self.info, "label_num"), path.name)


def read_index(folder: Path) -> dict[str, Any]:
    """The index of the cache in a dataset's folder; one without parts where there is none that can be used."""
    nothing: dict[str, Any] = {"parts": {}}
    path = folder / CACHE_FOLDER / CACHE_INDEX
    try:
        if path.is_symlink() or path.stat().st_size > _LARGEST_INDEX:
            return nothing
        index = json.loads(path.read_text())
        usable = index["version"] == CACHE_VERSION and set(index["parts"]) <= set(PARTS)
        usable = usable and all(entry["kind"] in ("dense", "csr") for entry in index["parts"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return nothing
    return dict(index) if usable else nothing


def _cached_targets(path: Path) -> Any:
    """Targets (n, c) as they are in the cache. Raises DataError."""
    try:
        solution = open_array(path, changeable=True)
    except ArrayError as error:
        raise DataError(f"{CACHE_FOLDER}/{path.name}", f"cannot be read from the cache ({error})") from error
    if solution.dtype != np.float64 or solution.ndim != 2:
        raise DataError(f"{CACHE_FOLDER}/{path.name}", "is no table of numbers")
    return solution


def cached_files(part: str, entry: dict[str, Any]) -> tuple[str, ...]:
    """Names of the files of one part in the cache."""
    pieces = ("data", "indices", "indptr")
    return tuple(f"{part}.{piece}.npy" for piece in pieces) if entry["kind"] == "csr" else (f"{part}.npy",)


def write_cached(folder: Path, part: str, features: Any) -> dict[str, Any]:
    """Write one part as memory-mappable float64 `.npy` files; return its entry for the cache's index."""
    if hasattr(features, "tocsr"):
        csr = features.tocsr()
        entry = {"kind": "csr", "shape": list(csr.shape)}
        arrays = [csr.data, csr.indices, csr.indptr]
    else:
        entry = {"kind": "dense", "shape": list(features.shape)}
        arrays = [np.ascontiguousarray(features, dtype=np.float64)]
    for file, array in zip(cached_files(part, entry), arrays):  # noqa: B905  # strict= is Python 3.10
        np.save(folder / file, array)
    return entry


def read_cached(folder: Path, part: str, entry: dict[str, Any]) -> Any:
    """One part out of the cache, mapped copy-on-write: pages are read when touched and may be changed.

    Raises DataError where the cache is not what its index says.
    """
    place = f"{folder.name}/{part}"
    try:
        arrays = [open_array(folder / file, changeable=True) for file in cached_files(part, entry)]
        rows, columns = (int(length) for length in entry["shape"])
    except (ArrayError, ValueError, TypeError, KeyError) as error:
        raise DataError(place, f"cannot be read from the cache ({error})") from error
    if entry["kind"] == "dense":
        if arrays[0].dtype != np.float64 or arrays[0].shape != (rows, columns):
            raise DataError(place, "is not in the cache as its index says")
        return arrays[0]
    from scipy.sparse import csr_matrix

    values, indices, starts = arrays
    is_right = values.dtype == np.float64 and all(array.ndim == 1 for array in arrays)
    is_right = is_right and {indices.dtype.kind, starts.dtype.kind} == {"i"} and indices.dtype == starts.dtype
    is_right = is_right and starts.size == rows + 1 and values.size == indices.size == int(starts[-1])
    if not is_right:
        raise DataError(place, "is not in the cache as its index says")
    return csr_matrix((values, indices, starts), shape=(rows, columns), copy=False)


def write_prediction(folder: Path, stem: str, values: Any) -> Path:
    """Write `<stem>.predict` (text, blanks between numbers) so that it is only ever seen complete."""
    path = folder / f"{stem}.predict"
    waiting = folder / f".{stem}.writing"
    rows = np.asarray(values, dtype=np.float64)
    rows = rows.reshape(len(rows), -1)
    with waiting.open("w", encoding="ascii", newline="\n") as file:
        for begin in range(0, len(rows), 4096):
            # repr of a float is the shortest text that reads back as the same number.
            for row in rows[begin : begin + 4096].tolist():
                file.write(" ".join(map(repr, row)) + "\n")
    os.replace(waiting, path)  # noqa: PTH105
    return path
