"""Letting the platform run the basic methods in phases of a competition, and taking them out again."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from django.core.files import File
from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from analysis.basic.archives import archive, title_of
from analysis.models import BasicEntry, Replay
from competitions.actions.base import Action, Preview
from competitions.models import Competition, Entrant, Phase, Task, Team
from datasets.scratch import scratch_folder
from submissions import dispatch, making
from submissions.actions import store_submission
from submissions.deletion import remove_submissions
from submissions.intake import AtTheDoor, file_sha256
from submissions.models import Run, RunState, Submission
from submissions.models.runs import AT_WORKER, ENDED
from submissions.programs.making import is_programmed
from submissions.reference import baseline_entrant
from submissions.transitions import end_run, settle

DEFAULTS = tuple((str(method), False) for method in BasicEntry.Method.values)
TUNED = tuple((method, True) for method, _ in DEFAULTS if method != BasicEntry.Method.SNB)
REMOVED = "The organizers removed the basic methods."
MOST_NAMED = 5


@dataclass(frozen=True)
class Missing:
    """A method that has not run on some datasets of a phase. `submission` is its own there, where it has one."""

    phase: Phase
    method: str
    is_tuned: bool
    submission: Submission | None
    tasks: list[tuple[int, Task]]

    @property
    def runs(self) -> int:
        """How many runs it needs."""
        return len(self.tasks) * self.phase.repeats

    @property
    def seconds(self) -> float:
        """How long they take at most."""
        return sum(task.budget().wall_seconds for _, task in self.tasks) * self.phase.repeats


def entries(competition: Competition) -> list[BasicEntry]:
    """The basic methods that the platform ran in a competition and that count, the phases in order."""
    found = BasicEntry.objects.filter(
        submission__phase__round__competition=competition,
        submission__arrival=Submission.Arrival.BASIC,
        submission__in=Submission.objects.competing(),
    )
    return list(found.select_related("submission__phase", "submission__entrant").order_by("pk"))


def takes_basic_methods(phase: Phase) -> bool:
    """Whether they can run in a phase: it has datasets, and metrics of the platform judge them."""
    tasks = making.tasks_of(phase)
    return bool(tasks) and not is_programmed(tasks) and all(task.dataset.current for task in tasks)


def missing(phase: Phase, *, tuned: bool, there: Sequence[BasicEntry]) -> Iterator[Missing]:
    """What has not run yet in a phase; `there` are the competition's entries."""
    tasks = list(enumerate(making.tasks_of(phase)))
    own = {(one.method, one.is_tuned): one.submission for one in there if one.submission.phase_id == phase.pk}
    for method, is_tuned in (*DEFAULTS, *(TUNED if tuned else ())):
        submission = own.get((method, is_tuned))
        ran = set(submission.runs.values_list("task", flat=True)) if submission else set()
        left = [(order, task) for order, task in tasks if task.pk not in ran]
        if left:
            yield Missing(phase, method, is_tuned, submission, left)


def counted(count: int, what: str) -> str:
    """A count with its noun."""
    return f"{count} {what}{'' if count == 1 else 's'}"


@dataclass
class OfBasicMethods(Action):
    """What an organizer does with the basic methods in some phases of a competition."""

    contest: Competition
    phases: list[Phase]

    @property
    def competition(self) -> Competition:
        """The competition."""
        return self.contest

    def check(self, now: dt.datetime) -> None:
        """There must be a phase."""
        if not self.phases:
            raise Refused("No phase is chosen.", mend="Tick at least one.")

    @property
    def where(self) -> str:
        """The phases, in words."""
        titles = [phase.title for phase in self.phases]
        more = f" and {len(titles) - MOST_NAMED} more" if len(titles) > MOST_NAMED else ""
        return ", ".join(titles[:MOST_NAMED]) + more

    def details(self) -> dict[str, Any]:
        """The numbers of the phases."""
        return {"phases": [phase.number for phase in self.phases]}


