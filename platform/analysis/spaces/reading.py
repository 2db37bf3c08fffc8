"""Reading sets of models from files: tables as CSV, and the JSON of the published sweeps.

A table has a row of column names and one model a row; columns of texts are left out, but one named `population`
splits the table into sets. A sweep is what facebookresearch/nds publishes, a list of trained models with `params`,
`flops` and either `min_test_top1` or `test_ep_top1` (errors in percent, of every epoch), or what pycls writes
(`complexity.params`, `test_epoch.min_top1_err`); lists may lie in an object by their names.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from analysis.spaces.modelset import ModelSet

MOST_MODELS = 200_000
MOST_COLUMNS = 60
MOST_SETS = 20
LONGEST_LIST = 8  # of hyper-parameters that become columns of their own
MOST_VALUES = 4_000_000  # of a file of JSON, each of which takes far more room than its text
LONGEST_NAME = 120  # of a set or a column
# Beyond these no picture has axes and no sum of squares is a number.
LARGEST, SMALLEST = 1e100, 1e-100
# NUL and halves of surrogate pairs, which JSON may name and no database keeps.
NOT_KEPT = re.compile("[\x00\ud800-\udfff]")
SPLIT = "population"
MEASURED = ("error", "params", "flops")  # columns that must have numbers where a table has them
LONGEST_SHOWN, MOST_SHOWN = 40, 8  # of names and cells in a sentence


class UnreadableSetError(ValueError):
    """The file is not of a form that is known; the text says what is wrong with it."""


def read_sets(content: bytes, filename: str) -> list[ModelSet]:
    """The sets of a file, by what is in it. `filename`, without its ending, names a single one.

    Raises
    ------
    UnreadableSetError
        With a sentence for whoever sent it.
    """
    name = filename.rpartition("/")[2].rpartition(".")[0] or filename or "models"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableSetError("The file is not text in UTF-8.") from error
    if "\0" in text:
        raise UnreadableSetError("The file is no text: it has a NUL in it.")
    is_json = text.lstrip()[:1] in ("[", "{")
    found = _of_json(text, name) if is_json else _of_csv(text, name)
    if not found:
        raise UnreadableSetError("The file holds no models.")
    if len(found) > MOST_SETS:
        raise UnreadableSetError(f"The file holds {len(found)} sets; at most {MOST_SETS} can be read at once.")
    for one in found:
        _check(one)
    return [_kept(one) for one in found]


def _kept(one: ModelSet) -> ModelSet:
    """The same with names that can be kept."""
    return ModelSet(_name(one.name), {_name(key): values for key, values in one.columns.items()}, one.source)


def _name(text: str) -> str:
    return NOT_KEPT.sub("\ufffd", text)[:LONGEST_NAME]


def _check(one: ModelSet) -> None:
    if one.size > MOST_MODELS:
        raise UnreadableSetError(f"{one.name} has {one.size:,} models; at most {MOST_MODELS:,} can be read.")
    if not one.columns:
        raise UnreadableSetError(f"{one.name} has no column of numbers.")
    if len(one.columns) > MOST_COLUMNS:
        raise UnreadableSetError(f"{one.name} has {len(one.columns)} columns; at most {MOST_COLUMNS} can be read.")


def _of_csv(text: str, name: str) -> list[ModelSet]:
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        found = (row for row in reader if any(cell.strip() for cell in row))
        rows = list(islice(found, MOST_MODELS * 2 + 2))
    except csv.Error as error:
        raise UnreadableSetError(f"The table cannot be read: {error}.") from error
    if not rows:
        return []
    header = [cell.strip() for cell in rows[0]]
    if len(set(header)) < len(header):
        raise UnreadableSetError("Two columns of the table have the same name.")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise UnreadableSetError(f"Row {number} has {len(row)} cells, but there are {len(header)} columns.")
    if len(header) > MOST_COLUMNS + 10 or len(rows) > MOST_MODELS * 2:
        raise UnreadableSetError("The table is too large.")
    if len(rows) == 1:
        raise UnreadableSetError(
            f"The table has one row only, taken as the names of its columns: {_listed(header)}."
        )
    columns = dict(zip(header, zip(*rows[1:], strict=True), strict=True))
    names = [cell.strip() for cell in columns.pop(SPLIT, ())]
    numbers = {key: found for key, cells in columns.items() if (found := _numbers(cells)) is not None}
    _check_numbers(columns, numbers)
    return _split(names, numbers, name)


def _check_numbers(columns: dict[str, tuple[str, ...]], numbers: dict[str, Any]) -> None:
    """Say which cell keeps a column from being compared, rather than leave the column out."""
    for key in (one for one in MEASURED if one in columns and one not in numbers):
        wrong = next((row for row, cell in enumerate(columns[key], 2) if _number(cell) is None), None)
        if wrong is not None:
            cell = columns[key][wrong - 2].strip()[:LONGEST_SHOWN]
            raise UnreadableSetError(f"Row {wrong} has no number in the column {key}: {cell}.")
    if not numbers:
        raise UnreadableSetError(
            f"No column of the table has numbers. Its columns are {_listed(list(columns))}; columns are separated "
            "by commas, and decimals by points."
        )


def _listed(names: list[str]) -> str:
    shown = ", ".join(_name(name)[:LONGEST_SHOWN] for name in names[:MOST_SHOWN])
    return shown + (f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else "")


def _split(names: list[str], columns: dict[str, Any], name: str) -> list[ModelSet]:
    if not names:
        return [ModelSet(name, columns)]
    of = np.array(names)
    return [
        ModelSet(one or name, {key: column[of == one] for key, column in columns.items()})
        for one in dict.fromkeys(names)
    ]


def _numbers(cells: tuple[str, ...]) -> Any:
    """A column as numbers, empty cells as NaN; None where it has texts or nothing."""
    found = np.array([_number(cell) for cell in cells], dtype=object)
    if any(one is None for one in found):
        return None
    values = found.astype(float)
    return values if np.isfinite(values).any() else None


def _number(cell: str) -> float | None:
    text = cell.strip()
    if text.casefold() in ("", "nan", "na", "null", "none"):
        return math.nan
    try:
        value = float(text)
    except ValueError:
        return None
    return _sane(value)


def _sane(value: float) -> float:
    """The number, 0 where it is as good as that, NaN where nothing can be done with it."""
    if not abs(value) <= LARGEST:
        return math.nan
    return value if abs(value) >= SMALLEST else 0.0


def _of_json(text: str, name: str) -> list[ModelSet]:
    if sum(text.count(sign) for sign in "{[,") > MOST_VALUES:
        raise UnreadableSetError(f"The file has more than {MOST_VALUES:,} values.")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableSetError("The file begins like JSON, but is none.") from error
    if isinstance(content, dict):
        lists = {key: value for key, value in content.items() if isinstance(value, list)}
        # The published sweeps of some spaces come in three lists by the size of their models.
        if lists and set(lists) <= {"top", "mid", "bot"}:
            lists = {name: [model for part in lists.values() for model in part]}
    else:
        lists = {name: content}
    return [ModelSet(key, _sweep(models)) for key, models in lists.items() if models]


def _sweep(models: list[Any]) -> dict[str, Any]:
    if not all(isinstance(model, dict) for model in models):
        raise UnreadableSetError("A list in the file holds something that is no model.")
    if len(models) > MOST_MODELS:
        raise UnreadableSetError(f"The file has more than {MOST_MODELS:,} models.")
    found: dict[str, Any] = {}
    for row, model in enumerate(models):
        for key, value in _facts(model):
            if key not in found and len(found) < MOST_COLUMNS:
                found[key] = np.full(len(models), np.nan)
            if key in found:
                found[key][row] = _sane(value)
    if not {"final_top1", "min_test_top1", "error"} & set(found):
        raise UnreadableSetError("The models of the file have no error (min_test_top1, test_ep_top1 or error).")
    return {key: column for key, column in found.items() if np.isfinite(column).any()}


def _facts(model: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Errors, complexities and hyper-parameters of one model, by the names of columns.

    The error of the last epoch comes first: the lowest of all epochs was chosen on the test set, so it is lower
    than what the model would reach on other data.
    """
    epochs = model.get("test_ep_top1")
    tested = model.get("test_epoch")
    if epochs is None and isinstance(tested, dict):
        epochs = tested.get("top1_err", tested.get("min_top1_err"))
    if isinstance(epochs, list) and epochs and all(_is_number(one) for one in epochs):
        yield "final_top1", float(epochs[-1])
        yield "min_test_top1", float(min(epochs))
    for key in ("error", "min_test_top1", "params", "flops", "acts"):
        if _is_number(model.get(key)):
            yield key, float(model[key])
    sizes = model.get("complexity")
    for key in ("params", "flops", "acts"):
        if isinstance(sizes, dict) and _is_number(sizes.get(key)):
            yield key, float(sizes[key])
    for group in ("net", "optim"):
        if isinstance(model.get(group), dict):
            yield from _settings(model[group])


def _settings(group: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for key, value in group.items():
        if _is_number(value):
            yield str(key), float(value)
        elif isinstance(value, list) and len(value) <= LONGEST_LIST and all(_is_number(one) for one in value):
            for place, one in enumerate(value, 1):
                yield f"{key}_{place}", float(one)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST
