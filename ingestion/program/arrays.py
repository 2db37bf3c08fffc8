"""Opening `.npy` files that anybody may have written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

_SMALL = 65_536  # bytes below which a mapping costs more than a copy


class ArrayError(ValueError):
    """A file holds no array, or less of it than its header says."""


def open_array(path: Path, *, changeable: bool = False) -> Any:
    """The array in a `.npy` file, without pickles. Raises ArrayError.

    It is mapped, and read when it is touched: a header that claims more than the file holds allocates nothing.
    With `changeable` it may be written to, which changes memory alone.
    """
    try:
        array = np.load(path, mmap_mode="c" if changeable else "r", allow_pickle=False)
        if not isinstance(array, np.memmap):
            raise ArrayError(f"{path.name} holds no array")
    # numpy has the header parsed as Python: a strange one also overflows, recurses, or fails to tokenize.
    except Exception as error:
        raise ArrayError(f"{path.name} cannot be read as an array ({type(error).__name__})") from error
    # A plain ndarray: libraries that ask for the exact type do not know memmap.
    return np.array(array) if array.nbytes < _SMALL else array.view(np.ndarray)
