"""What a recipe begins with, before an organizer looks at it."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from datasets.models import TaskKind
from datasets.prepare.recipe import Recipe, Split
from datasets.tables.table import Column, Kind, Table
from ingestion.dataset_check import DEFAULT_METRICS
from ingestion.dataset_files import canonical_metric

_USUAL_TARGETS = ("class", "target", "label", "y", "outcome", "response", "binaryclass")
_FEW_CLASSES = 20


def suggest(table: Table, *, target: Sequence[str] = (), task: str | None = None, seed: int = 0) -> Recipe:
    """A recipe for a table: the target by its usual names (else the last column), the task by its values.

    Columns that have one value alone are dropped.
    """
    chosen = tuple(target) or _target(table)
    task = task or _task(table, chosen)
    metric = canonical_metric(table.info.get("metric")) or ""
    if (metric in ("R2", "ABS")) != (task == TaskKind.REGRESSION) or not metric:
        metric = DEFAULT_METRICS[task]
    budget = table.info.get("time_budget")
    is_number = isinstance(budget, int | float) and not isinstance(budget, bool) and budget >= 1
    return Recipe(
        name=_name(table.name),
        task=task,
        metric=metric,
        target=chosen,
        time_budget=float(budget) if is_number and budget is not None else 1200.0,
        drop=tuple(c.name for c in table.columns if c.distinct <= 1 and not c.missing and c.name not in chosen),
        split=_split(table, task),
        is_chronological=table.is_chronological,
        seed=seed,
    )


def _name(given: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", given).strip("_.-")[:80]
    return plain or "dataset"


def _target(table: Table) -> tuple[str, ...]:
    if table.target is not None:
        return ()
    by_name = {column.name.lower(): column.name for column in table.columns}
    return (next((by_name[word] for word in _USUAL_TARGETS if word in by_name), table.columns[-1].name),)


def _task(table: Table, target: tuple[str, ...]) -> str:
    if not target:
        return table.task or _task_of_numbers(table.target, bool(table.target_labels))
    if len(target) > 1:
        columns = [table.column(name) for name in target]
        is_labels = all(column.distinct <= 2 for column in columns)
        return TaskKind.MULTILABEL.value if is_labels else TaskKind.REGRESSION.value
    return _task_of_column(table.column(target[0]), table)


def _task_of_column(column: Column, table: Table) -> str:
    if column.distinct == 2:
        return TaskKind.BINARY.value
    if column.kind in (Kind.CATEGORICAL, Kind.TEXT) or column.categories:
        return TaskKind.MULTICLASS.value
    if table.matrix is not None:
        values = table.matrix[:, [table.place(column.name)]].toarray()[:, 0]
    else:
        values = table.frame[column.name].to_numpy() if table.frame is not None else np.empty(0)
    return _task_of_numbers(values, False) if values.dtype.kind == "f" else TaskKind.REGRESSION.value


def _task_of_numbers(values: Any, is_codes: bool) -> str:
    if values.ndim == 2 and values.shape[1] > 1:
        if not np.isin(values, (0, 1)).all():
            return TaskKind.REGRESSION.value
        is_one_hot = bool((values.sum(axis=1) == 1).all())
        return TaskKind.MULTICLASS.value if is_one_hot else TaskKind.MULTILABEL.value
    different = np.unique(values[~np.isnan(values)])
    if len(different) == 2:
        return TaskKind.BINARY.value
    is_few = len(different) <= _FEW_CLASSES and bool((different == np.floor(different)).all())
    return TaskKind.MULTICLASS.value if is_codes or is_few else TaskKind.REGRESSION.value


def _split(table: Table, task: str) -> str:
    if table.is_chronological:
        return Split.TIME.value
    has_classes = task in (TaskKind.BINARY, TaskKind.MULTICLASS)
    return Split.STRATIFIED.value if has_classes else Split.RANDOM.value
