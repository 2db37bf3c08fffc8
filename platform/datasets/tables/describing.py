"""What each column of a frame or a sparse matrix holds."""

import itertools
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
    rows, width = matrix.shape
    stored = np.diff(csc.indptr)
    owners = np.repeat(np.arange(width), stored)
    missing = np.bincount(owners[np.isnan(csc.data)], minlength=width)
    values, owners = _different(csc, owners)
    has_zero = (stored < rows) & (np.bincount(owners[values == 0], minlength=width) == 0)
    distinct = np.bincount(owners, minlength=width) + has_zero
    others = np.bincount(owners[~np.isin(values, (0.0, 1.0))], minlength=width)
    is_binary = (others == 0) & (distinct > 0)
    starts = np.searchsorted(owners, np.arange(width + 1)).tolist()
    # Plain lists: a table can have a hundred thousand columns, and numpy's calls would take seconds.
    zeros, counts, gaps, numbers = has_zero.tolist(), distinct.tolist(), missing.tolist(), values.tolist()
    columns = []
    for place, (name, binary) in enumerate(zip(names, is_binary.tolist(), strict=True)):
        first = numbers[starts[place] : min(starts[place + 1], starts[place] + EXAMPLES)]
        first = [0.0, *first][:EXAMPLES] if zeros[place] else first
        labels = categories.get(place, ())
        if labels:
            kind = Kind.BINARY if counts[place] == 2 else Kind.CATEGORICAL
            examples = tuple(short(labels[int(code)]) for code in first)
        else:
            kind = Kind.BINARY if binary else Kind.NUMERICAL
            examples = tuple(f"{value:.6g}" for value in first)
        columns.append(Column(name, kind, gaps[place], counts[place], examples, labels))
    return tuple(columns)


def _different(csc: Any, owners: Any) -> tuple[Any, Any]:
    """(values, owners): each value of each column once, without NaN; in the order of columns, then of values."""
    values = csc.data.copy()
    ends = csc.indptr.tolist()
    for begin, end in itertools.pairwise(ends):  # much quicker than to sort all by two keys
        if end - begin > 1:
            values[begin:end].sort()
    is_new = np.ones(len(values), dtype=bool)
    is_new[1:] = (owners[1:] != owners[:-1]) | (values[1:] != values[:-1])
    is_new &= ~np.isnan(values)
    return values[is_new], owners[is_new]


def shown(numbers: Any) -> tuple[str, ...]:
    """The first few numbers as text."""
    return tuple(f"{value:.6g}" for value in numbers[:EXAMPLES].tolist())


def short(text: str) -> str:
    """A text that fits into a cell of a page, without zeros, which databases do not take."""
    text = text.replace("\0", "")
    return text if len(text) <= _LONGEST_EXAMPLE else text[: _LONGEST_EXAMPLE - 1] + "…"
