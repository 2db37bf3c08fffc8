"""Swapping in another version of a dataset, with the runs of every phase brought along or left as they are."""

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from competitions import clock, policy
from competitions.actions.base import record
from competitions.models import Competition, Task
from datasets.models import DatasetVersion
from datasets.versions import permit, use_version
from submissions.again import counted
from submissions.changes import UseCurrentVersion


class Runs(StrEnum):
    """What becomes of the runs that stand on boards."""

    KEEP = "keep"  # they keep the version that they have
    SCORE = "score"  # their predictions are scored with the new version's solutions
    RUN = "run"  # their code runs again with the new version


@dataclass(frozen=True)
class Effect:
    """What a swap would do with the runs of one task. `why_not` tells why they stay as they are."""

    task: Task
    runs: int
    why_not: str = ""

    @property
    def sentence(self) -> str:
        """The effect in words."""
        phase = self.task.phase
        where = f"{phase.title} of {phase.competition.title}"
        if self.why_not:
            return f"{where}: {counted(self.runs, 'run')} on an older version stay as they are. {self.why_not}"
        return f"{where}: {counted(self.runs, 'run')} on an older version."


@dataclass
class SwapIn:
    """Let new runs use this version of a dataset, and bring the runs that stand on boards along where asked.

    Who may edit the dataset may swap; runs of a competition are touched only for who may edit that, too. The
    organizers of the others find the runs on an older version on their manage page. `by` None is the operator.
    """

    name: ClassVar[str] = "swap_version"

    version: DatasetVersion
    by: User | None
    runs: Runs = Runs.KEEP

    def effects(self) -> list[Effect]:
        """What becomes of the runs of every task with the dataset that has any on another version."""
        return [effect for effect in map(self._effect, self._tasks()) if effect.runs]

    def execute(self) -> str:
        """Permit, check and swap in one transaction; returns what was done in one sentence."""
        permit(self.by, self.version.dataset)
        with transaction.atomic():
            using = self._locked_competitions()
            current = self.version.dataset.current
            if current is not None and current.pk == self.version.pk and self.runs == Runs.KEEP:
                raise Refused(f"New runs use {self.version} already.", status=409)
            self._refuse_two_metrics()
            use_version(self.version)
            text = f"New runs use version {self.version.number} of {self.version.dataset}."
            for competition in using:
                record(competition, by=self.by, action=self.name, text=text, at=clock.now(competition))
            done = [self._action(effect.task).execute() for effect in self.effects() if self._brings(effect)]
        return " ".join([text, *done])

    def _brings(self, effect: Effect) -> bool:
        return self.runs != Runs.KEEP and not effect.why_not

    def _refuse_two_metrics(self) -> None:
        """No board may have runs by one metric under the name of another."""
        for effect in self.effects():
            task, metric = effect.task, self.version.metric
            runs = self._action(task).stale_runs(self.version)
            if task.metric or self._brings(effect) or all(run.metric == metric for run in runs):
                continue
            where = f"{task.phase.title} of {task.phase.competition.title}"
            raise Refused(
                f"This version is scored by {metric}, but runs of {where} would stay scored by another metric.",
                status=409,
                mend="Have them scored again or run again, or give the task there a metric of its own first.",
            )

    def _action(self, task: Task) -> UseCurrentVersion:
        return UseCurrentVersion(by=self.by, task=task, run_again=self.runs == Runs.RUN)

    def _tasks(self) -> list[Task]:
        tasks = Task.objects.filter(dataset=self.version.dataset_id)
        return list(tasks.select_related("phase__round__competition", "dataset").order_by("phase", "pk"))

    def _effect(self, task: Task) -> Effect:
        competition = task.phase.round.competition
        stale = self._action(task).stale_runs(self.version)
        if not stale:
            return Effect(task, 0)
        if self.by is not None and not policy.may_edit(self.by, competition):
            return Effect(task, len(stale), "Its organizers decide about them.")
        if self.runs == Runs.KEEP:
            return Effect(task, len(stale))
        try:
            self._action(task).check_with(self.version)
        except Refused as refusal:
            return Effect(task, len(stale), str(refusal))
        return Effect(task, len(stale))

    def _locked_competitions(self) -> list[Competition]:
        """Competitions before the dataset, as every action does; and always in the same order."""
        using = Competition.objects.filter(rounds__phases__tasks__dataset=self.version.dataset_id)
        ids = sorted(set(using.values_list("pk", flat=True)))
        return list(Competition.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk"))
