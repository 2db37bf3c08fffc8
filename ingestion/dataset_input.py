"""Laying out what a run may see of a dataset: its public text, an effective info file, and a binary cache."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ingestion.dataset_files import (
    METRIC_IN_INFO,
    Tables,
    canonical_metric,
    canonical_task,
    dataset_folder,
    feature_types,
    general_type,
    public_files,
    write_info,
)
from ingestion.program.data import (
    CACHE_FOLDER,
    CACHE_INDEX,
    CACHE_VERSION,
    PARTS,
    cached_files,
    read_cached,
    read_index,
    write_cached,
)
from ingestion.program.errors import DataError
from ingestion.program.info import COUNT_KEYS, FLAG_KEYS, MOST_CLASSES, count_of, find_name, read_info

# What a hidden dataset tells under its alias; other keys could name it.
_KEYS_UNDER_ALIAS = ("name", "task", "target_type", "feat_type", "metric", "time_budget")
_KEYS_THAT_COUNT = ("task", "feat_type", "feat_num", "label_num", "has_categorical", "is_sparse")
_CACHED_TEXTS = ("_train.data", "_valid.data", "_test.data", "_train.solution", "_feat.type")
_TARGETS, _TYPES = "train.solution.npy", "feat.type"
_READABLE_BY_ALL = 0o444


def open_tables(folder: Path) -> tuple[Tables, str]:
    """The tables of a dataset's folder and its task. Raises DataError where the info file does not tell it."""
    name = find_name(folder)
    info = read_info(folder / f"{name}_public.info")
    task = canonical_task(info.get("task"))
    if task is None:
        raise DataError(f"{name}_public.info", f"the task {info.get('task')!r} is not known")
    return Tables(folder, name, info), task


def count_labels(info: Mapping[str, Any], solutions: Mapping[str, Any]) -> int:
    """Number of classes: columns of the solutions, or for a column of indices what info and indices say."""
    found = [count_of(info, "label_num", most=MOST_CLASSES) or 0]
    for solution in solutions.values():
        if solution is not None and solution.size:
            width = solution.shape[1]
            found.append(width if width > 1 else 0)
    if max(found) > 1:
        return max(found)
    highest = [s.max() for s in solutions.values() if s is not None and s.size and np.isfinite(s).all()]
    return int(min(max([1.0, *highest]) + 1, MOST_CLASSES))


def has_missing(features: Any) -> bool:
    """Whether a value is NaN."""
    values = features.data if scipy.sparse.issparse(features) else np.asarray(features, dtype=np.float64)
    return bool(np.isnan(values).any())


def prepare_input(
    source: Path,
    destination: Path,
    *,
    alias: str | None = None,
    metric: str | None = None,
    time_budget: float | None = None,
    link: bool = False,
) -> Path:
    """Lay out what a run may see of a dataset under `destination` and return it.

    Text of the parts, training targets, types and the effective info file (this metric, this budget, the
    counts of the data), with a binary cache; under the alias where one is given, and then without names of
    features and labels or keys that could tell what the data are. Never a hidden label. Files are made
    read-only. With `link` they may be hard links to those of the source: for programs that cannot change them.
    A source that was laid out before, and has its cache beside it, is not read again. Raises DataError where
    the data cannot be read, FileExistsError where `destination` holds something.
    """
    source = dataset_folder(source)
    if destination.exists() and any(destination.iterdir()):
        raise FileExistsError(f"{destination} is not empty")
    name = find_name(source)
    texts = {path.name[len(name) :]: path for path in public_files(source)}
    cache = destination / CACHE_FOLDER
    cache.mkdir(parents=True, exist_ok=True)
    info = read_info(source / f"{name}_public.info")
    index = _known(source, texts, info)
    if index is None:
        index = _read_into(cache, source, texts)
    else:
        for file in _files_of(index):
            _place(source / CACHE_FOLDER / file, cache / file, link=link)
    shown = alias or name
    for suffix, path in texts.items():
        if suffix not in ("_public.info", "_feat.type") and not (alias and suffix.endswith(".name")):
            _place(path, destination / f"{shown}{suffix}", link=link)
    _place(cache / _TYPES, destination / f"{shown}_feat.type", link=True)
    info_file = destination / f"{shown}_public.info"
    write_info(info_file, _told({**info, **index["counts"]}, shown, alias, metric, time_budget))
    info_file.chmod(_READABLE_BY_ALL)
    if alias:
        index = {key: value for key, value in index.items() if key in ("version", "parts", "text")}
    (cache / CACHE_INDEX).write_text(json.dumps(index))
    (cache / CACHE_INDEX).chmod(_READABLE_BY_ALL)
    return destination


