"""What an analysis says: figures with their numbers, tables and sentences, alike for pages, files, reports."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

VERSION = "1"  # of the definitions: results of another version are computed again

Cell = str | float | int | bool | None


@dataclass(frozen=True)
class Column:
    """A column of numbers or texts. `digits` are decimals of what a page shows; files have all."""

    key: str
    label: str
    kind: str = "text"  # text, number, integer, percent
    digits: int = 3
    title: str = ""  # what it means, in words


@dataclass(frozen=True)
class Table:
    """Rows of values by the columns' order. `key` names its CSV file."""

    kind: ClassVar[str] = "table"
    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sentence: str = ""


@dataclass(frozen=True)
class Figure:
    """A picture with its numbers.

    `spec` is a Vega-Lite specification with its data inside. `sentence` says what it shows, `n` of how many of
    what it is made, `method` how it was computed, with the formula and where that comes from. `seed` is None where
    nothing is drawn at random. `warnings` say why not to trust it. `columns` and `rows` are its data.
    """

    kind: ClassVar[str] = "figure"
    key: str
    title: str
    sentence: str
    spec: dict[str, Any]
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    n: str
    method: str
    seed: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Note:
    """A sentence between the figures. `level` is info or warning."""

    kind: ClassVar[str] = "note"
    text: str
    level: str = "info"


@dataclass(frozen=True)
class Heading:
    """The blocks after it, up to the next, belong together."""

    kind: ClassVar[str] = "heading"
    title: str
    text: str = ""


Block = Table | Figure | Note | Heading
KINDS: dict[str, type[Block]] = {one.kind: one for one in (Table, Figure, Note, Heading)}


@dataclass(frozen=True)
class Result:
    """One section of an analysis. `headline` is its outcome in a sentence; `methods` and `references` go into the
    report. `extras` are numbers that the page computes further with, by name.
    """

    headline: str
    blocks: tuple[Block, ...]
    methods: str = ""
    references: tuple[str, ...] = ()
    extras: dict[str, Any] = field(default_factory=dict)

    def figures(self) -> Iterator[Figure]:
        """Its figures, in order."""
        return (block for block in self.blocks if isinstance(block, Figure))

    def named(self, key: str) -> Figure | Table | None:
        """The figure or table of that key."""
        found = (block for block in self.blocks if isinstance(block, Figure | Table) and block.key == key)
        return next(found, None)

    def to_json(self) -> dict[str, Any]:
        """As it is kept; NaN and infinities become null, which JSON has no other words for."""
        blocks = [{"kind": block.kind, **_fields(block)} for block in self.blocks]
        return {**_fields(self), "blocks": blocks}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Result":
        """What `to_json` made."""
        blocks = tuple(_block(dict(block)) for block in stored["blocks"])
        references = tuple(stored["references"])
        return cls(stored["headline"], blocks, stored["methods"], references, stored["extras"])


def plain(value: Any) -> Any:
    """A value as JSON has it: numpy's numbers as Python's, NaN and infinities as None."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):  # arrays and numbers of numpy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number behind those that an earlier one has too: pictures tell players apart by name."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def rows_of(*columns: Iterable[Any]) -> tuple[tuple[Cell, ...], ...]:
    """Rows from whole columns."""
    return tuple(tuple(plain(cell) for cell in row) for row in zip(*columns, strict=True))


def _fields(one: Any) -> dict[str, Any]:
    found = {}
    for name in one.__dataclass_fields__:
        value = getattr(one, name)
        if name == "columns":
            value = [column.__dict__ for column in value]
        found[name] = None if name == "blocks" else plain(value)
    return found


def _block(stored: dict[str, Any]) -> Block:
    kind = KINDS[stored.pop("kind")]
    if "columns" in stored:
        stored["columns"] = tuple(Column(**column) for column in stored["columns"])
        stored["rows"] = tuple(tuple(row) for row in stored["rows"])
    if "warnings" in stored:
        stored["warnings"] = tuple(stored["warnings"])
    return kind(**stored)
