"""Tables in numpy's archives: X and y, or the parts of a sparse matrix as scipy saves them with y beside."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from datasets.tables.describing import describe_frame, describe_matrix
from datasets.tables.room import MOST_SPARSE_COLUMNS, check_room
from datasets.tables.table import Findings, Progress, Table, Unreadable, distinct_names

_FEATURES = ("X", "x", "data", "features")
_TARGETS = ("y", "Y", "target", "targets", "labels")
_NAMES = ("feature_names", "columns", "names")
_SPARSE = {"data", "indices", "indptr", "shape"}
_MEND = "Save it as numpy.savez(file, X=features, y=targets)."


def read_npz(path: Path, findings: Findings, progress: Progress) -> Table | None:
    """The table of an archive with `X` (n, c) or CSR parts, and `y` where there is one. Raises Unreadable."""
    progress(0.0, f"Reading {path.name}.")
    arrays = _arrays(path)
    features = _features(path, arrays)
    if not features.shape[0] or not features.shape[1]:
        raise Unreadable(path.name, f"holds an array of the shape {features.shape}, which has no values", _MEND)
    target = next((arrays[key] for key in _TARGETS if key in arrays), None)
    given = next((arrays[key] for key in _NAMES if key in arrays and arrays[key].ndim == 1), None)
    names = [str(name) for name in given] if given is not None else []
    if len(names) != features.shape[1]:
        names = [f"feature_{position}" for position in range(1, features.shape[1] + 1)]
    names = distinct_names(names, findings)
    progress(0.6, "Describing the columns.")
    kept: dict[str, Any] = {}
    if target is not None:
        kept = _own_target(path, target, features.shape[0])
    if scipy.sparse.issparse(features):
        return Table(path.stem, describe_matrix(features, names, {}), matrix=features, **kept)
    frame = pd.DataFrame(features, columns=names)
    return Table(path.stem, describe_frame(frame), frame=frame, **kept)


def _arrays(path: Path) -> Mapping[str, Any]:
    """All arrays by name. Raises Unreadable for what is no such archive, holds objects, or is too large."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_room(path, sum(entry.file_size for entry in archive.infolist()))
        with np.load(path, allow_pickle=False) as loaded:
            return {key: loaded[key] for key in loaded.files}
    except Unreadable:
        raise
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, NotImplementedError) as error:
        if "pickle" in str(error) or "Object arrays" in str(error):
            raise Unreadable(path.name, "holds Python objects, which are never opened", _MEND) from error
        raise Unreadable(path.name, f"cannot be read as an archive of numpy: {error}", _MEND) from error


def _features(path: Path, arrays: Mapping[str, Any]) -> Any:
    if set(arrays) >= _SPARSE:
        return _sparse(path, arrays)
    key = next((key for key in _FEATURES if key in arrays), None)
    if key is None:
        raise Unreadable(path.name, f"holds {', '.join(arrays) or 'nothing'}, but no X", _MEND)
    found = arrays[key]
    if found.ndim > 2 and found.shape[0]:
        found = found.reshape(found.shape[0], -1)
    if found.ndim != 2 or found.dtype.kind not in "biuf":
        what = f"{key} is an array of {found.dtype} with the shape {found.shape}, no table"
        raise Unreadable(path.name, what, _MEND)
    return np.ascontiguousarray(found, dtype=np.float64)


def _sparse(path: Path, arrays: Mapping[str, Any]) -> Any:
    try:
        is_csr = "csc" not in str(arrays.get("format", np.array(b"csr")).item())
        shape = tuple(int(length) for length in arrays["shape"])
        if len(shape) == 2 and shape[1] > MOST_SPARSE_COLUMNS:
            what = f"has {shape[1]} columns, more than {MOST_SPARSE_COLUMNS}"
            raise Unreadable(path.name, what, "Leave columns out.")
        parts = (arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"])
        kind = scipy.sparse.csr_matrix if is_csr else scipy.sparse.csc_matrix
        matrix = kind(parts, shape=shape)
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError) as error:
        raise Unreadable(path.name, f"holds no sparse matrix that can be used: {error}", _MEND) from error
    matrix = matrix.tocsr()
    matrix.sum_duplicates()
    return matrix


def _own_target(path: Path, target: Any, rows: int) -> dict[str, Any]:
    """The target as the table keeps it; text becomes codes, with the labels behind them."""
    if target.ndim not in (1, 2) or target.shape[0] != rows:
        raise Unreadable(path.name, f"y has the shape {target.shape}, X has {rows} rows", _MEND)
    if target.dtype.kind in "US":
        if target.ndim != 1:
            raise Unreadable(path.name, "y holds text in several columns; one is needed", _MEND)
        names, codes = np.unique(target.astype(str), return_inverse=True)
        labels = tuple(names.tolist())
        return {"target": codes.astype(np.float64), "target_names": ("y",), "target_labels": labels}
    if target.dtype.kind not in "biuf":
        raise Unreadable(path.name, f"y is an array of {target.dtype}, neither numbers nor text", _MEND)
    width = 1 if target.ndim == 1 else target.shape[1]
    columns = ("y",) if width == 1 else tuple(f"y_{position}" for position in range(1, width + 1))
    numbers = target.astype(np.float64)
    return {"target": numbers[:, 0] if width == 1 and numbers.ndim == 2 else numbers, "target_names": columns}
