"""Reading tables of numbers from text or `.npy` files that a stranger wrote.

Exact about what a careless reader turns into NaN or into another shape: a file of one line with C
numbers is 1 x C, words and commas are errors, a byte order mark is dropped, 1e400 is no number.
"""

import errno
import io
import lzma
import math
import os
import re
import stat
import warnings
from array import array
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO, Literal, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from scoring.errors import BadPredictionError, BadSolutionError, ScoringError
from scoring.targets import check_shape

Floats = NDArray[np.float64]
What = Literal["prediction", "solution"]

MAX_BYTES = 2**30
# A million columns of 32 bytes. A longer line would take many times its size while it is taken apart.
MAX_LINE_BYTES = 2**25
# Each costs as much time as a short row does.
MAX_EMPTY_LINES = 10_000_000
_LINES_A_PIECE = 1_000
# What a table of known shape may take (formats.md, section 2), with room for a comment.
BYTES_PER_VALUE = 32
SPARE_BYTES = 2**20
_SMALL_TABLE_BYTES = 2**24

_NPY_MAGIC = b"\x93NUMPY"
_NPY_DIMENSIONS = (1, 2)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_SHOWN_CHARACTERS = 40
# What separates numbers. Python and numpy would take a dozen more characters for blanks.
_BLANKS = re.compile(r"[ \t\n\r\f\v]+")
_PLAIN_BYTES = bytes(range(0x09, 0x0E)) + bytes(range(0x20, 0x7F))
_OTHER_KINDS = {
    b"\x1f\x8b": "a gzip file",
    b"PK\x03\x04": "a zip file",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file without the ending .xz",
    b"\xff\xfe": "text in UTF-16",
    b"\xfe\xff": "text in UTF-16",
}


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

    Parameters
    ----------
    path : Path
        The file.
    what : {"prediction", "solution"}
        Decides the class of the errors.
    shape : tuple of int, optional
        The shape that is required; it also bounds the size of the file.
    max_bytes : int
        Largest size, after decompression.
    finite : bool
        Whether NaN and infinity are errors. 1e400 counts as infinity.

    Returns
    -------
    ndarray of float64, shape (rows, columns)

    Raises
    ------
    BadPredictionError, BadSolutionError
        One sentence naming file, line and column. An absent or unreadable file is such an error too.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "toy_test.predict"
    ...     _ = path.write_text("0.1 0.9\\n0.8 0.2\\n")
    ...     read_table(path, shape=(2, 2)).tolist()
    [[0.1, 0.9], [0.8, 0.2]]
    """
    error = BadPredictionError if what == "prediction" else BadSolutionError
    path = Path(path)
    if shape is not None:
        max_bytes = min(max_bytes, shape[0] * shape[1] * BYTES_PER_VALUE + SPARE_BYTES)
    source = _Source(path, error, max_bytes, finite)
    try:
        table = _read(source, shape)
    except OSError as problem:
        raise error(f"{source.name} cannot be read: {problem.strerror or problem}.") from None
    except (lzma.LZMAError, EOFError):
        raise error(f"{source.name} is not a complete .xz file.") from None
    if shape is not None:
        check_shape(table.shape, shape, name=source.name, error=error)
    return table


class _Source:
    """One file to read, and how its errors are raised."""

    def __init__(self, path: Path, error: type[ScoringError], max_bytes: int, finite: bool) -> None:
        self.path = path
        self.name = _printable(path.name)
        self.error = error
        self.max_bytes = max_bytes
        self.finite = finite
        self.row_limit = math.inf  # rows that are expected
        self.is_text = False
        self.plain = True  # whether all bytes of a text so far are ASCII

    def fail(self, rest: str) -> NoReturn:
        raise self.error(f"{self.name}{rest}")

    def fail_at(self, line: int, column: int | None, rest: str) -> NoReturn:
        place = f", line {line}" if column is None else f", line {line}, column {column}"
        self.fail(f"{place}: {rest}")

    def open(self) -> BinaryIO:
        """Open the file, refusing devices and files above the limit."""
        try:
            raw = open_regular(self.path)
        except FileNotFoundError:
            self.fail(" does not exist.")
        if self.path.suffix == ".xz":
            return cast(BinaryIO, _Bounded(cast(BinaryIO, lzma.open(raw)), self, raw))
        size = os.fstat(raw.fileno()).st_size
        if size > self.max_bytes:
            raw.close()
            self.fail(f" is {size:,} bytes long, {self.max_bytes:,} are allowed.")
        return cast(BinaryIO, _Bounded(raw, self))


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; never waits for a pipe and never reads a device.

    Parameters
    ----------
    path : Path

    Raises
    ------
    OSError
        It cannot be opened, or is no regular file.

    Examples
    --------
    >>> open_regular(Path("/dev/zero"))
    Traceback (most recent call last):
    OSError: [Errno 22] it is not a regular file
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:  # a NUL in the name
        raise FileNotFoundError(errno.ENOENT, "No such file") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return os.fdopen(descriptor, "rb")


class _Bounded(io.RawIOBase):
    """A stream that raises once more bytes, or bytes in one line of text, came out than are allowed."""

    def __init__(self, stream: BinaryIO, source: _Source, beneath: BinaryIO | None = None) -> None:
        self._stream = stream
        self._beneath = beneath  # lzma leaves the file beneath it open
        self._source = source
        self._left = source.max_bytes
        self._in_line = 0
        self._lines = 0
        self._ends = 0  # of lines; two for each line that ends in CR and LF
        self._empty = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(cast(bytearray, buffer)).cast("B")
        data = self._stream.read(len(view))
        self._left -= len(data)
        if self._left < 0:
            self._source.fail(f" is longer than the {self._source.max_bytes:,} bytes that are allowed.")
        if self._source.is_text:
            self._look_at(data)
        view[: len(data)] = data
        return len(data)

    def _look_at(self, data: bytes) -> None:
        if data.translate(None, _PLAIN_BYTES):
            self._source.plain = False
        last = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._in_line = len(data) - last - 1 + (self._in_line if last < 0 else 0)
        if self._in_line > MAX_LINE_BYTES:
            line = self._lines + data.count(b"\n") + 1
            self._source.fail_at(line, None, f"longer than the {MAX_LINE_BYTES:,} bytes that are allowed.")
        ends = data.count(b"\n") + data.count(b"\r")
        self._lines += data.count(b"\n")
        self._ends += ends
        if len(data.translate(None, b"0123456789")) == len(data):
            self._empty += ends
        if self._empty > MAX_EMPTY_LINES or self._ends > 2 * self._source.row_limit + MAX_EMPTY_LINES:
            self._source.fail(f" has more than {MAX_EMPTY_LINES:,} lines without numbers.")

    def close(self) -> None:
        self._stream.close()
        if self._beneath is not None:
            self._beneath.close()
        super().close()


def _read(source: _Source, shape: tuple[int, int] | None) -> Floats:
    with source.open() as stream:
        start = stream.read(len(_NPY_MAGIC)) or b""
    if start == _NPY_MAGIC:
        return _read_npy(source)
    if source.path.name.removesuffix(".xz").endswith(".npy"):
        source.fail(" is not a .npy file.")
    for magic, kind in _OTHER_KINDS.items():
        if start.startswith(magic):
            source.fail(f" is {kind}; plain text or .npy is expected.")
    source.is_text = True
    source.row_limit = math.inf if shape is None else shape[0]
    return _read_text(source, shape)


def _read_npy(source: _Source) -> Floats:
    """Read a `.npy` file whose header promises real numbers in one or two dimensions."""
    with source.open() as stream:
        buffered = io.BytesIO(io.BufferedReader(cast(io.RawIOBase, stream)).read())
    try:
        version = np.lib.format.read_magic(buffered)
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = reader(buffered)
    except Exception:  # numpy parses a stranger's literal: MemoryError and RecursionError are among them
        source.fail(" has a damaged .npy header.")
    if dtype.kind not in "biuf":
        source.fail(f" holds {dtype} values, real numbers are expected.")
    if len(shape) not in _NPY_DIMENSIONS or min(shape) < 0 or bool in map(type, shape):
        source.fail(f" has shape {shape}, a table of samples by columns is expected.")
    promised = math.prod(shape) * dtype.itemsize
    data = buffered.getbuffer()[buffered.tell() :]
    if len(data) != promised:
        source.fail(f" holds {len(data):,} bytes of numbers, its header promises {promised:,}.")
    if promised == 0:
        source.fail(" is empty.")
    # A byte becomes a float64 of eight.
    if math.prod(shape) * 8 > max(source.max_bytes, _SMALL_TABLE_BYTES):
        source.fail(f" holds {math.prod(shape):,} numbers, {source.max_bytes // 8:,} are allowed.")
    stored = np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    with np.errstate(over="ignore"):
        table = np.array(stored, dtype=np.float64, order="C")
    table = table.reshape(-1, 1) if table.ndim == 1 else table
    if source.finite and not np.isfinite(table).all():
        row, column = (int(place[0]) + 1 for place in np.nonzero(~np.isfinite(table)))
        source.fail(f", row {row}, column {column}: {table[row - 1, column - 1]} is not a finite number.")
    return table


def _text(source: _Source) -> io.TextIOWrapper:
    """The text of a file, to be read line by line, whatever their ending."""
    buffered = io.BufferedReader(cast(io.RawIOBase, source.open()), 2**18)
    return io.TextIOWrapper(buffered, encoding="utf-8-sig", errors="replace", newline=None)


def _is_data(line: str) -> bool:
    return bool(line.partition("#")[0].strip())


def _read_text(source: _Source, shape: tuple[int, int] | None) -> Floats:
    """Read with numpy's C reader, and in pieces where that one meets anything unusual."""
    row_limit = None if shape is None else shape[0] + 1
    with _text(source) as text:
        first = next(filter(_is_data, text), None)
        if first is None:
            source.fail(" is empty.")
        try:
            table = np.loadtxt(chain([first], text), ndmin=2, dtype=np.float64, comments="#", max_rows=row_limit)
        except ValueError as problem:
            if isinstance(problem, ScoringError):
                raise
            return _read_carefully(source)
    if not source.plain or (source.finite and not (np.isfinite(table.min()) and np.isfinite(table.max()))):
        return _read_carefully(source)
    if shape is not None and table.shape[0] > shape[0]:
        with _text(source) as text:
            rows = sum(map(_is_data, text))
        check_shape((rows, table.shape[1]), shape, name=source.name, error=source.error)
    return table


