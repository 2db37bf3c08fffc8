"""Datasets that fail for everybody: set aside by the organizers, suggested where all runs failed.

While a task is in quarantine none of its waiting runs goes to a worker, no submission waits for it, and the board
of its phase ranks by the other datasets. What workers hold runs to its end; what was scored is kept and counts
again when the quarantine is lifted.
"""

import datetime as dt
from dataclasses import dataclass, field
from typing import ClassVar

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from accounts.refusals import Refused
from competitions.actions.base import Action, Preview
from competitions.models import Competition, Task
from submissions import dispatch, signals
from submissions.again import counted
from submissions.models import Run, RunState, Submission
from submissions.models.runs import AT_WORKER, ENDED
from submissions.transitions import hold, settle

FEWEST_ENTRANTS = 3  # of whom all failed, before a dataset is suspected


@dataclass(frozen=True)
class Suspected:
    """A dataset on which nobody's run has finished: how many entrants and runs failed."""

    task: Task
    entrants: int
    runs: int


def suspected(competition: Competition) -> list[Suspected]:
    """The tasks on which at least three entrants have runs that ended, and all of them failed: one query."""
    finished = Run.objects.filter(task=OuterRef("pk"), state=RunState.FINISHED)
    failed = Q(runs__state=RunState.FAILED)
    tasks = Task.objects.filter(phase__round__competition=competition, quarantined_at=None)
    tasks = tasks.filter(~Exists(finished)).annotate(
        entrants=Count("runs__submission__entrant", filter=failed, distinct=True),
        failures=Count("runs", filter=failed, distinct=True),
    )
    found = tasks.filter(entrants__gte=FEWEST_ENTRANTS).select_related("phase", "dataset")
    return [Suspected(task, task.entrants, task.failures) for task in found.order_by("phase__number", "order")]


@dataclass
class OfTask(Action):
    """An action on one dataset of one phase."""

    task: Task

    @property
    def competition(self) -> Competition:
        """The contest of the task."""
        return self.task.phase.round.competition

    @property
    def what(self) -> str:
        """The dataset in a sentence."""
        return f"{self.task.name} in {self.task.phase.title}"

    def details(self) -> dict[str, object]:
        """The task's id."""
        return {"task": self.task.pk}

    def _waiting(self) -> QuerySet[Run]:
        return Run.objects.filter(task=self.task, state=RunState.QUEUED)


@dataclass
class Quarantine(OfTask):
    """Set a dataset aside: its runs wait, and its board goes on without it."""

    reason: str = ""

    name: ClassVar[str] = "quarantine"

    def check(self, now: dt.datetime) -> None:
        """Once, and with a reason that participants read."""
        if self.task.quarantined_at is not None:
            raise Refused(f"{self.what} is set aside already.", status=409)
        if not self.reason.strip():
            raise Refused("Say why; the reason is shown to the participants.")

    def preview(self, now: dt.datetime) -> Preview:
        """What waits, what goes on, what the board shows, and where else the dataset is used."""
        runs = Run.objects.filter(task=self.task)
        waiting = self._waiting().count()
        held = runs.filter(state__in=AT_WORKER).count()
        scored = runs.filter(state=RunState.FINISHED).count()
        others = self.task.phase.tasks.filter(quarantined_at=None).exclude(pk=self.task.pk).count()
        title = self.task.phase.title
        sentences = [
            f"No run on {self.what} goes to a worker. Waiting now, and saying why: {counted(waiting, 'run')}."
        ]
        if held:
            sentences.append(f"At workers now, and going on to their end: {counted(held, 'run')}.")
        if others:
            sentences.append(
                f"The board of {title} ranks by its other datasets ({others}). Finished runs keep their scores, "
                f"which do not count meanwhile: {counted(scored, 'run')}."
            )
        else:
            sentences.append(f"It is the only dataset of {title}: nobody has a score there meanwhile.")
            if self.task.phase.children.exists():
                sentences.append("Entries that wait for it go forward to later phases when it is lifted.")
        return Preview([*sentences, *self._elsewhere(), "Nothing is lost: lifting it brings all of this back."])

    def _elsewhere(self) -> list[str]:
        """The phases that use the same dataset and go on with it."""
        tasks = Task.objects.filter(dataset=self.task.dataset_id, phase__round__competition=self.competition)
        others = tasks.filter(quarantined_at=None).exclude(pk=self.task.pk).order_by("phase__number")
        titles = list(others.values_list("phase__title", flat=True))
        return [f"The same dataset goes on in {', '.join(titles)}."] if titles else []

    def change(self, now: dt.datetime) -> str:
        """Mark the task; the board follows; submissions that waited for nothing else have ended."""
        hold(self.competition)
        self.task.quarantined_at, self.task.quarantine_reason = now, self.reason.strip()[:300]
        self.task.save(update_fields=["quarantined_at", "quarantine_reason"])
        others = Run.objects.filter(submission=OuterRef("pk")).exclude(task=self.task).exclude(state__in=ENDED)
        waited = Submission.objects.filter(state=Submission.State.ACTIVE, runs__in=self._waiting())
        with signals.together():
            for submission in waited.filter(~Exists(others)).distinct():
                settle(submission)
        transaction.on_commit(dispatch.after_commit, robust=True)
        return f"{self.what} was set aside: {self.reason.strip()}"