def _told(
    effective: Mapping[str, Any], name: str, alias: str | None, metric: str | None, time_budget: float | None
) -> dict[str, Any]:
    """The values of the info file that a run gets."""
    info = dict(effective)
    info["name"] = name
    info["metric"] = METRIC_IN_INFO.get(canonical_metric(metric) or "", metric) if metric else info.get("metric")
    info["time_budget"] = time_budget if time_budget is not None else info.get("time_budget")
    if alias:
        told = {*_KEYS_UNDER_ALIAS, *FLAG_KEYS}
        info = {key: value for key, value in info.items() if key in told or key.endswith("_num")}
    return info


def _place(source: Path, target: Path, *, link: bool) -> None:
    """A file in a second place, with its time, readable by all: linked where that is allowed and can be."""
    status = source.lstat()
    if link and stat.S_ISREG(status.st_mode) and status.st_mode & 0o777 == _READABLE_BY_ALL:
        try:
            os.link(source, target)
            return
        except OSError:
            pass  # another disk, or a system that does not let everybody link
    shutil.copyfile(source, target)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    target.chmod(_READABLE_BY_ALL)


# The cache ------------------------------------------------------------------------------------------------------


def _known(source: Path, texts: Mapping[str, Path], info: Mapping[str, Any]) -> dict[str, Any] | None:
    """The index of the cache beside the source, if all of it was made from these very files; else None."""
    index = read_index(source)
    stamps, counts, said = (index.get(key) for key in ("stamps", "counts", "said"))
    if not (isinstance(stamps, dict) and isinstance(counts, dict) and isinstance(said, dict)):
        return None
    if set(counts) != {*COUNT_KEYS, *FLAG_KEYS, "feat_type", "task"} - {"is_chronological_order"}:
        return None
    if not all(_is_plain(source / CACHE_FOLDER / file) for file in _files_of(index)):
        return None
    found, types = _stamps(texts), _stamps({"_feat.type": source / CACHE_FOLDER / _TYPES})
    if found not in (stamps, {**stamps, **types}):
        return None
    # What was counted depends on these: they must be as they were, or as they were written then.
    return index if all(info.get(key) in (said.get(key), counts.get(key)) for key in _KEYS_THAT_COUNT) else None


def _files_of(index: Mapping[str, Any]) -> list[str]:
    parts = [file for part, entry in index["parts"].items() for file in cached_files(part, entry)]
    return [*parts, _TARGETS, _TYPES]


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _stamps(texts: Mapping[str, Path]) -> dict[str, list[int]]:
    """Size and time of change of each file that the cache is made from.

    A copy of ours keeps the time: so the content need not be read to know it.
    """
    found = {suffix: path.stat() for suffix, path in texts.items() if suffix in _CACHED_TEXTS}
    return {suffix: [status.st_size, status.st_mtime_ns] for suffix, status in found.items()}


