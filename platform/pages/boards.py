"""What the pages of leaderboards show: columns, lines, notes, and the choice of boards."""

import datetime as dt
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from competitions.lifecycle import revealed_tasks
from competitions.models import Entrant, Phase, Round, Task
from competitions.policy import hiding
from datasets.models import DatasetVersion
from leaderboards import notes
from leaderboards.models import Board, LeaderboardRow
from leaderboards.reading import Look, look_at
from pages import frame
from pages.facts import TaskFacts
from submissions.models import Submission


@dataclass(frozen=True)
class Column:
    """A dataset's column: its name, metric, sort key and task."""

    name: str
    metric: str
    key: str
    task_id: int


@dataclass(frozen=True)
class ShownRow:
    """One line of a board as the viewer sees it. `place` says where an unranked entry stands."""

    row: LeaderboardRow
    name: str
    is_own: bool
    tags: tuple[str, ...]
    place: str
    cells: list[dict[str, Any]]


def look(shown: frame.Frame, phase: Phase, part: str = "") -> Look:
    """The board of a phase for the person who asks."""
    own = [shown.viewer.entrant_id] if shown.viewer.entrant_id is not None else []
    return look_at(phase, shown.now, sees_hidden=shown.sees_hidden, own=own, part=part)


@dataclass(frozen=True)
class Aside:
    """A dataset that the organizers have set aside: the board leaves it out, for this reason."""

    name: str
    reason: str


def columns_of(view: Look, now: dt.datetime, *, sees_hidden: bool) -> list[Column]:
    """The datasets of a board in the order of the cells, named as the viewer may know them.

    One query; one more for a frozen board, which keeps the datasets that it had when it was frozen.
    """
    return columns_and_aside(view, now, sees_hidden=sees_hidden)[0]


def columns_and_aside(view: Look, now: dt.datetime, *, sees_hidden: bool) -> tuple[list[Column], list[Aside]]:
    """The same with the datasets that the board leaves out because they are in quarantine."""
    tasks = {facts.task.pk: facts for facts in tasks_of(view.phase, now, sees_hidden=sees_hidden)}
    counting = [pk for pk, facts in tasks.items() if facts.task.quarantined_at is None]
    if view.is_frozen:
        picture = Board.objects.filter(phase=view.phase, part=view.part or "", is_frozen=True).first()
        counting = [pk for pk in picture.task_ids if pk in tasks] if picture and picture.task_ids else list(tasks)
    columns = [
        Column(tasks[pk].shown_name, tasks[pk].metric, f"task{index}", pk) for index, pk in enumerate(counting)
    ]
    aside = [
        Aside(facts.shown_name, facts.task.quarantine_reason)
        for pk, facts in tasks.items()
        if pk not in counting and facts.task.quarantined_at is not None
    ]
    return columns, aside


def tasks_of(phase: Phase, now: dt.datetime, *, sees_hidden: bool) -> list[TaskFacts]:
    """The datasets of a phase in their order: one query."""
    newest = DatasetVersion.objects.in_use().filter(dataset=OuterRef("dataset"))
    of_phase = Task.objects.filter(phase=phase)
    # A dataset is hidden by any blind phase that uses it, so the tasks of those are looked at too.
    own = Q(phase__kind=Phase.Kind.AUTOML, phase__round__competition=phase.round.competition_id)
    blind = (own | hiding()) & Q(dataset__in=of_phase.values("dataset"))
    tasks = list(
        Task.objects.filter(Q(phase=phase) | blind)
        .select_related("phase", "dataset")
        .annotate(
            newest_name=Subquery(newest.values("name")[:1]), newest_metric=Subquery(newest.values("metric")[:1])
        )
        .order_by("order", "id")
    )
    known = revealed_tasks(tasks, now)
    return [
        TaskFacts(
            task,
            phase,
            DatasetVersion(name=task.newest_name or task.dataset.slug, metric=task.newest_metric or ""),
            sees_hidden or task.pk in known,
        )
        for task in tasks
        if task.phase_id == phase.pk
    ]


def shown_row(row: LeaderboardRow, board: Look) -> ShownRow:
    """A row with its name, marks and place in words."""
    is_own = board.is_own(row)
    return ShownRow(
        row=row,
        name=board.name(row),
        is_own=is_own,
        tags=tuple(tags_of(row.entrant, row.submission, is_own=is_own)),
        place=_place(row),
        cells=row.cells,
    )


def tags_of(entrant: Entrant, submission: Submission, *, is_own: bool) -> list[str]:
    """What stands beside the name of an entrant."""
    tags = ["you"] if is_own else []
    if entrant.is_baseline:
        tags.append("baseline")
    elif entrant.held_a_role:
        tags.append("organizer")
    elif entrant.owes_answers:
        tags.append("fact sheet missing")
    if submission.arrival == Submission.Arrival.CARRIED:
        tags.append("carried over")
    return tags


def _place(row: LeaderboardRow) -> str:
    """Where an unranked entry stands."""
    if row.rank is not None:
        return ""
    return f"after {row.rank_above}" if row.rank_above else "before 1"


def told_notes(board: Board | None, view: Look, columns: Sequence[Column]) -> list[str]:
    """What would change the winner, in sentences; that nothing would, where there is a contest."""
    if board is None or board.ranked < 2 or not columns:
        return []
    datasets = [column.name for column in columns]
    told = notes.sentences(board.notes, datasets=datasets, naming=view.naming)
    return told or [notes.same_sentence()]


def digest(*parts: object) -> str:
    """Changes when something that the board shows has changed."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def state_of(row: LeaderboardRow) -> list[object]:
    """What a digest takes of a row."""
    return [
        row.pk, row.rank, row.position, row.mean_rank, row.mean_score, row.task_ranks, row.stored_cells,
        row.entries, row.entrant.name, row.wall_seconds, row.last_received_at,
    ]  # fmt: skip


@dataclass(frozen=True)
class RoundChoice:
    """A round in the choice of boards, with its phases."""

    round: Round
    phases: list[Phase]


def rounds_of(phases: Sequence[Phase]) -> list[RoundChoice]:
    """The rounds in the order of their numbers."""
    by_round: dict[int, RoundChoice] = {}
    for phase in phases:
        by_round.setdefault(phase.round_id, RoundChoice(phase.round, [])).phases.append(phase)
    return sorted(by_round.values(), key=lambda choice: choice.round.number)
