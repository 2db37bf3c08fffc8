"""Changing what runs are scored or run with, and scoring a phase again: shown before, never in passing."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Any, ClassVar

from accounts.refusals import Refused
from competitions import images
from competitions.actions.base import Action, Preview
from competitions.actions.wording import as_data, assigned, changed_fields, changes
from competitions.models import Competition, Phase, Task
from datasets.models import DatasetVersion, Metric
from ingestion.budget import LONGEST_WALL_SECONDS, MOST_CORES, MOST_MEMORY, format_duration, format_size
from submissions import again, making
from submissions.again import counted
from submissions.models import Run, RunState
from submissions.transitions import hold, settle


@dataclass
class Rescore(Action):
    """Score the predictions of a phase again, on all its datasets or on one."""

    phase: Phase
    task: Task | None = None

    name: ClassVar[str] = "rescore"

    @property
    def competition(self) -> Competition:
        """The contest of the phase."""
        return self.phase.round.competition

    def _runs(self) -> list[Run]:
        runs = Run.objects.filter(submission__phase=self.phase).select_related("submission")
        return again.scorable(runs.filter(task=self.task) if self.task else runs)

    def check(self, now: dt.datetime) -> None:
        """There must be predictions."""
        again.refuse_nothing(self._runs(), "scored")

    def preview(self, now: dt.datetime) -> Preview:
        """How many."""
        count = len(self._runs())
        return Preview(
            [
                f"What {counted(count, 'run')} of {self.phase.title} left is scored again; nothing is run.",
                "Old scores stand until the new ones come, and the board follows each of them.",
            ],
            rescored=count,
        )

    def change(self, now: dt.datetime) -> str:
        """Ring for the scorer."""
        runs = self._runs()
        for run in runs:
            again.score_again(run)
        return f"{counted(len(runs), 'run')} of {self.phase.title} are scored again."


@dataclass
class ChangeMetric(Action):
    """Give a task another metric; the runs there are get their scores by it."""

    task: Task
    metric: str

    name: ClassVar[str] = "change_metric"

    @property
    def competition(self) -> Competition:
        """The contest of the task."""
        return self.task.phase.round.competition

    def _runs(self) -> list[Run]:
        return again.scorable(Run.objects.filter(task=self.task).select_related("submission"))

    def check(self, now: dt.datetime) -> None:
        """It must be a metric, and another than now."""
        if self.metric not in Metric.values:
            raise Refused(f"There is no metric {self.metric!r}.")
        if self.metric == (self.task.metric or making.current_version(self.task).metric):
            raise Refused(f"{self.task.name} is scored by {self.metric} already.", status=409)
        if Run.objects.filter(task=self.task).exclude(state__in=[*again.SCORABLE, RunState.CANCELLED]).exists():
            mend = "Wait until they have ended, or pause the queue."
            raise Refused(f"Runs on {self.task.name} have not ended.", status=409, mend=mend)

    def preview(self, now: dt.datetime) -> Preview:
        """How many scores change."""
        count = len(self._runs())
        sentences = [
            f"{counted(count, 'run')} on {self.task.name} in {self.task.phase.title} get a score by "
            f"{self.metric} in place of the one they have. Places may change."
        ]
        return Preview([*sentences, *self._elsewhere()], rescored=count)

    def _elsewhere(self) -> list[str]:
        """The phases that use the same dataset and keep another metric: a Final would reveal another score."""
        others = Task.objects.filter(dataset=self.task.dataset_id, phase__round__competition=self.competition)
        others = others.exclude(pk=self.task.pk).select_related("phase", "dataset").order_by("phase__number")
        kept = [(task.phase.title, task.metric or making.current_version(task).metric) for task in others]
        return [
            f"{title} has the same dataset and keeps {metric}; change it there, too."
            for title, metric in kept
            if metric != self.metric
        ]

    def change(self, now: dt.datetime) -> str:
        """Change the task, then its runs."""
        self.task.metric = self.metric
        self.task.save(update_fields=["metric"])
        runs = self._runs()
        for run in runs:
            again.score_again(run, metric=self.metric)
        return (
            f"{self.task.name} in {self.task.phase.title} is scored by {self.metric}; {counted(len(runs), 'run')}."
        )


# What a run keeps of its phase's budget; the first three are numbers, the others stay where they are not given.
NUMBERS = ("wall_seconds", "cores", "memory_bytes")
BUDGET = (*NUMBERS, "image", "any_time", "resource_class")


@dataclass
class ChangeBudget(Action):
    """Give a phase another budget; what stands on the board runs again with it, so that all had the same.

    Image, any-time rule and class of worker belong to it; None leaves them as they are.
    """

    phase: Phase
    wall_seconds: float | None
    cores: int | None
    memory_bytes: int | None
    image: str | None = None
    any_time: bool | None = None
    resource_class: str | None = None

    name: ClassVar[str] = "change_budget"
    _changes: list[dict[str, str]] = field(default_factory=list, init=False)

    @property
    def competition(self) -> Competition:
        """The contest of the phase."""
        return self.phase.round.competition

    def _runs(self) -> list[Run]:
        return again.runnable(again.standing_runs(self.phase))

    def _after(self) -> Phase:
        """The phase as it would be, not saved."""
        after = Phase.objects.select_related("round__competition").get(pk=self.phase.pk)
        given = {name: getattr(self, name) for name in BUDGET}
        return assigned(after, {name: v for name, v in given.items() if name in NUMBERS or v is not None})

    def check(self, now: dt.datetime) -> None:
        """The numbers must be possible, and others than now."""
        asked = (self.wall_seconds, self.cores, self.memory_bytes)
        if any(value is not None and value < 1 for value in asked):
            raise Refused("A budget is one second, one core and one byte at least.")
        most = (LONGEST_WALL_SECONDS, MOST_CORES, MOST_MEMORY)
        if any(value is not None and not value <= limit for value, limit in zip(asked, most, strict=True)):
            raise Refused(
                f"A budget is {format_duration(LONGEST_WALL_SECONDS)}, {MOST_CORES} cores and "
                f"{format_size(MOST_MEMORY)} at most."
            )
        after = self._after()
        if not changed_fields(self.phase, after, BUDGET):
            raise Refused(f"{self.phase.title} has this budget already.", status=409)
        if after.image != self.phase.image:
            images.require_allowed(after.image)

    def preview(self, now: dt.datetime) -> Preview:
        """Old and new values, and how many runs it costs."""
        runs = self._runs()
        return Preview(
            [
                f"New runs of {self.phase.title} get the new budget.",
                f"{counted(len(runs), 'run')} that stand on its board are run again with it. Other submissions "
                "keep the scores they have; they do not count.",
            ],
            rerun=len(runs),
            changes=changes(self.phase, self._after(), BUDGET),
        )

    def change(self, now: dt.datetime) -> str:
        """Change the phase, then run again what stands."""
        hold(self.competition)
        runs, after = self._runs(), self._after()
        told = changes(self.phase, after, BUDGET)
        self._changes = as_data(told)
        assigned(self.phase, {name: getattr(after, name) for name in BUDGET})
        self.phase.save(update_fields=BUDGET)
        for run in runs:
            again.run_again(run, fresh=True)
        for submission in {run.submission_id: run.submission for run in runs}.values():
            settle(submission)
        values = "; ".join(f"{one.label} {one.old} → {one.new}" for one in told)
        return f"{self.phase.title} got another budget, {counted(len(runs), 'run')} are run again: {values}."

    def details(self) -> dict[str, Any]:
        """The phase, with old and new values."""
        return {"phase": self.phase.number, "changes": self._changes}


@dataclass
class UseCurrentVersion(Action):
    """Bring the runs of a task to the newest version of its dataset: scored again, or run again.

    Scoring again is for corrected solutions; it needs the same numbers of samples and columns.
    """

    task: Task
    run_again: bool

    name: ClassVar[str] = "use_current_version"

    @property
    def competition(self) -> Competition:
        """The contest of the task."""
        return self.task.phase.round.competition

    def _version(self) -> DatasetVersion:
        return making.current_version(self.task)

    def stale_runs(self, version: DatasetVersion) -> list[Run]:
        """The runs on the board that have another version than this."""
        standing = again.standing_runs(self.task.phase, self.task)
        return [run for run in standing if run.dataset_version_id != version.pk]

    def _runs(self, version: DatasetVersion | None = None) -> list[Run]:
        stale = self.stale_runs(version or self._version())
        return again.runnable(stale) if self.run_again else again.scorable(stale)

    def check(self, now: dt.datetime) -> None:
        """Something must be on an older version, and fit the new one."""
        self.check_with(self._version())

    def check_with(self, version: DatasetVersion) -> None:
        """The same for a version that is not in use yet."""
        runs = self._runs(version)
        again.refuse_nothing(runs, "run" if self.run_again else "scored")
        shapes = {tuple(run.dataset_version.prediction_shape(part) for part in ("valid", "test")) for run in runs}
        if not self.run_again and shapes != {tuple(version.prediction_shape(part) for part in ("valid", "test"))}:
            raise Refused(
                f"Version {version.number} of {self.task.name} has other numbers of samples or columns.",
                status=409,
                mend="Run the code again instead.",
            )

    def preview(self, now: dt.datetime) -> Preview:
        """How many runs."""
        runs, version = self._runs(), self._version()
        what = "run" if self.run_again else "scored"
        return Preview(
            [
                f"{counted(len(runs), 'run')} that stand on the board of {self.task.phase.title} are {what} again "
                f"with version {version.number} of {self.task.name}."
            ],
            rescored=0 if self.run_again else len(runs),
            rerun=len(runs) if self.run_again else 0,
        )

    def change(self, now: dt.datetime) -> str:
        """Queue or ring."""
        hold(self.competition)
        runs, version = self._runs(), self._version()
        for run in runs:
            if self.run_again:
                again.run_again(run, fresh=True)
            else:
                again.score_again(run, dataset_version=version, metric=self.task.metric or version.metric)
        if self.run_again:
            for submission in {run.submission_id: run.submission for run in runs}.values():
                settle(submission)
        return f"{counted(len(runs), 'run')} on {self.task.name} went to version {version.number}."
