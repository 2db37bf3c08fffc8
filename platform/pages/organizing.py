"""What the manage page says of the protocol: phases, what is due, forecasts, prizes, the audit log."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Count

from competitions.lifecycle import phase_state
from competitions.models import AuditEntry, Competition, Phase, Task
from competitions.protocol_check import ProtocolProblem, check_competition
from leaderboards.prizes import Winner, winners
from pages import forecast_plot
from pages.facts import TaskFacts, tasks_of
from submissions import handover
from submissions.forecast import Forecast, forecast_of
from submissions.models import Run

AUDIT_SHOWN = 20


@dataclass(frozen=True)
class ShownTask:
    """A dataset of a phase as the organizer may know it, with its runs, and those on an older version of it."""

    facts: TaskFacts
    runs: int
    stale: int = 0


@dataclass(frozen=True)
class ShownPhase:
    """A phase with its state, its problems, how far its hand-over is, and what may be done with it now."""

    phase: Phase
    state: str
    tasks: list[ShownTask]
    problems: list[ProtocolProblem]
    progress: handover.Progress | None
    actions: list[str]
    forecast: Forecast | None = None
    picture: forecast_plot.Picture | None = None
    winners: Sequence[Winner] = field(default_factory=list)


def shown_phases(
    competition: Competition, phases: list[Phase], now: dt.datetime, *, sees_hidden: bool
) -> list[ShownPhase]:
    """Every phase for the organizers, in the competition's order."""
    problems: dict[str, list[ProtocolProblem]] = {}
    for problem in check_competition(phases, now=now, sees_hidden=sees_hidden):
        problems.setdefault(problem.place, []).append(problem)
    runs = Run.objects.filter(task__phase__in=phases).order_by()
    counts: dict[int, dict[int, int]] = {}
    for task, version, count in runs.values_list("task", "dataset_version").annotate(Count("pk")):
        counts.setdefault(task, {})[version] = count
    tasks: dict[int, list[ShownTask]] = {}
    for facts in tasks_of(phases, now, sees_hidden=sees_hidden):
        by_version = counts.get(facts.task.pk, {})
        stale = sum(many for version, many in by_version.items() if facts.version and version != facts.version.pk)
        tasks.setdefault(facts.phase.pk, []).append(ShownTask(facts, sum(by_version.values()), stale))
    shown = []
    for phase in phases:
        own = tasks.get(phase.pk, [])
        begun = phase.has_begun(now)
        forecast = forecast_of(phase, now) if phase.is_blind and own else None
        shown.append(
            ShownPhase(
                phase,
                phase_state(phase, now),
                own,
                problems.get(phase.title, []),
                handover.progress(phase, now) if begun else None,
                possible_actions(phase, [one.facts.task for one in own], now),
                forecast,
                forecast_plot.draw(forecast),
                winners(phase, now) if phase.is_hidden else [],
            )
        )
    return shown


def possible_actions(phase: Phase, tasks: Sequence[Task], now: dt.datetime) -> list[str]:
    """The names of the actions that make sense for a phase now, the most wanted first."""
    names = []
    ended = phase.has_ended(now)
    if not ended:
        names.append("extend-deadline")
    if phase.takes_submissions and phase.has_begun(now) and phase.closes_at is not None:
        names.append("extra-time")
    if phase.is_blind and ended and any(task.revealed_at is None for task in tasks):
        names.append("reveal")
    if ended and not phase.is_released(now):
        names.append("release")
    if phase.is_hidden and phase.is_released(now):
        names.append("open-for-ever")
    names.append("board")
    if phase.has_begun(now):
        names.append("rescore")
    return [*names, "change-budget"]


def audit(competition: Competition) -> list[AuditEntry]:
    """The latest entries of the audit log."""
    return list(competition.audit.select_related("user")[:AUDIT_SHOWN])
