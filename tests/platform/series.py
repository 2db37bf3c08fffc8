"""A whole series for tests: Tweakathon[0], Final[0], AutoML[1], Tweakathon[1], Final[1], AutoML[2], by hours."""

import datetime as dt
from dataclasses import dataclass, field

from django.core.files.base import ContentFile
from django.utils import timezone

from accounts.models import User
from competitions.models import Competition, Phase, Round, Task
from submissions import handover
from submissions.models import Prediction, Run, RunState, Submission
from submissions.scoring import score_run
from submissions.transitions import end_run, settle
from tests.platform import factories as make

Kind = Phase.Kind
GOOD = {"valid": [0.1, 0.9, 0.2, 0.8], "test": [0.1, 0.9, 0.2, 0.8, 0.7, 0.3]}
BAD = {"valid": [0.9, 0.1, 0.8, 0.2], "test": [0.9, 0.1, 0.8, 0.2, 0.3, 0.7]}


@dataclass
class Series:
    """Phases by their titles; each opens some hours after `start`. Blind datasets lie in `hidden`."""

    contest: Competition
    start: dt.datetime
    phases: dict[str, Phase] = field(default_factory=dict)

    def __getitem__(self, title: str) -> Phase:
        phase = self.phases[title]
        phase.refresh_from_db()
        return phase

    def at(self, hours: float) -> dt.datetime:
        """The moment so many hours after the start."""
        return self.start + dt.timedelta(hours=hours)

    def phase(self, title: str, kind: str, opens: float, closes: float, parent: str = "", **fields) -> Phase:
        """Make a phase."""
        group, _ = Round.objects.get_or_create(competition=self.contest, number=int(title[-2]))
        made = Phase.objects.create(
            round=group,
            number=len(self.phases) + 1,
            kind=kind,
            title=title,
            opens_at=self.at(opens),
            closes_at=self.at(closes),
            parent=self.phases.get(parent),
            **fields,
        )
        self.phases[title] = made
        return made

    def tasks(self, datasets, *titles: str) -> None:
        """Put the same datasets into several phases."""
        for title in titles:
            for order, dataset in enumerate(datasets):
                Task.objects.create(phase=self.phases[title], dataset=dataset, order=order)


def series(start: dt.datetime | None = None, *, datasets: int = 2, **tweakathon) -> Series:
    """Tweakathon[0] 0-10 h, Final[0] 10-12, AutoML[1] 10-12, Tweakathon[1] 12-20, Final[1] and AutoML[2] 20-22."""
    contest = make.competition()
    made = Series(contest, start or timezone.now())
    made.phase("Tweakathon[0]", Kind.TWEAKATHON, 0, 10, **tweakathon)
    made.phase("Final[0]", Kind.FINAL, 10, 12, "Tweakathon[0]")
    made.phase("AutoML[1]", Kind.AUTOML, 10, 12, "Tweakathon[0]")
    made.phase("Tweakathon[1]", Kind.TWEAKATHON, 12, 20, "AutoML[1]", carry_over=True)
    made.phase("Final[1]", Kind.FINAL, 20, 22, "Tweakathon[1]")
    made.phase("AutoML[2]", Kind.AUTOML, 20, 22, "Tweakathon[1]")
    owner = contest.created_by
    old, new, later = ([make.dataset(owner) for _ in range(datasets)] for _ in range(3))
    made.tasks(old, "Tweakathon[0]", "Final[0]")
    made.tasks(new, "AutoML[1]", "Tweakathon[1]", "Final[1]")
    made.tasks(later, "AutoML[2]")
    return made


def enter(phase: Phase, person: User, *, kind: str = "code", hours_ago: float = 0.0, **fields) -> Submission:
    """A submission that waits for its runs, made without the door."""
    received = timezone.now() - dt.timedelta(hours=hours_ago)
    return make.submission(phase, person, kind=kind, received_at=received, **fields)


def collected(
    run: Run, values: dict[str, list[float]] = GOOD, *, parts: tuple[str, ...] = ("valid", "test")
) -> Run:
    """The run has left predictions and waits for its score."""
    for part in parts:
        content = make.column(values[part])
        prediction = Prediction(run=run, part=part, name=f"{run.dataset_name}_{part}.predict", sha256="0", size=9)
        prediction.file.save("p", ContentFile(content), save=False)
        prediction.save()
    Run.objects.filter(pk=run.pk).update(state=RunState.COLLECTED, started_at=timezone.now(), wall_seconds=1.5)
    return run


def finish(submission: Submission, values: dict[str, list[float]] = GOOD) -> Submission:
    """Every run that waits for a worker leaves predictions and is scored."""
    for run in submission.runs.filter(state=RunState.QUEUED):
        score_run(collected(run, values).pk)
    submission.refresh_from_db()
    return submission


def fail(submission: Submission, reason: str = "crashed") -> Submission:
    """Every run that has not ended fails."""
    for run in submission.runs.all():
        end_run(run, RunState.FAILED, reason=reason, sentence="It failed on row 7 of the data.")
    settle(submission)
    submission.refresh_from_db()
    return submission


def tick(now: dt.datetime | None = None) -> int:
    """The clock's step, at a given moment or now."""
    return handover.tick(now)


def copies(phase: Phase) -> list[Submission]:
    """What was handed over to a phase and stands there."""
    return [one for one in phase.submissions.filter(origin__isnull=False).order_by("pk") if one.competes]
