"""Which rows come into which part."""

from typing import Any

import numpy as np
import pandas as pd

from datasets.prepare.drawing import Draw
from datasets.prepare.recipe import Recipe, RecipeError, Split
from datasets.prepare.sizes import Sizes
from datasets.prepare.targets import Targets
from datasets.tables.table import Table
from ingestion.dataset import Problem

Parts = dict[str, Any]
"""Positions in the kept rows by part (`train`, `valid`, `test`), in the order in which they are written."""


def split_rows(table: Table, targets: Targets, sizes: Sizes, recipe: Recipe) -> Parts:
    """The parts; each row is in one. Raises RecipeError where the split cannot be made.

    Rows keep the order of the table within their part, or the order of time, unless they are shuffled.
    """
    if recipe.split == Split.TIME:
        parts = _by_time(table, targets, sizes, recipe)
    elif recipe.split == Split.GROUP:
        parts = _by_group(table, targets, sizes, recipe)
    elif targets.classes is not None and recipe.split == Split.STRATIFIED:
        parts = _stratified(targets.classes, sizes, recipe)
    else:
        order = Draw(recipe.seed, "split").order(len(targets.rows))
        parts = {
            "test": order[: sizes.test],
            "valid": order[sizes.test : sizes.test + sizes.valid],
            "train": order[sizes.test + sizes.valid :],
        }
    _check_classes(targets, parts)
    if recipe.split != Split.TIME:
        parts = {part: np.sort(rows) for part, rows in parts.items()}
    if recipe.rows_are_shuffled:
        draw = Draw(recipe.seed, "rows")
        parts = {part: parts[part][draw.order(len(parts[part]))] for part in ("train", "valid", "test")}
    return {part: parts[part] for part in ("train", "valid", "test") if len(parts[part])}


def _stratified(classes: Any, sizes: Sizes, recipe: Recipe) -> Parts:
    """Each class in the same shares everywhere; one row in each part at least, where it has so many."""
    draw = Draw(recipe.seed, "split")
    counts = np.bincount(classes)
    parts_wanted = 2 + (sizes.valid > 0)
    few = np.flatnonzero(counts < parts_wanted)
    if len(few):
        what = f"{len(few)} classes have fewer rows than there are parts ({parts_wanted})"
        mend = f"Leave out classes with fewer than {parts_wanted} rows (drop_rare)."
        raise RecipeError([Problem("split", what, mend)])
    test = _shares(counts, sizes.test, counts - parts_wanted + 1)
    valid = _shares(counts, sizes.valid, counts - test - 1)
    by_class = np.split(np.argsort(classes, kind="stable"), np.cumsum(counts)[:-1])
    drawn = [rows[draw.order(len(rows))] for rows in by_class]
    pieces = list(zip(drawn, test.tolist(), valid.tolist(), strict=True))
    return {
        "test": np.concatenate([rows[:t] for rows, t, _ in pieces]),
        "valid": np.concatenate([rows[t : t + v] for rows, t, v in pieces]),
        "train": np.concatenate([rows[t + v :] for rows, t, v in pieces]),
    }


def _shares(counts: Any, total: int, most: Any) -> Any:
    """Whole numbers in proportion to `counts` that add up to `total` where `most` allows it; one at least.

    The largest remainders get the rows that rounding down leaves over.
    """
    if not total:
        return np.zeros(len(counts), dtype=np.int64)
    exact = counts * (total / counts.sum())
    found = np.clip(np.floor(exact).astype(np.int64), 1, np.maximum(1, most))
    left = total - int(found.sum())
    for place in np.argsort(-(exact - np.floor(exact)), kind="stable").tolist():
        if left <= 0:
            break
        if found[place] < most[place]:
            found[place] += 1
            left -= 1
    return found


