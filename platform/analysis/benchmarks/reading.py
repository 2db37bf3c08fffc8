"""Reading results in MementoML's format: CSV or Parquet files of records, and of each algorithm's configurations.

Records: `dataset, model, param_index, row_index, acc, auc, time`; dataset, param_index and auc must be there.
Configurations: `param_index` and a column for each hyper-parameter. Files are read in pieces: what is held at once
are 22 bytes for each record, whatever the length of the text.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
from celery.exceptions import SoftTimeLimitExceeded
from numpy.typing import NDArray

from accounts.refusals import Refused
from analysis.benchmarks.grid import ABOUT, DEFAULT_INDEX, about_array
from analysis.benchmarks.lines import CheckedLines

PIECE = 250_000  # records read at once
MOST_RECORDS = 20_000_000
MOST_CELLS = 40_000_000  # datasets x configurations x splits of one algorithm
MOST_NAMES = 2_000  # different datasets, algorithms, splits
MOST_CONFIGURATIONS = 100_000  # of one algorithm
LONGEST_NAME = 200  # letters of a dataset, an algorithm or a split
LARGEST, SMALLEST = 1e100, 1e-100  # of a hyper-parameter: beyond, no sum of squares is a number
LARGEST_GROUP = 512 * 2**20  # bytes of a Parquet file's row group when it is read
NEEDED = ("dataset", "param_index", "auc")
COLUMNS = {
    "dataset": ("dataset", "data_id", "openml_dataset"),
    "model": ("model", "algorithm"),
    "param_index": ("param_index",),
    "row_index": ("row_index", "split"),
    "acc": ("acc", "accuracy"),
    "auc": ("auc",),
    "time": ("time", "train_time_s"),
}
# The metaMIMIC copy counts its 999 xgboost results from 0; its row 0 is MementoML's configuration 1002, as the
# gblinear rows with an AUC of exactly 0.5 show.
METAMIMIC_RESULTS, METAMIMIC_GRID, METAMIMIC_FIRST = (0, 998), (1001, 2001), 1002

Tell = Callable[[float, str], None]


@dataclass
class Names:
    """Numbers for texts, in the order of their first appearance."""

    what: str
    found: dict[str, int] = field(default_factory=dict)

    def codes(self, texts: pd.Series) -> NDArray[np.int32]:
        """The number of every text, (n,). Texts that come often are looked at once."""
        codes, uniques = pd.factorize(texts)
        if (codes < 0).any():
            raise Refused(f"There are records without a {self.what}.", mend="Fill its column in every record.")
        names = [str(name).strip() for name in uniques]
        if any(len(name) > LONGEST_NAME for name in names):
            raise Refused(f"A {self.what} has a name of more than {LONGEST_NAME} letters.")
        numbers = [self.found.setdefault(name.replace("\0", ""), len(self.found)) for name in names]
        if len(self.found) > MOST_NAMES:
            raise Refused(f"There are more than {MOST_NAMES} different {self.what}s.", mend="Check the columns.")
        found: NDArray[np.int32] = np.array(numbers, dtype=np.int32)[codes]
        return found


@dataclass
class Records:
    """All records, as one array for each column, and what was found wrong with them."""

    datasets: Names = field(default_factory=lambda: Names("dataset"))
    models: Names = field(default_factory=lambda: Names("model"))
    splits: Names = field(default_factory=lambda: Names("split"))
    measures: set[str] = field(default_factory=set)
    pieces: list[dict[str, NDArray[Any]]] = field(default_factory=list)
    count: int = 0

    def column(self, name: str) -> NDArray[Any]:
        """One column of all pieces."""
        return np.concatenate([piece[name] for piece in self.pieces])


@dataclass(frozen=True)
class Read:
    """The arrays of a benchmark by name, and facts about them for its page."""

    arrays: dict[str, NDArray[Any]]
    facts: dict[str, Any]


def read(
    files: Sequence[Path], *, algorithm: str = "", first_index: int | None = None, tell: Tell = lambda *_: None
) -> Read:
    """A benchmark from its files; raises Refused with what is wrong.

    `algorithm` names the only one, where the records have no column `model`. `first_index` is the `param_index`
    that the records' 0 stands for, where they count for themselves.
    """
    tables, records = {}, Records()
    for path in sorted(files):
        columns = _columns(path)
        if set(NEEDED) <= _known(columns).keys():
            _read_records(path, _known(columns), records, algorithm, tell)
        elif "param_index" in columns:
            tables[path] = _read_parameters(path)
        else:
            raise Refused(
                f"{path.name} has neither results nor parameters.",
                mend="Results have the columns dataset, param_index and auc; parameters have param_index.",
            )
    if not records.count:
        raise Refused("There are no results.", mend="Send a file with the columns dataset, param_index and auc.")
    parameters = _assigned(tables, records, algorithm)
    return _arranged(records, parameters, first_index, tell)


def _columns(path: Path) -> list[str]:
    """The names of a file's columns."""
    try:
        if path.suffix.lower() == ".parquet":
            return list(parquet.read_schema(path).names)
        with CheckedLines(path) as stream:
            return [str(name).strip() for name in pd.read_csv(stream, nrows=0).columns]
    except (Refused, SoftTimeLimitExceeded):
        raise
    except Exception as problem:  # pandas and pyarrow fail in many ways on what is no table
        raise Refused(f"{path.name} cannot be read as a table.", mend="Send CSV or Parquet.") from problem


