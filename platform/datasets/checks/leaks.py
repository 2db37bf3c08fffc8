"""Hidden targets that stand in a file which participants or their code can get.

Looked for by the hash of the whole file, and by column: the features of the same part, the training targets, and
every table among the files that others can reach. Classes are compared up to their names: 0/1, 1/2 and yes/no are
the same column, a one-hot table has it in each of its columns.
"""

import hashlib
import math
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import scipy.sparse

from datasets.checks.finding import Finding, Severity, listed
from datasets.checks.material import HIDDEN_PARTS, Material, filled_counts
from ingestion.dataset import public_files

# Two columns agree by chance less often than once in 2**20 comparisons, or they are not compared.
BITS = 20.0
FIRST_ROWS = 256
MOST_SPARSE_SUSPECTS = 500
LARGEST_TABLE = 256 * 1024 * 1024
TABLES = (".data", ".solution", ".predict", ".csv", ".tsv", ".txt", ".npy")
# As many ways there are in which a file or zip is no good.
UNREADABLE = (OSError, EOFError, zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError)
MEND = "Take it out of what others can get, or choose another split: a solution that is known cannot be scored."


class Hidden:
    """The targets of one hidden part: the file, its hash, and its columns as codes or numbers."""

    def __init__(self, material: Material, part: str, path: Path) -> None:
        self.part, self.place = part, path.name
        with path.open("rb") as file:
            self.sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        solution, targets = material.parsed.solutions[part], material.parsed.targets[part]
        self.rows = len(solution)
        self.is_regression = material.is_regression
        columns = [solution[:, index] for index in range(solution.shape[1])]
        if not self.is_regression and targets.ndim == 1:
            columns.insert(0, targets)
        self.columns = [column if self.is_regression else codes(column) for column in columns]
        self.informations = [information(column) for column in self.columns]
        self.bits = max(self.informations)

    def columns_told(self, compared: int) -> list[np.ndarray]:
        """The columns that agree with one of `compared` others by chance less often than BITS says."""
        least = BITS + math.log2(max(1, compared))
        return [column for column, bits in zip(self.columns, self.informations, strict=True) if bits >= least]


def information(column: np.ndarray) -> float:
    """Bits that the order of a column's values tells: rows times the entropy of the values."""
    counts = np.unique(column, return_counts=True)[1]
    shares = counts / len(column)
    return float(-(shares * np.log2(shares)).sum() * len(column))


def codes(column: Any) -> np.ndarray:
    """Values numbered by their first appearance: equal for columns that differ in the names of values alone."""
    return np.asarray(pd.factorize(np.asarray(column), use_na_sentinel=False)[0])


def hidden_targets(material: Material, folder: Path) -> list[Hidden]:
    """The hidden parts of a dataset that have a solution."""
    found = [
        (part, folder / material.solution(part)) for part in HIDDEN_PARTS if part in material.parsed.solutions
    ]
    return [Hidden(material, part, path) for part, path in found if path.is_file()]


def leaked_solutions(material: Material, folder: Path, reachable: Iterable[Path] | None) -> Iterator[Finding]:
    """An error for each hidden solution that stands in a public file of the dataset, or in one of `reachable`.

    reachable: files, folders and zips that participants or their code can get.
    """
    hidden = hidden_targets(material, folder)
    for one in hidden:
        yield from _in_own_files(material, one, folder)
    for path in reachable or ():
        yield from _in_reachable(hidden, path)


def _error(hidden: Hidden, where: str, how: str) -> Finding:
    sentence = f"the targets of the {hidden.part} part stand in {where}, which participants can get ({how})"
    return Finding("leak", Severity.ERROR, hidden.place, sentence, MEND)


def _in_own_files(material: Material, hidden: Hidden, folder: Path) -> Iterator[Finding]:
    for path in public_files(folder):
        # A file of another size is another file; only what may be equal is read.
        same_size = path.stat().st_size == (folder / hidden.place).stat().st_size
        if same_size and hidden.bits >= BITS:
            with path.open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == hidden.sha256:
                    yield _error(hidden, path.name, "the same file")
                    return
    for part, features in material.parsed.features.items():
        if features.shape[0] == hidden.rows:
            found = columns_with(features, hidden)
            if found:
                shown = listed([material.feature(column) for column in found])
                yield _error(hidden, material.data(part), f"as {shown}")
    train = material.parsed.solutions["train"]
    if len(train) == hidden.rows and columns_with(train, hidden):
        yield _error(hidden, material.solution("train"), "the same values in the same order")


# Comparing columns ----------------------------------------------------------------------------------------------


def columns_with(table: Any, hidden: Hidden) -> list[int]:
    """Numbers of the columns of a table (ndarray or CSR, as many rows) that hold a hidden column."""
    found: set[int] = set()
    told = hidden.columns_told(table.shape[1] * len(hidden.columns))
    find = _sparse_candidates(table) if scipy.sparse.issparse(table) else partial(_candidates, table)
    for wanted in told:
        for column, values in find(wanted, hidden.is_regression):
            same = values == wanted if hidden.is_regression else codes(values) == wanted
            if bool(same.all()):
                found.add(column)
    return sorted(found)


