"""The public view of runs and scores: the only way either reaches a page, an export or a sort order."""

import datetime as dt
import math
from dataclasses import dataclass, field
from typing import Any

from competitions.models import Phase
from submissions.models import Run, RunState, Score

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
class RunView:
    """What one viewer may know of one run."""

    run_id: int
    task: str
    state: str
    state_label: str
    reason: str
    sentence: str
    wall_seconds: float | None
    wall_budget: float
    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    log_tail: str = ""
    has_log: bool = False
    stopped: bool = False
    scores: dict[str, PublicScore] = field(default_factory=dict)


def round_significant(value: float, digits: int) -> float:
    """Round to a number of significant digits; 0 stays 0."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, digits - 1 - math.floor(math.log10(abs(value))))


def public_score(score: Score, phase: Phase) -> PublicScore:
    """The public view of a score: value rounded to the phase's digits, standard error to two digits."""
    digits = phase.score_digits
    value = round(score.value, digits) + 0.0  # + 0.0 turns -0.0 into 0.0
    stderr = None if score.stderr is None else round_significant(score.stderr, 2)
    text = f"{value:.{digits}f}"
    return PublicScore(score.part, score.metric, value, stderr, text)


def visible_parts(phase: Phase, *, sees_hidden: bool, now: dt.datetime) -> tuple[str, ...]:
    """The parts whose scores the viewer may see now."""
    if sees_hidden:
        return ("valid", "test")
    part = phase.public_part(now)
    return (part,) if part else ()


def shown_task(run: Run, phase: Phase, *, sees_hidden: bool, now: dt.datetime) -> str:
    """The dataset's name; of one that is unseen until its phase closes, the alias or its place."""
    if sees_hidden or phase.kind != Phase.Kind.AUTOML or phase.has_ended(now):
        return run.dataset_name
    return run.task.alias or f"Dataset {run.order + 1}"


def run_view(run: Run, *, sees_hidden: bool, now: dt.datetime) -> RunView:
    """What the viewer may know of a run. Wants `scores`, `task` and its phase prefetched."""
    phase = run.submission.phase
    parts = visible_parts(phase, sees_hidden=sees_hidden, now=now)
    scores = {score.part: public_score(score, phase) for score in run.scores.all() if score.part in parts}
    common: dict[str, Any] = {
        "run_id": run.pk,
        "task": shown_task(run, phase, sees_hidden=sees_hidden, now=now),
        "state": run.state,
        "state_label": run.get_state_display(),
        "reason": run.reason,
        "wall_budget": run.budget.wall_seconds,
        "scores": scores,
    }
    if phase.is_hidden and not sees_hidden:
        wall = None if run.wall_seconds is None or not run.has_ended else round_significant(run.wall_seconds, 1)
        sentence = CONCEALED.get(run.reason, run.get_state_display().capitalize() + ".")
        return RunView(**common, sentence=sentence, wall_seconds=wall)
    return RunView(
        **common,
        sentence=run.sentence,
        wall_seconds=run.wall_seconds,
        cpu_seconds=run.cpu_seconds,
        peak_memory_bytes=run.peak_memory_bytes,
        log_tail=run.log_tail,
        has_log=bool(run.log),
        stopped=run.state == RunState.FINISHED and bool(run.reason),
    )
