"""Tables with a delimiter between values: CSV, TSV and their relatives.

pyarrow cuts the text (as strings, so that the type of a column is decided by all of its values); the first lines
decide on delimiter, header and decimal comma.
"""

import csv
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv

from datasets.tables.columns import MISSING, MISSING_WITH_BLANKS, NUMBER, LinesOfRows, Reading, series_of
from datasets.tables.describing import describe_frame
from datasets.tables.table import Findings, Progress, Table, Unreadable, distinct_names

_DELIMITERS = ("\t", ";", "|", ",", " ")
_SAMPLE = 1024 * 1024
_SAMPLE_ROWS = 100
_SMALLEST_BLOCK = 4 * 1024 * 1024
_LARGEST_BLOCK = 512 * 1024 * 1024
_MEND_TEXT = "Save it as UTF-8."
_MEND_QUOTE = 'Close it; a quote that belongs to the text is written twice ("").'
MOST_COLUMNS = 200_000
# A cell may be as long as a text is; the module's own limit is 128 KiB.
csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True)
class Dialect:
    """How the text of a table is written."""

    delimiter: str
    encoding: str
    has_header: bool
    names: tuple[str, ...]
    has_quotes: bool
    decimal_comma: bool = False


def read_delimited(path: Path, findings: Findings, progress: Progress) -> Table | None:
    """The table of a file with delimiters, or None where it has errors. Raises Unreadable where it is no table."""
    dialect = find_dialect(path, findings)
    ragged: list[int] = []
    share = Share(progress, path.stat().st_size, path.name)
    try:
        with path.open("rb") as file:
            texts = cut(file, list(map(str, range(len(dialect.names)))), dialect, ragged, share)
    except pa.ArrowInvalid as error:
        raise _no_end(path, dialect, error) from error
    if ragged:
        findings.all_of(
            list(_ragged_lines(path, dialect)),
            "Give every line as many values as the first one; put text that holds the delimiter in quotes.",
        )
        return None
    if not len(texts[0]):
        raise Unreadable(path.name, "holds no rows", "Below the names of the columns each line is a row.")
    progress(0.6, f"Finding out what the {len(dialect.names)} columns of {path.name} hold.")
    reading = Reading(findings, _lines(path, dialect), dialect.decimal_comma)
    series = {}
    for position, name in enumerate(dialect.names):
        series[name] = series_of(name, texts[position], reading)
        texts[position] = None  # the text of this column is not needed twice in memory
    frame = pd.DataFrame(series, copy=False)
    progress(0.9, "Describing the columns.")
    return Table(path.stem, describe_frame(frame), frame=frame)


# Cutting the text -----------------------------------------------------------------------------------------------


class Share:
    """Turns bytes that were read into a progress up to 60 %."""

    def __init__(self, progress: Progress, size: int, name: str) -> None:
        self.progress, self.size, self.name = progress, max(1, size), name

    def __call__(self, done: int) -> None:
        """Tell it."""
        self.progress(min(0.6, 0.6 * done / self.size), f"Reading {self.name}.")


def cut(file: BinaryIO, names: list[str], dialect: Dialect, ragged: list[int], share: Share) -> list[Any]:
    """A chunked array of text for each column of a file from where it stands; null for what is missing.

    The widths of lines that have another number of values come into `ragged`.
    """

    def handle(row: Any) -> str:
        ragged.append(row.actual_columns)
        return "skip"

    begin = file.tell()
    block = _block_size(file)
    file.seek(begin)
    reader = arrow_csv.open_csv(
        file,
        read_options=arrow_csv.ReadOptions(
            column_names=names,
            block_size=block,
            encoding=dialect.encoding,
            skip_rows_after_names=int(dialect.has_header),
        ),
        parse_options=arrow_csv.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char='"' if dialect.has_quotes else False,
            newlines_in_values=dialect.has_quotes,
            invalid_row_handler=handle,
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types={name: pa.string() for name in names},
            null_values=list(MISSING_WITH_BLANKS),
            strings_can_be_null=True,
        ),
    )
    batches = []
    done = 0
    for batch in reader:
        batches.append(batch)
        done += batch.nbytes
        share(done)
    if not batches:
        return [pa.chunked_array([], pa.string()) for _ in names]
    table = pa.Table.from_batches(batches)
    return [table.column(position) for position in range(len(names))]


