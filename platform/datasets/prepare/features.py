"""The features of a table as numbers: categories encoded, missing values kept or marked."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from datasets.prepare.recipe import Categories, Missing, Recipe, RecipeError
from datasets.tables.table import Column, Kind, Table
from ingestion.dataset import Problem

NUMERICAL, BINARY, CATEGORICAL = "Numerical", "Binary", "Categorical"
MOST_ONE_HOT = 1000


@dataclass(frozen=True)
class Features:
    """Features of the kept rows as float64, dense (n, c) or CSR, with a name and a type for each column.

    `notes`: which columns of the table are left out, and why.
    """

    X: Any
    names: tuple[str, ...]
    types: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Encoded:
    """What one column of the table became: a column of X each."""

    values: list[Any]
    names: list[str]
    types: list[str]


def chosen_columns(table: Table, recipe: Recipe) -> tuple[list[Column], list[str]]:
    """(columns to learn from, with the kinds that the recipe says; notes about those left out).

    Without a list in the recipe: all that are not the target, not dropped, not what the split goes by, and no
    free text.
    """
    kinds = recipe.kinds
    columns = [
        dataclasses.replace(column, kind=Kind(kinds[column.name])) if column.name in kinds else column
        for column in table.columns
    ]
    if recipe.features:
        wanted = set(recipe.features) - set(recipe.drop)
        return [column for column in columns if column.name in wanted], []
    used = {*recipe.target, *recipe.drop, recipe.split_by}
    left = [column for column in columns if column.name not in used]
    texts = [column.name for column in left if column.kind == Kind.TEXT]
    notes = []
    if texts:
        shown = ", ".join(texts[:5]) + (f" and {len(texts) - 5} more" if len(texts) > 5 else "")
        notes.append(f"Columns of text are left out: {shown}.")
    return [column for column in left if column.kind != Kind.TEXT], notes


def encode(table: Table, rows: Any, train: Any, recipe: Recipe) -> Features:
    """The features of `rows` of the table; `train` are positions in these from which fillings are learnt.

    Raises RecipeError where a column cannot be what the recipe says.
    """
    columns, notes = chosen_columns(table, recipe)
    if not columns:
        raise RecipeError([Problem("features", "no column is left to learn from")])
    if table.matrix is not None:
        return _encode_sparse(table, columns, rows, recipe, notes)
    assert table.frame is not None
    plain = [column.kind in (Kind.NUMERICAL, Kind.BINARY) and not recipe.kinds for column in columns]
    plain = [
        is_plain and table.frame[column.name].dtype == np.float64
        for is_plain, column in zip(plain, columns, strict=True)
    ]
    if all(plain) and recipe.missing == Missing.KEEP:
        X = table.frame[[column.name for column in columns]].to_numpy()[rows]
        types = tuple(BINARY if column.kind == Kind.BINARY else NUMERICAL for column in columns)
        return Features(X, tuple(column.name for column in columns), types, tuple(notes))
    encoded = [_encode_column(table.frame[c.name].iloc[rows], c, train, recipe) for c in columns]
    return Features(
        np.column_stack([values for one in encoded for values in one.values]),
        tuple(name for one in encoded for name in one.names),
        tuple(kind for one in encoded for kind in one.types),
        tuple(notes),
    )


# Dense ----------------------------------------------------------------------------------------------------------


def _encode_column(series: Any, column: Column, train: Any, recipe: Recipe) -> _Encoded:
    if column.kind in (Kind.NUMERICAL, Kind.DATE) or (
        column.kind == Kind.BINARY and series.dtype == np.float64 and _is_zero_one(series)
    ):
        return _encode_numbers(series, column, train, recipe)
    codes, categories = _codes(series)
    return _encode_codes(codes, categories, column, recipe)


def _is_zero_one(series: Any) -> bool:
    return bool(series.dropna().isin((0.0, 1.0)).all())


def _encode_numbers(series: Any, column: Column, train: Any, recipe: Recipe) -> _Encoded:
    if isinstance(series.dtype, pd.CategoricalDtype):
        what = f"{column.name!r} holds text, it cannot be taken for {column.kind}"
        raise RecipeError([Problem("kinds", what, "Leave it as it is.")])
    if series.dtype.kind == "M":
        seconds = series.to_numpy().astype("datetime64[us]").astype(np.int64) / 1e6
        values = np.where(series.isna(), np.nan, seconds)
    else:
        values = series.to_numpy(dtype=np.float64, copy=True)
    kind = BINARY if column.kind == Kind.BINARY else NUMERICAL
    gaps = np.isnan(values)
    if recipe.missing == Missing.KEEP or not gaps.any():
        return _Encoded([values], [column.name], [kind])
    known = values[train][~gaps[train]]
    values[gaps] = 0.0 if kind == BINARY or not len(known) else float(np.median(known))
    return _marked(_Encoded([values], [column.name], [kind]), gaps, column)


def _codes(series: Any) -> tuple[Any, list[str]]:
    """(codes from 0 as float64 with NaN for missing, the categories that are used, in their order)."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        found, names = series.cat.codes.to_numpy().astype(np.int64), list(map(str, series.cat.categories))
    else:
        values = series.to_numpy()
        different = np.unique(values[~pd.isna(values)])
        found = np.where(pd.isna(values), -1, np.searchsorted(different, values))
        names = [f"{value:.15g}" if different.dtype.kind == "f" else str(value) for value in different]
    used = np.unique(found[found >= 0])
    place = np.full(len(names) + 1, -1, dtype=np.int64)
    place[used] = np.arange(len(used))
    codes = place[found].astype(np.float64)
    return np.where(found < 0, np.nan, codes), [names[code] for code in used.tolist()]


