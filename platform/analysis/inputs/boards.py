"""Boards as arrays: entrants x datasets, with the replicates behind the scores where an analysis asks for them."""

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import TextField
from django.db.models.functions import Cast
from numpy.typing import NDArray

from analysis.inputs.audience import Audience, looks
from analysis.inputs.columns import column_table
from analysis.inputs.tables import BoardTable, Dataset, Entry, Floats, Ints, Loaded
from competitions.models import Competition, Task
from competitions.policy import known_tasks
from datasets.models import DatasetVersion
from leaderboards.columns import is_programmed
from leaderboards.lines import score_key
from leaderboards.numbers import neutral_name
from leaderboards.reading import Look
from submissions.models import Score

__all__ = ["BoardTable", "Dataset", "Entry", "Floats", "Ints", "Loaded", "load_boards", "replicates"]


def load_boards(
    competition: Competition, audience: Audience, now: dt.datetime, *, programmed: bool = False
) -> tuple[BoardTable, ...]:
    """The boards that the audience may see analysed: all, or those it asks for.

    Boards of what organizers' programs say are among them where `programmed` is asked for: their values are of any
    size, so that only what follows from comparing them means anything.
    """
    found = []
    for look in looks(competition, audience, now):
        if not audience.asks_for(look):
            continue
        if not is_programmed(look.phase):
            found.append(_table(look, now, sees_hidden=audience.sees_hidden))
        elif programmed:
            found += _programmed(look, now, sees_hidden=audience.sees_hidden)
    return tuple(found)


def _programmed(look: Look, now: dt.datetime, *, sees_hidden: bool) -> list[BoardTable]:
    datasets = _datasets(look, now, sees_hidden=sees_hidden)
    table = column_table(look.phase, look.part or "", datasets, now, sees_hidden=sees_hidden)
    return [table] if table else []


def _table(look: Look, now: dt.datetime, *, sees_hidden: bool) -> BoardTable:
    phase = look.phase
    datasets = _datasets(look, now, sees_hidden=sees_hidden)
    rows = _rows(look)
    keys = [score_key(dataset.task_id) for dataset in datasets]
    scores = np.array([[row.scores.get(key, np.nan) for key in keys] for row in rows], dtype=np.float64)
    errors = [row.errors if len(row.errors) == len(keys) else [None] * len(keys) for row in rows]
    stderr = np.array(errors, dtype=np.float64)  # None becomes NaN
    return BoardTable(
        phase_id=phase.pk,
        number=phase.number,
        title=phase.title,
        phase_kind=phase.kind,
        round=phase.round.number,
        round_name=phase.round.name,
        track=phase.track,
        part=look.part or "",
        tie_rule=phase.tie_rule,
        is_anonymous=look.is_anonymous,
        entries=tuple(row.entry for row in rows),
        datasets=tuple(datasets),
        scores=scores.reshape(len(rows), len(keys)),
        stderr=stderr.reshape(len(rows), len(keys)),
        submissions=np.array([row.submission for row in rows], dtype=np.int64),
        digits=phase.score_digits,
    )


@dataclass(frozen=True)
class _Row:
    """A stored row, as light as thousands of them ask for."""

    entry: Entry
    submission: int
    scores: dict[str, float]  # by the task's key
    errors: list[float | None]  # in the order of the board's tasks


def _rows(look: Look) -> list[_Row]:
    """The rows of a board by place: one query."""
    found = look.rows.order_by("position", "id").annotate(
        scores_text=Cast("scores", TextField()), cells_text=Cast("stored_cells", TextField())
    )
    read = list(
        found.values_list(
            "scores_text", "cells_text", "submission_id", "entrant_id", "entrant__name", "entrant__is_baseline",
            "neutral_number", "rank", "received_at",
        )
    )  # fmt: skip
    # One text for all: a thousand small ones take ten times as long to read.
    all_scores, all_cells = (json.loads(f"[{','.join(str(row[at]) for row in read)}]") for at in (0, 1))
    hides = look.is_anonymous
    return [
        _Row(
            Entry(
                key=None if hides else entrant,
                name=neutral_name(number) if hides else name,
                is_ranked=rank is not None,
                is_baseline=is_baseline and not hides,
                received=received.timestamp(),
                rank=rank,
            ),
            submission,
            scores,
            [cell["stderr"] for cell in cells],
        )
        for scores, cells, (_, _, submission, entrant, name, is_baseline, number, rank, received) in zip(
            all_scores, all_cells, read, strict=True
        )
    ]


def _datasets(look: Look, now: dt.datetime, *, sees_hidden: bool) -> list[Dataset]:
    """The tasks that the board ranks by, in its order, as the audience may know them."""
    tasks = list(
        Task.objects.filter(phase=look.phase, quarantined_at=None)
        .select_related("phase__round", "dataset")
        .prefetch_related("dataset__versions")
        .order_by("order", "id")
    )
    known = {task.pk for task in tasks} if sees_hidden else known_tasks(tasks, now)
    found = []
    for task in tasks:
        version = task.dataset.current
        is_known = task.pk in known
        found.append(
            Dataset(
                task_id=task.pk,
                name=_name(task, version, is_known=is_known),
                metric=(task.metric or (version.metric if version else "")) if is_known else "",
                kind=version.task_kind if version and is_known else "",
                version_id=version.pk if version and is_known else None,
                round=look.phase.round.number,
                time_budget=task.budget().wall_seconds if is_known else 0.0,
            )
        )
    return found


def _name(task: Task, version: DatasetVersion | None, *, is_known: bool) -> str:
    if task.alias or not is_known:
        return task.alias or f"dataset{task.order + 1}"
    return version.name if version else task.dataset.slug


def replicates(table: BoardTable) -> NDArray[np.float32]:
    """The bootstrap values behind the scores of a board: n x T x B, NaN where there are none; B is 0 without any.

    The b-th value of every entry comes of the same rows of the test set, so that entries can be compared pair by
    pair. Of a task that is repeated, the run whose score stands on the board gives them.
    """
    row_of = {int(pk): row for row, pk in enumerate(table.submissions)}
    column_of = {dataset.task_id: column for column, dataset in enumerate(table.datasets)}
    found: Any = Score.objects.filter(
        run__submission__in=list(row_of), run__task__in=list(column_of), part=table.part, replicates__isnull=False
    ).values_list("run__submission", "run__task", "value", "replicates")
    best: dict[tuple[int, int], tuple[float, NDArray[np.float32]]] = {}
    for submission, task, value, content in found.iterator(chunk_size=500):
        at = row_of[submission], column_of[task]
        gap = abs(value - table.scores[at])
        if np.isfinite(gap) and (at not in best or gap < best[at][0]):
            best[at] = gap, np.frombuffer(bytes(content), dtype=np.float32)
    count = max((len(values) for _, values in best.values()), default=0)
    values = np.full((len(row_of), len(column_of), count), np.nan, dtype=np.float32)
    for at, (_, drawn) in best.items():
        values[at][: len(drawn)] = drawn
    return values
