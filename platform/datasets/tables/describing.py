"""What each column of a frame or a sparse matrix holds."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from datasets.tables.table import Column, Kind

EXAMPLES = 4
_LONGEST_EXAMPLE = 60
_MOST_CATEGORIES_IN_A_SMALL_TABLE = 20


def describe_frame(frame: Any) -> tuple[Column, ...]:
    """A Column for each column of a frame whose values are float64, categorical or datetime64."""
    return tuple(describe_series(str(name), frame[name]) for name in frame.columns)


def describe_series(name: str, series: Any) -> Column:
    """The Column of one series."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        return _of_categories(name, series)
    missing = int(series.isna().sum())
    different = pd.unique(series.to_numpy())
    different = different[~pd.isna(different)]
    if series.dtype.kind == "M":
        examples = [str(pd.Timestamp(value)) for value in different[:EXAMPLES]]
        return Column(name, Kind.DATE, missing, len(different), tuple(examples))
    return Column(name, kind_of_numbers(different), missing, len(different), shown(different))


def _of_categories(name: str, series: Any) -> Column:
    codes = series.cat.codes.to_numpy()
    counts = np.bincount(codes[codes >= 0], minlength=len(series.cat.categories))
    used = int(np.count_nonzero(counts))
    missing = int(np.count_nonzero(codes < 0))
    examples = tuple(short(str(series.cat.categories[code])) for code in np.flatnonzero(counts)[:EXAMPLES])
    if used == 2:
        kind = Kind.BINARY
    elif series.cat.ordered or used <= max(_MOST_CATEGORIES_IN_A_SMALL_TABLE, (len(codes) - missing) / 2):
        kind = Kind.CATEGORICAL
    else:
        kind = Kind.TEXT
    return Column(name, kind, missing, used, examples)


def kind_of_numbers(different: Any) -> Kind:
    """Binary for 0 and 1 alone, else numerical."""
    is_binary = len(different) in (1, 2) and bool(np.isin(different, (0.0, 1.0)).all())
    return Kind.BINARY if is_binary else Kind.NUMERICAL


def describe_matrix(
    matrix: Any, names: Sequence[str], categories: dict[int, tuple[str, ...]]
) -> tuple[Column, ...]:
    """A Column for each column of a CSR matrix; the value that is not stored, zero, counts as one of them.

    `categories` are the names behind codes, by position.
    """
    csc = matrix.tocsc()
    rows = matrix.shape[0]
    owners = np.repeat(np.arange(matrix.shape[1]), np.diff(csc.indptr))
    missing = np.bincount(owners[np.isnan(csc.data)], minlength=matrix.shape[1]).tolist()
    order = np.lexsort((csc.data, owners))
    values, owners = csc.data[order], owners[order]
    is_new = np.ones(len(values), dtype=bool)
    is_new[1:] = (owners[1:] != owners[:-1]) | (values[1:] != values[:-1])
    is_new &= ~np.isnan(values)
    values, owners = values[is_new], owners[is_new]
    starts = np.searchsorted(owners, np.arange(matrix.shape[1] + 1)).tolist()
    stored = np.diff(csc.indptr).tolist()
    columns = []
    for place, name in enumerate(names):
        different = values[starts[place] : starts[place + 1]]
        if stored[place] < rows and not (different == 0).any():
            different = np.append(0.0, different)
        columns.append(_of_numbers(name, different, missing[place], categories.get(place, ())))
    return tuple(columns)


def _of_numbers(name: str, different: Any, missing: int, categories: tuple[str, ...]) -> Column:
    if not categories:
        return Column(name, kind_of_numbers(different), missing, len(different), shown(different))
    examples = tuple(short(categories[int(code)]) for code in different[:EXAMPLES])
    kind = Kind.BINARY if len(different) == 2 else Kind.CATEGORICAL
    return Column(name, kind, missing, len(different), examples, categories)


def shown(numbers: Any) -> tuple[str, ...]:
    """The first few numbers as text."""
    return tuple(f"{value:.6g}" for value in numbers[:EXAMPLES].tolist())


def short(text: str) -> str:
    """A text that fits into a cell of a page."""
    return text if len(text) <= _LONGEST_EXAMPLE else text[: _LONGEST_EXAMPLE - 1] + "…"
