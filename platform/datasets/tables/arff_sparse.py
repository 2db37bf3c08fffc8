"""The sparse rows of ARFF: `{index value, index value}`, counted from 0."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import scipy.sparse

from datasets.tables.arff_header import (
    DATE,
    NUMBER,
    QUOTED,
    TEXT,
    Attribute,
    Header,
    decoded,
    strptime_format,
    unquoted,
)
from datasets.tables.table import Findings, Progress, Unreadable
from ingestion.program.errors import printable
from ingestion.program.pieces import Growing

_PIECE = 8 * 1024 * 1024
_PLAIN = re.compile(rb"[^0-9eE+\-., {}\t\r\n]")
_ENTRY = re.compile(rf"\s*([0-9]+)\s+({QUOTED}|[^,\s]+)\s*(?:,|$)", re.DOTALL)
_MEND = "Write each row as {index value, index value}, with indices counted from 0."


def read_sparse_rows(
    path: Path, file: BinaryIO, header: Header, findings: Findings, progress: Progress
) -> Any | None:
    """A CSR matrix of the rows, or None where there are errors. Raises Unreadable where it holds no rows."""
    if any(attribute.kind == TEXT for attribute in header.attributes):
        findings.error("", "is sparse and has text attributes, which cannot be kept sparse", "Make them nominal.")
        return None
    rows = _Rows(path, header)
    size = max(1, path.stat().st_size)
    for piece in _pieces(file, header):
        if not rows.take_quickly(piece):
            rows.take_slowly(piece)
        progress(min(0.8, 0.8 * file.tell() / size), f"Reading {path.name}.")
    findings.all_of(rows.wrong, _MEND)
    if rows.wrong:
        return None
    return rows.matrix()


def _pieces(file: BinaryIO, header: Header) -> Iterator[bytes]:
    """The rows in pieces of whole lines."""
    file.seek(header.begin)
    while piece := file.read(_PIECE):
        yield piece + file.readline()


class _Rows:
    """Grows a CSR matrix row by row."""

    def __init__(self, path: Path, header: Header) -> None:
        self.path, self.attributes = path, header.attributes
        self.width = len(header.attributes)
        self.line = header.lines
        self.values, self.indices, self.counts = Growing(np.float64), Growing(np.int32), Growing(np.int64)
        self.wrong: list[tuple[str, str]] = []
        self.codes: dict[int, dict[str, float]] = {}
        self.is_number = np.array([attribute.kind == NUMBER for attribute in header.attributes])

    def take_quickly(self, piece: bytes) -> bool:
        """Take a piece of nothing but numbers; False, with nothing taken, where it is anything else."""
        if _PLAIN.search(piece):
            return False
        lines = [line for line in piece.split(b"\n") if line.strip()]
        if not all(line.count(b"{") == line.count(b"}") == 1 for line in lines):
            return False
        filled = [bool(line.strip(b"{} \t\r")) for line in lines]
        counts = np.array([line.count(b",") for line in lines], dtype=np.int64) + np.array(filled, dtype=np.int64)
        words = piece.translate(bytes.maketrans(b"{},", b"   ")).split()
        if len(words) != 2 * int(counts.sum()):
            return False
        try:
            numbers = np.array(words, dtype="S").astype(np.float64)
        except ValueError:
            return False
        indices, values = numbers[::2], numbers[1::2]
        whole = (indices >= 0) & (indices < self.width) & (indices == np.floor(indices))
        if not whole.all() or not self.is_number[indices.astype(np.int64)].all():
            return False
        owners = np.repeat(np.arange(len(counts)), counts)
        keys = owners * float(self.width) + indices
        if (np.diff(keys) <= 0).any():
            return False
        self.values.extend(values)
        self.indices.extend(indices.astype(np.int32))
        self.counts.extend(counts)
        self.line += piece.count(b"\n")
        return True

    def take_slowly(self, piece: bytes) -> None:
        """Take a piece line by line; what is wrong is kept with its line."""
        for raw in piece.splitlines():
            self.line += 1
            text = decoded(raw).strip()
            if not text or text.startswith("%"):
                continue
            try:
                entries = self._entries(text)
            except ValueError as error:
                self.wrong.append((f"line {self.line}", str(error)))
                continue
            order = sorted(entries)
            self.indices.extend(np.array(order, dtype=np.int32))
            self.values.extend(np.array([entries[index] for index in order], dtype=np.float64))
            self.counts.extend(np.array([len(order)], dtype=np.int64))

    def _entries(self, text: str) -> dict[int, float]:
        """The value of each index in one line. Raises ValueError saying what is wrong."""
        end = text.rfind("}")
        tail = text[end + 1 :].strip()
        if not text.startswith("{") or end < 0 or (tail and not re.fullmatch(r",\s*\{[^{}]*\}|%.*", tail)):
            raise ValueError(f"{printable(text[:40])!r} is no row in braces")
        inner, position = text[1:end].rstrip().rstrip(","), 0
        if tail.startswith(","):  # a weight behind the row
            inner = text[1 : text.rfind("}", 0, end)].rstrip()
        entries: dict[int, float] = {}
        while inner[position:].strip():
            found = _ENTRY.match(inner, position)
            if found is None:
                raise ValueError(f"{printable(inner[position : position + 40].strip())!r} is no index and value")
            index = int(found[1])
            if index >= self.width:
                raise ValueError(f"index {index} is past the last attribute, {self.width - 1}")
            if index in entries:
                raise ValueError(f"index {index} stands there twice")
            entries[index] = self._value(self.attributes[index], index, found[2])
            position = found.end()
        return entries

    def _value(self, attribute: Attribute, index: int, word: str) -> float:
        if word == "?":
            return float("nan")
        if attribute.kind == NUMBER:
            try:
                return float(unquoted(word).replace("_", "x"))
            except ValueError:
                wrong = f"{printable(word[:40])!r} is no number, but {attribute.name!r} is numeric"
                raise ValueError(wrong) from None
        text = unquoted(word)
        if attribute.kind == DATE:
            return _seconds(attribute, text)
        known = self.codes.get(index)
        if known is None:
            known = {name: float(code) for code, name in enumerate(attribute.categories)}
            self.codes[index] = known
        if text not in known:
            raise ValueError(
                f"{printable(text[:40])!r} is none of the values that line {attribute.line} declares for "
                f"{attribute.name!r}"
            )
        return known[text]

    def matrix(self) -> Any:
        """The CSR matrix of all rows."""
        counts = self.counts.taken()
        if not counts.size:
            raise Unreadable(self.path.name, "holds no rows", _MEND)
        starts = np.concatenate([[0], np.cumsum(counts)])
        parts = (self.values.taken(), self.indices.taken(), starts)
        return scipy.sparse.csr_matrix(parts, shape=(counts.size, self.width))


def _seconds(attribute: Attribute, text: str) -> float:
    try:
        found = pd.to_datetime(text, format=strptime_format(attribute.date_format))
    except ValueError:
        wrong = f"{printable(text[:40])!r} is no date of the form {attribute.date_format}"
        raise ValueError(wrong) from None
    return float(found.timestamp())
