"""Reading tables of numbers from text or `.npy` files that a stranger wrote.

Exact about what a careless reader turns into NaN or into another shape: a file of one line with C
numbers is 1 x C, words and commas are errors, a byte order mark is dropped, 1e400 is no number.
"""

import io
import lzma
import math
import os
import re
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Literal, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from scoring.errors import BadPredictionError, BadSolutionError, ScoringError
from scoring.targets import check_shape

Floats = NDArray[np.float64]
What = Literal["prediction", "solution"]

MAX_BYTES = 2**30
# What a table of known shape may take (formats.md, section 2), with room for a comment.
BYTES_PER_VALUE = 32
SPARE_BYTES = 2**20

_NPY_MAGIC = b"\x93NUMPY"
_NPY_DIMENSIONS = (1, 2)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_SHOWN_CHARACTERS = 40


def read_table(
    path: Path,
    *,
    what: What = "prediction",
    shape: tuple[int, int] | None = None,
    max_bytes: int = MAX_BYTES,
    finite: bool = True,
) -> Floats:
    """Return the numbers of a text or `.npy` file as a float64 table (rows, columns).

    Text: one sample a line, blanks between numbers, `#` starts a comment, blank lines do not count,
    any line ending, UTF-8 with or without a byte order mark. `.npy` is recognised by its content,
    never unpickled, and a vector becomes one column. A name that ends in `.xz` is decompressed.

    Args:
        path: the file.
        what: decides the class of the errors.
        shape: the shape that is required; it also bounds the size of the file.
        max_bytes: largest size, after decompression.
        finite: whether NaN and infinity are errors. 1e400 counts as infinity.

    Raises:
        BadPredictionError, BadSolutionError: one sentence naming file, line and column. An absent or
            unreadable file is such an error too.
    """
    error = BadPredictionError if what == "prediction" else BadSolutionError
    path = Path(path)
    if shape is not None:
        max_bytes = min(max_bytes, shape[0] * shape[1] * BYTES_PER_VALUE + SPARE_BYTES)
    source = _Source(path, error, max_bytes, finite)
    try:
        table = _read(source, shape)
    except OSError as problem:
        raise error(f"{path.name} cannot be read: {problem.strerror or problem}.") from None
    except (lzma.LZMAError, EOFError):
        raise error(f"{path.name} is not a complete .xz file.") from None
    if shape is not None:
        check_shape(table.shape, shape, name=path.name, error=error)
    return table


class _Source:
    """One file to read, and how its errors are raised."""

    def __init__(self, path: Path, error: type[ScoringError], max_bytes: int, finite: bool) -> None:
        self.path = path
        self.name = path.name
        self.error = error
        self.max_bytes = max_bytes
        self.finite = finite

    def fail(self, rest: str) -> NoReturn:
        raise self.error(f"{self.name}{rest}")

    def fail_at(self, line: int, column: int | None, rest: str) -> NoReturn:
        place = f", line {line}" if column is None else f", line {line}, column {column}"
        self.fail(f"{place}: {rest}")

    def open(self) -> BinaryIO:
        """Open the file, refusing devices and files above the limit."""
        # A named pipe would block on opening, so its kind is looked at first.
        if not self.path.is_file():
            self.fail(" is not a file." if self.path.exists() else " does not exist.")
        raw = self.path.open("rb")
        if self.path.suffix == ".xz":
            return cast(BinaryIO, _Bounded(cast(BinaryIO, lzma.open(raw)), self))
        size = os.fstat(raw.fileno()).st_size
        if size > self.max_bytes:
            raw.close()
            self.fail(f" is {size:,} bytes long, {self.max_bytes:,} are allowed.")
        return cast(BinaryIO, _Bounded(raw, self))


class _Bounded(io.RawIOBase):
    """A stream that raises once more bytes came out of it than are allowed."""

    def __init__(self, stream: BinaryIO, source: _Source) -> None:
        self._stream = stream
        self._source = source
        self._left = source.max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer)).cast("B")
        data = self._stream.read(len(view))
        self._left -= len(data)
        if self._left < 0:
            self._source.fail(f" is longer than the {self._source.max_bytes:,} bytes that are allowed.")
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _read(source: _Source, shape: tuple[int, int] | None) -> Floats:
    with source.open() as stream:
        start = stream.read(len(_NPY_MAGIC)) or b""
    if start == _NPY_MAGIC:
        return _read_npy(source)
    if source.path.name.removesuffix(".xz").endswith(".npy"):
        source.fail(" is not a .npy file.")
    return _read_text(source, shape)