def _block_size(file: BinaryIO) -> int:
    """Bytes that pyarrow takes at a time: room for several of the longest line among the first."""
    start = file.read(8 * _SAMPLE)
    if b"\n" not in start:
        start += file.read(_LARGEST_BLOCK // 8)
    longest = max(map(len, start.split(b"\n")))
    return min(_LARGEST_BLOCK, max(_SMALLEST_BLOCK, 8 * longest))


# What the first lines tell --------------------------------------------------------------------------------------


def find_dialect(path: Path, findings: Findings) -> Dialect:
    """How a file is written, by its first lines. Raises Unreadable where it holds nothing."""
    encoding = find_encoding(path, findings)
    with path.open(encoding=encoding, errors="replace", newline="") as text:
        sample = text.read(_SAMPLE)
        is_whole = not text.read(1)
    quotes = _quotes(path)
    if quotes % 2:
        findings.warn("", "has an odd number of quotes, so that one of them has no end", _MEND_QUOTE)
    delimiter, rows = _best_delimiter(path, sample, is_whole)
    if not rows:
        raise Unreadable(path.name, "is empty", "Send the file again.")
    has_header = looks_like_a_header(rows)
    if not has_header:
        findings.warn(
            "line 1",
            "the first line holds values, so the columns have no names; they are numbered",
            "Add a first line with the names of the columns.",
        )
    first = rows[0] if has_header else [f"column_{position}" for position in range(1, len(rows[0]) + 1)]
    if len(first) > MOST_COLUMNS:
        what = f"has {len(first)} columns, more than {MOST_COLUMNS}"
        raise Unreadable(path.name, what, "Send so wide a table as svmlight, or leave columns out.")
    names = distinct_names(first, findings)
    comma = delimiter == ";" and any(re.fullmatch(r"\s*-?\d+,\d+\s*", v) for row in rows[1:] for v in row)
    if comma:
        findings.warn("", "numbers with a decimal comma are read as numbers")
    return Dialect(delimiter, encoding, has_header, tuple(names), quotes > 0, comma)


def find_encoding(path: Path, findings: Findings) -> str:
    """`utf-8`, or for other bytes `utf-16` or `latin-1` with a warning. Raises Unreadable for what is no text."""
    with path.open("rb") as file:
        is_utf_16 = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    for encoding in ("utf-16",) if is_utf_16 else ("utf-8", "latin-1"):
        try:
            _check_text(path, encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "latin-1":
            findings.warn("", "is not written in UTF-8 and is read as Latin-1", _MEND_TEXT)
        return encoding
    raise Unreadable(path.name, "begins like UTF-16 and is broken further down", _MEND_TEXT)


def _check_text(path: Path, encoding: str) -> None:
    """Raises UnicodeDecodeError for bytes of another encoding, Unreadable for zeros, which no text holds."""
    line = 1
    with path.open(encoding=encoding, newline="") as text:
        while piece := text.read(4 * _SAMPLE):
            if "\0" in piece:
                line += piece[: piece.index("\0")].count("\n")
                what = "holds a zero byte: it is no text, or written in UTF-16 or UTF-32 without saying so"
                raise Unreadable(f"{path.name} line {line}", what, _MEND_TEXT)
            line += piece.count("\n")


def _quotes(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b'"') for block in iter(lambda: file.read(4 * _SAMPLE), b""))


def _best_delimiter(path: Path, sample: str, is_whole: bool) -> tuple[str, list[list[str]]]:
    """(delimiter, first rows): the one that cuts the first lines into equally many values."""
    candidates = {".tsv": ("\t",), ".tab": ("\t",)}.get(path.suffix.lower(), _DELIMITERS)
    plain = (",", _rows(sample, ",", is_whole))
    loose = plain
    for delimiter in candidates:
        rows = _rows(sample, delimiter, is_whole)
        widths = [len(row) for row in rows]
        if not widths or widths[0] < 2:
            continue
        if len(set(widths)) == 1:
            return delimiter, rows
        if widths.count(widths[0]) > 0.8 * len(widths) and len(loose[1][0]) < 2:
            loose = (delimiter, rows)
    if loose is plain and len(candidates) == 1:
        return candidates[0], _rows(sample, candidates[0], is_whole)
    return loose


def _rows(sample: str, delimiter: str, is_whole: bool) -> list[list[str]]:
    """The first rows of a sample; one that the sample may have cut is left out."""
    try:
        read = csv.reader(io.StringIO(sample.lstrip("\ufeff"), newline=""), delimiter=delimiter)
        rows = [row for row in itertools.islice(read, _SAMPLE_ROWS) if row]
    except csv.Error:
        return []
    return rows if is_whole or len(rows) in (1, _SAMPLE_ROWS) else rows[:-1]


def looks_like_a_header(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns: different words, or text above a column of numbers."""
    first, rest = rows[0], rows[1:]
    if not any(_is_number(value) for value in first):
        known = [value for value in first if value.strip()]
        if len(set(known)) == len(known):
            return first not in rest
    for position, value in enumerate(first):
        below = [row[position] for row in rest if position < len(row) and row[position].strip() not in MISSING]
        is_text = value.strip() not in MISSING and not _is_number(value)
        if is_text and below and all(map(_is_number, below)):
            return True
    return False


def _is_number(text: str) -> bool:
    return bool(re.match(NUMBER, text.strip()))


# Finding a place again ------------------------------------------------------------------------------------------


def _numbered_rows(path: Path, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """(line on which it begins, values) of each row that is not blank; slow, for messages alone."""
    with path.open(encoding=dialect.encoding, errors="replace", newline="") as text:
        quoting = csv.QUOTE_MINIMAL if dialect.has_quotes else csv.QUOTE_NONE
        reader = csv.reader(text, delimiter=dialect.delimiter, quoting=cast(Any, quoting))
        begin = 1
        for row in reader:
            if row:
                yield begin, row
            begin = reader.line_num + 1


def _no_end(path: Path, dialect: Dialect, error: Exception) -> Unreadable:
    """What is said where the text cannot be cut: nearly always a quote that is never closed."""
    if not dialect.has_quotes:
        return Unreadable(path.name, f"cannot be cut into columns: {error}", "Look at its beginning and its end.")
    try:
        begin = max((line for line, _ in _numbered_rows(path, dialect)), default=1)
    except csv.Error:  # a value longer than the csv module takes
        begin = 1
    what = "a quote is opened here or below that is not closed"
    return Unreadable(f"{path.name} line {begin}", what, _MEND_QUOTE)


def _ragged_lines(path: Path, dialect: Dialect) -> Iterator[tuple[str, str]]:
    expected = len(dialect.names)
    for line, row in _numbered_rows(path, dialect):
        if len(row) != expected:
            shown = dialect.delimiter.join(row)[:60]
            yield f"line {line}", f"has {len(row)} values, the first line has {expected}: {shown!r}"


def _lines(path: Path, dialect: Dialect) -> LinesOfRows:
    """The lines of the rows, without that of the header."""
    skipped = int(dialect.has_header)
    return LinesOfRows(
        lambda: (line for line, _ in itertools.islice(_numbered_rows(path, dialect), skipped, None))
    )
