"""The header of an ARFF file: names and types of the attributes, as Weka's documentation defines them.

No library that is kept up reads what OpenML writes: liac-arff ended in 2020 and fails on dates, scipy's reader
knows neither sparse rows nor text. So header and quoting are read here; numbers are left to pyarrow.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from datasets.tables.table import Unreadable
from ingestion.program.errors import printable

QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(.*)", re.IGNORECASE | re.DOTALL)
_NOMINAL = re.compile(rf"\{{((?:{QUOTED}|[^}}'\"]|(?<=[^\s,{{])['\"])*)\}}")
_VALUE = re.compile(rf"\s*({QUOTED}|[^,]*)\s*(?:,|$)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r"}
_LONGEST_LINE = 64 * 1024 * 1024
_MOST_ATTRIBUTES = 2_000_000
_MEND = "Write each column as: @attribute 'name' numeric, or string, date, {a, b}."

NUMBER, NOMINAL, TEXT, DATE = "number", "nominal", "text", "date"
ISO = "yyyy-MM-dd'T'HH:mm:ss"


@dataclass(frozen=True)
class Attribute:
    """One attribute: its kind, the values of a nominal one in their order, the format of a date, and its line."""

    name: str
    kind: str
    line: int
    categories: tuple[str, ...] = ()
    date_format: str = ISO


@dataclass(frozen=True)
class Header:
    """The header of a file whose rows begin at the byte `begin`, after `lines` lines."""

    relation: str
    attributes: tuple[Attribute, ...]
    begin: int
    lines: int


def read_header(path: Path, file: BinaryIO) -> Header:
    """The header of an open file. Raises Unreadable naming the line that cannot be understood."""
    relation, attributes, number = "", [], 0
    while True:
        raw = file.readline(_LONGEST_LINE)
        if not raw:
            raise Unreadable(path.name, "has no @data line", "Write @data between attributes and rows.")
        number += 1
        line = decoded(raw).lstrip("\ufeff").strip()
        if not line or line.startswith("%"):
            continue
        word = line.split(None, 1)[0].lower()
        if word == "@relation":
            relation = unquoted(line[len(word) :].strip())
        elif word == "@attribute":
            attributes.append(_attribute(f"{path.name} line {number}", line, number))
        elif word == "@data":
            break
        else:
            shown = printable(line[:60])
            what = f"{shown!r} is no @relation, @attribute or @data"
            raise Unreadable(f"{path.name} line {number}", what, "Begin comments with %.")
        if len(attributes) > _MOST_ATTRIBUTES:
            raise Unreadable(path.name, f"has more than {_MOST_ATTRIBUTES} attributes", "Leave some out.")
    if not attributes:
        raise Unreadable(path.name, "declares no @attribute", _MEND)
    return Header(relation, tuple(attributes), file.tell(), number)


def _attribute(place: str, line: str, number: int) -> Attribute:
    found = _ATTRIBUTE.fullmatch(line)
    if not found:
        raise Unreadable(place, f"{printable(line[:60])!r} is no attribute with a name and a type", _MEND)
    name, rest = unquoted(found[1]), found[2].strip()
    nominal = _NOMINAL.match(rest)
    if nominal:
        return Attribute(name, NOMINAL, number, tuple(_values(nominal[1])))
    word, _, more = rest.partition(" ")
    word = word.lower()
    if word in ("numeric", "real", "integer"):
        return Attribute(name, NUMBER, number)
    if word == "string":
        return Attribute(name, TEXT, number)
    if word == "date":
        more = re.split(r"\s%", more.strip())[0].strip()
        return _date(place, Attribute(name, DATE, number, date_format=unquoted(more) or ISO))
    what = f"the type {printable(rest[:40])!r} of {name!r} is none of numeric, string, date and {{a, b}}"
    raise Unreadable(place, what, _MEND)


def _date(place: str, attribute: Attribute) -> Attribute:
    """The attribute itself. Raises Unreadable where its pattern cannot be one of dates."""
    fields = re.findall("%[A-Za-z]", strptime_format(attribute.date_format))
    if fields and len(set(fields)) == len(fields):
        return attribute
    what = f"{printable(attribute.date_format[:60])!r} is no pattern of dates"
    raise Unreadable(place, what, "Write one like yyyy-MM-dd HH:mm:ss, each part once.")


def _values(text: str) -> list[str]:
    """The values of a nominal attribute, each once."""
    values, position = [], 0
    while position < len(text):
        found = _VALUE.match(text, position)
        if not found or found.end() == position:
            break
        if found[1].strip():
            values.append(unquoted(found[1].strip()))
        position = found.end()
    return list(dict.fromkeys(values))


def unquoted(text: str) -> str:
    """A word without the quotes around it and with its escapes undone."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda found: _unescaped(found[1]), text)


def _unescaped(word: str) -> str:
    return chr(int(word[1:], 16)) if len(word) == 5 else _LETTERS.get(word, word)


def decoded(raw: bytes) -> str:
    """A line as text; bytes that are not UTF-8 are read as Latin-1."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def strptime_format(pattern: str) -> str:
    """Python's form of a date pattern as Java writes it (`yyyy-MM-dd'T'HH:mm:ss`); letters in quotes are text."""
    codes = {"yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d"}
    codes |= {"HH": "%H", "H": "%H", "hh": "%I", "h": "%I", "mm": "%M", "m": "%M", "ss": "%S", "s": "%S"}
    codes |= {"SSS": "%f", "S": "%f", "a": "%p", "Z": "%z", "EEE": "%a", "EEEE": "%A"}

    def piece(found: re.Match[str]) -> str:
        if found[1] is not None:
            return (found[1] or "'").replace("%", "%%")
        return "%%" if found[0] == "%" else codes.get(found[0], found[0])

    return re.sub(r"'([^']*)'|([A-Za-z])\2*|%", piece, pattern)
