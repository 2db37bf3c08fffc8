"""Which text layout a dataset's features have, and reading them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from ingestion.program.data import PARTS
from ingestion.program.errors import DataError
from ingestion.program.info import count_of
from ingestion.program.pieces import beginning, count_words
from ingestion.program.text import Triplets, read_dense, read_sparse

LAYOUTS = ("dense", "sparse", "sparse_binary")
_NO_INDEX = re.compile(rb"[^0-9 \t\r\v\f\n]")


def find_layout(folder: Path, name: str, info: dict[str, Any]) -> str:
    """`dense`, `sparse` or `sparse_binary`, by the info's is_sparse and the first block of each part.

    A colon means sparse whatever the info says. Without colons, is_sparse = 1 means indices alone, unless
    each line of the block has exactly feat_num values; where is_sparse is absent, lines of unequal length
    decide, as in the 2015 kit, if they hold nothing but indices (else they are dense and ragged).
    """
    equal_lines = True
    only_indices = True
    for stem in [f"{name}_{part}" for part in PARTS] + [name]:
        path = folder / f"{stem}.data"
        if not path.is_file():
            continue
        start = beginning(path)
        if b":" in start:
            return "sparse"
        lines = start.split(b"\n", 200)[:200]
        widths = {count_words(line) for line in lines} - {0}
        only_indices &= not any(_NO_INDEX.search(line) for line in lines)
        equal_lines &= widths <= {count_of(info, "feat_num")} if info.get("is_sparse") else len(widths) <= 1
    if info.get("is_sparse", only_indices) and not equal_lines:
        return "sparse_binary"
    return "dense"


def read_features(path: Path, layout: str, columns: int | None, rows: int | None = None) -> Any:
    """Features of one part as float64: an ndarray (n, c), or a CSR matrix for the sparse layouts.

    `rows` is how many there should be: blank lines past it at the end of a sparse file are not rows.
    Raises DataError naming file, line and token.
    """
    if layout == "dense":
        return read_dense(path, columns)
    if columns is None:
        raise DataError(path.name, "is sparse, and nothing says how wide it is")
    triplets = read_sparse(path, columns, binary=layout == "sparse_binary")
    return to_csr(triplets, rows)


def to_csr(triplets: Triplets, rows: int | None = None) -> Any:
    """A CSR matrix of the triplets, without empty rows at the end past `rows`."""
    from scipy.sparse import csr_matrix  # takes half a second to load, which dense data need not spend

    starts = triplets.starts
    if rows is not None:
        filled = int(np.searchsorted(starts, starts[-1]))
        starts = starts[: max(filled, rows) + 1]
    return csr_matrix((triplets.values, triplets.indices, starts), shape=(len(starts) - 1, triplets.columns))
