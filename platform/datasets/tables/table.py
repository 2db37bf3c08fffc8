"""What reading a table gives: its values in one of two forms, what each column holds, and what was wrong."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from ingestion.dataset import Problem
from ingestion.dataset_check import Progress as Progress
from ingestion.program.errors import DataError


def silent(fraction: float, sentence: str) -> None:
    """The progress of somebody who does not want to know."""


class Kind(StrEnum):
    """What the values of a column are."""

    NUMERICAL = "numerical"
    BINARY = "binary"
    CATEGORICAL = "categorical"
    TEXT = "text"
    DATE = "date"


@dataclass(frozen=True)
class Column:
    """One column: how many values are missing, how many different ones there are, and the first few of these.

    `categories` are the names behind the codes of a column that is stored as codes, counted from 0; empty
    where the values stand for themselves.
    """

    name: str
    kind: Kind
    missing: int
    distinct: int
    examples: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table as it was brought, before anything is chosen.

    Dense tables have a `frame` (pandas): float64 for numbers, a categorical type for text and categories,
    datetime64 for dates; a missing value is NaN or NaT. Sparse ones have a `matrix` (CSR, float64) instead. The
    columns of either are `columns`, in that order. `target` is what the file keeps apart from the features: (n,)
    or (n, c) numbers, else None; `target_names` name its columns, and `target_labels` what its codes, counted
    from 0, stand for (empty where the numbers are meant). `task` is what an info file says, `info` all that
    it says.
    """

    name: str
    columns: tuple[Column, ...]
    frame: Any | None = None
    matrix: Any | None = None
    target: Any | None = None
    target_names: tuple[str, ...] = ()
    target_labels: tuple[str, ...] = ()
    task: str | None = None
    is_chronological: bool = False
    info: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """The number of samples."""
        values: Any = self.frame if self.matrix is None else self.matrix
        return int(values.shape[0])

    @property
    def is_sparse(self) -> bool:
        """Whether the values are kept as a sparse matrix."""
        return self.matrix is not None

    def place(self, name: str) -> int:
        """The position of a column. Raises KeyError where there is none of that name."""
        for position, column in enumerate(self.columns):
            if column.name == name:
                return position
        raise KeyError(name)

    def column(self, name: str) -> Column:
        """What is known of a column. Raises KeyError where there is none of that name."""
        return self.columns[self.place(name)]

    def to_json(self, *, most_columns: int = 500) -> dict[str, Any]:
        """All but the values, for a page; at most `most_columns` columns, of `column_count`."""
        shown = [{**asdict(column), "categories": None} for column in self.columns[:most_columns]]
        return {
            "name": self.name,
            "rows": self.rows,
            "column_count": len(self.columns),
            "columns": [{key: value for key, value in one.items() if key != "categories"} for one in shown],
            "is_sparse": self.is_sparse,
            "has_own_target": self.target is not None,
            "target_names": list(self.target_names),
            "task": self.task,
            "is_chronological": self.is_chronological,
        }


@dataclass
class TableReport:
    """What reading a table found; `table` is None where there is an error."""

    table: Table | None = None
    errors: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the table can be used."""
        return self.table is not None and not self.errors

    def to_json(self, *, most_columns: int = 500) -> dict[str, Any]:
        """The table without its values, and every problem."""
        return {
            "ok": self.ok,
            "table": self.table.to_json(most_columns=most_columns) if self.table is not None else None,
            "errors": [asdict(problem) for problem in self.errors],
            "warnings": [asdict(problem) for problem in self.warnings],
        }


class Unreadable(DataError):
    """A table cannot be read: where, what is wrong, and what would mend it."""

    def __init__(self, place: str, message: str, mend: str) -> None:
        super().__init__(place, message)
        self.mend = mend


class Findings:
    """The problems of one reading; of each sort the first few are kept, and the rest counted."""

    MOST_OF_A_SORT = 20

    def __init__(self, file: str) -> None:
        self.file = file
        self.errors: list[Problem] = []
        self.warnings: list[Problem] = []

    def error(self, place: str, message: str, mend: str = "") -> None:
        """Add an error; `place` is added to the file's name."""
        self.errors.append(Problem(self._placed(place), message, mend))

    def warn(self, place: str, message: str, mend: str = "") -> None:
        """Add a warning; `place` is added to the file's name."""
        self.warnings.append(Problem(self._placed(place), message, mend))

    def all_of(self, found: list[tuple[str, str]], mend: str) -> None:
        """Add errors of one sort, each a place and a message: the first few, and how many more there are."""
        for place, message in found[: self.MOST_OF_A_SORT]:
            self.error(place, message, mend)
        if len(found) > self.MOST_OF_A_SORT:
            self.error("", f"{len(found) - self.MOST_OF_A_SORT} more places have the same fault", mend)

    def _placed(self, place: str) -> str:
        return f"{self.file} {place}".strip()


def numbered(count: int, word: str) -> str:
    """A count with its word, which takes an s where there are several."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def distinct_names(given: list[str], findings: Findings) -> list[str]:
    """Names of columns that are there and differ, with a warning about each that had to be made up."""
    names: list[str] = []
    taken: set[str] = set()
    unnamed, doubled = [], []
    for position, text in enumerate(given, start=1):
        name = " ".join(text.replace("\0", "").split())  # which databases do not take
        if not name:
            name = f"column_{position}"
            unnamed.append(name)
        if name in taken:
            doubled.append(name)
            name = next(f"{name}_{n}" for n in range(2, len(given) + 2) if f"{name}_{n}" not in taken)
        taken.add(name)
        names.append(name)
    if unnamed:
        findings.warn("", f"{numbered(len(unnamed), 'column')} had no name: {_few(unnamed)}")
    if doubled:
        findings.warn("", f"names of columns that stand there twice got a number: {_few(doubled)}")
    return names


def _few(words: list[str]) -> str:
    return ", ".join(words[:5]) + (f" and {len(words) - 5} more" if len(words) > 5 else "")
