"""The tasks of phases with the facts of their datasets, in a bounded number of queries."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from competitions import cards, policy
from competitions.models import Phase, Task
from competitions.models.protocol import CHALLENGE_WALL_SECONDS
from competitions.presets import in_words
from datasets.card import Card, Shown
from datasets.models import DatasetVersion


@dataclass(frozen=True)
class TaskFacts:
    """A task and the dataset version that new runs use. `is_revealed` tells whether the viewer may know it.

    `card` is as much of the dataset's card as the viewer may see, where it was asked for.
    """

    task: Task
    phase: Phase
    version: DatasetVersion | None
    is_revealed: bool
    card: Card | None = None

    @property
    def shown_name(self) -> str:
        """The name for the viewer: the dataset's own once it may be known, before that a neutral one."""
        if self.task.alias or not self.is_revealed:
            return self.task.alias or f"dataset{self.task.order + 1}"
        return self.version.name if self.version else self.task.dataset.slug

    @property
    def metric(self) -> str:
        """The metric that scores the task: its own, else the dataset's; empty where the viewer may not know it."""
        if not self.is_revealed:
            return ""
        return self.task.metric or (self.version.metric if self.version else "")

    @property
    def wall_seconds(self) -> float:
        """The time budget of one run: the task's, else the phase's, else the dataset's."""
        own = self.task.wall_seconds or self.phase.wall_seconds
        return own or (self.version and self.version.time_budget) or CHALLENGE_WALL_SECONDS

    @property
    def classes(self) -> int | None:
        """C: the number of classes or labels; None for regression."""
        if self.version is None or self.version.task_kind == "regression":
            return None
        return self.version.label_num or self.version.target_num

    @property
    def balance(self) -> float | None:
        """Cbal of the card, else that of the facts from before there were cards; None for regression."""
        if self.card is not None:
            return self.card.balance
        return self.version.facts.get("class_balance") if self.version else None

    @property
    def irrelevant(self) -> float | None:
        """Irr: the share of probes among the features, where the viewer may see it and somebody said."""
        return self.card.irrelevant if self.card else None

    @property
    def ratio(self) -> float | None:
        """Ptr/N."""
        if self.version is None or not self.version.feat_num:
            return None
        return self.version.train_num / self.version.feat_num

    @property
    def task_kind(self) -> str:
        """The kind of learning task in one word, as in the chapter's tables."""
        return self.version.get_task_kind_display().removesuffix(" classification") if self.version else ""

    @property
    def may_be_downloaded(self) -> bool:
        """Whether participants get its public files now: those that programs read, where the task shows them."""
        if self.task.scoring_program_id is not None and not self.task.shows_input:
            return False
        return self.is_revealed and self.version is not None and bool(self.version.public_zip)

    @property
    def is_programmed(self) -> bool:
        """Whether an organizer's program scores it, so that nothing is known of its data but their size."""
        return self.task.scoring_program_id is not None


def tasks_of(phases: Sequence[Phase], now: dt.datetime, *, sees_hidden: bool) -> list[TaskFacts]:
    """All tasks of the given phases in their order: three queries."""
    by_id = {phase.pk: phase for phase in phases}
    tasks = list(Task.objects.filter(phase__in=by_id).select_related("dataset").order_by("order", "id"))
    for task in tasks:
        task.phase = by_id[task.phase_id]
    known = policy.known_tasks(tasks, now)
    versions = newest_versions({task.dataset_id for task in tasks})
    return [
        TaskFacts(task, phase, versions.get(task.dataset_id), sees_hidden or task.pk in known)
        for phase in phases
        for task in tasks
        if task.phase_id == phase.pk
    ]


def with_cards(tasks: Sequence[TaskFacts], now: dt.datetime, *, sees_hidden: bool) -> list[TaskFacts]:
    """The same with the cards of their datasets, as far as the viewer may see them: three queries."""
    levels = cards.shown([one.task for one in tasks], now)
    return [
        replace(one, card=cards.card_of(one.version, one.task, Shown.ALL if sees_hidden else levels[one.task.pk]))
        for one in tasks
    ]


def newest_versions(dataset_ids: Iterable[int]) -> dict[int, DatasetVersion]:
    """Map dataset ids to the versions that new runs use: one query."""
    versions = DatasetVersion.objects.in_use().filter(dataset__in=list(dataset_ids)).order_by("number")
    return {version.dataset_id: version for version in versions}


def of_phase(facts: Iterable[TaskFacts], phase: Phase) -> list[TaskFacts]:
    """Those of one phase."""
    return [fact for fact in facts if fact.phase.pk == phase.pk]


def budgets_in_words(phases: Sequence[Phase], now: dt.datetime, *, sees_hidden: bool) -> dict[int, str]:
    """What one run may use in each phase, by the phase's id; the times of datasets that may be known."""
    tasks = tasks_of(phases, now, sees_hidden=sees_hidden)
    return {
        phase.pk: in_words(phase, [task.wall_seconds for task in of_phase(tasks, phase) if task.is_revealed])
        for phase in phases
    }
