"""Keeping the stored rows of a phase true, and reading them in one query.

A new score costs the queries of its own entrant and one pass over the scores of all: ranks are computed again
for everybody, in arrays, and written where they differ. `recomputed` makes the same rows from scratch, the plain
way; tests and `manage check_boards` compare the two.
"""

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet

from competitions import clock
from competitions.models import Phase
from leaderboards import frozen, history
from leaderboards.entries import PARTS, Standing, board_part, entries_that_count, standings, task_ids_of
from leaderboards.lines import (
    OF_ENTRY,
    OF_RANK,
    Line,
    Lines,
    as_stored,
    entry_of,
    live_rows,
    row_of,
    stored_lines,
    table_of,
    take_in,
)
from leaderboards.models import Board, LeaderboardRow
from leaderboards.notes import notes_of
from leaderboards.ranking import rank_entries, rank_table

__all__ = ["board_part", "columns", "entries_that_count", "recomputed", "refresh", "refresh_now", "rows", "stored"]

RANK = OF_RANK.index("rank")
TEXTS = tuple(f"round__competition__{name}" for name in ("overview", "evaluation", "rules", "allowed_emails"))
RECOMPUTED = tuple(name for name in (*OF_ENTRY, *OF_RANK) if name != "neutral_number")
WRITE_RANKS = """
    UPDATE leaderboards_leaderboardrow
    SET position = %s, rank = %s, rank_above = %s, mean_rank = %s, mean_score = %s, task_ranks = %s,
        updated_at = %s
    WHERE id = %s
"""


def rows(phase: Phase, now: dt.datetime) -> QuerySet[LeaderboardRow]:
    """The rows of a phase by place that everybody may see, in one query; none while there are none.

    The page, which knows who looks, reads through `leaderboards.reading`.
    """
    part = phase.public_part(now)
    if part is None or phase.board == Phase.Board.HIDDEN:
        return LeaderboardRow.objects.none()
    is_frozen = phase.board == Phase.Board.FROZEN
    found = LeaderboardRow.objects.filter(board__phase=phase, board__part=part, board__is_frozen=is_frozen)
    return found.select_related("entrant", "submission")


def columns(phase: Phase) -> list[str]:
    """The names of the tasks, in the order of the cells."""
    tasks = phase.tasks.filter(quarantined_at=None).select_related("dataset", "phase")
    return [task.name for task in tasks.prefetch_related("dataset__versions")]


def refresh(phase: Phase, *, entrants: Collection[int] | None = None, renamed: bool = False) -> None:
    """Make the rows of a phase true after the entries of all, or of the given entrants, may have changed.

    Call inside the transaction that changed them. `renamed` tells that what boards say of their names changed.
    """
    # The lock makes two refreshes follow each other: the later one sees the scores of both.
    # no_key: what only refers to the phase, such as a submission that is being received, need not wait for it.
    locked = Phase.objects.select_for_update(of=("self",), no_key=True).select_related("round__competition")
    phase = locked.defer(*TEXTS).get(pk=phase.pk)
    boards = {board.part: board for board in frozen.keep(phase)}
    task_ids = task_ids_of(phase)
    fresh = list(standings(phase, task_ids, entrants))
    if entrants is not None and _needs_all(phase, boards, fresh):
        entrants, fresh = None, list(standings(phase, task_ids))
    lines = stored_lines(phase)
    before = _keys(lines)
    take_in(lines, fresh, phase, task_ids, entrants=entrants)
    _without_empty_part(lines, phase)
    gone = before - _keys(lines)
    if gone:
        LeaderboardRow.objects.filter(pk__in=gone).delete()
    for part, own in lines.items():
        board = boards.get(part) or Board(part=part)
        board.phase = phase
        if (own or part in boards) and (entrants is None or renamed or _differs(board, own)):
            _store(board, task_ids, list(own.values()))


def _differs(board: Board, lines: Lines) -> bool:
    """Whether somebody's entry, or who takes a place, is not as it was when the board was ranked last."""
    if len(lines) != board.listed:
        return True
    return any(
        line.row is not None or line.stored is None or line.ranked == (line.stored[RANK] is None)
        for line in lines.values()
    )


def _keys(lines: dict[str, Lines]) -> set[int]:
    """The ids of the rows that are stored already."""
    return {line.pk for own in lines.values() for line in own.values() if line.pk is not None}


