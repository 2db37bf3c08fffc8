"""How much work a blind phase is, and when it will have ended with the workers at hand."""

import datetime as dt
import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Count, Q

from competitions.models import Phase, Task
from submissions import making
from submissions.dispatch import needs_of, refusal
from submissions.models import Run, RunState, Submission
from submissions.models.runs import ENDED
from submissions.models.worker import Worker, living_workers
from submissions.standing import standing_submission

# What a run takes beside its program: fetching and unpacking its inputs, making the sandbox, sending its files.
OVERHEAD_SECONDS = 15.0
MOST_POINTS = 60


@dataclass(frozen=True)
class Load:
    """The runs of one task: how many, and how long one takes at most and as a rule, in seconds."""

    name: str
    runs: int
    most_seconds: float
    usual_seconds: float


@dataclass(frozen=True)
class Forecast:
    """What a phase needs and when it ends.

    Hours are worker-hours. The ends are None where no worker can hold its runs. `points` are pairs of a moment
    and the share of the runs that have ended by then, as a rule.
    """

    entrants: int
    without_code: int
    runs: int
    workers: int
    begins: dt.datetime
    most_hours: float
    usual_hours: float
    ends_at_most: dt.datetime | None
    ends_as_a_rule: dt.datetime | None
    deadline: dt.datetime | None
    loads: list[Load] = field(default_factory=list)
    points: list[tuple[dt.datetime, float]] = field(default_factory=list)

    @property
    def most_work(self) -> str:
        """The work at most, in words."""
        return work(self.most_hours)

    @property
    def usual_work(self) -> str:
        """The work as a rule, in words."""
        return work(self.usual_hours)

    @property
    def is_late_at_most(self) -> bool:
        """Whether runs may still be going on when the phase closes."""
        return self.ends_at_most is None or (self.deadline is not None and self.ends_at_most > self.deadline)

    @property
    def is_late_as_a_rule(self) -> bool:
        """Whether runs will probably be going on when the phase closes."""
        return self.ends_as_a_rule is None or (self.deadline is not None and self.ends_as_a_rule > self.deadline)


def work(hours: float) -> str:
    """An amount of work in words: `4.5 worker-hours`, `12 worker-minutes`, `30 worker-seconds`."""
    if hours >= 1:
        return f"{hours:,.1f} worker-hours"
    count, unit = (60 * hours, "minute") if 60 * hours >= 1 else (3600 * hours, "second")
    return f"{count:.0f} worker-{unit}{'' if round(count) == 1 else 's'}"


def spread(seconds: Sequence[float], workers: int) -> list[float]:
    """When each run has ended, in seconds from the beginning, if they are given out in this order.

    Each worker takes one run at a time. The list is sorted; it is empty without a worker.
    """
    if workers < 1:
        return []
    free = [0.0] * workers
    ends = []
    for length in seconds:
        end = heapq.heappop(free) + length
        heapq.heappush(free, end)
        ends.append(end)
    return sorted(ends)


def forecast(
    loads: Sequence[Load],
    *,
    entrants: int,
    without_code: int,
    workers: int,
    begins: dt.datetime,
    deadline: dt.datetime | None,
) -> Forecast:
    """Put the loads of a phase on a number of workers that can hold its runs."""
    most = [load.most_seconds + OVERHEAD_SECONDS for load in loads for _ in range(load.runs)]
    usual = [load.usual_seconds + OVERHEAD_SECONDS for load in loads for _ in range(load.runs)]
    at_most, as_a_rule = spread(most, workers), spread(usual, workers)

    def moment(ends: list[float]) -> dt.datetime | None:
        if not most:
            return begins
        return begins + dt.timedelta(seconds=ends[-1]) if ends else None

    step = max(1, len(as_a_rule) // MOST_POINTS)
    shown = [index for index in range(len(as_a_rule)) if index % step == 0 or index == len(as_a_rule) - 1]
    points = [(begins + dt.timedelta(seconds=as_a_rule[index]), (index + 1) / len(as_a_rule)) for index in shown]
    return Forecast(
        entrants=entrants,
        without_code=without_code,
        runs=len(most),
        workers=workers,
        begins=begins,
        most_hours=sum(most) / 3600,
        usual_hours=sum(usual) / 3600,
        ends_at_most=moment(at_most),
        ends_as_a_rule=moment(as_a_rule),
        deadline=deadline,
        loads=list(loads),
        points=[(begins, 0.0), *points] if points else [],
    )


def forecast_of(phase: Phase, now: dt.datetime) -> Forecast | None:
    """The forecast of a blind phase that has not ended all its runs; None for any other.

    Before the hand-over it counts who would go forward now; after it, the runs that have not ended.
    """
    if not phase.is_blind or phase.parent is None:
        return None
    made = Run.objects.filter(submission__phase=phase).exclude(submission__state=Submission.State.CANCELLED)
    unfinished = Count("pk", filter=~Q(state__in=ENDED))
    left = dict(made.order_by().values("task").annotate(left=unfinished).values_list("task", "left"))
    if left and not any(left.values()):
        return None
    tasks = making.tasks_of(phase)
    entries = _forward(phase.parent)
    with_code = sum(entry.has_code for entry in entries)
    share = _usual_share(phase.parent)
    loads = []
    for task in tasks:
        count = left.get(task.pk, 0) if left else phase.repeats * with_code
        budget = task.budget()
        loads.append(Load(task.name, count, budget.wall_seconds, share * budget.wall_seconds))
    return forecast(
        loads,
        entrants=len(entries),
        without_code=len(entries) - with_code,
        workers=len(able_workers(phase, tasks)),
        begins=max(phase.opens_at, now),
        deadline=phase.closes_at,
    )


def _forward(parent: Phase) -> list[Submission]:
    """The submissions that would go forward now."""
    by_entrant: dict[int, list[Submission]] = {}
    for submission in parent.submissions.competing():
        by_entrant.setdefault(submission.entrant_id, []).append(submission)
    counts = Phase.Counts.LATEST if parent.counts == Phase.Counts.BEST else parent.counts
    standing = (standing_submission(own, counts=counts) for own in by_entrant.values())
    return [submission for submission in standing if submission is not None]


def _usual_share(parent: Phase) -> float:
    """The share of its budget that a run of the parent phase used on average; 1 where nothing is known."""
    runs = Run.objects.filter(
        submission__phase=parent, source=Run.Source.CODE, state=RunState.FINISHED, wall_seconds__isnull=False
    )
    shares = [
        min(1.0, wall / budget["wall_seconds"])
        for wall, budget in runs.values_list("wall_seconds", "budget_json")[:5000]
        if budget.get("wall_seconds")
    ]
    return sum(shares) / len(shares) if shares else 1.0


def able_workers(phase: Phase, tasks: Sequence[Task]) -> list[Worker]:
    """The living workers that can hold every run of the phase, whether or not its queue is paused now."""
    submission = Submission(phase=phase, interface="model")
    runs = [Run(submission=submission, task=task, **snapshot_of(phase, task)) for task in tasks]
    needs = [replace(needs_of(run), is_paused=False, aside=None) for run in runs]
    return [worker for worker in living_workers() if not any(refusal(worker, one) for one in needs)]


def snapshot_of(phase: Phase, task: Task) -> dict[str, Any]:
    """What decides which worker can hold a run of the task."""
    task.phase = phase
    return {"budget_json": task.budget().to_json(), "image": phase.image, "resource_class": phase.resource_class}
