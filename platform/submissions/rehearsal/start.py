"""Starting a rehearsal: the copy, its datasets, its entrants."""

import datetime as dt
from dataclasses import dataclass, field
from typing import ClassVar

from django.db.models import F, Q
from django.db.models.functions import Least

from accounts.models import User
from accounts.refusals import Refused
from competitions import clock
from competitions.actions.base import Action, Preview, record
from competitions.actions.copying import copied, free_slug
from competitions.models import Competition, Deletion, Phase, Task
from competitions.receivers import mirror
from datasets.models import Dataset
from submissions.models import Worker
from submissions.rehearsal import made_datasets
from submissions.rehearsal.advance import catch_up
from submissions.rehearsal.entrants import PLAYERS, take_part
from submissions.rehearsal.made_datasets import MOST_A_PHASE, WALL_SECONDS

MOST_REPEATS = 2


@dataclass
class StartRehearsal(Action):
    """Make the rehearsal of a competition; `made` is it afterwards.

    Its calendar is that of the competition, moved so that nothing of it lies in the past.
    """

    contest: Competition

    name: ClassVar[str] = "start_rehearsal"
    made: Competition | None = field(default=None, init=False)
    _datasets: dict[int, Dataset] = field(default_factory=dict, init=False)

    @property
    def competition(self) -> Competition:
        """The competition that is rehearsed."""
        return self.contest

    @property
    def owner(self) -> User:
        """Whose the rehearsal and its datasets are."""
        return self.by or self.contest.created_by

    def check(self, now: dt.datetime) -> None:
        """It must have phases with datasets, be no rehearsal itself, and have none."""
        if self.contest.rehearses_id is not None:
            raise Refused("A rehearsal has no rehearsal of its own.", status=409)
        if Deletion.objects.filter(competition=self.contest).exists():
            raise Refused(f"{self.contest.title} is being deleted.", status=409)
        if Competition.objects.filter(rehearses=self.contest).exists():
            mend = "Go on with it, or throw it away first."
            raise Refused(f"{self.contest.title} has a rehearsal already.", status=409, mend=mend)
        if not Task.objects.filter(phase__round__competition=self.contest).exists():
            mend = "Make its phases first, and choose their datasets."
            raise Refused(f"{self.contest.title} has no phase with a dataset.", status=409, mend=mend)
        if self.contest.programs.exists():
            # Made datasets and the kit's submissions mean nothing to programs that others wrote.
            mend = "Clone it, and send submissions of your own to the clone."
            raise Refused(
                f"{self.contest.title} has programs of its own and is not rehearsed.", status=409, mend=mend
            )

    def preview(self, now: dt.datetime) -> Preview:
        """What would be made."""
        count = len(made_datasets.rehearsed_datasets(self.contest))
        names = ", ".join(player.name for player in PLAYERS)
        return Preview(
            [
                f"A copy of {self.contest.title} is made that only its organizers see, with a clock of its own.",
                f"{count} small made datasets stand for the real ones, at most {MOST_A_PHASE} a phase; each run "
                f"gets {WALL_SECONDS:.0f} seconds at most.",
                f"{len(PLAYERS)} simulated entrants take part: {names}. No mail is sent.",
            ]
        )

    def execute(self) -> str:
        """Make the datasets first: importing them is too slow to keep others waiting for the transaction."""
        self.permit()
        self.check(clock.now(self.contest))
        self._datasets = made_datasets.stand_ins(self.contest, self.owner)
        try:
            text = super().execute()
        except BaseException:
            made_datasets.remove([dataset.pk for dataset in self._datasets.values()])
            raise
        assert self.made is not None
        catch_up(self.made)
        return text

    def change(self, now: dt.datetime) -> str:
        """Copy the competition and let the entrants in."""
        shift = shift_of(self.contest, now)
        self.made = copied(
            self.contest,
            slug=free_slug(f"{self.contest.slug}-rehearsal"),
            title=f"Rehearsal of {self.contest.title}",
            owner=self.owner,
            shift=shift,
            dataset_of=lambda task: self._datasets.get(task.dataset_id),
            rehearses=self.contest,
            state=Competition.State.PUBLISHED,
            visibility=Competition.Visibility.PRIVATE,
            registration=Competition.Registration.CLOSED,
        )
        _cap(self.made)
        _share(self.contest, self.made)
        for worker in Worker.objects.filter(competitions=self.contest):
            worker.competitions.add(self.made)  # its own workers rehearse, too
        take_part(self.made)
        moved = f" Its dates are {shift.days} days later than planned." if shift >= dt.timedelta(days=1) else ""
        text = f"The rehearsal began with {len(self._datasets)} datasets and {len(PLAYERS)} entrants.{moved}"
        record(self.made, by=self.by, action=self.name, text=text, at=now)
        return f"A rehearsal of {self.contest.title} was started."


def shift_of(competition: Competition, now: dt.datetime) -> dt.timedelta:
    """How much later the rehearsal's dates are: nothing, unless the competition has begun already."""
    first = competition.phases().order_by("opens_at").values_list("opens_at", flat=True).first()
    return max(dt.timedelta(0), now - first) if first is not None else dt.timedelta(0)


def _cap(rehearsal: Competition) -> None:
    """Bound what a run may take, so that a hand-over takes minutes at most."""
    phases = Phase.objects.filter(round__competition=rehearsal)
    phases.filter(Q(wall_seconds=None) | Q(wall_seconds__gt=WALL_SECONDS)).update(wall_seconds=WALL_SECONDS)
    phases.update(cores=None, memory_bytes=None, repeats=Least(F("repeats"), MOST_REPEATS))
    Task.objects.filter(phase__in=phases, wall_seconds__gt=WALL_SECONDS).update(wall_seconds=WALL_SECONDS)


def _share(competition: Competition, rehearsal: Competition) -> None:
    """Its organizers hold the same roles in the rehearsal; an operator who holds none owns it."""
    for role in competition.organizers.all():
        mirror(role, rehearsal)


def rehearsal_of(competition: Competition) -> Competition | None:
    """The rehearsal of a competition, if it has one."""
    return Competition.objects.filter(rehearses=competition).select_related("rehearses").first()
