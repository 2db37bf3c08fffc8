"""Reading one collected prediction file, to see whether its shape is right and its numbers are finite.

No score is computed here, and no label is near.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ingestion.program.arrays import ArrayError, open_array

_NPY_MAGIC = b"\x93NUMPY"


class UnreadablePrediction(Exception):
    """A prediction file is no table of numbers; the text is one sentence."""


def read_prediction(path: Path) -> Any:
    """The table of a text or `.npy` file, float64 of shape (rows, columns); NaN and infinities are kept.

    Raises UnreadablePrediction naming file and line. The file was collected, so its size is bounded.
    """
    data = path.read_bytes()
    if data.startswith(_NPY_MAGIC):
        return _array(path)
    rows: list[list[float]] = []
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        row = [_number(word, path, number) for word in words]
        if rows and len(row) != len(rows[0]):
            raise UnreadablePrediction(
                f"{path.name}, line {number}: {len(row)} numbers, the first line has {len(rows[0])}."
            )
        rows.append(row)
    return np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows else 0)


def _array(path: Path) -> Any:
    try:
        values = open_array(path)
        if values.dtype.kind not in "bifu" or values.ndim not in (1, 2):
            raise ArrayError
    except ArrayError as error:
        raise UnreadablePrediction(f"{path.name} holds no table of numbers.") from error
    return values.astype(np.float64).reshape(len(values), values.shape[1] if values.ndim == 2 else 1)


def _number(word: str, path: Path, line: int) -> float:
    try:
        # Python reads 1_000 as a number; scoring does not.
        return float(word if "_" not in word else "no number")
    except ValueError:
        shown = word if len(word) <= 40 else word[:37] + "..."
        raise UnreadablePrediction(f"{path.name}, line {line}: {shown!r} is not a number.") from None