@dataclass
class RunBasicMethods(OfBasicMethods):
    """Let the platform run the basic methods on all datasets of phases, as baselines without a place or a quota.

    Only what is missing is made: a second click runs what datasets or methods have come since. They run in the
    phase's sandbox and budget, in the site's own image, after all live work. Hidden phases take them too.
    """

    tuned: bool = False

    name: ClassVar[str] = "run_basic_methods"

    @cached_property
    def plan(self) -> list[Missing]:
        """What is missing in the chosen phases."""
        there = entries(self.contest)
        return [one for phase in self.phases for one in missing(phase, tuned=self.tuned, there=there)]

    def check(self, now: dt.datetime) -> None:
        """Not in rehearsals or replays; in phases of the platform's metrics alone; with something to run."""
        super().check(now)
        if self.contest.rehearses_id is not None:
            raise Refused("The basic methods run in the competition itself, not in its rehearsal.", status=409)
        if Replay.objects.filter(competition=self.contest).exists():
            raise Refused("This competition replays published results; nothing runs in it.", status=409)
        for phase in self.phases:
            if not takes_basic_methods(phase):
                raise Refused(
                    f"The basic methods cannot run in {phase.title}: they want datasets with data, scored by the "
                    "platform's own metrics.",
                    status=409,
                )
        if not self.plan:
            raise Refused(f"They have all run in {self.where}, or are on their way.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """How many runs, and how long they may take."""
        runs, hours = sum(one.runs for one in self.plan), sum(one.seconds for one in self.plan) / 3600
        methods = {(one.method, one.is_tuned) for one in self.plan}
        sentences = [
            f"{counted(runs, 'run')} of {counted(len(methods), 'method')} in {self.where}: at most "
            f"{hours:.1f} hours of one worker, after all live work.",
            "They appear on the boards as baselines: they take no place, shift nobody's rank and use no quota.",
        ]
        if any(phase.is_hidden for phase in self.phases):
            sentences.append("In hidden phases they run on trusted workers, and their scores stay hidden as long.")
        return Preview(sentences)

    def change(self, now: dt.datetime) -> str:
        """Make the submissions and their runs."""
        stored: list[Any] = []
        runs, methods = sum(one.runs for one in self.plan), {(one.method, one.is_tuned) for one in self.plan}
        try:
            with scratch_folder("basic-") as scratch:
                sender = _Sender(self.contest, self.by or self.contest.created_by, scratch, stored)
                for one in self.plan:
                    sender.send(one)
        except BaseException:
            for kept in stored:
                kept.storage.delete(str(kept.name))
            raise
        transaction.on_commit(dispatch.after_commit, robust=True)
        what = "run of the basic methods was" if runs == 1 else "runs of the basic methods were"
        return f"{runs} {what} queued in {self.where} ({counted(len(methods), 'method')})."

    def details(self) -> dict[str, Any]:
        """What was run where."""
        return {**super().details(), "tuned": self.tuned}


@dataclass
class _Sender:
    """Sends what is missing. Each method is one entrant of the competition, in whatever phases it runs."""

    contest: Competition
    by: User
    scratch: Path
    stored: list[Any]
    entrants: dict[tuple[str, bool], Entrant] = field(default_factory=dict)
    archives: dict[tuple[str, bool], tuple[Path, AtTheDoor]] = field(default_factory=dict)

    def send(self, one: Missing) -> None:
        submission = one.submission or self._submission(one)
        if one.submission is not None:
            Submission.objects.filter(pk=submission.pk).update(state=Submission.State.ACTIVE)
        runs = [run for order, task in one.tasks for run in making.code_runs(submission, task, order)]
        # The phase's own image may lack what these programs need.
        Run.objects.filter(pk__in=[run.pk for run in runs]).update(image="")
        settle(submission)

    def _submission(self, one: Missing) -> Submission:
        key = (one.method, one.is_tuned)
        if key not in self.archives:
            packed = archive(one.method, is_tuned=one.is_tuned, scratch=self.scratch)
            door = AtTheDoor(Submission.Kind.CODE, "model", file_sha256(packed), packed.stat().st_size)
            self.archives[key] = packed, door
        path, door = self.archives[key]
        comment = f"{title_of(one.method, is_tuned=one.is_tuned)}; sent by the platform."
        with path.open("rb") as file:
            submission = store_submission(
                self._entrant(*key), one.phase, self.by, door, File(file), path.name, comment, True
            )
        self.stored.append(submission.archive)
        submission.arrival, submission.uses_quota = Submission.Arrival.BASIC, False
        submission.save(update_fields=["arrival", "uses_quota"])
        BasicEntry.objects.create(submission=submission, method=one.method, is_tuned=one.is_tuned)
        return submission

    def _entrant(self, method: str, is_tuned: bool) -> Entrant:
        key = (method, is_tuned)
        if key not in self.entrants:
            before = Submission.objects.filter(
                phase__round__competition=self.contest,
                arrival=Submission.Arrival.BASIC,
                basic_entry__method=method,
                basic_entry__is_tuned=is_tuned,
            ).select_related("entrant")
            found = before.first()
            name = title_of(method, is_tuned=is_tuned)
            self.entrants[key] = found.entrant if found else baseline_entrant(self.contest, name)
        return self.entrants[key]


@dataclass
class RemoveBasicMethods(OfBasicMethods):
    """Take the basic methods out of phases, with their scores; what runs is stopped and goes when it has ended."""

    name: ClassVar[str] = "remove_basic_methods"

    @cached_property
    def sent(self) -> list[Submission]:
        """Their submissions in the chosen phases."""
        found = Submission.objects.filter(phase__in=self.phases, arrival=Submission.Arrival.BASIC)
        return list(found.order_by("pk"))

    def check(self, now: dt.datetime) -> None:
        """There must be something to remove."""
        super().check(now)
        if not self.sent:
            raise Refused(f"No basic method was run in {self.where}.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """How much goes."""
        runs = Run.objects.filter(submission__in=self.sent).count()
        what = f"{counted(len(self.sent), 'submission')} with {counted(runs, 'run')} and their scores"
        return Preview([f"{what} in {self.where} are removed. They can be run again."])

    def change(self, now: dt.datetime) -> str:
        """Stop what has not ended; remove the rest with its files, and entrants who have nothing left."""
        own = Run.objects.filter(submission__in=self.sent)
        runs = list(own.exclude(state__in=ENDED).order_by("pk").select_for_update(of=("self",), no_key=True))
        for run in runs:
            if run.state not in AT_WORKER:
                end_run(run, RunState.CANCELLED, reason="cancelled", sentence=REMOVED)
        busy = own.filter(state__in=AT_WORKER)
        busy.update(cancel_asked=True, sentence="Is being stopped because it was removed.")
        waiting = set(busy.values_list("submission", flat=True))
        gone = [one for one in self.sent if one.pk not in waiting]
        remove_submissions([one.pk for one in gone])
        _remove_entrants({one.entrant_id for one in gone})
        text = f"{counted(len(gone), 'submission')} of the basic methods in {self.where} were removed."
        if waiting:
            text += f" {counted(len(waiting), 'submission')} are being stopped; remove them when they have ended."
        return text


def _remove_entrants(ids: set[int]) -> None:
    """Remove those of the platform's own entrants that have no submission left."""
    idle = Entrant.objects.filter(pk__in=ids, is_baseline=True, submissions=None)
    teams = list(idle.values_list("team", flat=True))
    idle.delete()
    Team.objects.filter(pk__in=teams).delete()
