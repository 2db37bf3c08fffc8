"""Letting runs go on beyond their budget, to learn what more time would have brought.

The code of a run that counts runs once more, with the same seed and told the same budget, on the same data, for
some times as long. It is a submission of nobody's that stands on no board and is handed on nowhere: scores, ranks
and curves of the real run stay what they are. What it predicts is scored as other predictions of the phase are
and shown beside the real curve, to those who may see that.
"""

import datetime as dt
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from accounts.models import User
from accounts.refusals import Refused
from analysis.models import Replay, RunOn
from competitions.actions.base import Action, Preview
from competitions.models import Competition, Entrant, Phase
from submissions import curves, dispatch, making
from submissions.again import counted, standing_runs, worst_hours
from submissions.models import Reason, Run, RunState, Submission
from submissions.models.runs import ENDED
from submissions.programs.making import is_programmed
from submissions.reference import baseline_entrant
from submissions.transitions import settle

FACTORS = (2, 3, 4, 6, 10)
NAME = "Runs beyond the budget"
WAITS = "Waits for a worker: it goes on beyond its budget, for its learning curve alone."


def told_seconds(run: Run) -> float | None:
    """The budget that the program is told where it has more; None where it is told what it has."""
    if run.submission.arrival != Submission.Arrival.RUN_ON:
        return None
    found = RunOn.objects.select_related("of").filter(run=run).first()
    return None if found is None else found.of.budget.wall_seconds


def takes_run_ons(phase: Phase) -> bool:
    """Whether runs of the phase leave learning curves: code runs there, and what it saves on the way counts."""
    tasks = making.tasks_of(phase)
    return bool(tasks) and not is_programmed(tasks) and phase.any_time and phase.kind != Phase.Kind.FINAL


def of_phases(phases: Iterable[Phase]) -> list[RunOn]:
    """All runs that went on in the phases, or are about to."""
    found = RunOn.objects.filter(phase__in=phases)
    return list(found.select_related("run__submission", "phase").order_by("phase", "factor", "pk"))


@dataclass
class RunOnBeyond(Action):
    """Let the runs that count in a phase go on for `factor` times their budget.

    Only what is missing is made: those that went on for as long already do not run again.
    """

    phase: Phase
    factor: int

    name: ClassVar[str] = "run_on"

    @property
    def competition(self) -> Competition:
        """The phase's."""
        return self.phase.competition

    @cached_property
    def runs(self) -> list[Run]:
        """The runs that would go on: code that ended with predictions or was stopped by its time."""
        went_on = RunOn.objects.filter(phase=self.phase, factor__gte=self.factor)
        went_on = went_on.exclude(run__state__in=(RunState.FAILED, RunState.CANCELLED))
        there = set(went_on.values_list("of", flat=True))
        return [
            run
            for run in standing_runs(self.phase)
            if run.pk not in there
            and run.source == Run.Source.CODE
            and (run.state == RunState.FINISHED or run.reason == Reason.TIMED_OUT)
            and run.submission.arrival != Submission.Arrival.BASIC
            and run.task.quarantined_at is None
        ]

    def check(self, now: dt.datetime) -> None:
        """The phase must be over, and runs of it must leave curves."""
        if self.factor not in FACTORS:
            told = ", ".join(str(factor) for factor in FACTORS)
            raise Refused(f"Runs go on for {told} times their budget, nothing else.")
        if Replay.objects.filter(competition=self.competition).exists():
            raise Refused("This competition replays published results; nothing runs in it.", status=409)
        if not takes_run_ons(self.phase):
            raise Refused(
                f"Runs of {self.phase.title} leave no learning curves of their own.",
                status=409,
                mend="Choose a phase in which code runs and predictions on the way count.",
            )
        if not curves.is_over(self.phase, now):
            raise Refused(f"{self.phase.title} is not over yet.", status=409, mend="Wait until nobody can submit.")
        if not self.runs:
            raise Refused(
                f"There is no run in {self.phase.title} that could go on for {self.factor} times its budget, "
                "or all have done so.",
                status=409,
            )

    @property
    def _worst(self) -> str:
        longer = [run for run in self.runs for _ in range(self.factor)]
        return worst_hours(longer)

    def preview(self, now: dt.datetime) -> Preview:
        """How many runs, how long they may take, and that nothing else changes."""
        entrants = len({run.submission.entrant_id for run in self.runs})
        return Preview(
            [
                f"{counted(len(self.runs), 'run')} of {counted(entrants, 'entrant')} in {self.phase.title} "
                f"repeated with the same seed for {self.factor} times the budget: {self._worst}, after all live "
                "work.",
                "Their programs are told the budget that they were told before.",
                "Scores, ranks and curves of the real runs stay as they are; what comes after the budget is drawn "
                "beside them, for those who may see them.",
            ],
            rerun=len(self.runs),
        )

    def change(self, now: dt.datetime) -> str:
        """Make the submissions that stand nowhere, and their runs."""
        by = self.by or self.competition.created_by
        entrant = _nobody(self.competition)
        ordered = sorted(self.runs, key=lambda run: (run.submission_id, run.order, run.pk))
        for _, own in groupby(ordered, key=lambda run: run.submission_id):
            _send(list(own), entrant, by, self.phase, self.factor, now)
        transaction.on_commit(dispatch.after_commit, robust=True)
        return f"{counted(len(self.runs), 'run')} of {self.phase.title} go on for {self.factor} times the budget."

    def details(self) -> dict[str, Any]:
        """The phase and the factor."""
        return {"phase": self.phase.number, "factor": self.factor}


