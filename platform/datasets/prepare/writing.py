"""Writing the text of large parts; pyarrow writes the shortest text that reads back as the same number."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse
from pyarrow import csv as arrow_csv

# Values that are turned into text at a time.
_AT_A_TIME = 4_000_000


def write_features(path: Path, features: Any) -> None:
    """Write a dense array (n, c) with blanks between, or a CSR matrix as 1-based `index:value`."""
    with path.open("wb") as file:
        if scipy.sparse.issparse(features):
            _write_sparse(file, features.tocsr())
        else:
            _write_dense(file, np.asarray(features, dtype=np.float64))


def _write_dense(file: Any, rows: Any) -> None:
    options = arrow_csv.WriteOptions(include_header=False, delimiter=" ", quoting_style="none")
    step = max(1, _AT_A_TIME // rows.shape[1])
    names = list(map(str, range(rows.shape[1])))
    for begin in range(0, len(rows), step):
        piece = np.asfortranarray(rows[begin : begin + step])
        arrays = [pa.array(piece[:, column]) for column in range(piece.shape[1])]
        arrow_csv.write_csv(pa.table(arrays, names=names), file, options)


def _write_sparse(file: Any, csr: Any) -> None:
    csr.sort_indices()
    starts = csr.indptr.astype(np.int64)
    row = 0
    while row < csr.shape[0]:
        end = int(np.searchsorted(starts, starts[row] + _AT_A_TIME, side="right")) - 1
        end = min(csr.shape[0], max(row + 1, end))
        first, last = int(starts[row]), int(starts[end])
        indices = pc.cast(pa.array(csr.indices[first:last].astype(np.int64) + 1), pa.string())
        values = pc.cast(pa.array(csr.data[first:last].astype(np.float64)), pa.string())
        entries = pc.binary_join_element_wise(indices, values, ":")
        lists = pa.ListArray.from_arrays(pa.array((starts[row : end + 1] - first).astype(np.int32)), entries)
        file.write("\n".join(pc.binary_join(lists, " ").to_pylist()).encode("ascii") + b"\n")
        row = end