def _candidates(table: Any, wanted: np.ndarray, is_regression: bool) -> Iterator[tuple[int, np.ndarray]]:
    """Columns that may be the wanted one, judged by a cheap look."""
    first, aim = table[:FIRST_ROWS], wanted[:FIRST_ROWS]
    if is_regression:
        kept = (first == aim[:, np.newaxis]).all(axis=0)
    else:
        # Where the wanted column keeps its value from row to row, so must the other; where it changes, too.
        changes = (aim[1:] == aim[:-1])[:, np.newaxis]
        kept = ((first[1:] == first[:-1]) == changes).all(axis=0)
    for column in np.flatnonzero(kept).tolist():
        yield column, table[:, column]


def _sparse_candidates(table: Any) -> Callable[[np.ndarray, bool], Iterator[tuple[int, np.ndarray]]]:
    """The same for a CSR matrix: the right column is zero as often as one of the wanted values occurs."""
    filled = filled_counts(table)
    by_column = cache(table.tocsc)

    def find(wanted: np.ndarray, is_regression: bool) -> Iterator[tuple[int, np.ndarray]]:
        if is_regression:
            right = filled == np.count_nonzero(wanted)
        else:
            counts = np.unique(wanted, return_counts=True)[1]
            right = np.isin(filled, len(wanted) - counts) | (filled == len(wanted))
        for column in np.flatnonzero(right)[:MOST_SPARSE_SUSPECTS].tolist():
            yield column, by_column()[:, [column]].toarray()[:, 0]

    return find


# Files of others ------------------------------------------------------------------------------------------------


def _in_reachable(hidden: list[Hidden], path: Path) -> Iterator[Finding]:
    try:
        for name, size, opened in _files_below(path):
            with opened() as file:
                sha256 = hashlib.file_digest(file, "sha256").hexdigest()
            is_table = size <= LARGEST_TABLE and Path(name).suffix in TABLES
            tables: dict[int, pd.DataFrame | None] = {}
            for one in hidden:
                if sha256 == one.sha256 and one.bits >= BITS:
                    yield _error(one, name, "the same file")
                    continue
                if is_table and one.rows not in tables:
                    with opened() as file:
                        tables[one.rows] = table_of(file, Path(name).suffix, one.rows)
                table = tables.get(one.rows)
                if table is not None and _holds(table, one):
                    yield _error(one, name, "the same values in the same order")
    except UNREADABLE as problem:
        sentence = f"cannot be opened, so it was not searched for hidden targets: {problem}"
        yield Finding(
            "leak", Severity.WARNING, path.name, sentence, "Give a file that can be read, or its folder."
        )


def _files_below(path: Path, name: str = "") -> Iterator[tuple[str, int, Any]]:
    """(name, bytes, function that opens it) of a file, or of each file in a folder or zip."""
    name = name or path.name
    if path.is_dir():
        for below in sorted(path.rglob("*")):
            if below.is_file():
                yield from _files_below(below, f"{name}/{below.relative_to(path).as_posix()}")
        return
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if not entry.is_dir() and entry.file_size <= LARGEST_TABLE:
                    yield f"{name}: {entry.filename}", entry.file_size, lambda e=entry: archive.open(e)
        return
    yield name, path.stat().st_size, lambda: path.open("rb")


def table_of(file: IO[bytes], suffix: str, rows: int) -> pd.DataFrame | None:
    """A table of this many rows, with or without a line of names, or None where the file is another thing."""
    if suffix == ".npy":
        try:
            array = np.load(file, allow_pickle=False)
        except (ValueError, OSError, EOFError):
            return None
        return pd.DataFrame(array.reshape(rows, -1)) if array.ndim in (1, 2) and len(array) == rows else None
    text = file.read()
    lines = text.count(b"\n") + (not text.endswith(b"\n"))
    if lines not in (rows, rows + 1):
        return None
    start = text[:4096].split(b"\n")[0]
    separator = next((mark for mark in (b",", b";", b"\t") if mark in start), None)
    try:
        table = pd.read_csv(
            pd.io.common.BytesIO(text),
            sep=separator.decode() if separator else r"\s+",
            header=0 if lines == rows + 1 else None,
            encoding_errors="replace",
            low_memory=False,
        )
    except (ValueError, pd.errors.ParserError):
        return None
    return table if len(table) == rows else None


def _holds(table: pd.DataFrame, hidden: Hidden) -> bool:
    columns: Mapping[int, Any] = {index: table.iloc[:, index].to_numpy() for index in range(table.shape[1])}
    told = hidden.columns_told(len(columns) * len(hidden.columns))
    for wanted in told:
        for values in columns.values():
            if hidden.is_regression:
                if values.dtype.kind in "iuf" and bool((values == wanted).all()):
                    return True
            elif bool((codes(values) == wanted).all()):
                return True
    return False
