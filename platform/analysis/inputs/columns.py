"""Boards of what organizers' scoring programs say as arrays: the column that gives places, task by task."""

import datetime as dt

import numpy as np

from analysis.inputs.tables import BoardTable, Dataset, Entry, Floats
from competitions.columns import is_ascending
from competitions.models import Column, Phase
from leaderboards.columns import reading
from leaderboards.columns.keeping import cell_key
from leaderboards.columns.reading import ColumnLook
from leaderboards.models import ColumnRow


def column_table(
    phase: Phase, part: str, datasets: list[Dataset], now: dt.datetime, *, sees_hidden: bool
) -> BoardTable | None:
    """The first board of columns that the audience may see; None where the column that gives places is hidden.

    Of an entrant with several submissions on it the one that stands first counts. Where the smallest value leads,
    values are negated, so that higher is better as on all boards; `sign` is -1 then.
    """
    tasks = [reading.TaskName(dataset.task_id, dataset.name) for dataset in datasets]
    look = reading.look_at(phase, now, sees_hidden=sees_hidden, tasks=tasks)
    column = look.deciding
    if look.board is None or column is None or not (sees_hidden or look.is_public):
        return None
    sign = -1 if is_ascending(column) else 1
    rows = _first_of_each(look)
    return BoardTable(
        phase_id=phase.pk,
        number=phase.number,
        title=phase.title,
        phase_kind=phase.kind,
        round=phase.round.number,
        round_name=phase.round.name,
        track=phase.track,
        part=part,
        tie_rule=phase.tie_rule,
        is_anonymous=look.is_anonymous,
        entries=tuple(_entry(look, row) for row in rows),
        datasets=tuple(datasets),
        scores=sign * _values(rows, column, datasets),
        stderr=np.full((len(rows), len(datasets)), np.nan),
        submissions=np.array([row.submission_id for row in rows], dtype=np.int64),
        digits=column.precision,
        measure=column.title or column.key,
        sign=sign,
    )


def _first_of_each(look: ColumnLook) -> list[ColumnRow]:
    found: dict[int, ColumnRow] = {}
    for row in look.rows.order_by("position"):
        found.setdefault(row.entrant_id, row)
    return list(found.values())


def _values(rows: list[ColumnRow], column: Column, datasets: list[Dataset]) -> Floats:
    keys = [cell_key(dataset.task_id, column) for dataset in datasets]
    found = [[row.values.get(key, np.nan) for key in keys] for row in rows]
    return np.array(found, dtype=np.float64).reshape(len(rows), len(keys))


def _entry(look: ColumnLook, row: ColumnRow) -> Entry:
    return Entry(
        key=None if look.is_anonymous else row.entrant_id,
        name=look.name(row),
        is_ranked=row.rank is not None,
        is_baseline=row.entrant.is_baseline and not look.is_anonymous,
        received=row.received_at.timestamp(),
        rank=row.rank,
    )
