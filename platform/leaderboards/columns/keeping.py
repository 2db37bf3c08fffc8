"""Keeping the stored rows of boards of columns true.

New scores cost the queries of their own entrant and one pass over the rows of all: what depends on the others'
ranks, and places, are computed again for everybody and written where they differ. `recomputed` makes the same
rows from scratch; tests and `manage check_boards` compare the two.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Prefetch

from competitions import clock
from competitions.columns import Values, deciding, fill_ranks, shown_value
from competitions.models import Column, ColumnBoard, Phase, Task
from leaderboards import numbers
from leaderboards.entries import name_key
from leaderboards.lines import is_ranked
from leaderboards.models import ColumnPicture, ColumnRow
from submissions.programs import board_rules
from submissions.programs.board_rules import Made, place_key, standing

OF_PLACE = ("position", "rank", "values")
WRITTEN = (*OF_PLACE, "entrant", "received_at", "name_key", "neutral_number", "updated_at")
TEXTS = tuple(f"round__competition__{name}" for name in ("overview", "evaluation", "rules", "allowed_emails"))


@dataclass(frozen=True)
class Plan:
    """One board in one phase: its columns, those shown there, and the tasks whose values count."""

    board: ColumnBoard
    phase: Phase
    columns: tuple[Column, ...]
    task_ids: tuple[int, ...]

    @property
    def deciding(self) -> list[Column]:
        """The columns by which rows are sorted: the one that gives places, then those that everybody sees."""
        first = deciding(self.columns, self.board.primary)
        shown = [column for column in self.columns if is_shown(column, self.phase)]
        return ([first] if first else []) + [column for column in shown if column != first]


def is_shown(column: Column, phase: Phase) -> bool:
    """Whether everybody sees the column in the phase."""
    return not column.is_hidden and column.key not in phase.hidden_columns


def is_programmed(phase: Phase) -> bool:
    """Whether organizers' programs score the phase, so that it has boards of columns and no other.

    No query where whoever loaded the phase asked already, as `has_programs`.
    """
    known = vars(phase).get("has_programs")
    if known is not None:
        return bool(known)
    return Task.objects.filter(phase=phase, scoring_program__isnull=False).exists()


def cell_key(task_id: int, column: Column) -> str:
    """The key of a value in a row; no part of it is text that people chose."""
    return f"t{task_id}c{column.pk}"


def refresh(phase: Phase, *, entrants: Collection[int] | None = None) -> None:
    """Make the boards of columns of a phase true after submissions of all, or of these entrants, changed.

    Call inside the transaction that changed them.
    """
    # The lock makes two refreshes follow each other, as for the boards of ranks.
    locked = Phase.objects.select_for_update(of=("self",), no_key=True).select_related("round__competition")
    phase = locked.defer(*TEXTS).get(pk=phase.pk)
    keep_picture(phase)
    plans = plans_of(phase)
    made = _made(phase, plans, entrants)
    for plan in plans:
        _store(plan, made, entrants)


def refresh_now(phase: Phase, *, entrants: Collection[int] | None = None) -> None:
    """Refresh outside any other transaction."""
    with transaction.atomic():
        refresh(phase, entrants=entrants)


def plans_of(phase: Phase) -> list[Plan]:
    """The boards of the competition as they are in the phase: three queries."""
    boards = ColumnBoard.objects.filter(competition=phase.competition)
    tasks = tuple(board_rules.task_ids_of(phase))
    return [
        Plan(board, phase, tuple(board.columns.all()), tasks)
        for board in boards.prefetch_related(Prefetch("columns", Column.objects.order_by("order", "id")))
    ]


def _made(phase: Phase, plans: Sequence[Plan], entrants: Collection[int] | None) -> dict[int, list[Made]]:
    columns = [column for plan in plans for column in plan.columns]
    return board_rules.made_by(phase, columns, entrants)


def _listed(plan: Plan, made: dict[int, list[Made]]) -> Iterable[Made]:
    for own in made.values():
        yield from standing(plan.board.rule, own, plan.columns, plan.board.primary, plan.task_ids)


def _stored_values(plan: Plan, by_task: Mapping[int, Values]) -> dict[str, float]:
    """The rounded values of a submission, by task and key, as a row keeps them."""
    return {
        cell_key(task, column): shown_value(column, by_task[task][column.key])
        for task in plan.task_ids
        for column in plan.columns
        if column.key in by_task.get(task, {})
    }


def _store(plan: Plan, made: dict[int, list[Made]], entrants: Collection[int] | None) -> None:
    """Take in the submissions that stand now, place all, and write what differs from what is stored."""
    live = ColumnRow.objects.filter(board=plan.board, phase=plan.phase, is_frozen=False)
    rows = {row.submission_id: row for row in live.select_related("entrant")}
    before = {pk: _state(row) for pk, row in rows.items()}
    wanted = {one.submission.pk: one for one in _listed(plan, made)}
    scope = None if entrants is None else set(entrants)
    gone = [row for pk, row in rows.items() if pk not in wanted and (scope is None or row.entrant_id in scope)]
    if gone:
        ColumnRow.objects.filter(pk__in=[row.pk for row in gone]).delete()
        for row in gone:
            del rows[row.submission_id]
    drawn = numbers.numbers_of(plan.phase, {one.submission.entrant_id for one in wanted.values()})
    for pk, one in wanted.items():
        rows[pk] = _row(plan, one, rows.get(pk), drawn)
    _place(plan, list(rows.values()))
    _write(plan, rows, before)


def _row(plan: Plan, made: Made, row: ColumnRow | None, drawn: dict[int, int]) -> ColumnRow:
    row = row or ColumnRow(board=plan.board, phase=plan.phase, submission=made.submission)
    row.entrant = made.submission.entrant
    row.values = _stored_values(plan, made.values)
    row.received_at = made.submission.received_at
    row.name_key = name_key(row.entrant.name)
    row.neutral_number = drawn[row.entrant_id]
    return row


def _state(row: ColumnRow) -> tuple[Any, ...]:
    return (
        row.position, row.rank, dict(row.values), row.entrant_id, row.received_at, row.name_key,
        row.neutral_number,
    )  # fmt: skip


def _write(plan: Plan, rows: dict[int, ColumnRow], before: dict[int, tuple[Any, ...]]) -> None:
    now = clock.now(plan.phase.competition)
    changed = [row for pk, row in rows.items() if before.get(pk) != _state(row)]
    for row in changed:
        row.updated_at = now
    ColumnRow.objects.bulk_create([row for row in changed if row.pk is None])
    ColumnRow.objects.bulk_update([row for row in changed if row.pk is not None], WRITTEN, batch_size=200)


def _place(plan: Plan, rows: list[ColumnRow]) -> None:
    """Compute what depends on the ranks of all, and give each row its position and rank."""
    by_row = [_by_task(plan, row) for row in rows]
    for task in plan.task_ids:
        fill_ranks(plan.columns, [values[task] for values in by_row])
    deciding = plan.deciding
    keyed = []
    for row, values in zip(rows, by_row, strict=True):
        row.values = _stored_values(plan, values)
        keyed.append(([place_key(values, column, plan.task_ids) for column in deciding], row))
    keyed.sort(key=lambda pair: (pair[0], pair[1].received_at, pair[1].submission_id))
    taken, rank, last = 0, 0, None
    shares = plan.phase.tie_rule == Phase.TieRule.SHARED
    for position, (key, row) in enumerate(keyed, 1):
        row.position, row.rank = position, None
        if is_ranked(row.entrant, plan.phase):
            taken += 1
            rank = rank if shares and key == last else taken
            last, row.rank = key, rank


def _by_task(plan: Plan, row: ColumnRow) -> dict[int, Values]:
    """The stored values of a row, by task and key."""
    return {
        task: {
            column.key: row.values[key] for column in plan.columns if (key := cell_key(task, column)) in row.values
        }
        for task in plan.task_ids
    }


def keep_picture(phase: Phase) -> None:
    """Keep how the boards are when they are frozen, throw that away when they are no more.

    It comes before every refresh: what is stored then is what everybody saw at the moment of freezing.
    """
    picture = ColumnPicture.objects.filter(phase=phase).first()
    if phase.board == Phase.Board.FROZEN and picture is None:
        ColumnPicture.objects.create(phase=phase, made_at=clock.now(phase.competition))
        rows = list(ColumnRow.objects.filter(phase=phase, is_frozen=False))
        for row in rows:
            row.pk, row.is_frozen = None, True
        ColumnRow.objects.bulk_create(rows)
    elif phase.board != Phase.Board.FROZEN and picture is not None:
        picture.delete()
        ColumnRow.objects.filter(phase=phase, is_frozen=True).delete()


def stored(phase: Phase) -> dict[tuple[str, int], dict[str, Any]]:
    """What is stored of the live rows of a phase, by board and submission, to be compared with `recomputed`."""
    rows = ColumnRow.objects.filter(phase=phase, is_frozen=False).select_related("board")
    return {(row.board.key, row.submission_id): _compared(row) for row in rows}


def recomputed(phase: Phase) -> dict[tuple[str, int], dict[str, Any]]:
    """What the live rows of a phase should be, from scratch."""
    plans = plans_of(phase)
    made = _made(phase, plans, None)
    expected: dict[tuple[str, int], dict[str, Any]] = {}
    for plan in plans:
        found = [one.submission.entrant_id for one in _listed(plan, made)]
        rows = [_row(plan, one, None, dict.fromkeys(found, 0)) for one in _listed(plan, made)]
        _place(plan, rows)
        expected |= {(plan.board.key, row.submission_id): _compared(row) for row in rows}
    return expected


def _compared(row: ColumnRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in (*OF_PLACE, "entrant_id", "received_at", "name_key")}
