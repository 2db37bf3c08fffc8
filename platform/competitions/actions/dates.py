"""Moving deadlines: for everybody, with all that follows; for one entrant; and the whole clock."""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import F, Model, QuerySet

from accounts.refusals import Refused
from competitions import clock
from competitions.actions.base import Preview
from competitions.actions.release import OfPhase
from competitions.models import Competition, Entrant, Extension, Phase, PrizeClaim, Task
from competitions.protocol_check import check_competition, extra_time
from competitions.signals import shifted


def told(moment: dt.datetime) -> str:
    """A moment in a sentence: `3 May 2026 at 12:00 UTC`."""
    utc = moment.astimezone(dt.UTC)
    return f"{utc.day} {utc:%B %Y at %H:%M} UTC"


@dataclass
class ExtendDeadline(OfPhase):
    """Move the close of a phase, and by the same time everything that follows it."""

    closes_at: dt.datetime
    move_later: bool = True

    name: ClassVar[str] = "extend_deadline"

    def _moved(self) -> list[Phase]:
        """The phases after this one, with their dates moved, not saved."""
        before = self.phase.closes_at
        if before is None or not self.move_later:
            return []
        delta = self.closes_at - before
        later = list(self.competition.phases().filter(opens_at__gte=before).exclude(pk=self.phase.pk))
        for phase in later:
            if not all(clock.can_move(date, delta) for date in (phase.opens_at, phase.closes_at) if date):
                raise Refused("Phases after this one would move past the end of the calendar.")
            phase.opens_at += delta
            if phase.closes_at is not None:
                phase.closes_at += delta
        return later

    def check(self, now: dt.datetime) -> None:
        """A phase that has ended stays ended: its entries have gone forward."""
        if self.phase.has_ended(now):
            mend = "Give those who need it extra time."
            raise Refused(f"{self.phase.title} has ended; its entries went forward.", status=409, mend=mend)
        if self.closes_at <= now or self.closes_at <= self.phase.opens_at:
            raise Refused("The new deadline lies in the past, or before the phase opens.")
        if self.closes_at == self.phase.closes_at:
            raise Refused(f"{self.phase.title} closes then already.", status=409)
        moved = {phase.pk: phase for phase in self._moved()}
        phases = [moved.get(phase.pk, phase) for phase in self.competition.phases()]
        for phase in phases:
            if phase.pk == self.phase.pk:
                phase.closes_at = self.closes_at
        refused = [problem for problem in check_competition(phases) if not problem.is_warning]
        if refused:
            raise Refused(refused[0].message, status=409, mend="Move the phases after it, too.")
        for problem in extra_time(phases, self._extensions(moved)):
            raise Refused(problem.message, status=409, mend="Choose a deadline that leaves room for it.")

    def _extensions(self, moved: Collection[int]) -> list[Extension]:
        """The extra time that entrants have, moved with the phases that move, not saved."""
        found = list(Extension.objects.filter(phase__round__competition=self.competition))
        for extension in found:
            if extension.phase_id in moved and self.phase.closes_at is not None:
                extension.closes_at += self.closes_at - self.phase.closes_at
        return found

    def preview(self, now: dt.datetime) -> Preview:
        """Every date that would change."""
        sentences = [f"{self.phase.title} closes on {told(self.closes_at)}."]
        for phase in self._moved():
            ends = f", closes on {told(phase.closes_at)}" if phase.closes_at else ""
            sentences.append(f"{phase.title} opens on {told(phase.opens_at)}{ends}.")
        return Preview(sentences)

    def change(self, now: dt.datetime) -> str:
        """Save the dates."""
        before = self.phase.closes_at
        moved = self._moved()
        for phase in moved:
            phase.save(update_fields=["opens_at", "closes_at"])
        self.phase.closes_at = self.closes_at
        self.phase.save(update_fields=["closes_at"])
        if moved and before is not None:
            delta = self.closes_at - before
            Extension.objects.filter(phase__in=moved).update(closes_at=F("closes_at") + delta)
            closing = self.competition.teams_close_at
            if closing is not None and closing >= before:
                self.competition.teams_close_at = closing + delta
                self.competition.save(update_fields=["teams_close_at"])
        after = f", with {len(moved)} phases after it" if moved else ""
        return f"The deadline of {self.phase.title} was moved to {told(self.closes_at)}{after}."


