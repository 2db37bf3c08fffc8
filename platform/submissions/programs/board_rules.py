"""Which submissions of an entrant stand on a board of columns: its rule, as pure functions, and what they need.

Boards list them, and the hand-over to the next phase takes what stands on the first board.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from competitions.columns import OF_RANKS, Values, deciding, filled, is_ascending, shown_value
from competitions.models import Column, ColumnBoard, Phase
from submissions.models import ColumnScore, Submission
from submissions.standing import best_first

Rule = ColumnBoard.Rule
ENTRANTS_ADD = (Rule.ADD, Rule.ADD_AND_DELETE, Rule.ADD_AND_DELETE_MULTIPLE)
AT_ONCE = 500  # submissions whose scores are loaded together: bounds the number of parameters of a query
LISTED = (Submission.State.FINISHED, Submission.State.ACTIVE)
MAY_TAKE_AWAY = (Rule.ADD_AND_DELETE, Rule.ADD_AND_DELETE_MULTIPLE)


@dataclass(frozen=True)
class Made:
    """A submission that may stand on a board, with what programs say of it, by task and key."""

    submission: Submission
    values: Mapping[int, Values] = field(default_factory=dict)

    @property
    def received(self) -> tuple[dt.datetime, int]:
        """Decides which one is the latest."""
        return self.submission.received_at, self.submission.pk

    @property
    def is_added(self) -> bool:
        """Whether it was added to the board. Nobody presses a button for a baseline."""
        return self.submission.is_chosen or self.submission.entrant.is_baseline


def signed(column: Column, value: float) -> float:
    """The shown value, turned round where the smallest leads, so that the greatest is the best."""
    shown = shown_value(column, value)
    return -shown if is_ascending(column) else shown


def leaves(columns: Sequence[Column], column: Column) -> list[Column]:
    """The columns that decide between submissions of one entrant: for means of ranks those they are made of."""
    if column.computation not in OF_RANKS:
        return [column]
    by_key = {one.key: one for one in columns}
    fields = [by_key[key] for key in column.fields if key in by_key and key != column.key]
    return [one for one in fields if one.computation not in OF_RANKS]


def best(made: Sequence[Made], columns: Sequence[Column], primary: str, task_ids: Sequence[int]) -> Made | None:
    """The best of one entrant's submissions by the column that decides; of equal ones the earliest.

    Where ranks decide, those among the entrant's own submissions: nobody else changes which one is best.
    """
    column = deciding(columns, primary)
    ordered = sorted(made, key=lambda one: one.received)
    if column is None or not ordered:
        return ordered[-1] if ordered else None
    if column.computation not in OF_RANKS:
        return min(ordered, key=lambda one: place_key(one.values, column, task_ids))
    own = leaves(columns, column)
    table = [[_signed(one, task, leaf) for task in task_ids for leaf in own] for one in ordered]
    keys = best_first(table)
    return ordered[keys.index(min(keys))]


def _signed(made: Made, task_id: int, column: Column) -> float | None:
    value = made.values.get(task_id, {}).get(column.key)
    return None if value is None else signed(column, value)


def place_key(values: Mapping[int, Values], column: Column, task_ids: Sequence[int]) -> tuple[int, float]:
    """What places are sorted by: how many tasks miss the value, then its mean over the others, the best first."""
    found = [signed(column, values[task][column.key]) for task in task_ids if column.key in values.get(task, {})]
    if not found:
        return len(task_ids), 0.0
    return len(task_ids) - len(found), -sum(found) / len(found)


def standing(
    rule: str, made: Sequence[Made], columns: Sequence[Column], primary: str, task_ids: Sequence[int]
) -> list[Made]:
    """The submissions of one entrant that a board lists, of those that have ended with scores."""
    ordered = sorted(made, key=lambda one: one.received)
    if rule == Rule.FORCE_LATEST_MULTIPLE:
        return ordered
    if rule == Rule.FORCE_LAST:
        return ordered[-1:]
    if rule == Rule.FORCE_BEST:
        found = best(ordered, columns, primary, task_ids)
        return [found] if found else []
    added = [one for one in ordered if one.is_added]
    if rule == Rule.ADD_AND_DELETE_MULTIPLE or any(one.submission.entrant.is_baseline for one in added):
        return added
    return added[-1:]


def made_by(phase: Phase, columns: Sequence[Column], entrants: Collection[int] | None) -> dict[int, list[Made]]:
    """The submissions with scores that may stand, by entrant: those that ended, also while they run again."""
    found = phase.submissions.competing().filter(state__in=LISTED, ended_at__isnull=False)
    if entrants is not None:
        found = found.filter(entrant__in=entrants)
    submissions = list(found.select_related("entrant"))
    values = _values([one.pk for one in submissions])
    made: dict[int, list[Made]] = defaultdict(list)
    for one in submissions:
        by_task = {task: filled(columns, own) for task, own in values.get(one.pk, {}).items()}
        if by_task:
            made[one.entrant_id].append(Made(one, by_task))
    return made


def _values(submissions: Sequence[int]) -> dict[int, dict[int, Values]]:
    """What programs said of these submissions, by task and key."""
    found: dict[int, dict[int, Values]] = defaultdict(lambda: defaultdict(dict))
    for start in range(0, len(submissions), AT_ONCE):
        scores = ColumnScore.objects.filter(run__submission__in=submissions[start : start + AT_ONCE])
        for submission, task, key, value in scores.values_list(
            "run__submission_id", "run__task_id", "key", "value"
        ):
            found[submission][task][key] = value
    return found


def task_ids_of(phase: Phase) -> list[int]:
    """The tasks whose values count, in their order: those in quarantine are left out."""
    return list(phase.tasks.filter(quarantined_at=None).order_by("order", "id").values_list("pk", flat=True))


def going_forward(phase: Phase, entrant_id: int) -> int | None:
    """The submission of an entrant that goes forward from a phase: what stands on its first board.

    Of several the best one; where the entrant has put none there, or nothing has a score, None.
    """
    board = ColumnBoard.objects.filter(competition=phase.competition).prefetch_related("columns").first()
    if board is None:
        return None
    columns, task_ids = list(board.columns.all()), task_ids_of(phase)
    made = made_by(phase, columns, [entrant_id]).get(entrant_id, [])
    found = best(standing(board.rule, made, columns, board.primary, task_ids), columns, board.primary, task_ids)
    return found.submission.pk if found else None
