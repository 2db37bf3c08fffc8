"""The organizers' table of submissions: its lines, and what may be asked of it, in few queries however many."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Prefetch, QuerySet, Subquery
from django.http import QueryDict

from competitions.models import Phase, Task
from competitions.policy import known_tasks
from datasets.models import DatasetVersion
from leaderboards.models import ColumnRow, LeaderboardRow
from pages import facts, frame
from submissions import selecting
from submissions.models import Reason, Run, Submission
from submissions.public import Glance, glance, submission_state
from submissions.selecting import Filter

OF_RUN = ("submission", "task", "order", "state", "started_at", "ended_at", "wall_seconds")
WORDS = {"phase": "in {}", "state": "{}", "kind": "with {}", "arrival": "{}", "reason": "failed: {}"}


@dataclass(frozen=True)
class Line:
    """One submission, as its viewer may know it. `counts`: it stands on a board as it is now."""

    submission: Submission
    runs: list[Glance]
    state: str
    state_label: str
    counts: bool


@dataclass(frozen=True)
class Choice:
    """One filter: its name, label, the value for each option with its label, and what is chosen."""

    name: str
    label: str
    options: list[tuple[str, str]]
    value: str


@dataclass(frozen=True)
class Table:
    """A page of the table, the filters above it, and the addresses of the pages beside it."""

    wanted: Filter
    lines: list[Line]
    page: selecting.Page
    choices: list[Choice]
    left_out: list[str]  # phases of which the viewer may not know how runs ended

    @property
    def newer(self) -> str:
        """The query of the page before; empty where there is none."""
        return self._query(before=self.page.first)

    @property
    def older(self) -> str:
        """The query of the page after; empty where there is none."""
        return self._query(after=self.page.last)

    def _query(self, **beyond: int | None) -> str:
        if None in beyond.values():
            return ""
        query = QueryDict(mutable=True)
        query.update({**self.wanted.asked, **{name: str(value) for name, value in beyond.items()}})
        return query.urlencode()


def table(shown: frame.Frame, given: QueryDict) -> Table:
    """The page that is asked for: four queries, one more for a viewer from whom something is hidden."""
    wanted = Filter.read(given)
    found = matching(shown, wanted)
    page = selecting.page_of(
        found,
        wanted,
        shown.phases,
        after=selecting.number(given.get("after")),
        before=selecting.number(given.get("before")),
        load=loaded(),
    )
    tasks = tasks_of(shown.phases)
    names = names_of(tasks, shown)
    concealed = selecting.concealed(shown.phases, sees_hidden=shown.sees_hidden, now=shown.now)
    return Table(
        wanted,
        _lines(shown, page.submissions, names, {phase.pk for phase in concealed}),
        page,
        _choices(shown, wanted, tasks, names),
        [phase.title for phase in concealed] if wanted.tells_outcomes else [],
    )


def matching(shown: frame.Frame, wanted: Filter) -> QuerySet[Submission]:
    """All submissions that match a filter, as far as this viewer may know what it asks."""
    return selecting.matching(shown.phases, wanted, sees_hidden=shown.sees_hidden, now=shown.now)


def in_words(shown: frame.Frame, wanted: Filter) -> str:
    """What a filter asks for, in a sentence of the audit log: `all that match: in Tweakathon[0], failed`."""
    tasks = tasks_of(shown.phases)
    choices = _choices(shown, wanted, tasks, names_of(tasks, shown))
    labels = {choice.name: dict(choice.options) for choice in choices}
    told = [
        WORDS[name].format(labels[name].get(value, value)) for name, value in wanted.asked.items() if name in WORDS
    ]
    if wanted.failed_on:
        told.append(f"failed on {labels['failed_on'].get(str(wanted.failed_on), 'a dataset')}")
    if wanted.entrant:
        told.append("of one entrant")
    if wanted.q:
        told.append(f"“{wanted.q}”")
    return f"all that match: {', '.join(told)}" if told else "all of the competition"


def loaded() -> QuerySet[Submission]:
    """What is read with the submissions of a page: who, their runs without logs, and whether they count."""
    rows = Exists(LeaderboardRow.objects.filter(submission=OuterRef("pk"), board__is_frozen=False))
    of_columns = Exists(ColumnRow.objects.filter(submission=OuterRef("pk"), is_frozen=False))
    runs = Run.objects.order_by("order", "id").only(*OF_RUN)
    loaded = Submission.objects.select_related("entrant").annotate(on_board=rows | of_columns)
    return loaded.prefetch_related(Prefetch("runs", runs))


def tasks_of(phases: Sequence[Phase]) -> list[Task]:
    """The tasks of phases, each with its phase and the name of its dataset's newest version: one query."""
    by_id = {phase.pk: phase for phase in phases}
    newest = DatasetVersion.objects.in_use().filter(dataset=OuterRef("dataset"))
    tasks = Task.objects.filter(phase__in=by_id).select_related("dataset").order_by("order", "id")
    found: list[Task] = list(tasks.annotate(newest_name=Subquery(newest.values("name")[:1])))
    for task in found:
        task.phase = by_id[task.phase_id]
    return found


def names_of(tasks: Sequence[Task], shown: frame.Frame) -> dict[int, str]:
    """What the viewer may call the tasks of `tasks_of`; one query for a viewer from whom something is hidden."""
    known = set() if shown.sees_hidden else known_tasks(tasks, shown.now)
    names = {}
    for task in tasks:
        version = DatasetVersion(name=vars(task)["newest_name"] or task.dataset.slug)
        is_known = shown.sees_hidden or task.pk in known
        names[task.pk] = facts.TaskFacts(task, task.phase, version, is_known).shown_name
    return names


def _lines(
    shown: frame.Frame, listed: Sequence[Submission], names: dict[int, str], concealed: Collection[int]
) -> list[Line]:
    # Whether it stands on a board tells that its runs have ended, which of concealed phases nobody may know yet.
    phases = {phase.pk: phase for phase in shown.phases}
    lines = []
    for submission in listed:
        submission.phase = phases[submission.phase_id]
        glances = []
        for run in submission.runs.all():
            run.submission = submission
            glances.append(glance(run, names[run.task_id], sees_hidden=shown.sees_hidden, now=shown.now))
        state = submission_state(submission, glances)
        counts = vars(submission)["on_board"] and submission.phase_id not in concealed
        lines.append(Line(submission, glances, *state, counts=counts))
    return lines


def _choices(shown: frame.Frame, wanted: Filter, tasks: Sequence[Task], names: dict[int, str]) -> list[Choice]:
    def choice(name: str, label: str, options: list[tuple[str, str]]) -> Choice:
        return Choice(name, label, options, wanted.asked.get(name, ""))

    datasets = [
        (str(task.pk), f"{names[task.pk]}, {phase.title}")
        for phase in shown.phases
        for task in tasks
        if task.phase_id == phase.pk
    ]
    return [
        choice("phase", "Phase", [(str(phase.number), phase.title) for phase in shown.phases]),
        choice("state", "State", list(selecting.STATES.items())),
        choice("failed_on", "Failed on", datasets),
        choice("reason", "Reason", [(str(value), str(label)) for value, label in Reason.choices]),
        choice("kind", "Kind", [(str(value), str(label)) for value, label in Submission.Kind.choices]),
        choice("arrival", "Arrival", [(str(value), str(label)) for value, label in Submission.Arrival.choices]),
        choice("order", "Order", [(key, label) for key, (label, _) in selecting.ORDERS.items()]),
    ]
