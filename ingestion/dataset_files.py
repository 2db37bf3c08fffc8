"""Which files a dataset in AutoML format has, which of them are public, and how they are written."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ingestion.program.data import PARTS
from ingestion.program.errors import DataError
from ingestion.program.info import FEATURE_TYPES, TASKS, feature_count, find_name, read_lines
from ingestion.program.layouts import find_layout, read_features
from ingestion.program.text import read_dense

# Everything that a participant may see. What is not listed here is never public.
PUBLIC_SUFFIXES = (
    "_train.data",
    "_valid.data",
    "_test.data",
    "_train.solution",
    "_feat.type",
    "_feat.name",
    "_label.name",
    "_public.info",
)
# Labels that are hidden. `.solution` of a table that is not split holds them all.
SOLUTION_SUFFIXES = ("_valid.solution", "_test.solution", ".solution")
PRIVATE_SUFFIXES = ("_private.info",)

MOST_TARGETS = 200_000_000  # numbers in a solution: rows times classes
METRICS = ("R2", "ABS", "BAC", "AUC", "F1", "PAC")
METRIC_IN_INFO = {"ABS": "a_metric", **{m: f"{m.lower()}_metric" for m in METRICS if m != "ABS"}}


def dataset_folder(folder: Path) -> Path:
    """The folder itself, or the one folder in it that holds the info file where it has none of its own."""
    if any(folder.glob("*_public.info")):
        return folder
    inner = sorted({path.parent for path in folder.glob("*/*_public.info")})
    return inner[0] if len(inner) == 1 else folder


def public_files(folder: Path) -> list[Path]:
    """The public files that are there, in the order of PUBLIC_SUFFIXES. Raises DataError without one name."""
    folder = dataset_folder(folder)
    name = find_name(folder)
    paths = [folder / f"{name}{suffix}" for suffix in PUBLIC_SUFFIXES]
    return [path for path in paths if path.is_file()]


def solution_files(folder: Path) -> dict[str, Path]:
    """The files of hidden labels that are there, by part (`valid`, `test`). Raises DataError as above."""
    folder = dataset_folder(folder)
    name = find_name(folder)
    paths = {part: folder / f"{name}_{part}.solution" for part in PARTS if part != "train"}
    return {part: path for part, path in paths.items() if path.is_file()}


def canonical_task(text: Any) -> str | None:
    """The full name of a task given by its name or its first word, in any case; None for anything else."""
    word = re.sub(r"[^a-z]", "", str(text).lower()).removesuffix("classification")
    return next((task for task in TASKS if task.split(".")[0] == word), None)


def canonical_metric(text: Any) -> str | None:
    """One of METRICS for a name as info files write it (`bac_metric`, `bac_multiclass`, `a_metric`, `abs`)."""
    word = str(text).strip().lower()
    word = re.sub(r"_(metric|binary|multiclass|multilabel|regression)$", "", word)
    return {"a": "ABS", **{metric.lower(): metric for metric in METRICS}}.get(word)


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number; whole numbers without a point."""
    return repr(value).removesuffix(".0").replace("nan", "NaN")


def write_rows(path: Path, rows: Any, *, indices_only: bool = False) -> None:
    """Write a dense array (n, c), or a CSR matrix as 1-based `index:value`, one sample a line.

    With `indices_only`, a CSR matrix of ones is written as its indices alone (the layout sparse_binary).
    """
    with path.open("w", encoding="ascii", newline="\n") as file:
        if scipy.sparse.issparse(rows):
            csr = rows.tocsr().sorted_indices()
            for begin, end in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
                pairs = zip((csr.indices[begin:end] + 1).tolist(), csr.data[begin:end].tolist(), strict=True)
                words = [str(i) if indices_only else f"{i}:{number_text(float(v))}" for i, v in pairs if v != 0]
                file.write(" ".join(words) + "\n")
            return
        for row in rows:
            file.write(" ".join(map(number_text, np.asarray(row, dtype=np.float64).tolist())) + "\n")


def write_info(path: Path, info: Mapping[str, Any]) -> None:
    """Write an info file: text in quotes, flags as 0 and 1, numbers as they are."""
    lines = []
    for key, value in info.items():
        if value is None:
            continue
        if isinstance(value, bool):
            text = str(int(value))
        elif isinstance(value, int | float):
            text = number_text(value) if isinstance(value, float) else str(value)
        else:
            plain = re.sub(r"[\r\n]+", " ", str(value))
            quote = '"' if "'" in plain else "'"
            text = quote + plain.replace(quote, "") + quote
        lines.append(f"{key} = {text}\n")
    path.write_text("".join(lines), encoding="utf-8")