def _known(columns: Sequence[str]) -> dict[str, str]:
    """Our name of each known column, with the file's."""
    found = {}
    for ours, theirs in COLUMNS.items():
        match = next((column for column in columns if column.lower() in theirs), None)
        if match is not None:
            found[ours] = match
    return found


def _read_records(path: Path, known: dict[str, str], records: Records, algorithm: str, tell: Tell) -> None:
    for piece in _pieces(path, list(known.values())):
        renamed = piece.rename(columns={theirs: ours for ours, theirs in known.items()})
        records.pieces.append(_coded(renamed, records, algorithm, path.name))
        records.count += len(renamed)
        tell(0.1, f"Has read {records.count:,} records.")
        if records.count > MOST_RECORDS:
            raise Refused(f"There are more than {MOST_RECORDS:,} records.", mend="Send fewer datasets.")
    records.measures |= known.keys() & {"acc", "auc", "time"}


def _pieces(path: Path, columns: list[str]) -> Iterator[pd.DataFrame]:
    """The records of a file, piece by piece."""
    try:
        if path.suffix.lower() == ".parquet":
            with _parquet(path, columns) as opened:
                for batch in opened.iter_batches(batch_size=PIECE, columns=columns):
                    yield batch.to_pandas()
            return
        with CheckedLines(path) as stream:
            yield from pd.read_csv(stream, usecols=columns, chunksize=PIECE, skipinitialspace=True)
    except (Refused, SoftTimeLimitExceeded):
        raise
    except Exception as problem:
        raise Refused(f"{path.name} has lines that cannot be read: {str(problem)[:200]}") from problem


def _parquet(path: Path, columns: Sequence[str]) -> parquet.ParquetFile:
    """The opened file. Texts stay in its dictionary, where one of a few bytes may stand for millions of long ones.

    Raises
    ------
    Refused
        Where reading would take more room than a table of these limits has.
    """
    texts = [
        name for name in columns if str(parquet.read_schema(path).field(name).type) in ("string", "large_string")
    ]
    opened = parquet.ParquetFile(path, read_dictionary=texts)
    groups = [opened.metadata.row_group(place) for place in range(opened.metadata.num_row_groups)]
    if any(group.total_byte_size > LARGEST_GROUP for group in groups):
        opened.close()
        raise Refused(
            f"{path.name} has a row group of more than {LARGEST_GROUP // 2**20} MiB.",
            mend="Write it with smaller row groups, or send CSV.",
        )
    return opened


def _coded(piece: pd.DataFrame, records: Records, algorithm: str, name: str) -> dict[str, NDArray[Any]]:
    index = pd.to_numeric(piece["param_index"], errors="coerce").to_numpy(dtype=float)
    if not (np.isfinite(index).all() and (index == np.round(index)).all() and (np.abs(index) < 2**31).all()):
        raise Refused(f"{name} has a param_index that is no whole number.")
    one = pd.Series(np.zeros(len(piece), dtype=int), index=piece.index)
    found: dict[str, NDArray[Any]] = {
        "dataset": records.datasets.codes(piece["dataset"]).astype(np.int16),
        "model": records.models.codes(piece.get("model", one.map({0: algorithm}))).astype(np.int16),
        "split": records.splits.codes(piece.get("row_index", one)).astype(np.int16),
        "param_index": index.astype(np.int32),
    }
    for measure in ("auc", "acc", "time"):
        values = pd.to_numeric(piece[measure], errors="coerce") if measure in piece else None
        found[measure] = (
            np.full(len(piece), np.nan, dtype=np.float32) if values is None else values.to_numpy(dtype=np.float32)
        )
    scores = found["auc"]
    found["auc"] = np.where(np.isfinite(scores), scores, np.nan).astype(np.float32)
    if np.nanmin(scores, initial=0.0) < 0 or np.nanmax(scores, initial=1.0) > 1:
        raise Refused(f"{name} has an auc outside 0 to 1.")
    return found


