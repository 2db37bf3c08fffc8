"""The rows of a board while they are brought up to date: light lines for all, whole rows for who changed."""

import datetime as dt
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from competitions.models import Entrant, Phase
from leaderboards import numbers
from leaderboards.entries import PARTS, Standing, name_key
from leaderboards.models import LeaderboardRow
from leaderboards.ranking import Entry, Table

# What a row says of its entry, and what follows from the entries of all.
OF_ENTRY = (
    "submission_id", "scores", "stored_cells", "scored", "entries", "wall_seconds", "received_at",
    "last_received_at", "name_key", "neutral_number",
)  # fmt: skip
OF_RANK = ("position", "rank", "rank_above", "mean_rank", "mean_score", "task_ranks")


@dataclass
class Line:
    """One entrant on one board: what ranking needs, and what is stored of its rank.

    `row` is there when the row is to be written as a whole.
    """

    entrant_id: int
    name: str
    scores: dict[str, float]
    received: float
    ranked: bool
    number: int | None
    pk: int | None = None
    stored: tuple[Any, ...] | None = None
    row: LeaderboardRow | None = None


Lines = dict[int, Line]  # by entrant


def score_key(task_id: int) -> str:
    """The key of a task's score in a row; not a number, which a path into JSON would take for a place."""
    return f"t{task_id}"


def takes_a_place(phase: Phase, *, is_baseline: bool, held_a_role: bool, owes_answers: bool) -> bool:
    """Whether an entrant is ranked: no organizer is, baselines only where a replay asks for it, and nobody whose
    fact sheet misses required answers.
    """
    if is_baseline:
        return phase.ranks_baselines and not held_a_role
    return not (held_a_role or owes_answers)


def is_ranked(entrant: Entrant, phase: Phase) -> bool:
    """Whether the entrant takes a place in the phase."""
    return takes_a_place(
        phase,
        is_baseline=entrant.is_baseline,
        held_a_role=entrant.held_a_role,
        owes_answers=entrant.owes_answers,
    )


def live_rows(phase: Phase) -> QuerySet[LeaderboardRow]:
    """The rows of both parts as they are, not as they were frozen."""
    return LeaderboardRow.objects.filter(board__phase=phase, board__is_frozen=False)


def as_stored(ranks: Sequence[Any]) -> tuple[Any, ...]:
    """The values of `OF_RANK` as the database holds them: ranks on the tasks as JSON, which both databases and
    Python write alike.
    """
    *numbers, task_ranks = ranks
    return (*numbers, str(list(task_ranks)))


def stored_lines(phase: Phase) -> dict[str, Lines]:
    """The stored rows of both parts, without what only pages need: one query."""
    lines: dict[str, Lines] = {part: {} for part in PARTS}
    found = live_rows(phase).annotate(
        scores_text=Cast("scores", TextField()),
        ranks_text=Cast("task_ranks", TextField()),
        received_text=Cast("received_at", TextField()),
    )
    read = list(
        found.values_list(
            "scores_text", "pk", "board__part", "entrant_id", "entrant__name", "received_text",
            "entrant__is_baseline", "entrant__held_a_role", "entrant__owes_answers", "neutral_number",
            *OF_RANK[:-1], "ranks_text",
        )
    )  # fmt: skip
    # One text for all: a thousand small ones take ten times as long to read.
    all_scores = json.loads(f"[{','.join(row[0] for row in read)}]")
    for scores, row in zip(all_scores, read, strict=True):
        _, pk, part, entrant, name, received, is_baseline, held_a_role, owes_answers, number, *ranks = row
        lines[part][entrant] = Line(
            entrant_id=entrant,
            name=name,
            scores=scores,
            received=_timestamp(received),
            ranked=takes_a_place(
                phase, is_baseline=is_baseline, held_a_role=held_a_role, owes_answers=owes_answers
            ),
            number=number,
            pk=pk,
            stored=tuple(ranks),
        )
    return lines


