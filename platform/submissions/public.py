"""The public view of runs and scores: the only way either reaches a page, an export or a sort order."""

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from competitions.columns import filled, told_by_one
from competitions.models import Column, Competition, Phase
from submissions.models import BuiltImage, ColumnScore, Run, RunState, Score, Submission

CONCEALED = {
    "timed_out": "Ran out of its time budget.",
    "out_of_memory": "Ran out of memory.",
    "crashed": "The program failed.",
    "no_predictions": "Left no predictions.",
    "bad_predictions": "Left predictions that cannot be scored.",
    "output_too_large": "Wrote too much output.",
    "ingestion_failed": "The organizer's ingestion program failed.",
    "scoring_failed": "The organizer's scoring program failed.",
    "infrastructure": "Our infrastructure failed; it costs no quota.",
    "cancelled": "Cancelled.",
}


@dataclass(frozen=True)
class PublicScore:
    """A score as people see it: rounded, with its standard error to two significant digits."""

    part: str
    metric: str
    value: float
    stderr: float | None
    text: str


@dataclass(frozen=True)
class PublicColumn:
    """A value of a board's column as people see it: rounded to the column's precision."""

    key: str
    title: str
    value: float
    text: str


IN_PROGRESS = ("active", "in progress")
LONG_NUMBER = 1e15  # from which on a value of a column is written with an exponent


@dataclass(frozen=True)
class RunView:
    """What one viewer may know of one run. `wall_budget` is None where the budget is not told."""

    run_id: int
    task: str
    state: str
    state_label: str
    reason: str
    sentence: str
    wall_seconds: float | None
    wall_budget: float | None = None
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    memory_budget: int | None = None
    output_bytes: int | None = None
    prediction_bytes: int | None = None
    error_lines: str = ""
    log_tail: str = ""
    has_log: bool = False
    stopped: bool = False
    image: BuiltImage | None = None
    scores: dict[str, PublicScore] = field(default_factory=dict)
    columns: tuple[PublicColumn, ...] = ()


def round_significant(value: float, digits: int) -> float:
    """Round to a number of significant digits; 0 stays 0."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def coarse_seconds(value: float) -> float:
    """A time as it is told in hidden phases: rounded to one significant digit."""
    return round_significant(value, 1)


def public_score(score: Score, phase: Phase) -> PublicScore:
    """The public view of a score: value rounded to the phase's digits, standard error to two digits."""
    return public_value(score.value, score.stderr, part=score.part, metric=score.metric, phase=phase)


def public_value(value: float, stderr: float | None, *, part: str, metric: str, phase: Phase) -> PublicScore:
    """The public view of the value of a metric on a part, whichever prediction it is of."""
    digits = phase.score_digits
    rounded = round(value, digits) + 0.0  # + 0.0 turns -0.0 into 0.0
    stderr = None if stderr is None else round_significant(stderr, 2)
    return PublicScore(part, metric, rounded, stderr, f"{rounded:.{digits}f}")


def public_column(value: float, column: Column) -> PublicColumn:
    """The public view of a value in a column, computed or from a scoring program."""
    rounded = round(value, column.precision) + 0.0  # + 0.0 turns -0.0 into 0.0
    text = f"{rounded:.{column.precision}f}" if abs(rounded) < LONG_NUMBER else f"{rounded:.6g}"
    return PublicColumn(column.key, column.title, rounded, text)


def shows_columns(phase: Phase, *, sees_hidden: bool, now: dt.datetime) -> bool:
    """Whether the viewer may see now what scoring programs said of submissions to the phase."""
    if sees_hidden:
        return True
    if phase.is_hidden:
        return phase.is_released(now)
    return not phase.hides_scores or phase.has_ended(now)


def visible_columns(competition: Competition, phase: Phase, *, sees_hidden: bool) -> list[Column]:
    """The columns of the phase that the viewer may know, each key once, in the order of the boards; one query.

    Those that depend on who else is there are on boards only; so is what is computed of columns not shown.
    """
    found: dict[str, Column] = {}
    columns = Column.objects.filter(board__competition=competition).select_related("board")
    for column in columns.order_by("board__order", "order", "pk"):
        is_hidden = column.is_hidden or column.board.is_hidden or column.key in phase.hidden_columns
        if sees_hidden or not is_hidden:
            found.setdefault(column.key, column)
    return told_by_one(list(found.values()))


def public_columns(
    scores: Sequence[ColumnScore], columns: Sequence[Column], phase: Phase, *, sees_hidden: bool, now: dt.datetime
) -> tuple[PublicColumn, ...]:
    """What the viewer may know now of the scores of one run; `columns` are those of `visible_columns`."""
    if not shows_columns(phase, sees_hidden=sees_hidden, now=now):
        return ()
    values = filled(columns, {score.key: score.value for score in scores})
    return tuple(public_column(values[column.key], column) for column in columns if column.key in values)


def visible_parts(phase: Phase, *, sees_hidden: bool, now: dt.datetime) -> tuple[str, ...]:
    """The parts whose scores the viewer may see now."""
    if sees_hidden:
        return ("valid", "test")
    part = phase.public_part(now)
    return (part,) if part else ()