def _by_group(table: Table, targets: Targets, sizes: Sizes, recipe: Recipe) -> Parts:
    """Whole groups, drawn until a part has the rows it should have at least."""
    codes, different = pd.factorize(_values(table, recipe.split_by)[targets.rows], use_na_sentinel=True)
    if (codes < 0).any():
        what = f"{int((codes < 0).sum())} rows have no group in {recipe.split_by!r}"
        raise RecipeError([Problem("split_by", what, "Give every row a group.")])
    counts = np.bincount(codes, minlength=len(different))
    names = np.empty(len(different), dtype=object)
    part, filled = 0, 0
    wanted = [("test", sizes.test), ("valid", sizes.valid), ("train", len(codes))]
    for group in Draw(recipe.seed, "groups").order(len(different)).tolist():
        while filled >= wanted[part][1]:
            part, filled = part + 1, 0
        names[group] = wanted[part][0]
        filled += int(counts[group])
    parts = {name: np.flatnonzero(names[codes] == name) for name, _ in wanted}
    if not len(parts["train"]) or not len(parts["test"]) or (sizes.valid and not len(parts["valid"])):
        what = f"{len(different)} groups are too few or too large for parts of these sizes"
        raise RecipeError([Problem("split_by", what, "Choose smaller parts, or another column.")])
    return parts


def _by_time(table: Table, targets: Targets, sizes: Sizes, recipe: Recipe) -> Parts:
    """The earliest rows to learn from, the latest to test; rows of one time are in one part.

    Raises RecipeError where too many rows are of the same time.
    """
    count = len(targets.rows)
    if recipe.split_by:
        times = _times(table, recipe.split_by)[targets.rows]
        order = np.argsort(times, kind="stable")
        times = times[order]
    else:
        order = times = np.arange(count)
    test = _between_times(times, count - sizes.test)
    valid = _between_times(times[:test], test - sizes.valid) if sizes.valid else test
    if not 0 < valid <= test < count or (sizes.valid and valid == test):
        what = f"{recipe.split_by!r} has too few different times for parts of these sizes"
        mend = "Choose smaller parts, no validation part (valid_rows 0), or a finer time."
        raise RecipeError([Problem("split_by", what, mend)])
    return {"train": order[:valid], "valid": order[valid:test], "test": order[test:]}


def _between_times(times: Any, begin: int) -> int:
    """The beginning of a part, moved back to the first row of its time; on to the next time where that is all."""
    if begin <= 0 or begin >= len(times):
        return begin
    first = int(np.searchsorted(times, times[begin], side="left"))
    return first or int(np.searchsorted(times, times[begin], side="right"))


def _times(table: Table, name: str) -> Any:
    values = _values(table, name)
    if values.dtype == object:
        what = f"{name!r} holds text, whose order is not that of time"
        raise RecipeError([Problem("split_by", what, "Write times as numbers, or as dates like 2018-03-31.")])
    if pd.isna(values).any():
        what = f"{int(pd.isna(values).sum())} rows have no time in {name!r}"
        raise RecipeError([Problem("split_by", what, "Give every row a time.")])
    return values


def _values(table: Table, name: str) -> Any:
    """The values of a column: float64, datetime64, or objects for text."""
    if table.matrix is not None:
        return table.matrix[:, [table.place(name)]].toarray()[:, 0]
    assert table.frame is not None
    series = table.frame[name]
    return series.astype(object).to_numpy() if isinstance(series.dtype, pd.CategoricalDtype) else series.to_numpy()


def _check_classes(targets: Targets, parts: Parts) -> None:
    """Each class must be there to learn from."""
    if targets.classes is None:
        return
    missing = np.setdiff1d(targets.classes, targets.classes[parts["train"]])
    if len(missing):
        shown = ", ".join(targets.labels[label] for label in missing[:5].tolist())
        what = f"{len(missing)} classes have no row in the training part: {shown}"
        raise RecipeError([Problem("split", what, "Choose another split, or leave rare classes out (drop_rare).")])
