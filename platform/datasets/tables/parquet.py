"""Tables in Parquet, read by pyarrow."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from datasets.tables.delimited import MOST_COLUMNS
from datasets.tables.describing import describe_frame
from datasets.tables.room import check_room
from datasets.tables.table import Findings, Progress, Table, Unreadable, distinct_names

# A small file can stand for very many values: so many cells are read at most.
MOST_CELLS = 1_000_000_000


def read_parquet(path: Path, findings: Findings, progress: Progress) -> Table | None:
    """The table of a Parquet file, or None where a column cannot be used. Raises Unreadable."""
    try:
        # Text stays in its dictionary: unfolded, a small file could fill the memory.
        texts = _names_of_texts(path)
        with parquet.ParquetFile(path, read_dictionary=texts) as file:
            parts = []
            for group in range(file.num_row_groups):
                parts.append(file.read_row_group(group))
                progress(0.8 * (group + 1) / file.num_row_groups, f"Reading {path.name}.")
    except (pa.ArrowException, OSError) as error:
        raise Unreadable(path.name, f"cannot be read as Parquet: {error}", "Write the file again.") from error
    if not parts or not sum(part.num_rows for part in parts):
        raise Unreadable(path.name, "holds no rows", "Write the file again.")
    table = pa.concat_tables(parts)
    names = distinct_names([str(name) for name in table.column_names], findings)
    series = {}
    for position, name in enumerate(names):
        values = _values(table.column(position), is_text=table.column_names[position] in texts)
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


def _names_of_texts(path: Path) -> list[str]:
    """The columns of text. Raises Unreadable where the file promises more values than can be read."""
    with parquet.ParquetFile(path) as file:
        _check_size(path, file)
        check_room(path, 8 * file.metadata.num_rows * len(file.schema_arrow))
        schema = file.schema_arrow
    return [one.name for one in schema if pa.types.is_string(one.type) or pa.types.is_large_string(one.type)]


def _check_size(path: Path, file: Any) -> None:
    rows, columns = file.metadata.num_rows, len(file.schema_arrow)
    if columns > MOST_COLUMNS or rows * columns > MOST_CELLS:
        what = f"has {rows} rows of {columns} columns, more than can be read"
        raise Unreadable(path.name, what, f"Send {MOST_CELLS} values at most.")


def _values(column: Any, *, is_text: bool) -> Any | None:
    """Numbers, a Categorical or times of one column; None for a type that is none of these."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _of_dictionary(column, is_text)
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return pc.cast(column, pa.float64(), safe=False).to_numpy()
    if pa.types.is_decimal(kind):
        return pc.cast(column, pa.float64()).to_numpy()
    if pa.types.is_temporal(kind) and not (pa.types.is_time(kind) or pa.types.is_duration(kind)):
        return pc.cast(column, pa.timestamp("us"), safe=False).to_numpy().astype("datetime64[us]")
    return None


def _of_dictionary(column: Any, is_text: bool) -> Any:
    """A Categorical of categories in their order, or of text in that of the alphabet."""
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    if not (pa.types.is_string(whole.type.value_type) or pa.types.is_large_string(whole.type.value_type)):
        return _values(pa.chunked_array([pc.cast(whole, whole.type.value_type)]), is_text=False)
    codes = pc.fill_null(pc.cast(whole.indices, pa.int64()), -1).to_numpy(zero_copy_only=False)
    found = pd.Categorical.from_codes(codes, categories=whole.dictionary.to_pylist(), ordered=True)
    return found.reorder_categories(sorted(found.categories)).as_unordered() if is_text else found