def _nobody(competition: Competition) -> Entrant:
    """The competition's one entrant for all of them, so that its name tells of nobody."""
    before = Submission.objects.filter(
        phase__round__competition=competition, arrival=Submission.Arrival.RUN_ON
    ).select_related("entrant")
    found = before.first()
    return found.entrant if found else baseline_entrant(competition, NAME)


def _send(runs: list[Run], entrant: Entrant, by: User, phase: Phase, factor: int, now: dt.datetime) -> Submission:
    source = runs[0].submission
    last = entrant.submissions.aggregate(last=Max("number"))["last"] or 0
    submission = Submission.objects.create(
        entrant=entrant,
        phase=phase,
        user=by,
        arrival=Submission.Arrival.RUN_ON,
        number=last + 1,
        received_at=now,
        archive=source.archive.name,
        filename=source.filename,
        sha256=source.sha256,
        size=source.size,
        kind=source.kind,
        interface=source.interface,
        comment=f"Submission {source.pk} for {factor} times its budget.",
        is_kit_code=source.is_kit_code,
        uses_quota=False,
    )
    for run in runs:
        RunOn.objects.create(of=run, run=_longer(run, submission, factor), factor=factor, phase=phase)
    settle(submission)
    return submission


def _longer(run: Run, submission: Submission, factor: int) -> Run:
    """The same run once more, with more time."""
    return Run.objects.create(
        submission=submission,
        task=run.task,
        order=run.order,
        source=Run.Source.CODE,
        dataset_version_id=run.dataset_version_id,
        dataset_name=run.dataset_name,
        metric=run.metric,
        convention=run.convention,
        repeat=run.repeat,
        budget_json={**run.budget_json, "wall_seconds": run.budget.wall_seconds * factor},
        image=run.image,
        seed=run.seed,
        any_time=True,
        resource_class=run.resource_class,
        is_rerun=True,
        state=RunState.QUEUED,
        queued_at=timezone.now(),
        sentence=WAITS,
    )


@dataclass
class RemoveRunOns(Action):
    """Remove what went on beyond its budget in a phase, with its predictions and scores."""

    phase: Phase

    name: ClassVar[str] = "remove_run_ons"

    @property
    def competition(self) -> Competition:
        """The phase's."""
        return self.phase.competition

    @cached_property
    def ended(self) -> list[int]:
        """The submissions that can go: none of their runs is at work."""
        own = Submission.objects.filter(phase=self.phase, arrival=Submission.Arrival.RUN_ON)
        at_work = Run.objects.filter(submission__in=own).exclude(state__in=(*ENDED, RunState.QUEUED))
        return list(own.exclude(pk__in=at_work.values("submission")).values_list("pk", flat=True))

    def check(self, now: dt.datetime) -> None:
        """There must be one that is not at work."""
        if not self.ended:
            raise Refused(
                f"Nothing went on beyond its budget in {self.phase.title}, or it is at work just now.", status=409
            )

    def preview(self, now: dt.datetime) -> Preview:
        """How many go."""
        count = Run.objects.filter(submission__in=self.ended).count()
        return Preview([f"{counted(count, 'run')} beyond the budget of {self.phase.title} are removed. The real "
                        "runs stay as they are."])  # fmt: skip

    def change(self, now: dt.datetime) -> str:
        """Remove them."""
        count = _remove(self.ended)
        return f"{counted(count, 'run')} beyond the budget of {self.phase.title} were removed."

    def details(self) -> dict[str, Any]:
        """The phase."""
        return {"phase": self.phase.number}


def _remove(submissions: Collection[int]) -> int:
    """Remove the rows. Their archives are those of the real submissions; the rest of their files nobody refers to
    any more, and the site sweeps it away.
    """
    count = Run.objects.filter(submission__in=submissions).count()
    Submission.objects.filter(pk__in=submissions).delete()
    return count
