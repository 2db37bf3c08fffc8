"""Reading the AutoML text layouts: a fast way for what is in order, a slow one that finds the place of an error.

Nothing newer than Python 3.9 and numpy 1.22 is used here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ingestion.program.errors import DataError
from ingestion.program.numbers import Converter, Numbers, is_number
from ingestion.program.pieces import Growing, converted, pieces, show

# Empty lines are rows of a sparse dataset; a file of nothing else must not become an array many times its size.
MOST_ROWS = 100_000_000


class Triplets(NamedTuple):
    """A sparse matrix as CSR parts: values, 0-based column indices, row starts; and the number of columns."""

    values: Any
    indices: Any
    starts: Any
    columns: int


# Dense ----------------------------------------------------------------------------------------------------------


def read_dense(path: Path, columns: int | None = None) -> Any:
    """A float64 array (n, c) of a file with blanks between numbers; NaN in any case is a missing value.

    Blank lines are passed over. `columns` is the width that is asked for; without it the first line decides.
    Raises DataError naming file, line and token (or the number of values) for text and ragged lines.
    """
    values = Growing(np.float64)
    lines = width = 0  # lines that ended, and the numbers since
    for piece, found in converted(path, Converter.dense):
        if found is None:
            raise _dense_fault(path.name, piece, lines, width, columns)
        widths = np.diff(found.newlines, prepend=-width, append=found.values.size)
        filled = widths[:-1][widths[:-1] > 0]
        if columns is None and filled.size:
            columns = int(filled[0])
        if not bool((filled == columns).all()):
            raise _dense_fault(path.name, piece, lines, width, columns)
        values.extend(found.values)
        lines += int(found.newlines.size)
        width = int(widths[-1])
    columns = width if columns is None else columns
    if width and width != columns:
        raise _wrong_width(f"{path.name} line {lines + 1}", width, columns)
    return values.taken().reshape(-1, columns) if values.size else np.empty((0, columns))


def _dense_fault(name: str, piece: bytes, lines: int, width: int, columns: int | None) -> DataError:
    """What is wrong in a piece before which `lines` lines and `width` numbers of another were right."""
    texts = piece.split(b"\n")
    for number, text in enumerate(texts, start=1):
        tokens = text.split()
        for token in tokens:
            if not is_number(token):
                hint = "; values are separated by blanks" if b"," in token or b";" in token else ""
                hint = hint or ("; is this a sparse file?" if b":" in token else "")
                return DataError(f"{name} line {lines + number}", f"{show(token)} is not a number{hint}")
        width += len(tokens)
        columns = width if columns is None and width and number < len(texts) else columns
        if width and width != columns and number < len(texts):
            return _wrong_width(f"{name} line {lines + number}", width, columns or 0)
        width = 0
    return DataError(name, f"a line after line {lines} cannot be read as numbers")


def _wrong_width(place: str, width: int, columns: int) -> DataError:
    few = "1 value" if width == 1 else f"{width} values"
    return DataError(place, f"{few}, {columns} are expected")


# Sparse ---------------------------------------------------------------------------------------------------------


def read_sparse(path: Path, columns: int, binary: bool = False) -> Triplets:
    """CSR parts of a file of `index:value` entries, or of indices alone when `binary`.

    Indices are 1-based in the file and come out sorted; each line is a row, an empty line a row of zeros. Raises
    DataError naming file, line and token for text, index 0, an index past `columns`, or one given twice in a line.
    """
    # Two bytes are the least that an entry takes.
    kind = np.int32 if max(columns, path.stat().st_size // 2 + 1) < 2**31 else np.int64
    values, indices, starts = Growing(np.float64), Growing(kind), Growing(kind)
    method = Converter.sparse_binary if binary else Converter.sparse
    starts.extend([0])
    row_start = 0
    across = set()  # rows of which a part was in the piece before

    def convert(converter: Converter, piece: bytes) -> Numbers | None:
        found = method(converter, piece)
        return None if found is None or not _is_in_range(found.indices, columns) else _sorted(found)

    for piece, found in converted(path, convert):
        row = starts.size - 1
        found = _sorted(_read_slowly(path.name, piece, row, columns, binary)) if found is None else found
        _refuse_twice(path, row, found.newlines, found.indices)
        if values.size > row_start:
            across.add(row)
        if found.newlines.size:
            row_start = values.size + int(found.newlines[-1])
        starts.extend(values.size + found.newlines)
        values.extend(found.values)
        indices.extend(found.indices - 1)
        if starts.size > MOST_ROWS:
            raise DataError(path.name, f"has more than {MOST_ROWS} lines")
    if values.size > row_start:
        starts.extend([values.size])
    triplets = Triplets(values.taken(), indices.taken(), starts.taken(), columns)
    for row in sorted(across):
        _sort_row(path, triplets, row)
    return triplets


def _is_in_range(indices: Any, columns: int) -> bool:
    return not indices.size or (int(indices.min()) >= 1 and int(indices.max()) <= columns)


def _rises(newlines: Any, indices: Any) -> Any:
    """For each entry whether its index is above the one before it, where that is in the same line."""
    rises = np.empty(indices.size, dtype=bool)
    rises[:1] = True
    np.greater(indices[1:], indices[:-1], out=rises[1:])
    rises[newlines[newlines < indices.size]] = True
    return rises


def _sorted(found: Numbers) -> Numbers:
    """The same with the indices of each line in order."""
    if bool(_rises(found.newlines, found.indices).all()):
        return found
    lines = np.searchsorted(found.newlines, np.arange(found.indices.size), side="right")
    order = np.lexsort((found.indices, lines))
    return found._replace(values=found.values[order], indices=found.indices[order])


def _refuse_twice(path: Path, row: int, newlines: Any, indices: Any) -> None:
    """Raise DataError where a line of sorted entries, counted from `row` on, has an index twice."""
    falls = np.flatnonzero(~_rises(newlines, indices))
    if falls.size:
        line = row + 1 + int(np.searchsorted(newlines, falls[0], side="right"))
        raise _twice(path, line, int(indices[falls[0]]))


def _sort_row(path: Path, triplets: Triplets, row: int) -> None:
    """Sort one row in place."""
    begin, end = int(triplets.starts[row]), int(triplets.starts[row + 1])
    indices, values = triplets.indices[begin:end], triplets.values[begin:end]
    order = np.argsort(indices, kind="stable")
    indices[:], values[:] = indices[order], values[order]
    same = np.flatnonzero(indices[1:] == indices[:-1])
    if same.size:
        raise _twice(path, row + 1, int(indices[same[0]]) + 1)


def _twice(path: Path, line: int, index: int) -> DataError:
    """The error of an index that a line has twice, with the second of the two as it is written."""
    here, seen = 1, 0
    for piece in pieces(path):
        last = here + piece.count(b"\n")
        if last >= line:
            for number, text in enumerate(piece.split(b"\n"), start=here):
                for token in text.split() if number == line else ():
                    seen += int(token.partition(b":")[0]) == index
                    if seen == 2:
                        where = f"{path.name} line {line}"
                        return DataError(where, f"{show(token)}: index {index} is given twice in this line")
        here = last
    return DataError(f"{path.name} line {line}", f"index {index} is given twice in this line")


def _read_slowly(name: str, piece: bytes, row: int, columns: int, binary: bool) -> Numbers:
    """Read a piece entry by entry; names the place of what is wrong, lines being counted from `row` on."""
    indices: list[int] = []
    values: list[float] = []
    newlines: list[int] = []
    for number, text in enumerate(piece.split(b"\n"), start=row + 1):
        for token in text.split():
            where, shown = f"{name} line {number}", show(token)
            index, colon, value = token.partition(b":")
            if bool(colon) == binary:
                asked = "an index alone" if binary else "index:value"
                raise DataError(where, f"{shown} is not {asked}")
            if not index.isdigit():
                raise DataError(where, f"{shown} does not begin with a whole number as index")
            if not binary and not is_number(value):
                raise DataError(where, f"{shown} does not end with a number as value")
            digits = index.lstrip(b"0")
            position = int(digits[:20] or b"0")
            if not 1 <= position <= columns:
                told = f"{position}..." if len(digits) > 20 else str(position)
                raise DataError(where, f"{shown}: index {told} is outside 1 to {columns} (feat_num)")
            indices.append(position)
            values.append(1.0 if binary else float(value))
        newlines.append(len(indices))
    return Numbers(np.array(values), np.array(newlines[:-1], dtype=np.int64), np.array(indices, dtype=np.int64))