def _read_npy(source: _Source) -> Floats:
    """Read a `.npy` file whose header promises real numbers in one or two dimensions."""
    with source.open() as stream:
        buffered = io.BytesIO(io.BufferedReader(cast(io.RawIOBase, stream)).read())
    try:
        version = np.lib.format.read_magic(buffered)
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = reader(buffered)
    except (ValueError, SyntaxError, TypeError):
        source.fail(" has a damaged .npy header.")
    if dtype.kind not in "biuf":
        source.fail(f" holds {dtype} values, real numbers are expected.")
    if len(shape) not in _NPY_DIMENSIONS or min(shape) < 0:
        source.fail(f" has shape {shape}, a table of samples by columns is expected.")
    promised = math.prod(shape) * dtype.itemsize
    data = buffered.getbuffer()[buffered.tell() :]
    if len(data) != promised:
        source.fail(f" holds {len(data):,} bytes of numbers, its header promises {promised:,}.")
    if promised == 0:
        source.fail(" is empty.")
    stored = np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    with np.errstate(over="ignore"):
        table = np.array(stored, dtype=np.float64, order="C")
    table = table.reshape(-1, 1) if table.ndim == 1 else table
    if source.finite and not np.isfinite(table).all():
        row, column = (int(place[0]) + 1 for place in np.nonzero(~np.isfinite(table)))
        source.fail(f", row {row}, column {column}: {table[row - 1, column - 1]} is not a finite number.")
    return table


def _lines(source: _Source) -> Iterator[str]:
    """The lines of a text file, whatever their ending; a name for it where the bytes are no text."""
    with source.open() as stream:
        buffered = io.BufferedReader(cast(io.RawIOBase, stream), 2**18)
        text = io.TextIOWrapper(buffered, encoding="utf-8-sig", errors="replace", newline=None)
        yield from text


def _is_data(line: str) -> bool:
    return bool(line.partition("#")[0].strip())


def _read_text(source: _Source, shape: tuple[int, int] | None) -> Floats:
    """Read with numpy's C reader, and line by line where that one meets anything unusual."""
    lines = _lines(source)
    first = next((line for line in lines if _is_data(line)), None)
    if first is None:
        source.fail(" is empty.")
    row_limit = None if shape is None else shape[0] + 1
    try:
        table = np.loadtxt(chain([first], lines), ndmin=2, dtype=np.float64, comments="#", max_rows=row_limit)
    except ValueError as problem:
        if isinstance(problem, ScoringError):
            raise
        return _read_carefully(source)
    if source.finite and not (np.isfinite(table.min()) and np.isfinite(table.max())):
        return _read_carefully(source)
    if shape is not None and table.shape[0] > shape[0]:
        rows = sum(map(_is_data, _lines(source)))
        check_shape((rows, table.shape[1]), shape, name=source.name, error=source.error)
    return table


def _read_carefully(source: _Source) -> Floats:
    """Read line by line; raises at the first token or line that is not as it should be."""
    # Eight bytes a value: a list of rows would let a file of short lines take fifty times its size.
    values = array("d")
    columns = 0
    for number, line in enumerate(_lines(source), start=1):
        tokens = line.partition("#")[0].split()
        if not tokens:
            continue
        values.extend(_numbers(source, number, tokens))
        if columns and len(tokens) != columns:
            count = "1 number" if len(tokens) == 1 else f"{len(tokens)} numbers"
            source.fail_at(number, None, f"{count} where the lines before have {columns}.")
        columns = len(tokens)
    return np.array(values, dtype=np.float64).reshape(-1, columns)


def _numbers(source: _Source, line: int, tokens: Iterable[str]) -> Iterator[float]:
    for column, token in enumerate(tokens, start=1):
        if not (_NUMBER.fullmatch(token) or _NOT_FINITE.fullmatch(token)):
            hint = " (numbers are separated by blanks, decimals by a point)" if "," in token else ""
            source.fail_at(line, column, f"{_shown(token)} is not a number{hint}.")
        value = float(token)
        if source.finite and not math.isfinite(value):
            source.fail_at(line, column, f"{_shown(token)} is not a finite number.")
        yield value


def _shown(token: str) -> str:
    """The token as it may be shown to a person: bounded, without control characters."""
    cut = token[:_SHOWN_CHARACTERS] + ("…" if len(token) > _SHOWN_CHARACTERS else "")
    return "'" + "".join(c if c.isprintable() else "?" for c in cut) + "'"