def _timestamp(text: str) -> float:
    """Seconds since 1970 of a moment as the databases write it: in UTC, on SQLite without saying so."""
    moment = dt.datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp()


def take_in(
    lines: dict[str, Lines],
    standings: Collection[Standing],
    phase: Phase,
    task_ids: Sequence[int],
    *,
    entrants: Collection[int] | None,
) -> None:
    """Put what stands now into the lines of both parts; who is not to be there any more leaves them.

    `entrants` are those whose standings were loaded; None: all.
    """
    drawn = _numbers(lines, standings, phase)
    old = _old_rows(phase, entrants)
    for part, own in lines.items():
        for entrant in set(own) if entrants is None else set(entrants) & set(own):
            del own[entrant]
        for standing in standings:
            if standing.is_on(part):
                row = row_of(part, standing, task_ids)
                row.neutral_number = drawn[row.entrant_id]
                own[row.entrant_id] = _line(row, old.get((part, row.entrant_id)), phase)


def _numbers(lines: dict[str, Lines], standings: Iterable[Standing], phase: Phase) -> dict[int, int]:
    known = {line.entrant_id: line.number for own in lines.values() for line in own.values() if line.number}
    new = [one.entrant.pk for one in standings if one.entrant.pk not in known]
    return {**known, **numbers.numbers_of(phase, new)}


def _old_rows(phase: Phase, entrants: Collection[int] | None) -> dict[tuple[str, int], LeaderboardRow]:
    rows = live_rows(phase).select_related("board")
    if entrants is not None:
        rows = rows.filter(entrant__in=entrants)
    return {(row.board.part, row.entrant_id): row for row in rows}


def row_of(part: str, standing: Standing, task_ids: Sequence[int]) -> LeaderboardRow:
    """A row as it follows from an entry alone, without board, ranks and number."""
    cells = standing.cells[part]
    values = {
        score_key(task): cell["value"]
        for task, cell in zip(task_ids, cells, strict=True)
        if cell["value"] is not None
    }
    return LeaderboardRow(
        entrant=standing.entrant,
        submission=standing.submission,
        scores=values,
        stored_cells=cells,
        scored=len(values),
        entries=standing.entries,
        wall_seconds=standing.wall_seconds,
        received_at=standing.submission.received_at,
        last_received_at=standing.last_received_at,
        name_key=name_key(standing.entrant.name),
    )


def _line(row: LeaderboardRow, before: LeaderboardRow | None, phase: Phase) -> Line:
    is_same = before is not None and all(getattr(row, name) == getattr(before, name) for name in OF_ENTRY)
    return Line(
        entrant_id=row.entrant_id,
        name=row.entrant.name,
        scores=row.scores,
        received=row.received_at.timestamp(),
        ranked=is_ranked(row.entrant, phase),
        number=row.neutral_number,
        pk=before.pk if before else None,
        stored=as_stored([getattr(before, name) for name in OF_RANK]) if before else None,
        row=None if is_same else row,
    )


def table_of(lines: Sequence[Line], task_ids: Sequence[int]) -> Table:
    """The lines as arrays."""
    keys = [score_key(task) for task in task_ids]
    scores = np.full((len(lines), len(keys)), np.nan)
    for index, line in enumerate(lines):
        scores[index] = [line.scores.get(key, np.nan) for key in keys]
    return Table(
        entrants=np.array([line.entrant_id for line in lines], dtype=np.int64),
        scores=scores,
        received=np.array([line.received for line in lines], dtype=np.float64),
        ranked=np.array([line.ranked for line in lines], dtype=bool),
    )


def entry_of(row: LeaderboardRow, phase: Phase, task_ids: Sequence[int]) -> Entry:
    """The row as `rank_entries` takes it."""
    scores = tuple(row.scores.get(score_key(task)) for task in task_ids)
    return Entry(row.entrant_id, scores, row.received_at.timestamp(), is_ranked(row.entrant, phase))
