"""What columns of a board mean: which way they sort, how those are computed that no program fills.

Pure functions. Boards, exports and the pages of submissions ask here, so that they cannot differ.
"""

import math
from collections.abc import Callable, Mapping, Sequence

from competitions.models import Column

Values = dict[str, float]  # of one submission on one task, by the column's key
RANK_DIGITS = 6  # to which means of ranks are kept; they are made of shown values and hide nothing
OF_RANKS = (Column.Computation.MEAN_RANK, Column.Computation.RECIPROCAL_RANK)


def is_ascending(column: Column) -> bool:
    """Whether the smallest value leads; means of ranks have their own direction, whatever was declared."""
    if column.computation in OF_RANKS:
        return column.computation == Column.Computation.MEAN_RANK
    return column.is_ascending


def shown_value(column: Column, value: float) -> float:
    """The value as people see it, rounded to the column's precision."""
    digits = max(column.precision, RANK_DIGITS) if column.computation in OF_RANKS else column.precision
    return round(value, digits) + 0.0  # + 0.0 turns -0.0 into 0.0


def deciding(columns: Sequence[Column], primary: str) -> Column | None:
    """The column by which places are given: the board's primary one, else the first that is not hidden."""
    named = next((column for column in columns if column.key == primary), None)
    return named or next((column for column in columns if not column.is_hidden), next(iter(columns), None))


def in_order_of_need(columns: Sequence[Column]) -> list[Column]:
    """The computed columns, each after those it is computed of; what is computed of itself is left out."""
    computed = {column.key: column for column in columns if column.computation}
    ordered: list[Column] = []
    done = {column.key for column in columns if not column.computation}
    while ready := [
        column
        for key, column in computed.items()
        if key not in done and all(field in done or field not in computed for field in column.fields)
    ]:
        ordered += ready
        done |= {column.key for column in ready}
    return ordered


def made_of_ranks(columns: Sequence[Column]) -> set[str]:
    """The keys of the columns that depend on what others scored: means of ranks, and what is computed of them."""
    found: set[str] = set()
    for column in in_order_of_need(columns):
        if column.computation in OF_RANKS or found.intersection(column.fields):
            found.add(column.key)
    return found


def told_by_one(columns: Sequence[Column]) -> list[Column]:
    """The columns whose values follow from one submission alone, of those that are given."""
    ranked, known = made_of_ranks(columns), {column.key for column in columns if not column.computation}
    for column in in_order_of_need(columns):
        if column.key not in ranked and known.issuperset(column.fields):
            known.add(column.key)
    return [column for column in columns if column.key in known]


def filled(columns: Sequence[Column], values: Mapping[str, float]) -> Values:
    """The values of one submission on one task, with those that follow from them alone.

    What depends on the ranks of others is left out. A column is computed of the values that are there.
    """
    told = {key: value for key, value in values.items() if any(column.key == key for column in columns)}
    ranked = made_of_ranks(columns)
    for column in in_order_of_need(columns):
        if column.key not in ranked:
            _put(told, column, _of_values(column, told))
    return told


def fill_ranks(columns: Sequence[Column], table: Sequence[Values]) -> None:
    """Put into the values of all submissions on one task what depends on their ranks among each other.

    Ranks are dense and of the shown values; a missing one is one behind the worst. A column in which nobody has
    a value counts for nobody.
    """
    by_key = {column.key: column for column in columns}
    ranked = made_of_ranks(columns)
    for column in in_order_of_need(columns):
        if column.key not in ranked:
            continue
        for values in table:
            values.pop(column.key, None)
        if column.computation not in OF_RANKS:
            for values in table:
                _put(values, column, _of_values(column, values))
            continue
        ranks = {key: _ranks(by_key[key], table) for key in column.fields if key in by_key}
        present = {key: own for key, own in ranks.items() if any(key in values for values in table)}
        for index, values in enumerate(table):
            if not any(key in values for key in present):
                continue
            of_row = {key: float(own[index]) for key, own in present.items()}
            if column.computation == Column.Computation.RECIPROCAL_RANK:
                of_row = {key: 1.0 / rank for key, rank in of_row.items()}
            _put(values, column, _mean(column, of_row))


def _put(values: Values, column: Column, value: float | None) -> None:
    if value is None or not math.isfinite(value):  # the sum of two numbers that are nearly too large
        values.pop(column.key, None)
    else:
        values[column.key] = value


def _ranks(column: Column, table: Sequence[Values]) -> list[int]:
    """The dense rank of each submission in a column."""
    shown = [shown_value(column, values[column.key]) if column.key in values else None for values in table]
    ladder = sorted({value for value in shown if value is not None}, reverse=not is_ascending(column))
    places = {value: place for place, value in enumerate(ladder, 1)}
    return [len(ladder) + 1 if value is None else places[value] for value in shown]


def _weights(column: Column) -> dict[str, float]:
    """The weight of each field; equal ones where none are given or they do not fit."""
    given = column.weights if len(column.weights) == len(column.fields) else [1.0] * len(column.fields)
    return dict(zip(column.fields, map(float, given), strict=True))


def _mean(column: Column, values: Mapping[str, float]) -> float | None:
    weights = _weights(column)
    total = sum(weights[key] for key in column.fields if key in values)
    if not total:
        return None
    return sum(weights[key] * values[key] for key in column.fields if key in values) / total


def _sum(column: Column, values: Mapping[str, float]) -> float | None:
    weights = _weights(column)
    present = [weights[key] * values[key] for key in column.fields if key in values]
    return sum(present) if present else None


def _extreme(choose: Callable[..., float]) -> Callable[[Column, Mapping[str, float]], float | None]:
    def of(column: Column, values: Mapping[str, float]) -> float | None:
        present = [values[key] for key in column.fields if key in values]
        return choose(present) if present else None

    return of


COMPUTED: dict[str, Callable[[Column, Mapping[str, float]], float | None]] = {
    Column.Computation.AVG: _mean,
    Column.Computation.SUM: _sum,
    Column.Computation.MIN: _extreme(min),
    Column.Computation.MAX: _extreme(max),
}


def _of_values(column: Column, values: Mapping[str, float]) -> float | None:
    return COMPUTED[column.computation](column, values)
