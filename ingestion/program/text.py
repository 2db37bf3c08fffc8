"""Reading the AutoML text layouts: a fast vectorised path, and a slow one that finds the place of an error.

Nothing newer than Python 3.9 and numpy 1.22 is used here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

_BLOCK = 8 * 1024 * 1024
_SPACES = b" \t\r\v\f\n"
_IS_SPACE = np.zeros(256, dtype=bool)
_IS_SPACE[list(_SPACES)] = True
_NEWLINE = 10
_COLON = 58


class DataError(Exception):
    """A data file is at fault: `place` says which file and line, `message` what is wrong there."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.place = place
        self.message = message


class Triplets(NamedTuple):
    """A sparse matrix as CSR parts: values, 0-based column indices, row starts; and the number of columns."""

    values: Any
    indices: Any
    starts: Any
    columns: int


def blocks(path: Path) -> Iterator[bytes]:
    """The file in pieces of some megabytes that end at line ends, without a byte order mark.

    A file whose only line ends are carriage returns (old Mac) is read as if they were newlines.
    """
    with path.open("rb") as file:
        block = file.read(_BLOCK)
        if block.startswith(b"\xef\xbb\xbf"):
            block = block[3:]
        old_mac = b"\n" not in block and b"\r" in block.rstrip(_SPACES)
        rest: list[bytes] = []
        while block:
            if old_mac:
                block = block.replace(b"\r", b"\n")
            cut = block.rfind(b"\n") + 1
            if cut:
                yield b"".join([*rest, block[:cut]])
                rest = [block[cut:]] if cut < len(block) else []
            else:
                rest.append(block)
            block = file.read(_BLOCK)
        if rest:
            yield b"".join(rest)


def _tokens(block: bytes) -> tuple[Any, Any, Any]:
    """(bytes as uint8, start positions of tokens, positions of newlines)."""
    raw = np.frombuffer(block, dtype=np.uint8)
    space = _IS_SPACE[raw]
    begins = ~space
    begins[1:] &= space[:-1]
    return raw, np.flatnonzero(begins), np.flatnonzero(raw == _NEWLINE)


def _numbers(block: bytes, expected: int) -> Any | None:
    """The block's numbers, or None unless there are exactly `expected` and nothing else."""
    if expected == 0:
        return np.empty(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # older numpy warns where newer numpy raises
        try:
            values = np.fromstring(block, dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    # "1.2.3" reads as two numbers: only an equal count proves that each token is one number.
    return values if values.size == expected else None


def _per_line(starts: Any, newlines: Any, size: int) -> Any:
    """Number of tokens on each line of a block; an unended last line counts when it holds something."""
    ends = newlines
    if size and (not newlines.size or newlines[-1] != size - 1):
        ends = np.append(newlines, size)
    counts = np.diff(np.searchsorted(starts, ends), prepend=0)
    if ends.size > newlines.size and counts[-1] == 0:
        counts = counts[:-1]
    return counts


def show(token: bytes) -> str:
    """A token for an error message: printable and short."""
    text = token.decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:37] + "...")


def is_number(token: bytes) -> bool:
    """Whether the token is one number as data files may hold them (NaN and infinities included)."""
    try:
        float(token)
    except ValueError:
        return False
    return b"_" not in token


def read_dense(path: Path, columns: int | None = None) -> Any:
    """A float64 array (n, c) of a file with blanks between numbers; NaN in any case is a missing value.

    Blank lines are passed over. `columns` is the width that is asked for; without it the first line decides.
    Raises DataError naming file, line and token (or the number of values) for text and ragged lines.
    """
    parts = []
    line = 0
    for block in blocks(path):
        _, starts, newlines = _tokens(block)
        counts = _per_line(starts, newlines, len(block))
        filled = counts[counts > 0]
        if filled.size and columns is None:
            columns = int(filled[0])
        values = _numbers(block, int(starts.size)) if bool((filled == columns).all()) else None
        if values is None:
            _explain_dense(path, block, line, columns or 0)
        else:
            parts.append(values.reshape(-1, columns or 1))
        line += int(counts.size)
    if not parts:
        return np.empty((0, columns or 0))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _explain_dense(path: Path, block: bytes, line: int, columns: int) -> None:
    for number, text in enumerate(block.split(b"\n"), start=line + 1):
        tokens = text.split()
        for token in tokens:
            if not is_number(token):
                hint = "; values are separated by blanks" if b"," in token or b";" in token else ""
                hint = hint or ("; is this a sparse file?" if b":" in token else "")
                raise DataError(f"{path.name} line {number}", f"{show(token)} is not a number{hint}")
        if tokens and len(tokens) != columns:
            few = "1 value" if len(tokens) == 1 else f"{len(tokens)} values"
            raise DataError(f"{path.name} line {number}", f"{few}, {columns} are expected")
    raise DataError(path.name, f"a line after line {line} cannot be read as numbers")


