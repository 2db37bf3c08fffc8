"""Sparse tables as svmlight and LIBSVM write them."""

import re
import tempfile
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from scipy.sparse import csr_matrix

from datasets.tables.describing import describe_matrix
from datasets.tables.room import MOST_SPARSE_COLUMNS
from datasets.tables.table import Findings, Progress, Table, Unreadable
from ingestion.program.errors import DataError
from ingestion.program.text import read_sparse

_NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:nan|NaN|NAN|inf|Inf|INF)"
_LABELS = re.compile(rb"(?:%b)(?:,(?:%b))*" % (_NUMBER, _NUMBER))
_ENTRY = re.compile(rb"(?:[0-9]+:(?:%b)|qid:[0-9]+)" % _NUMBER)
LINE = re.compile(rb"\s*(?:%b)?(?:\s+(?:%b))*\s*(?:#.*)?" % (_LABELS.pattern, _ENTRY.pattern))
# Comments, query ids and several labels are not for the quick way; nor what its reader does not take: an index 0.
_NOT_PLAIN = (b"#", b"q", b",")
_FIRST = re.compile(rb"^[ \t]*[^ \t\r\n]+", re.MULTILINE)
_PIECE = 8 * 1024 * 1024
_MEND = "Write each line as: label index:value index:value, with rising indices."


def read_svmlight(path: Path, findings: Findings, progress: Progress) -> Table | None:
    """The table of a file in svmlight's format, whose labels become its target. Raises Unreadable.

    Labels with commas, or lines without one, mean several labels a row: then the target has a column of 0 and 1
    for each label.
    """
    progress(0.0, f"Reading {path.name}.")
    several = any(_has_several_labels(line) for line in _beginning(path))
    found = None if several else _read_plain(path)
    if found is None:
        found = _read_any(path, findings, several)
    if found is None:
        return None
    matrix, labels = found
    if not matrix.shape[0]:
        raise Unreadable(path.name, "holds no rows", _MEND)
    if matrix.shape[1] > MOST_SPARSE_COLUMNS:
        raise Unreadable(path.name, f"has an index past {MOST_SPARSE_COLUMNS}", _MEND)
    target, names = _target(labels) if several else (np.asarray(labels, dtype=np.float64), ("label",))
    progress(0.7, "Describing the columns.")
    columns = [f"feature_{position}" for position in range(1, matrix.shape[1] + 1)]
    return Table(path.stem, describe_matrix(matrix, columns, {}), matrix=matrix, target=target, target_names=names)


def _read_plain(path: Path) -> tuple[Any, Any] | None:
    """(matrix, labels) of a file of one number and entries a line, counted from 1; None for any other.

    The entries are what the AutoML format has, whose reader is several times as quick as scikit-learn's.
    """
    labels: list[bytes] = []
    with tempfile.TemporaryDirectory(prefix="table-", dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        entries = Path(folder) / path.name
        with path.open("rb") as source, entries.open("wb") as sink:
            while piece := source.read(_PIECE):
                piece += source.readline()
                found = _FIRST.findall(piece)
                is_whole = len(found) == piece.count(b"\n") + (not piece.endswith(b"\n"))  # no blank lines
                if not is_whole or any(letter in piece for letter in _NOT_PLAIN):
                    return None
                labels += found
                sink.write(_FIRST.sub(b"", piece))
        try:
            triplets = read_sparse(entries, MOST_SPARSE_COLUMNS)
            target = np.array(labels, dtype="S").astype(np.float64)
        except (DataError, ValueError):
            return None
    if len(triplets.starts) != len(target) + 1:
        return None
    width = int(triplets.indices.max()) + 1 if len(triplets.indices) else 0
    parts = (triplets.values, triplets.indices, triplets.starts)
    return csr_matrix(parts, shape=(len(target), width)), target


def _read_any(path: Path, findings: Findings, several: bool) -> tuple[Any, Any] | None:
    """(matrix, labels) by scikit-learn's reader; None after what is wrong has become errors."""
    from sklearn.datasets import load_svmlight_file

    try:
        matrix, labels, queries = load_svmlight_file(path, zero_based="auto", multilabel=several, query_id=True)
    except (ValueError, OverflowError) as error:
        _explain(path, findings, error)
        return None
    if len(queries):
        findings.warn("", "the query ids (qid) are not used")
    matrix.sort_indices()
    return matrix, labels


def _beginning(path: Path) -> list[bytes]:
    with path.open("rb") as file:
        lines = islice((line.strip(b"\r\n") for line in file), 1000)
        return [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")]


def looks_like_svmlight(path: Path) -> bool:
    """Whether the first lines are all labels with `index:value` behind."""
    lines = _beginning(path)[:20]
    return bool(lines) and all(LINE.fullmatch(line) for line in lines) and any(b":" in line for line in lines)


def _has_several_labels(line: bytes) -> bool:
    first = line.split(None, 1)[0] if line.strip() else b""
    return b"," in first or b":" in first


def _target(labels: Any) -> tuple[Any, tuple[str, ...]]:
    names = sorted({label for row in labels for label in row})
    place = {label: position for position, label in enumerate(names)}
    target = np.zeros((len(labels), len(names)))
    for row, own in enumerate(labels):
        target[row, [place[label] for label in own]] = 1.0
    return target, tuple(f"{name:g}" for name in names)


def _explain(path: Path, findings: Findings, error: Exception) -> None:
    """Find what the library stumbled over; its own words where no line is at fault."""
    found = list(islice(_faults(path), Findings.MOST_OF_A_SORT + 1))
    if not found:
        raise Unreadable(path.name, f"cannot be read: {error}", _MEND)
    findings.all_of(found, _MEND)


def _faults(path: Path) -> Iterator[tuple[str, str]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            words = line.split(b"#")[0].split()
            if not words:
                continue
            entries = words if b":" in words[0] else words[1:]
            if entries is not words and not _LABELS.fullmatch(words[0]):
                yield f"line {number}", f"{_shown(words[0])} is no label"
                continue
            wrong = next((word for word in entries if not _ENTRY.fullmatch(word)), None)
            if wrong is not None:
                yield f"line {number}", f"{_shown(wrong)} is no index:value"
                continue
            indices = [int(word.split(b":")[0]) for word in entries if not word.startswith(b"qid")]
            fallen = next((b for a, b in pairwise(indices) if b <= a), None)
            if fallen is not None:
                yield f"line {number}", f"index {fallen} stands behind a greater or the same one"


def _shown(word: bytes) -> str:
    return repr(word[:40].decode("utf-8", "replace"))
