"""What the studio says of the queue: what waits and why, what is at work, which datasets fail, and the workers."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Prefetch, Q, QuerySet
from django.utils import timezone

from competitions.models import Competition, Phase, Task
from pages import frame, submission_table
from submissions import dispatch, quarantine, selecting
from submissions.models import Attempt, ReadinessCheck, Run, RunState, Worker
from submissions.models.readiness import CHECK_AT_WORKER
from submissions.models.runs import AT_WORKER

PER_PAGE = 20
MOST_AT_WORK = 200  # runs that are listed; a site has fewer workers
AT_WORK = (*AT_WORKER, RunState.COLLECTED, RunState.SCORING)
OF_RUN = (
    "submission__entrant", "submission__number", "submission__phase", "task", "state", "sentence", "queued_at",
    "started_at", "is_rerun", "budget_json", "wall_seconds", "attempt_number", "cancel_asked", "rung_at",
)  # fmt: skip


@dataclass(frozen=True)
class WaitingRun:
    """A run that waits, the dataset as its viewer may call it, and its place; None where it is held back."""

    run: Run
    dataset: str
    place: int | None


@dataclass(frozen=True)
class Waiting:
    """A page of what waits, in order; of all that waits how many there are, why, and since when."""

    runs: list[WaitingRun]
    total: int
    start: int
    reasons: list[tuple[str, int]]
    oldest: dt.datetime | None

    @property
    def next_start(self) -> int | None:
        """Where the next page begins; None on the last."""
        end = self.start + PER_PAGE
        return end if end < self.total else None

    @property
    def previous_start(self) -> int | None:
        """Where the page before begins; None on the first."""
        return max(0, self.start - PER_PAGE) if self.start else None


@dataclass(frozen=True)
class RunAtWork:
    """A run that a worker has, or whose score is awaited."""

    run: Run
    dataset: str
    since: dt.datetime | None
    worker: Worker | None
    elapsed: float | None
    budget: float


@dataclass(frozen=True)
class DatasetHealth:
    """How the runs on a dataset of a phase ended. `entrants_failed` is set where nobody's run has finished."""

    task: Task
    name: str
    counts: Counter[str]
    entrants_failed: int = 0


@dataclass(frozen=True)
class ShownWorker:
    """A worker, whether it was heard lately, and what it does. Runs of other competitions stay unnamed."""

    worker: Worker
    is_alive: bool
    rests: bool
    runs: list[tuple[Run, str]]
    is_busy_elsewhere: bool
    is_checking: bool


@dataclass(frozen=True)
class Suspect:
    """A run that was lost on two workers or more: its code may be what kills them."""

    run: Run
    workers: list[str] = field(default_factory=list)


