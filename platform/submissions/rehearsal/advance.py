"""Moving the clock of a rehearsal on, from one moment of its calendar to the next.

Nothing is skipped: on the way to a later moment the clock stops at every opening and closing in between, what is
due then is done, and the entrants send what they have. Runs take their own time; an entry whose runs have not
ended when its phase closes goes forward when they have, as it does for people.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from django.db import transaction
from django.utils import timezone

from accounts.refusals import Refused
from competitions import clock, policy
from competitions.actions.base import Action, Preview, record
from competitions.actions.release import OfPhase, Release, Reveal
from competitions.lifecycle import due_handovers
from competitions.models import AuditEntry, Competition, Phase
from submissions import handover
from submissions.rehearsal.entrants import enter

FARTHEST = dt.timedelta(days=20 * 366)
# Everybody's lists of what is due add the offset of each rehearsal to our time: it may not leave the calendar.
LAST = clock.LATEST + dt.timedelta(days=100 * 366)
INSTANT = dt.timedelta(seconds=1)  # behind a moment of the calendar, so that it has passed


@dataclass(frozen=True)
class Stop:
    """A moment of the calendar, and what happens then, in words."""

    at: dt.datetime
    happens: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What happens, in one sentence."""
        return "; ".join(self.happens) + "."


def calendar(rehearsal: Competition) -> list[Stop]:
    """Every opening and closing of a phase, the earliest first; what falls together is one stop."""
    found: dict[dt.datetime, list[str]] = {}
    phases = list(rehearsal.phases().select_related("parent"))
    for phase in phases:
        if phase.closes_at is not None:
            found.setdefault(phase.closes_at, []).append(f"{phase.title} closes")
    for phase in phases:
        found.setdefault(phase.opens_at, []).append(f"{phase.title} opens")
    for phase in due_handovers(phases, dt.datetime.max.replace(tzinfo=dt.UTC)):
        assert phase.parent is not None and phase.parent.closes_at is not None
        at = max(phase.opens_at, phase.parent.closes_at)
        found.setdefault(at, []).append(f"entries of {phase.parent.title} go forward to {phase.title}")
    return [Stop(at, tuple(happens)) for at, happens in sorted(found.items())]


def coming(rehearsal: Competition, now: dt.datetime) -> list[Stop]:
    """What of the calendar is to come."""
    return [stop for stop in calendar(rehearsal) if stop.at > now]


@dataclass
class AdvanceRehearsal(Action):
    """Move the clock of a rehearsal on to a moment of its calendar, never back.

    `seen` is how far ahead the clock was where the click was made: a second click in the same place is refused
    instead of going one hand-over further.
    """

    rehearsal: Competition
    to: dt.datetime
    seen: dt.timedelta | None = None

    name: ClassVar[str] = "advance_rehearsal"

    @property
    def competition(self) -> Competition:
        """The rehearsal."""
        return self.rehearsal

    def permit(self) -> None:
        """Who may edit the competition may rehearse it."""
        original = self.rehearsal.rehearses or self.rehearsal
        if self.by is not None and not policy.may_edit(self.by, original):
            raise Refused(f"Only organizers of {original.title} may do this.", status=403)

    def check(self, now: dt.datetime) -> None:
        """It must be a rehearsal, the moment in its near future, and nobody else have moved the clock."""
        if self.rehearsal.rehearses_id is None:
            raise Refused(f"{self.rehearsal.title} is no rehearsal; its clock is ours.", status=409)
        if self.to <= now:
            raise Refused("The clock of a rehearsal goes forward only.", status=409)
        if self.to - now > FARTHEST:
            raise Refused("That is more than twenty years ahead.")
        if self.to > LAST:
            raise Refused("The clock of a rehearsal does not go that far.", status=409, mend="Start another one.")
        stored = Competition.objects.values_list("clock_offset", flat=True).get(pk=self.rehearsal.pk)
        if self.seen is not None and self.seen != stored:
            mend = "Look at where it stands now."
            raise Refused("Somebody has moved the clock of this rehearsal meanwhile.", status=409, mend=mend)

    def preview(self, now: dt.datetime) -> Preview:
        """What lies on the way."""
        return Preview([f"{stop.at:%d %B %Y %H:%M} UTC: {stop.sentence}" for stop in self._on_the_way(now)])

    def change(self, now: dt.datetime) -> str:
        """Move the clock alone; what is due follows in `execute`."""
        self._set(self.to)
        return self._told()

    def _told(self) -> str:
        return f"The clock was moved on to {self.to:%d %B %Y %H:%M} UTC."

    def execute(self) -> str:
        """Stop at every moment on the way, and do there what is due."""
        self.permit()
        now = clock.now(self.rehearsal)
        self.check(now)
        for stop in self._on_the_way(now):
            self._stop_at(stop)
        if self.to > clock.now(self.rehearsal):
            text = super().execute()
            catch_up(self.rehearsal)
        else:
            text = self._told()
            record(self.rehearsal, by=self.by, action=self.name, text=text, at=clock.now(self.rehearsal))
        return text

    def _on_the_way(self, now: dt.datetime) -> Iterator[Stop]:
        return (stop for stop in coming(self.rehearsal, now) if stop.at <= self.to)

    def _stop_at(self, stop: Stop) -> None:
        with transaction.atomic():
            Competition.objects.select_for_update(no_key=True).get(pk=self.rehearsal.pk)
            self._set(stop.at + INSTANT)
            self.seen = self.rehearsal.clock_offset
            record(self.rehearsal, by=None, action="clock", text=stop.sentence[:300], at=stop.at)
        catch_up(self.rehearsal)

    def _set(self, moment: dt.datetime) -> None:
        """Let the clock show a moment; of two movers at once, the later moment stands."""
        offset = moment - timezone.now()
        Competition.objects.filter(pk=self.rehearsal.pk, clock_offset__lt=offset).update(clock_offset=offset)
        self.rehearsal.refresh_from_db(fields=["clock_offset"])


def catch_up(rehearsal: Competition) -> int:
    """Do what is due by the rehearsal's clock, and let its entrants submit; returns how many were handed over."""
    count = handover.tick(only=rehearsal)
    now = clock.now(rehearsal)
    for phase in rehearsal.phases().select_related("round__competition", "parent"):
        if phase.takes_submissions and phase.is_open(now) and phase.tasks.exists():
            for sentence in enter(phase):
                _note_once(rehearsal, sentence[:300])
    return count


def _note_once(rehearsal: Competition, sentence: str) -> None:
    if not AuditEntry.objects.filter(competition=rehearsal, action="refused_entry", text=sentence).exists():
        record(rehearsal, by=None, action="refused_entry", text=sentence, at=clock.now(rehearsal))


def by_hand(rehearsal: Competition) -> list[OfPhase]:
    """What waits for an organizer: results that are to be released and datasets to be revealed by hand."""
    now = clock.now(rehearsal)
    found: list[OfPhase] = []
    for phase in rehearsal.phases().select_related("round__competition"):
        if not phase.has_ended(now):
            continue
        if phase.is_blind and phase.reveal == Phase.When.BY_HAND and phase.tasks.filter(revealed_at=None).exists():
            found.append(Reveal(by=None, phase=phase))
        if phase.is_hidden and phase.release == Phase.When.BY_HAND and not phase.is_released(now):
            found.append(Release(by=None, phase=phase))
    return found
