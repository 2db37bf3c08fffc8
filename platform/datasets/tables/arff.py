"""Tables in ARFF, as Weka and OpenML write them: dense or sparse rows, quotes, escapes, comments, dates."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa

from datasets.tables.arff_header import (
    DATE,
    NOMINAL,
    NUMBER,
    QUOTED,
    Attribute,
    Header,
    decoded,
    read_header,
    strptime_format,
    unquoted,
)
from datasets.tables.arff_sparse import read_sparse_rows
from datasets.tables.columns import MISSING, LinesOfRows, categories_of, declared, numbers_of, odd_rows, token
from datasets.tables.delimited import Dialect, Share, cut
from datasets.tables.describing import describe_frame, describe_matrix
from datasets.tables.table import Findings, Progress, Table, Unreadable, distinct_names

_CELL = re.compile(rf"[ \r\n]*(?:({QUOTED})|(\{{[^}}]*\}})|([^,\t]*?))[ \r\n]*(?:([,\t])|$)", re.DOTALL)
# A row without any of these can be cut at its commas.
_NEEDS_CARE = re.compile(rb"['\"%{\\\t]")
_MOST_ERRORS = 60
_MISSING_WORDS = (*MISSING, "?")


def read_arff(path: Path, findings: Findings, progress: Progress) -> Table | None:
    """The table of an ARFF file, or None where it has errors. Raises Unreadable where the header cannot be read.

    A sparse file gives a matrix, in which nominal attributes are codes; an absent entry is zero, which is the
    first value of a nominal attribute.
    """
    with path.open("rb") as file:
        header = read_header(path, file)
        names = distinct_names([attribute.name for attribute in header.attributes], findings)
        if _is_sparse(file, header):
            return _sparse_table(path, file, header, names, findings, progress)
        texts = _cut_rows(path, file, header, findings, progress)
    if findings.errors:
        return None
    if not texts or not len(texts[0]):
        raise Unreadable(path.name, "holds no rows", "Below @data each line is a row.")
    lines = _lines(path, header)
    series = {}
    for position, (name, attribute) in enumerate(zip(names, header.attributes, strict=True)):
        values = _values(attribute, texts[position], lines, findings)
        texts[position] = None
        if values is not None:
            series[name] = pd.Series(values, name=name)
        if len(findings.errors) > _MOST_ERRORS:
            findings.error("", "what comes behind is not looked at", "Correct these first.")
            break
    if findings.errors:
        return None
    progress(0.9, "Describing the columns.")
    frame = pd.DataFrame(series, copy=False)
    return Table(header.relation or path.stem, describe_frame(frame), frame=frame)


def _is_sparse(file: BinaryIO, header: Header) -> bool:
    file.seek(header.begin)
    for raw in file:
        line = raw.strip()
        if line and not line.startswith(b"%"):
            return line.startswith(b"{")
    return False


def _sparse_table(
    path: Path, file: BinaryIO, header: Header, names: list[str], findings: Findings, progress: Progress
) -> Table | None:
    matrix = read_sparse_rows(path, file, header, findings, progress)
    if matrix is None:
        return None
    categories = {
        place: attribute.categories for place, attribute in enumerate(header.attributes) if attribute.categories
    }
    progress(0.8, "Describing the columns.")
    columns = describe_matrix(matrix, names, categories)
    return Table(header.relation or path.stem, columns, matrix=matrix)


# Dense rows -----------------------------------------------------------------------------------------------------


def _cut_rows(path: Path, file: BinaryIO, header: Header, findings: Findings, progress: Progress) -> list[Any]:
    """A column of text for each attribute. Ragged lines are among the findings then."""
    share = Share(progress, path.stat().st_size, path.name)
    file.seek(header.begin)
    needs_care = any(_NEEDS_CARE.search(block) for block in iter(lambda: file.read(1 << 22), b""))
    file.seek(header.begin)
    if not needs_care:
        ragged: list[int] = []
        names = list(map(str, range(len(header.attributes))))
        dialect = Dialect(",", _encoding(file, header), False, tuple(names), has_quotes=False)
        texts = cut(file, names, dialect, ragged, share)
        if not ragged:
            return texts
        file.seek(header.begin)
    return _cut_with_care(path, file, header, findings, share)


def _encoding(file: BinaryIO, header: Header) -> str:
    blocks = iter(lambda: file.read(1 << 22), b"")
    is_ascii = all(block.isascii() for block in blocks)
    file.seek(header.begin)
    if is_ascii:
        return "utf-8"
    try:
        for line in file:
            line.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    finally:
        file.seek(header.begin)
    return "utf-8"


def _cut_with_care(path: Path, file: BinaryIO, header: Header, findings: Findings, share: Share) -> list[Any]:
    width = len(header.attributes)
    columns: list[list[str | None]] = [[] for _ in range(width)]
    wrong: list[tuple[str, str]] = []
    weighted = done = 0
    for line, text in _rows(file, header):
        done += len(text)
        cells, has_weight = cells_of(text)
        weighted += has_weight
        if len(cells) != width:
            wrong.append((f"line {line}", f"has {len(cells)} values, {width} attributes are declared"))
            continue
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell)
        if not len(columns[0]) % 10_000:
            share(done)
    findings.all_of(wrong, "Give every line one value for each attribute; put text with commas in quotes.")
    if weighted:
        findings.warn("", f"the weights of {weighted} rows are not used")
    return [pa.chunked_array([pa.array(column, pa.string())]) for column in columns]


def _rows(file: BinaryIO, header: Header) -> Iterator[tuple[int, str]]:
    """(line, text) of each row: what is neither blank nor a comment."""
    for number, raw in enumerate(file, start=header.lines + 1):
        text = decoded(raw).strip()
        if text and not text.startswith("%"):
            yield number, text


def cells_of(text: str) -> tuple[list[str | None], bool]:
    """(values of one dense row with None for missing, whether a weight of the row, in braces, was left out)."""
    cells: list[str | None] = []
    position, ended = 0, False
    while not ended:
        found = _CELL.match(text, position)
        if found is None:  # a quote without its end, or text behind one: taken as it is up to the next comma
            end = text.find(",", position)
            cells.append(text[position : end if end >= 0 else None].strip())
            ended = end < 0
            position = end + 1
            continue
        quoted, braces, bare = found[1], found[2], found[3]
        ended = found[4] is None
        position = found.end()
        if braces is not None and ended:
            return cells, True
        if quoted is not None:
            cells.append(unquoted(quoted))
        else:
            word = braces if braces is not None else bare
            cells.append(None if word in _MISSING_WORDS else unquoted(word))
        if bare is not None and not ended and position >= len(text):
            cells.append(None)
            ended = True
    return cells, False


def _lines(path: Path, header: Header) -> LinesOfRows:
    def numbers() -> Iterator[int]:
        with path.open("rb") as file:
            file.seek(header.begin)
            yield from (line for line, _ in _rows(file, header))

    return LinesOfRows(numbers)


def _values(attribute: Attribute, texts: Any, lines: LinesOfRows, findings: Findings) -> Any | None:
    """Numbers, a Categorical or times of one attribute; None after what is wrong has become an error."""
    if attribute.kind == NUMBER:
        numbers = numbers_of(texts)
        if numbers is None:
            _refuse(texts, odd_rows(texts), f"is no number, but {attribute.name!r} is numeric", lines, findings)
        return numbers
    if attribute.kind == NOMINAL:
        values, strange = declared(texts, attribute.categories)
        where = f"is none of the values that line {attribute.line} declares for {attribute.name!r}"
        _refuse(texts, strange, where, lines, findings)
        return None if len(strange) else values
    if attribute.kind == DATE:
        return _dates(attribute, texts, lines, findings)
    return categories_of(texts)


def _dates(attribute: Attribute, texts: Any, lines: LinesOfRows, findings: Findings) -> Any | None:
    plain = pd.Series(texts.to_pylist(), dtype=object)
    pattern = strptime_format(attribute.date_format)
    found = pd.to_datetime(plain, format=pattern, errors="coerce", utc="%z" in pattern)
    strange = np.flatnonzero((found.isna() & plain.notna()).to_numpy())
    if not len(strange):
        found = found.dt.tz_localize(None) if found.dt.tz is not None else found
        return found.to_numpy().astype("datetime64[us]")
    message = f"is no date of the form {attribute.date_format} that {attribute.name!r} asks for"
    _refuse(texts, strange, message, lines, findings)
    return None


def _refuse(texts: Any, rows: Sequence[int] | Any, message: str, lines: LinesOfRows, findings: Findings) -> None:
    """Errors at the first few rows at fault."""
    for row in list(rows)[:3]:
        findings.error(
            f"line {lines.of(int(row))}",
            f"{token(texts, int(row))} {message}",
            "Correct it, or write ? for a missing value.",
        )
    if len(rows) > 3:
        findings.error("", f"{len(rows) - 3} more values have the same fault: the first {message}")
