"""Small datasets for the checks: written as text, read back as an import reads them."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from datasets.checks.material import Material
from ingestion.dataset import check_dataset, write_dataset

BINARY, MULTICLASS = "binary.classification", "multiclass.classification"
MULTILABEL, REGRESSION = "multilabel.classification", "regression"


def written(
    folder: Path,
    X: Any,
    y: Any,
    *,
    task: str = BINARY,
    metric: str = "auc",
    rows: tuple[int, int] = (60, 20),
    **fields: Any,
) -> Path:
    """A dataset named `small` whose rows are, in order, training, validation and test rows."""
    train, valid = rows
    ends = (slice(0, train), slice(train, train + valid), slice(train + valid, None))
    parts = [(X[at], y[at]) for at in ends]
    return write_dataset(
        folder / "small",
        "small",
        task=task,
        metric=metric,
        time_budget=10.0,
        train=parts[0],
        valid=parts[1] if valid else None,
        test=parts[2],
        **fields,
    )


def material(folder: Path) -> Material:
    """A dataset's folder as the checks look at it."""
    report = check_dataset(folder)
    assert report.facts is not None, report.errors
    assert report.parsed is not None
    return Material(report.name, folder, report.facts, report.parsed)


def noise(rows: int = 100, columns: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features (rows, columns) and two classes (rows,) that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)).round(4), (rng.random(rows) < 0.5).astype(int)


def thin(rows: int, columns: int) -> Any:
    """A sparse table (rows, columns), a fifth of which is filled, that can be changed in place."""
    table = scipy.sparse.random(rows, columns, density=0.2, format="lil", random_state=1)
    table[:] = table.toarray().round(3)
    return table