def _read_parameters(path: Path) -> pd.DataFrame:
    """A configuration on each row; columns that are all numbers are numbers, others are texts."""
    table = _parameter_table(path)
    if len(table) > MOST_CONFIGURATIONS or len(table.columns) > MOST_NAMES:
        raise Refused(f"{path.name} has more than {MOST_CONFIGURATIONS:,} configurations or {MOST_NAMES} columns.")
    numbers = pd.to_numeric(table["param_index"], errors="coerce")
    if not (np.isfinite(numbers).all() and (numbers.abs() < 2**31).all()) or numbers.duplicated().any():
        raise Refused(f"{path.name} has a param_index that is missing, no number, or there twice.")
    return table.assign(param_index=numbers.astype(int)).set_index("param_index")


def _parameter_table(path: Path) -> pd.DataFrame:
    """As it stands in the file; no more rows than are enough to refuse it."""
    try:
        if path.suffix.lower() != ".parquet":
            with CheckedLines(path) as stream:
                return pd.read_csv(stream, skipinitialspace=True, nrows=MOST_CONFIGURATIONS + 1)
        names = _columns(path)
        with _parquet(path, names) as opened:
            if opened.metadata.num_rows > MOST_CONFIGURATIONS or len(names) > MOST_NAMES:
                return pd.DataFrame(index=range(MOST_CONFIGURATIONS + 1))
            table: pd.DataFrame = opened.read().to_pandas()
            return table
    except (Refused, SoftTimeLimitExceeded):
        raise
    except Exception as problem:  # pandas and pyarrow fail in many ways on what is no table
        raise Refused(f"{path.name} has lines that cannot be read: {str(problem)[:200]}") from problem


def _assigned(tables: dict[Path, pd.DataFrame], records: Records, algorithm: str) -> dict[str, pd.DataFrame]:
    """The tables of configurations by the algorithm in whose name the file's name has it; or the only one."""
    names = list(records.models.found)
    found: dict[str, pd.DataFrame] = {}
    for path, table in tables.items():
        fitting = [name for name in names if name.lower() in path.stem.lower()]
        if not fitting and len(names) == len(tables) == 1:
            fitting = names
        if not fitting:
            raise Refused(
                f"It cannot be told to which algorithm {path.name} belongs.",
                mend=f"Let its name contain one of {', '.join(names[:10])}.",
            )
        found[max(fitting, key=len)] = table
    return found


def _arranged(records: Records, parameters: dict[str, pd.DataFrame], first_index: int | None, tell: Tell) -> Read:
    columns = {name: records.column(name) for name in records.pieces[0]}
    records.pieces.clear()
    notes: list[str] = []
    columns["param_index"] = _shifted(columns["param_index"], parameters, first_index, notes)
    keep = _without_pilots(columns["param_index"], notes)
    if keep is not None:
        columns = {name: values[keep] for name, values in columns.items()}
    arrays: dict[str, NDArray[Any]] = {}
    described = []
    shape = len(records.datasets.found), len(records.splits.found)
    twice = failed = 0
    names = sorted(records.models.found, key=str)
    for place, name in enumerate(names):
        tell(0.4 + 0.5 * place / len(names), f"Arranges the results of {name}.")
        rows = np.flatnonzero(columns["model"] == records.models.found[name])
        own = {column: values[rows] for column, values in columns.items()}
        twice += _scatter(arrays, place, own, shape, sorted(records.measures))
        failed += int(arrays[f"a{place}_failed"].sum())
        described.append({"name": name, "parameters": _keep_parameters(arrays, place, parameters.get(name))})
    about = {
        "datasets": list(records.datasets.found),
        "splits": list(records.splits.found),
        "measures": [measure for measure in ("auc", "acc", "time") if measure in records.measures],
        "algorithms": described,
    }
    arrays[ABOUT] = about_array(about)
    if twice:
        notes.append(f"{twice:,} records came twice for the same cell; the last of each is kept.")
    half = int((columns["auc"] == 0.5).sum())
    if half:
        notes.append(
            f"{half:,} records have an AUC of exactly 0.5: some packages report a fit that diverged like this. "
            "They "
            "are kept as published."
        )
    facts = {
        "records": records.count,
        "kept": len(columns["auc"]),
        "failed": failed,
        "datasets": shape[0],
        "splits": shape[1],
        "algorithms": {
            one["name"]: {"configurations": len(arrays[f"a{place}_index"]), "parameters": one["parameters"]}
            for place, one in enumerate(described)
        },
        "measures": about["measures"],
        "notes": notes,
    }
    return Read(arrays, facts)


