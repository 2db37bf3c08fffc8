"""A dataset in AutoML format that is not split yet: `<name>.data` and `<name>.solution` with their info file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse

from datasets.tables.describing import describe_frame, describe_matrix
from datasets.tables.table import Column, Findings, Kind, Progress, Table, Unreadable, distinct_names
from ingestion.dataset_files import Tables, dataset_folder, feature_types
from ingestion.dataset_input import open_tables
from ingestion.program.data import PARTS
from ingestion.program.info import read_lines

_KINDS = {"Numerical": Kind.NUMERICAL, "Binary": Kind.BINARY, "Categorical": Kind.CATEGORICAL}


def read_unsplit(folder: Path, findings: Findings, progress: Progress) -> Table | None:
    """The table of a folder, with the solution as its target. Raises DataError where it cannot be read.

    A folder that is split already is refused, since it imports as it is.
    """
    tables, task = open_tables(dataset_folder(folder))
    data = tables.path("", "data")
    if not data.is_file():
        if any(tables.path(part, "data").is_file() for part in PARTS):
            raise Unreadable(tables.name, "is split into parts already", "Import it as it is.")
        raise Unreadable(data.name, "is missing", "Add the file with the features.")
    progress(0.0, f"Reading {data.name}.")
    target = tables.solution("")
    if target is None:
        raise Unreadable(tables.path("", "solution").name, "is missing", "Add the file with the targets.")
    features = tables.features("", len(target))
    if features is None or not features.shape[0]:
        raise Unreadable(data.name, "holds no rows", "Each line is a row.")
    if features.shape[0] != len(target):
        what = f"has {features.shape[0]} rows, {tables.path('', 'solution').name} has {len(target)}"
        raise Unreadable(data.name, what, "Each line of the one needs its line in the other.")
    types, inferred = feature_types(tables, features)
    if inferred:
        findings.warn("", f"there is no {tables.name}_feat.type; types are inferred from the values")
    progress(0.7, "Describing the columns.")
    return _table(tables, task, features, target, types, findings)


def _table(
    tables: Tables, task: str, features: Any, target: Any, types: Sequence[str], findings: Findings
) -> Table:
    names = _names(tables, "_feat.name", int(features.shape[1]), "feature", findings)
    labels = _names(tables, "_label.name", int(target.shape[1]), "target", findings)
    is_sparse = scipy.sparse.issparse(features)
    frame = None if is_sparse else pd.DataFrame(features, columns=names)
    found = describe_matrix(features, names, {}) if is_sparse else describe_frame(frame)
    columns = tuple(_typed(column, kind) for column, kind in zip(found, types, strict=True))
    return Table(
        tables.name,
        columns,
        frame=frame,
        matrix=features if is_sparse else None,
        target=target[:, 0] if target.shape[1] == 1 else np.asarray(target),
        target_names=tuple(labels),
        task=task,
        is_chronological=tables.info.get("is_chronological_order") is True,
        info=tables.info,
    )


def _names(tables: Tables, suffix: str, expected: int, word: str, findings: Findings) -> list[str]:
    path = tables.folder / f"{tables.name}{suffix}"
    given = read_lines(path) if path.is_file() else []
    if given and len(given) != expected:
        findings.warn("", f"{path.name} has {len(given)} names, {expected} are expected; they are not used")
    if len(given) != expected:
        return [f"{word}_{position}" for position in range(1, expected + 1)]
    return distinct_names(given, findings)


def _typed(column: Column, kind: str) -> Column:
    return Column(column.name, _KINDS[kind], column.missing, column.distinct, column.examples)