def shown_task(run: Run, *, sees_hidden: bool, is_known: bool) -> str:
    """The dataset's name for a viewer: its own once it may be known, before that the task's neutral one."""
    if not sees_hidden and not is_known:
        return run.task.alias or f"dataset{run.task.order + 1}"
    if run.task.alias or run.dataset_name == run.dataset_version.name:
        return run.dataset_name
    return f"{run.dataset_version.name} ({run.dataset_name})"


def seems_ended(run: Run, phase: Phase, now: dt.datetime) -> bool:
    """Whether the entrant of a hidden phase may know that a run has ended.

    It seems to run until the rounded time it is said to have taken is over: who watches the page would otherwise
    learn the exact one, and a program could tell something about hidden data by when it ends.
    """
    if not run.has_ended or phase.is_released(now):
        return run.has_ended
    if run.started_at is None or run.wall_seconds is None:
        return True
    told = coarse_seconds(run.wall_seconds)
    if told < run.wall_seconds:  # rounded down: the next value that is told for longer times
        told += 10 ** math.floor(math.log10(told)) if told else 1
    return now >= run.started_at + dt.timedelta(seconds=told)


def run_view(
    run: Run,
    *,
    sees_hidden: bool,
    now: dt.datetime,
    is_known: bool | None = None,
    columns: tuple[PublicColumn, ...] = (),
) -> RunView:
    """What the viewer may know of a run. Wants scores, task, dataset version, built image and phase loaded.

    `is_known` tells whether entrants may know the dataset (`competitions.policy.known_tasks`); without it the
    task's own phase decides. `columns` are those that `public_columns` made for the same viewer.
    """
    phase = run.submission.phase
    parts = visible_parts(phase, sees_hidden=sees_hidden, now=now)
    scores = {score.part: public_score(score, phase) for score in run.scores.all() if score.part in parts}
    if is_known is None:
        is_known = not phase.is_blind or run.task.is_revealed(now)
    common: dict[str, Any] = {
        "run_id": run.pk,
        "task": shown_task(run, sees_hidden=sees_hidden, is_known=is_known),
        "scores": scores,
        "columns": columns,
    }
    if phase.is_hidden and not sees_hidden:
        return RunView(**common, **_concealed(run, phase, now))
    if phase.hides_output and not sees_hidden:
        return RunView(**common, **_without_output(run))
    return RunView(
        **common,
        state=run.state,
        state_label=run.get_state_display(),
        reason=run.reason,
        sentence=run.sentence,
        wall_seconds=run.wall_seconds,
        wall_budget=run.budget.wall_seconds,
        cpu_seconds=run.cpu_seconds,
        peak_memory_bytes=run.peak_memory_bytes,
        memory_budget=run.budget.memory_bytes,
        output_bytes=run.output_bytes,
        prediction_bytes=run.prediction_bytes,
        error_lines=run.error_lines,
        log_tail=run.log_tail,
        has_log=bool(run.log),
        image=run.built_image,
        stopped=run.state == RunState.FINISHED and bool(run.reason),
    )


def _concealed(run: Run, phase: Phase, now: dt.datetime) -> dict[str, Any]:
    """State, reason and rounded time of a run in a hidden phase; of one that seems to run, only that."""
    if not seems_ended(run, phase, now):
        state, label = IN_PROGRESS
        return {
            "state": state,
            "state_label": label,
            "reason": "",
            "sentence": "In progress.",
            "wall_seconds": None,
        }
    label = run.get_state_display()
    return {
        "state": run.state,
        "state_label": label,
        "reason": run.reason,
        "sentence": CONCEALED.get(run.reason, f"{label.capitalize()}."),
        "wall_seconds": None if run.wall_seconds is None else coarse_seconds(run.wall_seconds),
    }


def _without_output(run: Run) -> dict[str, Any]:
    """State, reason and time of a run in a phase that keeps what programs print, and nothing that they printed."""
    label = run.get_state_display()
    sentence = CONCEALED.get(run.reason, f"{label.capitalize()}.") if run.has_ended else run.sentence
    return {
        "state": run.state,
        "state_label": label,
        "reason": run.reason,
        "sentence": sentence,
        "wall_seconds": run.wall_seconds,
        "wall_budget": run.budget.wall_seconds,
        "stopped": run.state == RunState.FINISHED and bool(run.reason),
    }


@dataclass(frozen=True)
class Glance:
    """As much of a run as a long list shows: how the viewer calls its dataset, and its state."""

    task: str
    state: str
    state_label: str


def glance(run: Run, name: str, *, sees_hidden: bool, now: dt.datetime) -> Glance:
    """What a list says of a run, whose dataset the viewer may call `name`; wants its phase loaded."""
    phase = run.submission.phase
    if phase.is_hidden and not sees_hidden and not seems_ended(run, phase, now):
        return Glance(name, *IN_PROGRESS)
    return Glance(name, run.state, run.get_state_display())


def submission_state(submission: Submission, views: Sequence[RunView | Glance]) -> tuple[str, str]:
    """The state of a submission and its label, given the views of its runs: not ended while one seems to run."""
    if any(view.state == IN_PROGRESS[0] for view in views):
        return IN_PROGRESS
    return submission.state, submission.get_state_display()