def _shifted(
    index: NDArray[np.int32], parameters: dict[str, pd.DataFrame], first_index: int | None, notes: list[str]
) -> NDArray[np.int32]:
    """The records' `param_index` as the tables of configurations count."""
    if first_index is not None:
        notes.append(f"The results count for themselves; their 0 is configuration {first_index}.")
        return (index + first_index).astype(np.int32)
    grids = [table.index for table in parameters.values() if len(table)]
    if not grids or any(np.isin(grid, index).any() for grid in grids):
        return index
    ends = (int(index.min()), int(index.max()))
    if ends == METAMIMIC_RESULTS and {(int(grid.min()), int(grid.max())) for grid in grids} == {METAMIMIC_GRID}:
        notes.append(f"The results count from 0, as metaMIMIC's do: their 0 is configuration {METAMIMIC_FIRST}.")
        return (index + METAMIMIC_FIRST).astype(np.int32)
    raise Refused(
        f"No param_index of the results ({ends[0]} to {ends[1]}) is among the configurations.",
        mend="Say which configuration the results' 0 stands for.",
    )


def _without_pilots(index: NDArray[np.int32], notes: list[str]) -> NDArray[np.bool_] | None:
    """Which records are no pilot runs: MementoML numbers those 1 to 11, far below the grid's first, 1001."""
    pilots = (index >= 1) & (index <= 11)
    if not pilots.any() or (index >= DEFAULT_INDEX).sum() <= pilots.sum() or ((index > 11) & (index < 1001)).any():
        return None
    notes.append(f"{int(pilots.sum()):,} records of pilot runs (param_index 1 to 11) are left out.")
    return ~pilots


def _scatter(
    arrays: dict[str, NDArray[Any]],
    place: int,
    own: dict[str, NDArray[Any]],
    shape: tuple[int, int],
    measures: Sequence[str],
) -> int:
    """Put an algorithm's records into arrays of datasets x configurations x splits; how many cells came twice."""
    index, at = np.unique(own["param_index"], return_inverse=True)
    whole = shape[0], len(index), shape[1]
    if len(index) > MOST_CONFIGURATIONS or np.prod(whole, dtype=np.int64) > MOST_CELLS:
        raise Refused(
            "The results are no grid: datasets times configurations times splits are too many.",
            mend="Check the columns param_index and row_index.",
        )
    where = (own["dataset"], at, own["split"])
    was_run = np.zeros(whole, dtype=bool)
    was_run[where] = True
    arrays[f"a{place}_index"] = index.astype(np.int64)
    for measure in measures:
        values = np.full(whole, np.nan, dtype=np.float32)
        values[where] = own[measure]
        arrays[f"a{place}_{measure}"] = values
        arrays[f"a{place}_mean_{measure}"] = _mean(values)
    done = np.isfinite(arrays[f"a{place}_auc"])
    arrays[f"a{place}_done"] = done.sum(axis=(1, 2))
    arrays[f"a{place}_failed"] = (was_run & ~done).sum(axis=(1, 2))
    return len(at) - int(was_run.sum())


def _mean(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Over the splits that succeeded; NaN where none did."""
    count = np.isfinite(values).sum(axis=2)
    total = np.nansum(values, axis=2, dtype=np.float64)
    means: NDArray[np.float64] = np.full(total.shape, np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means


def _keep_parameters(arrays: dict[str, NDArray[Any]], place: int, table: pd.DataFrame | None) -> list[str]:
    """Put the hyper-parameters of an algorithm's configurations among the arrays; their names."""
    if table is None:
        return []
    rows = table.reindex(arrays[f"a{place}_index"])
    kept = [str(name) for name in rows.columns if not str(name).startswith("Unnamed")]
    for number, name in enumerate(kept):
        values = pd.to_numeric(rows[name], errors="coerce")
        is_text = bool((values.isna() & rows[name].notna()).any())
        arrays[f"a{place}_p_{number}"] = (
            rows[name].fillna("").astype(str).str.slice(0, 60).to_numpy(dtype="U60")
            if is_text
            else _sane(values.to_numpy(dtype=float))
        )
    return kept


def _sane(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Without numbers that are out of all bounds, and with 0 for those that are as good as that."""
    within = np.where(np.abs(values) <= LARGEST, values, np.nan)
    return np.where(np.abs(within) < SMALLEST, 0.0, within)
