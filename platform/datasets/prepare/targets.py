"""The targets of a table as a recipe wants them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from datasets.models import TaskKind
from datasets.prepare.recipe import Recipe, RecipeError
from datasets.tables.table import Table
from ingestion.dataset import Problem

_MOST_CLASSES = 100_000


@dataclass(frozen=True)
class Targets:
    """Targets of the rows that are kept.

    `rows`: their positions in the table (n,). `y`: as a model gets them, (n,) class indices or numbers, or (n, c).
    `labels`: names of the classes, or of the columns of several. `notes`: what was left out.
    """

    rows: Any
    y: Any
    labels: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def classes(self) -> Any | None:
        """Class indices (n,), or None where there are no classes."""
        return self.y if self.y.ndim == 1 and self.y.dtype.kind == "i" else None

    def smallest_share(self) -> float:
        """The share of rows in the smallest class, or with the rarest label; 1 for regression."""
        if self.classes is not None:
            return float(np.bincount(self.y).min() / len(self.y))
        if self.y.dtype.kind == "i":
            share = self.y.mean(axis=0)
            return float(np.minimum(share, 1 - share).min())
        return 1.0

    def smallest_count(self, rows: Any) -> int:
        """How many of these kept rows are in the smallest class, or have the rarest label; all for regression."""
        y = self.y[rows]
        if self.classes is not None:
            return int(np.bincount(y, minlength=len(self.labels)).min())
        if y.dtype.kind == "i":
            count = y.sum(axis=0)
            return int(np.minimum(count, len(y) - count).min())
        return len(y)


def find_targets(table: Table, recipe: Recipe) -> Targets:
    """The targets; rows without one are left out. Raises RecipeError where they do not fit the task."""
    columns = [_column(table, name) for name in recipe.target] or _own(table)
    known = np.ones(table.rows, dtype=bool)
    for values, _ in columns:
        known &= ~np.isnan(values)
    rows = np.flatnonzero(known)
    notes = []
    if len(rows) < table.rows:
        notes.append(f"{table.rows - len(rows)} rows without a target are left out.")
    if not len(rows):
        raise RecipeError([Problem("target", "no row has a target")])
    names = recipe.target or table.target_names
    kept = [(values[rows], labels) for values, labels in columns]
    if recipe.task == TaskKind.REGRESSION:
        return Targets(rows, _numbers(kept, names), tuple(names), tuple(notes))
    if recipe.task == TaskKind.MULTILABEL:
        return Targets(rows, _label_columns(kept, names), tuple(names), tuple(notes))
    return _classes(rows, kept, names, recipe, notes)


Values = tuple[Any, tuple[str, ...]]
"""float64 (n,) with NaN for missing, and the labels that the numbers, counted from 0, stand for."""


def _column(table: Table, name: str) -> Values:
    column = table.column(name)
    if table.matrix is not None:
        values = np.asarray(table.matrix[:, [table.place(name)]].toarray(), dtype=np.float64)[:, 0]
        return values, column.categories
    assert table.frame is not None
    series = table.frame[name]
    if isinstance(series.dtype, pd.CategoricalDtype):
        codes = series.cat.codes.to_numpy().astype(np.float64)
        return np.where(codes < 0, np.nan, codes), tuple(map(str, series.cat.categories))
    if series.dtype.kind == "M":
        seconds = series.to_numpy().astype("datetime64[us]").astype(np.int64) / 1e6
        return np.where(series.isna(), np.nan, seconds), ()
    return series.to_numpy(), ()


def _own(table: Table) -> list[Values]:
    """The targets that the file keeps apart."""
    assert table.target is not None, "problems_with asks for a target"
    own = table.target.reshape(table.rows, -1)
    return [(own[:, position].astype(np.float64), table.target_labels) for position in range(own.shape[1])]


def _numbers(columns: list[Values], names: tuple[str, ...]) -> Any:
    for (_, labels), name in zip(columns, names, strict=True):
        if labels:
            shown = ", ".join(labels[:3])
            raise RecipeError(
                [
                    Problem(
                        "target",
                        f"{name!r} holds text ({shown}), regression needs numbers",
                        "Choose a class task.",
                    )
                ]
            )
    values = np.column_stack([values for values, _ in columns])
    if not np.isfinite(values).all():
        raise RecipeError([Problem("target", "holds infinite values, which cannot be scored")])
    return values[:, 0] if values.shape[1] == 1 else values


def _label_columns(columns: list[Values], names: tuple[str, ...]) -> Any:
    """0 and 1 (n, c) of columns with two values each; the later value in order is 1."""
    found = []
    for (values, _), name in zip(columns, names, strict=True):
        different = np.unique(values)
        if len(different) != 2 and not np.isin(different, (0, 1)).all():
            what = f"{name!r} has {len(different)} different values, a label has two"
            raise RecipeError([Problem("target", what, "Leave the column out, or choose another task.")])
        high = different[-1] if len(different) == 2 else 1.0
        found.append((values == high).astype(np.int64))
    return np.column_stack(found)


def _classes(
    rows: Any, columns: list[Values], names: tuple[str, ...], recipe: Recipe, notes: list[str]
) -> Targets:
    values, labels = columns[0]
    if len(columns) > 1:  # one column for each class, as a solution has it
        stacked = np.column_stack([one for one, _ in columns])
        if not ((stacked == 0) | (stacked == 1)).all() or not (stacked.sum(axis=1) == 1).all():
            what = "the columns are not one-hot: one 1 and zeros in each row are expected"
            raise RecipeError([Problem("target", what, "Choose the multi-label task.")])
        values, labels = stacked.argmax(axis=1).astype(np.float64), tuple(names)
    different, counts = np.unique(values, return_counts=True)
    if len(different) > min(_MOST_CLASSES, max(2, len(values) // 2)):
        what = f"{len(different)} different values in {len(values)} rows are no classes"
        raise RecipeError([Problem("target", what, "Choose regression, or another column.")])
    rows, values, different = _without_rare(rows, values, different, counts, recipe, notes)
    shown = [labels[int(value)] if labels else f"{value:.15g}" for value in different.tolist()]
    if recipe.task == TaskKind.BINARY:
        _put_positive_last(different, shown, recipe)
        notes.append(f"{shown[1]!r} is written as 1, {shown[0]!r} as 0.")
    elif len(different) < 2:
        raise RecipeError([Problem("target", "there is one class alone; nothing can be told apart")])
    place = {value: position for position, value in enumerate(different.tolist())}
    y = np.array([place[value] for value in values.tolist()], dtype=np.int64)
    return Targets(rows, y, tuple(shown), tuple(notes))


def _without_rare(
    rows: Any, values: Any, different: Any, counts: Any, recipe: Recipe, notes: list[str]
) -> tuple[Any, Any, Any]:
    rare = different[counts < recipe.drop_rare]
    if not len(rare):
        return rows, values, different
    keep = ~np.isin(values, rare)
    notes.append(
        f"{len(rare)} classes with fewer than {recipe.drop_rare} rows are left out, {int((~keep).sum())} rows."
    )
    if not keep.any():
        raise RecipeError([Problem("drop_rare", "every class has fewer rows", "Choose a smaller number.")])
    return rows[keep], values[keep], np.setdiff1d(different, rare)


def _put_positive_last(different: Any, shown: list[str], recipe: Recipe) -> None:
    """Order the two classes so that the positive one is 1."""
    if len(different) != 2:
        what = f"{len(different)} different values ({', '.join(shown[:5])}), a binary task has two"
        raise RecipeError([Problem("target", what, "Choose the multi-class task, or another column.")])
    if not recipe.positive:
        return
    if recipe.positive not in shown:
        what = f"{recipe.positive!r} is none of the labels {shown[0]!r} and {shown[1]!r}"
        raise RecipeError([Problem("positive", what, f"Choose {shown[0]!r} or {shown[1]!r}.")])
    if shown[0] == recipe.positive:
        different[:] = different[::-1].copy()
        shown.reverse()
