"""Tables in Parquet, read by pyarrow."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from datasets.tables.columns import categories_of
from datasets.tables.delimited import MOST_COLUMNS
from datasets.tables.describing import describe_frame
from datasets.tables.table import Findings, Progress, Table, distinct_names
from ingestion.program.errors import DataError

# A small file can stand for very many values: so many cells are read at most.
MOST_CELLS = 1_000_000_000


def read_parquet(path: Path, findings: Findings, progress: Progress) -> Table | None:
    """The table of a Parquet file, or None where a column cannot be used. Raises DataError."""
    try:
        with parquet.ParquetFile(path) as file:
            _check_size(path, file)
            parts = []
            for group in range(file.num_row_groups):
                parts.append(file.read_row_group(group))
                progress(0.8 * (group + 1) / file.num_row_groups, f"Reading {path.name}.")
    except (pa.ArrowException, OSError) as error:
        raise DataError(path.name, f"cannot be read as Parquet: {error}") from error
    if not parts or not sum(part.num_rows for part in parts):
        raise DataError(path.name, "holds no rows")
    table = pa.concat_tables(parts)
    names = distinct_names([str(name) for name in table.column_names], findings)
    series = {}
    for position, name in enumerate(names):
        values = _values(table.column(position))
        if values is None:
            kind = table.schema.field(position).type
            findings.error(
                "",
                f"column {name!r} holds {kind}, which is neither number, text, category nor date",
                "Leave the column out, or spread it over several columns.",
            )
        else:
            series[name] = pd.Series(values, name=name)
    if findings.errors:
        return None
    frame = pd.DataFrame(series, copy=False)
    return Table(path.stem, describe_frame(frame), frame=frame)


def _check_size(path: Path, file: Any) -> None:
    rows, columns = file.metadata.num_rows, len(file.schema_arrow)
    if columns > MOST_COLUMNS or rows * columns > MOST_CELLS:
        raise DataError(path.name, f"has {rows} rows of {columns} columns, more than can be read")


def _values(column: Any) -> Any | None:
    """Numbers, a Categorical or times of one column; None for a type that is none of these."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _of_dictionary(column)
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return pc.cast(column, pa.float64(), safe=False).to_numpy()
    if pa.types.is_decimal(kind):
        return pc.cast(column, pa.float64()).to_numpy()
    if pa.types.is_temporal(kind) and not (pa.types.is_time(kind) or pa.types.is_duration(kind)):
        return pc.cast(column, pa.timestamp("us"), safe=False).to_numpy().astype("datetime64[us]")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return categories_of(pc.cast(column, pa.string()))
    return None


def _of_dictionary(column: Any) -> Any:
    """A Categorical of a column of categories, which keeps their order; other values of a dictionary unpacked."""
    if not pa.types.is_string(column.type.value_type) and not pa.types.is_large_string(column.type.value_type):
        return _values(pc.cast(column, column.type.value_type))
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    codes = pc.fill_null(pc.cast(whole.indices, pa.int64()), -1).to_numpy(zero_copy_only=False)
    return pd.Categorical.from_codes(codes, categories=whole.dictionary.to_pylist(), ordered=True)
