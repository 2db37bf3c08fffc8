"""Adding, editing, ordering and removing phases; moving the dates of several; filling an empty competition."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db.models import Max

from accounts.refusals import Refused
from competitions import guards, policy
from competitions.actions import wording
from competitions.actions.base import Changed, Preview
from competitions.actions.create import blueprint_named, make_phases
from competitions.actions.dates import told
from competitions.actions.queue import OfCompetition
from competitions.actions.release import OfPhase
from competitions.actions.seen import fingerprint, require_unchanged
from competitions.blueprints import problems as problems_of_blueprint
from competitions.models import Extension, Phase, Prize, Round, Task
from competitions.presets import in_words
from competitions.protocol_check import ProtocolProblem, beside, check_competition, extra_time

MOST_PHASES = 200
DATES = ("opens_at", "closes_at")


def refused_by(problem: ValidationError) -> Refused:
    """A refusal that says what the validation said."""
    return Refused(" ".join(problem.messages), status=409)


def next_round_number(numbers: Sequence[int]) -> int:
    """The number of a round that comes after those."""
    return max(numbers, default=-1) + 1


def next_phase_number(competition_phases: Any) -> int:
    """The number of a phase that comes after those."""
    return (competition_phases.aggregate(last=Max("number"))["last"] or 0) + 1


def write_prizes(phase: Phase, titles: Sequence[str]) -> None:
    """Give the first places of a phase these prizes; claims to a place do not depend on what it is called."""
    phase.prizes.filter(place__gt=len(titles)).delete()
    for place, title in enumerate(titles, start=1):
        Prize.objects.update_or_create(phase=phase, place=place, defaults={"title": title})


@dataclass
class AddPhase(OfCompetition):
    """Put a phase into the competition. Without a round among the values it gets a new one.

    `copies_tasks` gives it the datasets of its parent, with their metrics and times.
    """

    values: Mapping[str, Any]
    copies_tasks: bool = False
    prizes: Sequence[str] = ()

    name: ClassVar[str] = "add_phase"

    def _made(self) -> Phase:
        values = dict(self.values)
        if values.get("round") is None or values["round"].pk is None:
            numbers = list(self.contest.rounds.values_list("number", flat=True))
            values["round"] = Round(competition=self.contest, number=next_round_number(numbers))
        return wording.assigned(Phase(number=next_phase_number(self.contest.phases())), values)

    def check(self, now: dt.datetime) -> None:
        """It must fit beside the phases there are."""
        made = self._made()
        if made.round.competition_id != self.contest.pk:
            raise Refused("There is no such round.", status=404)
        if self.contest.phases().count() >= MOST_PHASES:
            raise Refused(f"A competition has {MOST_PHASES} phases at most.", status=409)
        if self.by is not None and made.image and made.image not in policy.usable_images(self.by, self.contest):
            raise Refused("There is no such image.", status=404)
        try:
            made.full_clean(exclude={"round"} if made.round.pk is None else None)
        except ValidationError as problem:
            raise refused_by(problem) from problem
        for one in beside(made, list(self.contest.phases())):
            raise Refused(one.message, status=409, mend=one.mend)

    def preview(self, now: dt.datetime) -> Preview:
        """What would be there."""
        made = self._made()
        ends = f" and closes on {told(made.closes_at)}" if made.closes_at else ", without an end"
        return Preview([f"{made.title} opens on {told(made.opens_at)}{ends}. {in_words(made, [])}."])

    def change(self, now: dt.datetime) -> str:
        """Save the phase, its round where that is new, and its datasets."""
        made = self._made()
        if made.round.pk is None:
            made.round.save()
            made.round = made.round  # Django keeps the id that an object had when it was assigned
        made.save()
        count = 0
        if self.copies_tasks and made.parent_id is not None:
            for task in Task.objects.filter(phase=made.parent_id):
                Task.objects.create(phase=made, **task.asked())
                count += 1
        write_prizes(made, self.prizes)
        after = f", with the {count} datasets of {made.parent}" if count else ""
        return f"{made.title} was added{after}."


@dataclass
class EditPhase(OfPhase):
    """Change fields of a phase. `seen` is the digest of the phase as its form showed it (`wording.seen_of`)."""

    values: Mapping[str, Any]
    seen: str = ""
    prizes: Sequence[str] | None = None

    name: ClassVar[str] = "edit_phase"
    _changes: list[dict[str, str]] = field(default_factory=list, init=False)

    def _before(self) -> Phase:
        return Phase.objects.select_related("round__competition", "parent__round").get(pk=self.phase.pk)

    def _after(self) -> Phase:
        return wording.assigned(self._before(), self.values)

    def _prizes_change(self) -> bool:
        if self.prizes is None:
            return False
        return list(self.prizes) != list(self.phase.prizes.values_list("title", flat=True))

    def check(self, now: dt.datetime) -> None:
        """Nobody else changed it meanwhile, something changes, and every rule holds afterwards."""
        before, after = self._before(), self._after()
        require_unchanged(self.seen, *wording.values_of([before], wording.LABELS), what=before.title)
        if not wording.changed_fields(before, after) and not self._prizes_change():
            raise Refused("Nothing would change.", status=409)
        if after.round.competition_id != self.competition.pk:
            raise Refused("There is no such round.", status=404)
        for message in guards.moved_dates(before, after, now).values():
            raise Refused(message, status=409)
        try:
            # An image that the operator has taken away since is told of where it stands, not at every edit.
            after.full_clean(exclude={"image"} if after.image == before.image else None)
        except ValidationError as problem:
            raise refused_by(problem) from problem

    def preview(self, now: dt.datetime) -> Preview:
        """Old and new values, and what follows."""
        before, after = self._before(), self._after()
        sentences = wording.consequences(before, after, now)
        if self._prizes_change():
            sentences.append(f"The prizes of {before.title} are: {', '.join(self.prizes or ['none'])}.")
        return Preview(sentences, changes=wording.changes(before, after, moment=wording.told_here))

    def change(self, now: dt.datetime) -> str:
        """Save what changed."""
        before, after = self._before(), self._after()
        found = wording.changes(before, after)
        self._changes = wording.as_data(found)
        names = wording.changed_fields(before, after)
        if names:
            after.save(update_fields=names)
        if self.prizes is not None:
            write_prizes(after, self.prizes)
        labels = [one.label.lower() for one in found] + (["prizes"] if not found else [])
        return f"{before.title} was edited: {', '.join(labels)}."

    def details(self) -> dict[str, Any]:
        """The phase, with old and new values."""
        return {**super().details(), "changes": self._changes}


@dataclass
class RemovePhase(OfPhase):
    """Take a phase away to which nobody submitted and which no other phase comes after."""

    name: ClassVar[str] = "remove_phase"

    def check(self, now: dt.datetime) -> None:
        """Nothing may depend on it."""
        count = self.phase.submissions.count()
        if count:
            raise Refused(
                f"{self.phase.title} has {count} submissions, whose runs tell what happened.",
                status=409,
                mend="Close it instead, or hide its leaderboard.",
            )
        children = [child.title for child in self.phase.children.order_by("number")]
        if children:
            mend = "Remove them first, or let them come after another phase."
            raise Refused(f"{' and '.join(children)} come after {self.phase.title}.", status=409, mend=mend)

    def preview(self, now: dt.datetime) -> Preview:
        """What goes with it."""
        count = self.phase.tasks.count()
        stay = f" Its {count} datasets stay in the library." if count else ""
        return Preview([f"{self.phase.title} is removed from the competition.{stay}"])

    def change(self, now: dt.datetime) -> str:
        """Delete it."""
        self.phase.delete()
        return f"{self.phase.title} was removed."


@dataclass
class MovePhase(OfPhase):
    """Let a phase change places with the one before or after it in the competition's order."""

    is_up: bool

    name: ClassVar[str] = "move_phase"

    def _neighbour(self) -> Phase | None:
        phases = list(self.competition.phases())
        place = next(index for index, phase in enumerate(phases) if phase.pk == self.phase.pk)
        other = place + (-1 if self.is_up else 1)
        return phases[other] if 0 <= other < len(phases) else None

    def check(self, now: dt.datetime) -> None:
        """There must be one."""
        if self._neighbour() is None:
            raise Refused(f"{self.phase.title} is the {'first' if self.is_up else 'last'} already.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """Which one."""
        where = "before" if self.is_up else "after"
        return Preview([f"{self.phase.title} stands {where} {self._neighbour()}. Dates do not change."])

    def change(self, now: dt.datetime) -> str:
        """Swap the numbers, by way of one that no phase has."""
        other = self._neighbour()
        assert other is not None
        mine, theirs = self.phase.number, other.number
        free = next_phase_number(self.competition.phases())
        for phase, number in ((self.phase, free), (other, mine), (self.phase, theirs)):
            Phase.objects.filter(pk=phase.pk).update(number=number)
        self.phase.number = theirs
        return f"{self.phase.title} stands {'before' if self.is_up else 'after'} {other.title} now."


@dataclass
class MoveDates(OfCompetition):
    """Give several phases other dates at once. `dates` maps ids of phases to opening and close.

    `seen` is the digest of all dates as the form showed them (`dates_seen`).
    """

    dates: Mapping[int, tuple[dt.datetime, dt.datetime | None]]
    seen: str = ""

    name: ClassVar[str] = "move_dates"
    _changes: list[dict[str, str]] = field(default_factory=list, init=False)

    def _pairs(self) -> list[tuple[Phase, Phase]]:
        """Every phase as it is and as it would be, in their order."""
        before, after = list(self.contest.phases()), list(self.contest.phases())
        for phase in after:
            phase.round.competition = self.contest
            phase.opens_at, phase.closes_at = self.dates.get(phase.pk, (phase.opens_at, phase.closes_at))
        return list(zip(before, after, strict=True))

    def problems(self, now: dt.datetime) -> list[tuple[Phase, ProtocolProblem]]:
        """What stands against the new dates, with the phase that each is about; what was wrong before is not."""
        pairs = self._pairs()
        found = []
        for before, after in pairs:
            for name, message in guards.moved_dates(before, after, now).items():
                found.append(ProtocolProblem(after.title, message, "", field=name))
        phases = [phase for _, phase in pairs]
        given = Extension.objects.filter(phase__round__competition=self.contest)
        refusals = [one for one in [*check_competition(phases), *extra_time(phases, given)] if not one.is_warning]
        known = {str(one) for one in check_competition([phase for phase, _ in pairs])}
        found += [one for one in refusals if str(one) not in known]
        by_title = {phase.title: phase for phase in phases}
        return [(by_title.get(one.place, phases[0]), one) for one in found]

    def check(self, now: dt.datetime) -> None:
        """All of them must belong here, something must move, and the protocol must hold."""
        pairs = self._pairs()
        if not {before.pk for before, _ in pairs}.issuperset(self.dates):
            raise Refused("There is no such phase.", status=404)
        rows = [before for before, _ in pairs]
        require_unchanged(self.seen, *wording.values_of(rows, DATES), what="dates")
        if not any(wording.changed_fields(before, after, DATES) for before, after in pairs):
            raise Refused("No date would change.", status=409)
        for _, problem in self.problems(now):
            raise Refused(problem.message, status=409, mend=problem.mend)

    def preview(self, now: dt.datetime) -> Preview:
        """Every date that changes."""
        pairs = self._pairs()
        sentences = [
            sentence
            for before, after in pairs
            if wording.changed_fields(before, after, DATES)
            for sentence in wording.consequences(before, after, now)
        ]
        closing = self.contest.teams_close_at
        if closing is not None:
            sentences.append(f"Teams still close on {wording.told_here(closing)}.")
        return Preview(list(dict.fromkeys(sentences)), changes=self._told(pairs, wording.told_here))

    def _told(
        self, pairs: Sequence[tuple[Phase, Phase]], moment: Callable[[dt.datetime], str] = told
    ) -> list[Changed]:
        return [
            Changed(f"{before.title}: {one.label.lower()}", one.old, one.new)
            for before, after in pairs
            for one in wording.changes(before, after, DATES, moment=moment)
        ]

    def change(self, now: dt.datetime) -> str:
        """Save the dates."""
        pairs = self._pairs()
        self._changes = wording.as_data(self._told(pairs))
        titles = []
        for before, after in pairs:
            names = wording.changed_fields(before, after, DATES)
            if names:
                after.save(update_fields=names)
                titles.append(after.title)
        return f"Dates were moved: {', '.join(titles)}."

    def details(self) -> dict[str, Any]:
        """Old and new dates."""
        return {"changes": self._changes}


def dates_seen(phases: Sequence[Phase]) -> str:
    """The digest of all dates of a competition."""
    return fingerprint(*wording.values_of(phases, DATES))


@dataclass
class FillFromBlueprint(OfCompetition):
    """Give a competition without phases those of a template."""

    blueprint: str
    start: dt.datetime

    name: ClassVar[str] = "fill_from_blueprint"

    def check(self, now: dt.datetime) -> None:
        """It must be empty still, and the template must fit the calendar."""
        if self.contest.phases().exists():
            raise Refused("The competition has phases already.", status=409, mend="Add single phases to them.")
        try:
            found = problems_of_blueprint(blueprint_named(self.blueprint), self.start, {})
        except OverflowError:
            raise Refused("The phases would end after the end of the calendar.") from None
        for problem in found:
            if not problem.is_warning:
                raise Refused(problem.message, mend=problem.mend)

    def preview(self, now: dt.datetime) -> Preview:
        """Which phases come."""
        shapes = blueprint_named(self.blueprint).shapes
        return Preview([f"{len(shapes)} phases are added: {', '.join(shape.title for shape in shapes)}."])

    def change(self, now: dt.datetime) -> str:
        """Make rounds and phases; empty rounds of before go."""
        self.contest.rounds.all().delete()
        blueprint = blueprint_named(self.blueprint)
        make_phases(self.contest, blueprint, self.start, {})
        return f"The phases of the template {blueprint.name} were added."

    def details(self) -> dict[str, Any]:
        """The template."""
        return {"blueprint": self.blueprint}
