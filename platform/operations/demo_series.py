"""The demo's series of phases, and the calendar that moves on while it plays."""

import datetime as dt

from django.db import transaction
from django.utils import timezone

from competitions.actions.dates import shift
from competitions.models import Competition, Phase, Prize, Round, Task
from datasets.models import Dataset
from operations import demo_texts as texts
from submissions import handover
from submissions.models import Handover, Submission

Kind = Phase.Kind
FIRST_DAYS, BLIND_DAYS, OPEN_DAYS = 30, 7, 60
# Longer than the datasets ask for: a laptop that does other things too should still show a full board.
WALL_SECONDS = 30.0
ROUNDS = {0: "Preparation", 1: "Novice", 2: "Intermediate"}
TWEAKATHON_0, FINAL_0, AUTOML_1, TWEAKATHON_1, FINAL_1, AUTOML_2 = range(1, 7)

# Number: round, kind, title, description, the phase when whose end it opens, days, parent.
PLAN: dict[int, tuple[int, str, str, str, int | None, int, int | None]] = {
    TWEAKATHON_0: (0, Kind.TWEAKATHON, "Tweakathon[0]", texts.TWEAKATHON, None, FIRST_DAYS, None),
    FINAL_0: (0, Kind.FINAL, "Final[0]", texts.FINAL, TWEAKATHON_0, BLIND_DAYS, TWEAKATHON_0),
    AUTOML_1: (1, Kind.AUTOML, "AutoML[1]", texts.AUTOML, TWEAKATHON_0, BLIND_DAYS, TWEAKATHON_0),
    TWEAKATHON_1: (1, Kind.TWEAKATHON, "Tweakathon[1]", texts.TWEAKATHON_LATER, AUTOML_1, OPEN_DAYS, AUTOML_1),
    FINAL_1: (1, Kind.FINAL, "Final[1]", texts.FINAL, TWEAKATHON_1, BLIND_DAYS, TWEAKATHON_1),
    AUTOML_2: (2, Kind.AUTOML, "AutoML[2]", texts.AUTOML, TWEAKATHON_1, BLIND_DAYS, TWEAKATHON_1),
}
DATASETS_OF = {TWEAKATHON_0: 0, FINAL_0: 0, AUTOML_1: 1, TWEAKATHON_1: 1, FINAL_1: 1, AUTOML_2: 2}


def make_phases(competition: Competition, datasets: dict[int, list[Dataset]], now: dt.datetime) -> None:
    """Make the phases that are missing, each with its datasets; Tweakathon[0] opens today.

    `datasets` maps rounds to datasets.
    """
    opens = now.astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    made: dict[int, Phase] = {phase.number: phase for phase in competition.phases()}
    for number, (round_number, kind, title, description, follows, days, parent) in PLAN.items():
        if number not in made:
            begins = made[follows].closes_at if follows else opens
            assert begins is not None
            group, _ = Round.objects.get_or_create(
                competition=competition, number=round_number, defaults={"name": ROUNDS[round_number]}
            )
            made[number] = Phase.objects.create(
                round=group,
                number=number,
                kind=kind,
                title=title,
                description=description,
                opens_at=begins,
                closes_at=begins + dt.timedelta(days=days),
                parent=made[parent] if parent else None,
                carry_over=number == TWEAKATHON_1,
                wall_seconds=WALL_SECONDS,
            )
        if not made[number].tasks.exists():
            for order, dataset in enumerate(datasets[DATASETS_OF[number]]):
                Task.objects.create(phase=made[number], dataset=dataset, order=order)
    Prize.objects.get_or_create(phase=made[AUTOML_1], place=1, defaults={"title": texts.PRIZE})


class DemoSeries:
    """The phases of the demo by number, read anew whenever they are asked for."""

    def __init__(self, competition: Competition) -> None:
        self.competition = competition

    def __getitem__(self, number: int) -> Phase:
        phases = Phase.objects.select_related("round__competition", "parent")
        return phases.get(round__competition=self.competition, number=number)

    def has_ended(self, number: int) -> bool:
        """Whether a phase is over by the calendar of now."""
        return self[number].has_ended(timezone.now())

    def was_played(self) -> bool:
        """Whether somebody has sent something to Tweakathon[1] before."""
        return self[TWEAKATHON_1].submissions.filter(origin=None).exists()

    def pass_time(self, number: int) -> None:
        """Move the calendar on to the end of a phase, and do what is due then."""
        closes_at = self[number].closes_at
        assert closes_at is not None
        shift(self.competition, max(closes_at - timezone.now(), dt.timedelta(0)) + dt.timedelta(seconds=1))
        handover.tick()

    def handed_over(self, number: int) -> dict[str, Submission]:
        """What went forward to a phase by the names of the entrants."""
        found = self[number].submissions.competing().filter(origin__isnull=False).select_related("entrant")
        return {submission.entrant.name: submission for submission in found}

    def without_code(self, number: int) -> list[str]:
        """The entrants that have no place in a blind phase, because they sent results alone."""
        rows = self[number].handovers.filter(outcome=Handover.Outcome.NO_CODE)
        return list(rows.values_list("entrant__name", flat=True))

    def reopen(self) -> None:
        """Move the calendar back where the demo was last used so long ago that Tweakathon[1] has closed.

        What had gone forward from it until then goes forward anew when it closes again.
        """
        last = self[TWEAKATHON_1]
        if not last.has_ended(timezone.now()):
            return
        with transaction.atomic():
            shift(self.competition, last.opens_at - timezone.now())
            later = Task.objects.filter(phase__round__competition=self.competition, phase__number__gt=TWEAKATHON_1)
            later.update(revealed_at=None)