def refresh_now(phase: Phase, *, entrants: Collection[int] | None = None, renamed: bool = False) -> None:
    """Refresh outside any other transaction."""
    with transaction.atomic():
        refresh(phase, entrants=entrants, renamed=renamed)


def _needs_all(phase: Phase, boards: dict[str, Board], fresh: Iterable[Standing]) -> bool:
    """Whether a board is to be made, on which all entrants belong: the first, or that of the other part."""
    for standing in fresh:
        for part in PARTS:
            if part == board_part(phase):
                if part not in boards and standing.is_on(part):
                    return True
            elif (part not in boards or not boards[part].listed) and standing.has_score(part):
                return True
    return False


def _without_empty_part(lines: dict[str, Lines], phase: Phase) -> None:
    """The part that does not decide the board has rows only where somebody has a score on it."""
    for part, own in lines.items():
        if part != board_part(phase) and not any(line.scores for line in own.values()):
            own.clear()


def _store(board: Board, task_ids: Sequence[int], lines: list[Line]) -> None:
    """Rank the lines of one board and write what differs from what is stored."""
    phase, now = board.phase, clock.now(board.phase.competition)
    stamp = connection.ops.adapt_datetimefield_value(now)
    table = table_of(lines, task_ids)
    ranking = rank_table(table, tie_rule=phase.tie_rule)
    notes = notes_of(table, ranking.task_ranks, lines, tie_rule=phase.tie_rule)
    whole, moved = [], []
    for line, ranks in zip(lines, ranking.rows(), strict=True):
        if line.row is not None:
            line.row.board, line.row.updated_at = board, now
            for name, value in zip(OF_RANK, ranks, strict=True):
                setattr(line.row, name, value)
            whole.append(line.row)
        elif (written := as_stored(ranks)) != line.stored:
            moved.append((*written, stamp, line.pk))
    counted = (sum(line.ranked for line in lines), len(lines), notes, list(task_ids))
    if board.pk is None or whole or moved or counted != (board.ranked, board.listed, board.notes, board.task_ids):
        board.ranked, board.listed, board.notes, board.task_ids = counted
        board.made_at = now
        board.save()
    _write(whole, moved)
    if board.part == board_part(phase) and phase.takes_submissions:
        places = {line.entrant_id: rank for line, rank in zip(lines, ranking.rank.tolist(), strict=True) if rank}
        history.record(phase, places, now)


def _write(whole: list[LeaderboardRow], moved: list[tuple[Any, ...]]) -> None:
    fields = [*(name.removesuffix("_id") for name in OF_ENTRY), *OF_RANK, "updated_at"]
    LeaderboardRow.objects.bulk_create(
        whole, update_conflicts=True, unique_fields=["board", "entrant"], update_fields=fields
    )
    if moved:
        with connection.cursor() as cursor:
            cursor.executemany(WRITE_RANKS, moved)


def recomputed(phase: Phase) -> dict[tuple[str, int], dict[str, Any]]:
    """What the live rows of a phase should be, from scratch and the plain way: by part and entrant.

    Each is a dictionary of the fields of a row that follow from the entries (`RECOMPUTED`).
    """
    task_ids = task_ids_of(phase)
    found = list(standings(phase, task_ids))
    expected: dict[tuple[str, int], dict[str, Any]] = {}
    for part in PARTS:
        listed = [standing for standing in found if standing.is_on(part)]
        if part != board_part(phase) and not any(standing.has_score(part) for standing in listed):
            continue
        rows = {standing.entrant.pk: row_of(part, standing, task_ids) for standing in listed}
        entries = [entry_of(row, phase, task_ids) for row in rows.values()]
        for position, place in enumerate(rank_entries(entries, tie_rule=phase.tie_rule), start=1):
            row = rows[place.entrant_id]
            row.position, row.rank, row.rank_above = position, place.rank, place.rank_above
            row.mean_rank, row.mean_score, row.task_ranks = place.mean_rank, place.mean_score, [*place.task_ranks]
            expected[part, place.entrant_id] = values_of(row)
    return expected


def stored(phase: Phase) -> dict[tuple[str, int], dict[str, Any]]:
    """The live rows of a phase in the form of `recomputed`."""
    rows = live_rows(phase).select_related("board")
    return {(row.board.part, row.entrant_id): values_of(row) for row in rows}


def values_of(row: LeaderboardRow) -> dict[str, Any]:
    """The fields of a row that follow from the entries."""
    return {name: getattr(row, name) for name in RECOMPUTED}