class QueueView:
    """The queue of one competition as one organizer may see it."""

    def __init__(self, shown: frame.Frame) -> None:
        self.shown = shown
        self.competition: Competition = shown.competition
        self.now = timezone.now()  # workers and queues live by our own clock
        self.tasks = submission_table.tasks_of(shown.phases)
        self.names = submission_table.names_of(self.tasks, shown)
        hidden = selecting.concealed(shown.phases, sees_hidden=shown.sees_hidden, now=shown.now)
        self.left_out: list[Phase] = hidden
        self._left_out_ids = {phase.pk for phase in hidden}

    def _runs(self) -> QuerySet[Run]:
        """The runs that the viewer may follow, with what a line shows."""
        runs = Run.objects.filter(task__in=self.names).exclude(submission__phase__in=self._left_out_ids)
        return runs.select_related("submission__entrant", "submission__phase").only(
            *OF_RUN, "submission__entrant__name", "submission__phase__title"
        )

    def waiting(self, start: int) -> Waiting:
        """The queued runs of the competition from a place on."""
        own = [
            place
            for place in dispatch.places()
            if place.item.needs.competition_id == self.competition.pk
            and place.item.phase_id not in self._left_out_ids
        ]
        start = start if 0 <= start < len(own) else 0
        some = own[start : start + PER_PAGE]
        runs = self._runs().in_bulk([place.item.waiting.run_id for place in some])
        reasons = Counter(place.item.sentence for place in own)
        return Waiting(
            [
                WaitingRun(run, self.names[run.task_id], place.number)
                for place in some
                if (run := runs.get(place.item.waiting.run_id)) is not None
            ],
            len(own),
            start,
            reasons.most_common(),
            min((place.item.waiting.queued_at for place in own), default=None),
        )

    def at_work(self) -> list[RunAtWork]:
        """The runs at workers and those that wait for their scores, the longest there first."""
        attempts = Attempt.objects.select_related("worker").order_by("-number")
        runs = self._runs().filter(state__in=AT_WORK).prefetch_related(Prefetch("attempts", attempts))
        found = []
        for run in runs.order_by("started_at", "pk")[:MOST_AT_WORK]:
            last = next(iter(run.attempts.all()), None)
            elapsed = run.wall_seconds
            if run.state == RunState.RUNNING and run.started_at is not None:
                elapsed = (self.now - run.started_at).total_seconds()
            found.append(
                RunAtWork(
                    run,
                    self.names[run.task_id],
                    run.started_at or (last.claimed_at if last else run.queued_at),
                    last.worker if last else None,
                    elapsed,
                    run.budget.wall_seconds,
                )
            )
        return found

    def datasets(self) -> list[DatasetHealth]:
        """How runs on each dataset ended, for phases that have runs: two queries."""
        runs = Run.objects.filter(task__in=self.names).order_by().values_list("task", "state")
        counts: dict[int, Counter[str]] = {}
        for task, state, many in runs.annotate(Count("pk")):
            counts.setdefault(task, Counter())[state] = many
        failing = {one.task.pk: one.entrants for one in quarantine.suspected(self.competition)}
        return [
            DatasetHealth(task, self.names[task.pk], counts.get(task.pk, Counter()), failing.get(task.pk, 0))
            for task in self.tasks
            if task.phase_id not in self._left_out_ids and (task.pk in counts or task.quarantined_at)
        ]

    def suspects(self) -> list[Suspect]:
        """Runs lost at two different workers, newest first: two queries."""
        lost = Attempt.objects.filter(outcome=Attempt.Outcome.LOST, run__task__in=self.names, worker__isnull=False)
        twice = lost.order_by().values("run").annotate(many=Count("worker", distinct=True)).filter(many__gte=2)
        attempts = lost.filter(run__in=twice.values("run")).select_related(
            "worker", "run__submission__entrant", "run__submission__phase"
        )
        found: dict[int, Suspect] = {}
        for attempt in attempts.order_by("-run", "number"):
            suspect = found.setdefault(attempt.run_id, Suspect(attempt.run))
            if attempt.worker is not None and attempt.worker.name not in suspect.workers:
                suspect.workers.append(attempt.worker.name)
        return list(found.values())

    def workers(self) -> list[ShownWorker]:
        """The workers that may serve this competition and are of a class that its phases ask for."""
        classes = {phase.resource_class for phase in self.shown.phases}
        workers = Worker.objects.filter(revoked_at=None).filter(
            Q(competitions=None) | Q(competitions=self.competition)
        )
        if classes:
            workers = workers.filter(resource_class__in=classes)
        listed = list(workers.distinct())
        held, resting = self._held(listed), dispatch.resting(self.now)
        checks = ReadinessCheck.objects.filter(state__in=CHECK_AT_WORKER, worker__in=listed)
        checking = set(checks.values_list("worker", flat=True))
        return [
            self._shown(worker, held.get(worker.pk, []), worker.pk in resting, worker.pk in checking)
            for worker in listed
        ]

    def _held(self, workers: Sequence[Worker]) -> dict[int, list[Run]]:
        attempts = Attempt.objects.filter(outcome=Attempt.Outcome.OPEN, worker__in=workers)
        held: dict[int, list[Run]] = {}
        for attempt in attempts.select_related("run__submission__entrant", "run__submission__phase"):
            held.setdefault(attempt.worker_id or 0, []).append(attempt.run)
        return held

    def _shown(self, worker: Worker, runs: list[Run], rests: bool, is_checking: bool) -> ShownWorker:
        here = [
            (run, self.names[run.task_id])
            for run in runs
            if run.task_id in self.names and run.submission.phase_id not in self._left_out_ids
        ]
        return ShownWorker(worker, worker.is_alive(self.now), rests, here, len(here) < len(runs), is_checking)
