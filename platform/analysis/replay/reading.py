"""Reading results by the names of their tables and columns."""

from typing import Any

from analysis.results import Cell, Figure, Result, Table

Numbers = dict[str, Any]


def rows_by(result: Result, key: str, column: str, **equal: Cell) -> dict[Any, Numbers]:
    """The rows of a table or figure by the value in a column, as dictionaries; empty where there is none.

    `equal` keeps the rows with that value in that column.
    """
    found = result.named(key)
    if not isinstance(found, Table | Figure):
        return {}
    names = [one.key for one in found.columns]
    rows = [dict(zip(names, row, strict=True)) for row in found.rows]
    return {row[column]: row for row in rows if all(row[name] == value for name, value in equal.items())}