def _read_into(cache: Path, source: Path, texts: Mapping[str, Path]) -> dict[str, Any]:
    """Read the text, write the cache, and return its index. Raises DataError where the text is at fault."""
    stamps = _stamps(texts)
    tables, task = open_tables(source)
    solutions = {part: tables.solution(part) for part in PARTS}
    targets = solutions["train"]
    if targets is None:
        raise DataError(f"{tables.name}_train.solution", "is missing")
    entries, digests = _cache_parts(tables, cache, solutions)
    features = {part: read_cached(cache, part, entry) for part, entry in entries.items()}
    np.save(cache / _TARGETS, targets)
    if features["train"].shape[0] != len(targets):
        raise DataError(
            f"{tables.name}_train.data",
            f"has {features['train'].shape[0]} rows, {tables.name}_train.solution has {len(targets)}",
        )
    types, _ = feature_types(tables, features["train"])
    (cache / _TYPES).write_text("".join(f"{kind}\n" for kind in types), encoding="utf-8")
    for file in cache.iterdir():
        file.chmod(_READABLE_BY_ALL)
    return {
        "version": CACHE_VERSION,
        "parts": entries,
        "text": digests,
        "stamps": stamps,
        "counts": _counted(tables, task, features, types, solutions),
        "said": {key: tables.info.get(key) for key in _KEYS_THAT_COUNT},
    }


def _counted(
    tables: Tables,
    task: str,
    features: Mapping[str, Any],
    types: Sequence[str],
    solutions: Mapping[str, Any],
) -> dict[str, Any]:
    """The counts and flags that the data have, which a run is told instead of what the info file says."""
    label_num = count_labels(tables.info, solutions)
    return {
        "feat_num": int(features["train"].shape[1]),
        "target_num": label_num if task == "multiclass.classification" else int(solutions["train"].shape[1]),
        "label_num": {"regression": 0, "binary.classification": 2}.get(task, label_num),
        **{f"{part}_num": int(features[part].shape[0]) if part in features else 0 for part in PARTS},
        "has_categorical": "Categorical" in types,
        "has_missing": any(has_missing(values) for values in features.values()),
        "is_sparse": tables.layout != "dense",
        "feat_type": general_type(types),
        "task": task,
    }


def _cache_parts(
    tables: Tables, cache: Path, solutions: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, str]]:
    """(entries of the cache's index by part, digests of the text by part), with the arrays written.

    Arrays beside the source are taken over when they were made from exactly this text.
    """
    digests = text_digests(tables.folder, tables.name)
    if "train" not in digests:
        raise DataError(f"{tables.name}_train.data", "is missing")
    entries = _taken_over(tables.folder, cache, digests)
    for part in digests:
        if part not in entries:
            known = solutions[part]
            rows = len(known) if known is not None else count_of(tables.info, f"{part}_num")
            entries[part] = write_cached(cache, part, tables.features(part, rows))
    return entries, digests


def text_digests(folder: Path, name: str | None = None) -> dict[str, str]:
    """The SHA-256 of the `.data` files that are there, by part: the text that a cache was read from."""
    name = name or find_name(folder)
    paths = {part: folder / f"{name}_{part}.data" for part in PARTS}
    return {part: _digest(path) for part, path in paths.items() if path.is_file()}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _taken_over(source: Path, cache: Path, digests: Mapping[str, str]) -> dict[str, Any]:
    """Entries of the cache beside the source, with their files copied; nothing where its text is another."""
    entries = _entries_for(source, digests)
    for file in (file for part, entry in entries.items() for file in cached_files(part, entry)):
        shutil.copyfile(source / CACHE_FOLDER / file, cache / file)
    return entries


def _entries_for(folder: Path, digests: Mapping[str, str]) -> dict[str, Any]:
    """Entries of the cache in a folder, by part; nothing where it was made from another text, or not wholly."""
    index = read_index(folder)
    if index.get("text") != dict(digests) or set(index["parts"]) != set(digests):
        return {}
    files = [file for part, entry in index["parts"].items() for file in cached_files(part, entry)]
    return dict(index["parts"]) if all(_is_plain(folder / CACHE_FOLDER / file) for file in files) else {}


def cached_features(folder: Path, name: str) -> dict[str, Any]:
    """The features of each part from the cache in a folder; nothing where it was not made from this very text.

    Raises DataError where the arrays are not what their index says.
    """
    if not read_index(folder)["parts"]:
        return {}
    entries = _entries_for(folder, text_digests(folder, name))
    return {part: read_cached(folder / CACHE_FOLDER, part, entry) for part, entry in entries.items()}
