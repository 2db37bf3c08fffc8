"""Values of tables in the words of their columns, alike on pages and in reports."""

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.results import Cell, Column

NONE = "–"
MOST_WHOLE = 1e6  # numbers from here on are shown by their powers of ten


@dataclass(frozen=True)
class Shown:
    """A cell as a page shows it."""

    text: str
    is_text: bool


def rows_shown(columns: tuple[Column, ...], rows: Iterable[tuple[Cell, ...]]) -> list[list[Shown]]:
    """Rows with every cell as it is shown."""
    return [[shown(cell, column) for cell, column in zip(row, columns, strict=True)] for row in rows]


def shown(cell: Cell, column: Column) -> Shown:
    """A value in the words of its column."""
    if column.kind == "text":
        return Shown(NONE if cell is None else _words(cell), True)
    if cell is None:
        return Shown(NONE, False)
    if isinstance(cell, str):
        return Shown(cell, False)
    if column.kind == "percent":
        return Shown(f"{100 * cell:.{max(column.digits - 2, 0)}f} %", False)
    if column.kind == "integer":
        return Shown(f"{round(cell):,}".replace(",", " "), False)
    return Shown(_number(float(cell), column.digits), False)


def _words(cell: Cell) -> str:
    return {True: "yes", False: "no"}[cell] if isinstance(cell, bool) else str(cell)


def _number(value: float, digits: int) -> str:
    if value and not 10**-digits <= abs(value) < MOST_WHOLE:
        return f"{value:.1e}"
    return f"{value:.{digits}f}"