@dataclass
class GiveExtraTime(OfPhase):
    """Keep a phase open for one entrant, after a fault that was not theirs."""

    entrant: Entrant
    closes_at: dt.datetime
    why: str

    name: ClassVar[str] = "give_extra_time"

    def check(self, now: dt.datetime) -> None:
        """The extra time ends before the entrant could know the datasets of a blind phase that follows."""
        if self.entrant.competition_id != self.competition.pk:
            raise Refused("This entrant belongs to another competition.", status=404)
        if not self.phase.takes_submissions or not self.phase.has_begun(now):
            raise Refused(f"Nobody submits to {self.phase.title} now.", status=409)
        if not self.why.strip():
            raise Refused("Extra time needs a reason that others may read.")
        if self.phase.closes_at is None or self.closes_at <= max(self.phase.closes_at, now):
            raise Refused(f"The extra time must end after {self.phase.title} closes, and after now.")
        for child in self.phase.children.filter(kind=Phase.Kind.AUTOML):
            if child.closes_at is not None and child.closes_at < self.closes_at:
                raise Refused(
                    f"{child.title} closes on {told(child.closes_at)} and shows its datasets then.",
                    status=409,
                    mend="Let the extra time end before, or move that deadline first.",
                )

    def preview(self, now: dt.datetime) -> Preview:
        """Who may submit until when, and what waits for it."""
        waiting = [child.title for child in self.phase.children.order_by("number") if child.takes_over]
        sentences = [f"{self.entrant.name} may submit to {self.phase.title} until {told(self.closes_at)}."]
        if waiting:
            sentences.append(f"{' and '.join(waiting)} wait for this entrant until then, and for nobody else.")
        return Preview(sentences)

    def change(self, now: dt.datetime) -> str:
        """Keep the extension; a second one replaces the first."""
        Extension.objects.update_or_create(
            phase=self.phase,
            entrant=self.entrant,
            defaults={"closes_at": self.closes_at, "why": self.why.strip()[:300], "given_by": self._giver()},
        )
        return (
            f"{self.entrant.name} got time in {self.phase.title} until {told(self.closes_at)}: {self.why.strip()}"
        )

    def _giver(self) -> Any:
        return self.by or self.competition.created_by

    def details(self) -> dict[str, object]:
        """The phase and the entrant."""
        return {"phase": self.phase.number, "entrant": self.entrant.pk}


@dataclass
class Moved:
    """Columns of dates that a shift moves, for the rows of a competition."""

    rows: "QuerySet[Any]"
    columns: tuple[str, ...] = field(default=())

    def move(self, delta: dt.timedelta) -> None:
        """Move the dates into the past; empty ones stay empty."""
        self.rows.update(**{column: F(column) - delta for column in self.columns})


def moved(model: type[Model], path: str, competition: object, *columns: str) -> Moved:
    """The columns of a model's rows that belong to the competition by `path`."""
    return Moved(model._default_manager.filter(**{path: competition}), columns)


def shift(competition: Competition, delta: dt.timedelta) -> None:
    """Move every date of the competition into the past, as if so much time had passed; for demonstrations.

    Whatever is due then happens at the next tick, as it would have. The audit log stays: it says when
    something was really done.
    """
    parts = [
        moved(Competition, "pk", competition.pk, "teams_close_at", "queue_paused_at"),
        moved(Phase, "round__competition", competition, "opens_at", "closes_at", "released_at"),
        moved(Task, "phase__round__competition", competition, "revealed_at"),
        moved(Extension, "phase__round__competition", competition, "closes_at", "given_at"),
        moved(PrizeClaim, "phase__round__competition", competition, "updated_at"),
    ]
    with transaction.atomic():
        for part in parts:
            part.move(delta)
        shifted.send(sender=Competition, competition=competition, delta=delta)