def _read_carefully(source: _Source) -> Floats:
    """Read piece by piece; raises at the first token or line that is not as it should be."""
    # Eight bytes a value: a list of rows would let a file of short lines take fifty times its size.
    values = array("d")
    columns = 0
    number = 1
    with _text(source) as text:
        while piece := list(islice(text, _LINES_A_PIECE)):
            table = _plain_table(piece, source)
            if table is not None and columns in (0, table.shape[1]):
                columns = table.shape[1]
                values.frombytes(table.tobytes())
            else:
                columns = _read_by_token(source, piece, number, values, columns)
            number += len(piece)
    return np.array(values, dtype=np.float64).reshape(-1, columns)


def _plain_table(lines: list[str], source: _Source) -> Floats | None:
    """What numpy's reader makes of some lines; None where they have to be looked at one by one."""
    text = "".join(lines)
    if not text.isascii() or text.encode().translate(None, _PLAIN_BYTES) or not any(map(str.strip, lines)):
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # lines of comments only
            table = np.loadtxt(lines, ndmin=2, dtype=np.float64, comments="#")
    except ValueError:
        return None
    usable = table.size and not (source.finite and not np.isfinite(table).all())
    return table if usable else None


def _read_by_token(source: _Source, lines: list[str], first: int, values: "array[float]", columns: int) -> int:
    """Add the numbers of some lines, the first of which is line `first`; return the number of columns."""
    for number, line in enumerate(lines, start=first):
        tokens = [token for token in _BLANKS.split(line.partition("#")[0]) if token]
        if not tokens:
            continue
        values.extend(_numbers(source, number, tokens))
        if columns and len(tokens) != columns:
            count = "1 number" if len(tokens) == 1 else f"{len(tokens)} numbers"
            source.fail_at(number, None, f"{count} where the lines before have {columns}.")
        columns = len(tokens)
    return columns


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
    return f"'{_printable(cut)}'"


def _printable(text: str) -> str:
    """The text without what would break a line or a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)
