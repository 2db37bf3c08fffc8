"""Putting datasets into phases, and changing what a phase asks on each of them."""

import datetime as dt
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.core.exceptions import ValidationError

from accounts.refusals import Refused
from competitions import policy
from competitions.actions.base import Changed, Preview
from competitions.actions.queue import OfCompetition
from competitions.actions.release import OfPhase
from competitions.actions.seen import fingerprint, require_unchanged
from competitions.actions.wording import as_data
from competitions.models import Phase, Task
from datasets.models import Dataset, Metric, TaskKind

MOST_TASKS = 200
FOR_REGRESSION = (Metric.R2, Metric.ABS)
EDITED = ("order", "alias", "metric", "wall_seconds")
LABELS = {
    "order": "place",
    "alias": "alias",
    "metric": "metric",
    "wall_seconds": "seconds",
}
HAPPENED = {
    "order": "was moved from place {old} to {new}",
    "alias": "had its alias changed from {old} to {new}",
    "metric": "had its metric changed from {old} to {new}",
    "wall_seconds": "had its seconds changed from {old} to {new}",
}


def require_metric(metric: str, dataset: Dataset) -> None:
    """Refuse a metric that the dataset's kind of task does not have; an empty one is the dataset's own."""
    version = dataset.current
    if not metric or version is None:
        return
    if metric not in Metric.values:
        raise Refused(f"There is no metric {metric!r}.")
    is_regression = version.task_kind == TaskKind.REGRESSION
    if (metric in FOR_REGRESSION) != is_regression:
        fitting = [one for one in Metric.values if (one in FOR_REGRESSION) == is_regression]
        raise Refused(
            f"{metric} does not score {version.get_task_kind_display()}, and {dataset.title} is that.",
            mend=f"Choose {', '.join(fitting)}.",
        )