def _encode_codes(codes: Any, categories: Sequence[str], column: Column, recipe: Recipe) -> _Encoded:
    gaps = np.isnan(codes)
    is_marked = recipe.missing == Missing.MARK and bool(gaps.any())
    if recipe.categories == Categories.ONE_HOT and len(categories) > 2:
        if len(categories) > MOST_ONE_HOT:
            what = f"{column.name!r} has {len(categories)} categories; a column for each is too many"
            raise RecipeError([Problem("categories", what, "Choose codes, or drop the column.")])
        values = [np.where(gaps & (not is_marked), np.nan, codes == code) for code in range(len(categories))]
        names = [f"{column.name}={category}" for category in categories]
        encoded = _Encoded(values, names, [BINARY] * len(categories))
    elif len(categories) <= 2:
        encoded = _Encoded([np.where(gaps, 0.0, codes) if is_marked else codes], [column.name], [BINARY])
    else:
        filled = np.where(gaps, float(len(categories)), codes) if is_marked else codes
        encoded = _Encoded([filled], [column.name], [CATEGORICAL])
    return _marked(encoded, gaps, column) if is_marked else encoded


def _marked(encoded: _Encoded, gaps: Any, column: Column) -> _Encoded:
    encoded.values.append(gaps.astype(np.float64))
    encoded.names.append(f"{column.name} is missing")
    encoded.types.append(BINARY)
    return encoded


# Sparse ---------------------------------------------------------------------------------------------------------


def _encode_sparse(table: Table, columns: list[Column], rows: Any, recipe: Recipe, notes: list[str]) -> Features:
    """Columns of a matrix; with marks, a missing value becomes zero and has a column that says so."""
    places = {column.name: place for place, column in enumerate(table.columns)}
    csc = table.matrix[rows].tocsc() if table.matrix is not None else None
    assert csc is not None
    blocks, names, types = [], [], []
    one_hot = {
        column.name
        for column in columns
        if recipe.categories == Categories.ONE_HOT and column.kind == Kind.CATEGORICAL
    }
    plain = [column for column in columns if column.name not in one_hot]
    if plain:
        blocks.append(csc[:, [places[column.name] for column in plain]])
        names += [column.name for column in plain]
        types += [_sparse_type(column) for column in plain]
    for column in columns:
        if column.name in one_hot:
            codes, found = _codes(pd.Series(csc[:, [places[column.name]]].toarray()[:, 0]))
            labels = [column.categories[int(code)] for code in found] if column.categories else found
            encoded = _encode_codes(codes, labels, column, recipe)
            blocks.append(scipy.sparse.csc_matrix(np.column_stack(encoded.values)))
            names += encoded.names
            types += encoded.types
    X = scipy.sparse.hstack(blocks, format="csc")
    if recipe.missing == Missing.MARK and np.isnan(X.data).any():
        X, more = _mark_sparse(X)
        names, types = names + [f"{names[place]} is missing" for place in more], types + [BINARY] * len(more)
    X = X.tocsr()
    X.eliminate_zeros()
    X.sort_indices()
    return Features(X, tuple(names), tuple(types), tuple(notes))


def _sparse_type(column: Column) -> str:
    return {Kind.BINARY: BINARY, Kind.CATEGORICAL: CATEGORICAL}.get(column.kind, NUMERICAL)


def _mark_sparse(X: Any) -> tuple[Any, list[int]]:
    """(matrix with zeros for missing values and a mark for each column that had some, the places of these)."""
    gaps = X.copy()
    gaps.data = np.isnan(X.data).astype(np.float64)
    gaps.eliminate_zeros()
    places = np.flatnonzero(np.diff(gaps.indptr)).tolist()
    filled = X.copy()
    filled.data[np.isnan(filled.data)] = 0.0
    return scipy.sparse.hstack([filled, gaps[:, places]], format="csc"), places
