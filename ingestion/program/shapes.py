"""Bringing what `predict` returned into the shape of the solution, or saying in one sentence why not."""

from __future__ import annotations

from typing import Any

import numpy as np


class PredictionError(Exception):
    """What `predict` returned is at fault; the text names the part, what came and what is expected."""


def as_prediction(returned: Any, part: str, rows: int, columns: int, task: str) -> Any:
    """A float64 array (rows, columns) of what `predict` returned for a part.

    Accepted are (rows,) and (rows, 1) for one column, (rows, columns), and for multi-class tasks also a
    vector of class indices, which becomes one-hot. Raises PredictionError otherwise.
    """
    values = _numbers(returned, part)
    expected = f"({rows},) or ({rows}, 1)" if columns == 1 else f"({rows}, {columns})"
    if task == "multiclass.classification" and columns > 1:
        expected += f" or ({rows},) of class indices"
    if values.shape == (rows, columns):
        return values
    if values.shape in ((rows,), (rows, 1)):
        if columns == 1:
            return values.reshape(rows, 1)
        if task == "multiclass.classification":
            return _one_hot(values.reshape(rows), part, columns)
    hint = ""
    if columns == 1 and values.shape == (rows, 2) and task == "binary.classification":
        hint = "; return the second column of predict_proba"
    got = "one number" if values.ndim == 0 else f"shape {values.shape}"
    raise PredictionError(f"predict returned {got} for the {part} part, {expected} is expected{hint}")


def _numbers(returned: Any, part: str) -> Any:
    if returned is None:
        raise PredictionError(f"predict returned nothing (None) for the {part} part")
    if hasattr(returned, "toarray"):
        returned = returned.toarray()
    try:
        values = np.asarray(returned)
        if values.dtype.kind not in "bifu":
            if values.dtype.kind != "O":
                raise TypeError
            values = values.astype(np.float64)
        return values.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        kind = type(returned).__name__
        dtype = getattr(returned, "dtype", None)
        what = kind if dtype is None else f"{kind} of {dtype}"
        raise PredictionError(
            f"predict returned a {what} for the {part} part that is not an array of numbers"
        ) from error


def _one_hot(classes: Any, part: str, columns: int) -> Any:
    right = np.isin(classes, np.arange(columns))
    if not bool(right.all()):
        row = int(np.flatnonzero(~right)[0])
        raise PredictionError(
            f"predict returned {classes[row]:g} in row {row + 1} of the {part} part; "
            f"a class index is a whole number from 0 to {columns - 1}"
        )
    expanded = np.zeros((len(classes), columns))
    expanded[np.arange(len(classes)), classes.astype(np.int64)] = 1.0
    return expanded