@dataclass
class LiftQuarantine(OfTask):
    """Take a dataset back: its runs go to workers again, and its scores count."""

    name: ClassVar[str] = "lift_quarantine"

    def check(self, now: dt.datetime) -> None:
        """It must be set aside."""
        if self.task.quarantined_at is None:
            raise Refused(f"{self.what} is not set aside.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """What runs, what counts, and what stays failed."""
        failed = Run.objects.filter(task=self.task, state=RunState.FAILED).count()
        sentences = [
            f"Runs on {self.what} go to workers again, in their order. Waiting now: {self._waiting().count()}.",
            f"The board of {self.task.phase.title} ranks by it again.",
        ]
        if failed:
            again = "run them again from the table of submissions"
            sentences.append(f"Those that failed stay failed; {again}: {counted(failed, 'run')}.")
        return Preview(sentences)

    def change(self, now: dt.datetime) -> str:
        """Unmark the task; submissions with runs that wait are in progress again."""
        hold(self.competition)
        self.task.quarantined_at, self.task.quarantine_reason = None, ""
        self.task.save(update_fields=["quarantined_at", "quarantine_reason"])
        waiting = Submission.objects.filter(runs__in=self._waiting()).exclude(state=Submission.State.CANCELLED)
        ids = list(waiting.values_list("pk", flat=True).distinct())
        Submission.objects.filter(pk__in=ids).update(state=Submission.State.ACTIVE)
        transaction.on_commit(dispatch.after_commit, robust=True)
        return f"{self.what} was taken back; its runs and scores count again."


@dataclass
class RingAgain(Action):
    """Ring for everything of a competition that waits, or for one run, as if it had just been queued."""

    contest: Competition
    run: Run | None = field(default=None)

    name: ClassVar[str] = "ring_again"

    @property
    def competition(self) -> Competition:
        """The contest whose runs wait."""
        return self.contest

    def _runs(self) -> QuerySet[Run]:
        waiting = Run.objects.filter(
            submission__phase__round__competition=self.contest, state__in=(RunState.QUEUED, RunState.COLLECTED)
        )
        return waiting if self.run is None else waiting.filter(pk=self.run.pk)

    def check(self, now: dt.datetime) -> None:
        """Something must wait."""
        if not self._runs().exists():
            raise Refused("Nothing waits that a doorbell could be rung for.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """How many, and that it changes no place."""
        return Preview(
            [
                f"Rung for again: {counted(self._runs().count(), 'waiting run')}.",
                "Nobody's place in the queue changes. The site rings by itself, too; this only saves the wait.",
            ]
        )

    def change(self, now: dt.datetime) -> str:
        """Forget when it was rung last, so that the next look rings at once."""
        many = self._runs().update(rung_at=None)
        transaction.on_commit(dispatch.after_commit, robust=True)
        return f"Rung for again: {counted(many, 'waiting run')}."