class Tables:
    """The numbers of one dataset folder, read once: layout, features and solutions of each part."""

    def __init__(self, folder: Path, name: str, info: Mapping[str, Any]) -> None:
        self.folder = folder
        self.name = name
        self.info = dict(info)

    @functools.cached_property
    def layout(self) -> str:
        """One of LAYOUTS, by the info file and the beginning of each part."""
        return find_layout(self.folder, self.name, self.info)

    def path(self, part: str, kind: str) -> Path:
        """The path of `<name>_<part>.<kind>`; the part '' means a table that is not split."""
        return self.folder / f"{self.name}{'_' if part else ''}{part}.{kind}"

    def solution(self, part: str) -> Any | None:
        """The solution (n, c) as written, or None where the file is absent. Raises DataError."""
        path = self.path(part, "solution")
        return read_dense(path) if path.is_file() else None

    def features(self, part: str, rows: int | None) -> Any | None:
        """Features of a part, or None where the file is absent. Raises DataError.

        Sparse features are as wide as feat_num says; a dense file's own width counts. `rows` is the number
        of rows of the solution, which tells blank lines at the end from rows of zeros.
        """
        path = self.path(part, "data")
        if not path.is_file():
            return None
        columns = None if self.layout == "dense" else self.columns()
        return read_features(path, self.layout, columns, rows)

    def columns(self) -> int:
        """feat_num of the info, checked. Raises DataError where it is no usable number."""
        return feature_count(self.info, f"{self.name}_public.info")


def expanded_solution(solution: Any, classes: Any, task: str, label_num: int) -> Any:
    """The solution (n, c) as it is scored: class indices of a multi-class task become one-hot columns."""
    if task != "multiclass.classification" or solution.shape[1] > 1:
        return solution
    if len(classes) * label_num > MOST_TARGETS:
        raise DataError("solution", f"{len(classes)} rows of {label_num} classes are more than can be scored")
    one_hot = np.zeros((len(classes), label_num))
    one_hot[np.arange(len(classes)), classes] = 1.0
    return one_hot


def feature_types(tables: Tables, train: Any) -> tuple[list[str], bool]:
    """(one of FEATURE_TYPES for each feature, whether they were inferred from the training features).

    `<name>_feat.type` counts, else a general feat_type of the info; `Mixed` or nothing means inferring.
    Raises DataError for a file of the wrong length or an unknown word.
    """
    columns = int(train.shape[1])
    path = tables.folder / f"{tables.name}_feat.type"
    if path.is_file():
        types = [line.capitalize() for line in read_lines(path)]
        for number, kind in enumerate(types, start=1):
            if kind not in FEATURE_TYPES:
                raise DataError(f"{path.name} line {number}", f"{kind!r} is none of {', '.join(FEATURE_TYPES)}")
        if len(types) != columns:
            raise DataError(path.name, f"has {len(types)} types, the data have {columns} features")
        return types, False
    general = str(tables.info.get("feat_type", "")).strip().capitalize()
    if general in FEATURE_TYPES:
        return [general] * columns, False
    return infer_types(train, categories=tables.info.get("has_categorical") is not False), True


def infer_types(train: Any, *, categories: bool) -> list[str]:
    """Types guessed from values: Binary for 0 and 1 alone; Categorical for few whole numbers.

    Few means at most 20 different values and no more than half the rows, in columns of whole numbers from
    0; only where `categories` allows it. All else is Numerical. Sparse columns are Binary or Numerical.
    """
    if scipy.sparse.issparse(train):
        coo = train.tocoo()
        other = np.bincount(coo.col[~np.isin(coo.data, (0, 1))], minlength=train.shape[1])
        binary = other == 0
        return ["Binary" if is_binary else "Numerical" for is_binary in binary.tolist()]
    return [_type_of(train[:, column], categories) for column in range(train.shape[1])]


def _type_of(column: Any, categories: bool) -> str:
    known = column[~np.isnan(column)]
    if not known.size:
        return "Numerical"
    if bool(((known == 0) | (known == 1)).all()):
        return "Binary"
    if not categories or not bool(((known >= 0) & (known == np.floor(known))).all()):
        return "Numerical"
    return "Categorical" if np.unique(known).size <= min(20, known.size / 2) else "Numerical"


def general_type(types: Sequence[str]) -> str:
    """The info's feat_type for a list of types: the one type, or Mixed."""
    return types[0] if len(set(types)) == 1 else "Mixed"