def read_sparse(path: Path, columns: int, binary: bool = False) -> Triplets:
    """CSR parts of a file of `index:value` entries, or of indices alone when `binary`.

    Indices are 1-based; each line is a row and an empty line is a row of zeros. Raises DataError naming
    file, line and token for text, index 0, an index past `columns`, or an index given twice in a line.
    """
    values, indices, counts = [], [], []
    line = 0
    for block in blocks(path):
        raw, starts, newlines = _tokens(block)
        per_line = _per_line(starts, newlines, len(block))
        entries = _entries(block, raw, starts, binary)
        if entries is None or not _in_order(entries[0], per_line, columns):
            entries = _slow_sparse(path, block, line, columns, binary)
        indices.append(entries[0].astype(np.int64) - 1)
        values.append(entries[1])
        counts.append(per_line)
        line += int(per_line.size)
    starts_of_rows = np.concatenate([[0], np.cumsum(np.concatenate([*counts, np.empty(0, dtype=np.int64)]))])
    kind = np.int32 if max(columns, int(starts_of_rows[-1])) < 2**31 else np.int64
    return Triplets(
        np.concatenate([*values, np.empty(0)]),
        np.concatenate([*indices, np.empty(0, dtype=np.int64)]).astype(kind),
        starts_of_rows.astype(kind),
        columns,
    )


def _entries(block: bytes, raw: Any, starts: Any, binary: bool) -> tuple[Any, Any] | None:
    """(1-based indices, values) of a block, or None where it is not written as it should be."""
    if binary:
        numbers = _numbers(block, int(starts.size))
        return None if numbers is None else (numbers, np.ones(starts.size))
    colons = np.flatnonzero(raw == _COLON)
    if colons.size != starts.size:
        return None
    if not starts.size:
        return np.empty(0), np.empty(0)
    # One colon in each token, with a character on both sides.
    owners = np.searchsorted(starts, colons, side="right")
    if not bool((owners == np.arange(1, starts.size + 1)).all()) or colons[-1] + 1 >= raw.size:
        return None
    if bool((colons == starts).any()) or bool(_IS_SPACE[raw[colons + 1]].any()):
        return None
    numbers = _numbers(block.replace(b":", b" "), 2 * int(starts.size))
    return None if numbers is None else (numbers[0::2], numbers[1::2])


def _in_order(indices: Any, per_line: Any, columns: int) -> bool:
    """Whether indices are whole, in range and rising along each line (so none is given twice)."""
    if not indices.size:
        return True
    if not bool((indices == np.floor(indices)).all()) or indices.min() < 1 or indices.max() > columns:
        return False
    firsts = np.cumsum(per_line) - per_line
    rising = np.empty(indices.size, dtype=bool)
    rising[1:] = indices[1:] > indices[:-1]
    rising[firsts[per_line > 0]] = True
    return bool(rising.all())


def _slow_sparse(path: Path, block: bytes, line: int, columns: int, binary: bool) -> tuple[Any, Any]:
    """Read line by line: sorts unordered indices, and names the place of what is wrong."""
    indices: list[int] = []
    values: list[float] = []
    for number, text in enumerate(block.split(b"\n"), start=line + 1):
        row: dict[int, float] = {}
        for token in text.split():
            where, shown = f"{path.name} line {number}", show(token)
            index, colon, value = token.partition(b":")
            if bool(colon) == binary:
                asked = "an index alone" if binary else "index:value"
                raise DataError(where, f"{shown} is not {asked}")
            if not index.isdigit():
                raise DataError(where, f"{shown} does not begin with a whole number as index")
            if not binary and not is_number(value):
                raise DataError(where, f"{shown} does not end with a number as value")
            position = int(index[:20])
            if not 1 <= position <= columns:
                raise DataError(where, f"{shown}: index {position} is outside 1 to {columns} (feat_num)")
            if position in row:
                raise DataError(where, f"{shown}: index {position} is given twice in this line")
            row[position] = 1.0 if binary else float(value)
        for position in sorted(row):
            indices.append(position)
            values.append(row[position])
    return np.array(indices, dtype=np.float64), np.array(values, dtype=np.float64)
