"""From columns of text to numbers, categories and dates."""

import re
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from datasets.tables.table import Findings
from ingestion.program.errors import printable

# What stands for a missing value: what pandas takes for one, and the question mark of UCI and OpenML.
MISSING = (
    "",
    "?",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "#NA",
    "<NA>",
    "NaN",
    "nan",
    "NAN",
    "-NaN",
    "-nan",
    "NULL",
    "null",
    "None",
)
# As they stand in files with blanks behind their commas, which pyarrow keeps.
MISSING_WITH_BLANKS = tuple(
    f"{before}{word}{after}" for word in MISSING for before in ("", " ") for after in ("", " ")
)
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?(?i:inf|infinity|nan)$"
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?)?Z?")
# A column of which so much is numbers was meant to be one; what is not a number there is worth a word.
_MEANT_AS_NUMBERS = 0.5
_MOST_ODD_VALUES, _MOST_ODD_COLUMNS = 3, 20


class LinesOfRows:
    """On which line of a file each row stands; the file is read again for that, once, and for messages alone."""

    def __init__(self, lines: Callable[[], Iterable[int]]) -> None:
        self._read = lines
        self._lines: array[int] | None = None

    def of(self, row: int) -> int:
        """The line of a row, counted from 0; 0 where it is not found again."""
        if self._lines is None:
            self._lines = array("q", self._read())
        return self._lines[row] if row < len(self._lines) else 0


@dataclass
class Reading:
    """What the conversion of columns needs to know: where to tell, and on which line a row stands.

    `odd_columns` counts the columns of numbers that hold something else.
    """

    findings: Findings
    lines: LinesOfRows
    decimal_comma: bool = False
    odd_columns: int = 0


def series_of(name: str, texts: Any, reading: Reading) -> Any:
    """A float64, datetime64 or categorical Series of a chunked array of text, where null is missing.

    Text that is no number in a column of numbers is told with its line; the column then becomes categories.
    """
    numbers = numbers_of(texts, decimal_comma=reading.decimal_comma)
    if numbers is not None:
        return pd.Series(numbers, name=name)
    dates = dates_of(texts)
    if dates is not None:
        return pd.Series(dates, name=name)
    _tell_odd_values(name, texts, reading)
    return pd.Series(categories_of(texts), name=name)


def numbers_of(texts: Any, *, decimal_comma: bool = False) -> Any | None:
    """The numbers (n,) of a column of text, NaN where null; None where one is no number."""
    for clean in (_as_they_are, _trimmed, _without_decimal_comma):
        if clean is _without_decimal_comma and not decimal_comma:
            continue
        try:
            return pc.cast(clean(texts), pa.float64()).to_numpy()
        except pa.ArrowInvalid:
            continue
    return None


def _as_they_are(texts: Any) -> Any:
    return texts


def _trimmed(texts: Any) -> Any:
    return pc.utf8_trim_whitespace(texts)


def _without_decimal_comma(texts: Any) -> Any:
    return pc.replace_substring(_trimmed(texts), ",", ".")


def dates_of(texts: Any) -> Any | None:
    """The times (n,) of a column of dates as ISO 8601 writes them, NaT where null; None where one is none."""
    known = pc.drop_null(texts)
    if not len(known) or not _DATE.fullmatch(known[0].as_py().strip()):
        return None
    try:
        times = pc.cast(pc.replace_substring(_trimmed(texts), "Z", ""), pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None
    return times.to_numpy().astype("datetime64[us]")


def categories_of(texts: Any) -> Any:
    """A pandas Categorical of a column of text; the categories are sorted."""
    coded = pc.dictionary_encode(pa.chunked_array(_trimmed(texts))).combine_chunks()
    words = np.array(coded.dictionary.to_pylist(), dtype=object)
    codes = pc.fill_null(coded.indices, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    order = np.argsort(words, kind="stable") if len(words) else np.array([], dtype=np.int64)
    place = np.empty(len(words) + 1, dtype=np.int64)
    place[order] = np.arange(len(words))
    place[-1] = -1
    return pd.Categorical.from_codes(place[codes], categories=words[order].astype(object))


def declared(texts: Any, categories: tuple[str, ...]) -> tuple[Any, Any]:
    """(Categorical with the declared categories in their order, rows whose value is not among them)."""
    found = pc.index_in(_trimmed(texts), pa.array(categories, pa.string()))
    codes = pc.fill_null(found, -1).to_numpy().astype(np.int64)
    strange = np.flatnonzero((codes < 0) & ~pc.is_null(texts).to_numpy())
    return pd.Categorical.from_codes(codes, categories=list(categories), ordered=True), strange


def odd_rows(texts: Any) -> Any:
    """The rows of a column of text in which there is something that is no number."""
    is_number = pc.match_substring_regex(_trimmed(texts), NUMBER)
    return np.flatnonzero(~pc.fill_null(is_number, True).to_numpy())


def token(texts: Any, row: int) -> str:
    """The text of one row, as a report shows it."""
    return repr(printable(str(texts[row].as_py())[:60]))


def _tell_odd_values(name: str, texts: Any, reading: Reading) -> None:
    known = len(texts) - texts.null_count
    odd = odd_rows(texts)
    if not known or 1 - len(odd) / known < _MEANT_AS_NUMBERS:
        return
    reading.odd_columns += 1
    if reading.odd_columns > _MOST_ODD_COLUMNS:
        if reading.odd_columns == _MOST_ODD_COLUMNS + 1:
            reading.findings.warn("", "more columns of numbers have values that are none")
        return
    for row in odd[:_MOST_ODD_VALUES].tolist():
        reading.findings.warn(
            f"line {reading.lines.of(row)}",
            f"{token(texts, row)} in column {name!r} is no number, though {known - len(odd)} of its {known} "
            "values are; the column is read as categories",
            "Correct it, or write ? for a missing value.",
        )
    if len(odd) > _MOST_ODD_VALUES:
        reading.findings.warn("", f"column {name!r} has {len(odd)} values that are no numbers")