@dataclass
class AddTasks(OfCompetition):
    """Put datasets into phases, each into each; what is there already stays as it is."""

    datasets: Sequence[Dataset]
    phases: Sequence[Phase]
    metric: str = ""

    name: ClassVar[str] = "add_tasks"

    def _new(self) -> list[tuple[Phase, Dataset]]:
        there = set(Task.objects.filter(phase__in=self.phases).values_list("phase", "dataset"))
        return [
            (phase, dataset)
            for phase in self.phases
            for dataset in self.datasets
            if (phase.pk, dataset.pk) not in there
        ]

    def check(self, now: dt.datetime) -> None:
        """Datasets must be the person's to use, phases of this competition, and something must be new."""
        if not self.datasets or not self.phases:
            raise Refused("Choose at least one dataset and one phase.")
        if self.contest.rehearses_id is not None:
            # Its clock runs ahead, and would reveal what the competition still hides.
            mend = "Put the dataset into the competition, and start a new rehearsal."
            raise Refused("A rehearsal has made datasets alone.", status=409, mend=mend)
        if any(phase.round.competition_id != self.contest.pk for phase in self.phases):
            raise Refused("There is no such phase.", status=404)
        usable = policy.usable_datasets(self.by) if self.by is not None else Dataset.objects.all()
        for dataset in self.datasets:
            policy.resolved(usable, dataset.pk, "dataset")
            require_metric(self.metric, dataset)
        ended = [phase.title for phase in self.phases if phase.has_ended(now) and phase.submissions.exists()]
        if ended:
            raise Refused(f"{' and '.join(ended)} ended with submissions; nothing would run on more.", status=409)
        if not self._new():
            raise Refused("These phases have these datasets already.", status=409)
        for phase in self.phases:
            if phase.tasks.count() + len(self.datasets) > MOST_TASKS:
                raise Refused(f"A phase has {MOST_TASKS} datasets at most.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """Which dataset comes into which phase, and what it means for entries that are there."""
        sentences = []
        for phase in self.phases:
            titles = [dataset.title for where, dataset in self._new() if where.pk == phase.pk]
            if not titles:
                continue
            sentences.append(f"{phase.title} gets {', '.join(titles)}.")
            count = phase.submissions.count()
            if count:
                many = f"{count} submission{'' if count == 1 else 's'}"
                sentences.append(
                    f"{phase.title} has {many} that never ran on it: a score that is missing there counts as the "
                    "worst until the entrant submits again."
                )
        return Preview(sentences)

    def change(self, now: dt.datetime) -> str:
        """Make the tasks, each behind those that the phase has."""
        made = self._new()
        for phase, dataset in made:
            Task.objects.create(phase=phase, dataset=dataset, metric=self.metric, order=phase.tasks.count())
        titles = list(dict.fromkeys(dataset.title for _, dataset in made))
        phases = list(dict.fromkeys(phase.title for phase, _ in made))
        return f"{', '.join(titles)} went into {', '.join(phases)}."

    def details(self) -> dict[str, Any]:
        """Phases and datasets."""
        return {
            "phases": [phase.number for phase in self.phases],
            "datasets": [dataset.slug for dataset in self.datasets],
        }


@dataclass(frozen=True)
class TaskEdit:
    """What a task is to be: its place, alias, metric and seconds (None: the phase's), or taken out."""

    task: int
    order: int
    alias: str = ""
    metric: str = ""
    wall_seconds: float | None = None
    is_removed: bool = False


@dataclass
class EditTasks(OfPhase):
    """Change the datasets of a phase: order, alias, metric, seconds, and which are taken out.

    `seen` is the digest of the tasks as the form showed them (`tasks_seen`).
    """

    edits: Sequence[TaskEdit]
    seen: str = ""

    name: ClassVar[str] = "edit_tasks"
    _changes: list[dict[str, str]] = field(default_factory=list, init=False)

    def _tasks(self) -> list[Task]:
        tasks = self.phase.tasks.select_related("dataset", "phase").prefetch_related("dataset__versions")
        return list(tasks)

    def _pairs(self) -> list[tuple[Task, Task | None]]:
        """Every task as it is and as it would be; None where it is taken out."""
        edits = {edit.task: edit for edit in self.edits}
        pairs: list[tuple[Task, Task | None]] = []
        for before, after in zip(self._tasks(), self._tasks(), strict=True):
            edit = edits.get(before.pk)
            if edit is not None and edit.is_removed:
                pairs.append((before, None))
                continue
            if edit is not None:
                for name in EDITED:
                    setattr(after, name, getattr(edit, name))
            pairs.append((before, after))
        return pairs

    def problems(self) -> list[tuple[int, str, str]]:
        """(id of the task, field, sentence) of everything that stands against it."""
        found = []
        names: dict[str, str] = {}
        for before, after in self._pairs():
            if after is None:
                count = before.runs.count()
                if count:
                    what = f"{count} runs exist on {before.name}; they would mean nothing without it."
                    found.append((before.pk, "is_removed", what))
                continue
            found += [(before.pk, name, what) for name, what in _wrong(after)]
            if after.name in names:
                what = f"{names[after.name]} goes by the name {after.name} already. Give one another alias."
                found.append((before.pk, "alias", what))
            names[after.name] = before.dataset.title
        return found

    def check(self, now: dt.datetime) -> None:
        """Nobody else changed them meanwhile, something changes, and nothing that has runs changes its meaning."""
        pairs = self._pairs()
        require_unchanged(
            self.seen, *_values([before for before, _ in pairs]), what=f"the datasets of {self.phase.title}"
        )
        if not {before.pk for before, _ in pairs}.issuperset(edit.task for edit in self.edits):
            raise Refused("There is no such dataset in this phase.", status=404)
        if not self._told(pairs):
            raise Refused("Nothing would change.", status=409)
        for _, _, message in self.problems():
            raise Refused(message, status=409)

    def _told(self, pairs: Collection[tuple[Task, Task | None]]) -> list[Changed]:
        found = []
        for before, after in pairs:
            title = before.dataset.title
            if after is None:
                found.append(Changed(title, "in the phase", "taken out"))
                continue
            found += [
                Changed(f"{title}: {LABELS[name]}", _in_words(before, name), _in_words(after, name))
                for name in _differing(before, after)
            ]
        return found

    def preview(self, now: dt.datetime) -> Preview:
        """Old and new values."""
        pairs = self._pairs()
        sentences = []
        if any(after is None for _, after in pairs):
            sentences.append("Datasets that are taken out stay in the library.")
        if self.phase.is_blind and any(after and before.name != after.name for before, after in pairs):
            sentences.append("Entrants see the new names of hidden datasets at once.")
        return Preview(sentences, changes=self._told(pairs))

    def change(self, now: dt.datetime) -> str:
        """Save what changed, take out the rest."""
        pairs = self._pairs()
        self._changes = as_data(self._told(pairs))
        for before, after in pairs:
            if after is None:
                before.delete()
            elif _differing(before, after):
                after.save(update_fields=EDITED)
        happened = [
            _happened(before, after) for before, after in pairs if after is None or _differing(before, after)
        ]
        return f"In {self.phase.title}: {'; '.join(happened)}."

    def details(self) -> dict[str, Any]:
        """The phase, with old and new values."""
        return {**super().details(), "changes": self._changes}


def _wrong(after: Task) -> list[tuple[str, str]]:
    """(field, sentence) of what is wrong with one task."""
    try:
        after.full_clean()
        require_metric(after.metric, after.dataset)
    except ValidationError as problem:
        return [(name, " ".join(messages)) for name, messages in problem.message_dict.items()]
    except Refused as problem:
        return [("metric", str(problem))]
    return []


def _differing(before: Task, after: Task) -> list[str]:
    """The names of the fields that change."""
    return [name for name in EDITED if getattr(before, name) != getattr(after, name)]


def _happened(before: Task, after: Task | None) -> str:
    """What was done to one dataset, as a part of the sentence for the audit log."""
    title = before.dataset.title
    if after is None:
        return f"{title} was taken out"
    parts = [
        HAPPENED[name].format(old=_in_words(before, name), new=_in_words(after, name))
        for name in _differing(before, after)
    ]
    return f"{title} {' and '.join(parts)}"


def _in_words(task: Task, name: str) -> str:
    value = getattr(task, name)
    if name == "order":
        return str(value + 1)
    if name == "wall_seconds":
        return "the phase's" if value is None else f"{value:,g}"
    return value or ("the dataset's own" if name == "metric" else "none")


def _values(tasks: Sequence[Task]) -> list[object]:
    return [value for task in tasks for value in (task.pk, *(getattr(task, name) for name in EDITED))]


def tasks_seen(tasks: Sequence[Task]) -> str:
    """The digest of the tasks of a phase, in their order."""
    return fingerprint(*_values(tasks))
