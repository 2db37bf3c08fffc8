"""Adding, naming and removing rounds."""

import datetime as dt
from dataclasses import dataclass
from typing import Any, ClassVar

from django.core.exceptions import ValidationError

from accounts.refusals import Refused
from competitions.actions.base import Action, Preview
from competitions.actions.queue import OfCompetition
from competitions.models import Competition, Round

MOST_ROUNDS = 100


def cleaned(made: Round) -> Round:
    """The round, where it is one; else Refused."""
    taken = made.competition.rounds.filter(number=made.number).exclude(pk=made.pk)
    if taken.exists():
        raise Refused(f"There is a round {made.number} already.", status=409)
    try:
        made.full_clean()
    except ValidationError as problem:
        raise Refused(" ".join(problem.messages)) from problem
    return made


@dataclass
class AddRound(OfCompetition):
    """Put another group of phases into the competition."""

    number: int
    title: str = ""

    name: ClassVar[str] = "add_round"

    def _made(self) -> Round:
        return Round(competition=self.contest, number=self.number, name=self.title.strip())

    def check(self, now: dt.datetime) -> None:
        """Its number must be free."""
        cleaned(self._made())
        if self.contest.rounds.count() >= MOST_ROUNDS:
            raise Refused(f"A competition has {MOST_ROUNDS} rounds at most.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """What would be there."""
        return Preview([f"{self._made()} is added, without phases."])

    def change(self, now: dt.datetime) -> str:
        """Save it."""
        made = self._made()
        made.save()
        return f"{made} was added."

    def details(self) -> dict[str, Any]:
        """The number."""
        return {"round": self.number}


@dataclass
class OfRound(Action):
    """An action on one round."""

    round: Round

    @property
    def competition(self) -> Competition:
        """The contest of the round."""
        return self.round.competition

    def details(self) -> dict[str, Any]:
        """The round's number."""
        return {"round": self.round.number}


@dataclass
class EditRound(OfRound):
    """Give a round another number or name."""

    number: int
    title: str

    name: ClassVar[str] = "edit_round"

    def _changed(self) -> Round:
        changed = Round.objects.select_related("competition").get(pk=self.round.pk)
        changed.number, changed.name = self.number, self.title.strip()
        return changed

    def check(self, now: dt.datetime) -> None:
        """Something must change, and the number must be free."""
        changed = self._changed()
        if (changed.number, changed.name) == (self.round.number, self.round.name):
            raise Refused("Nothing would change.", status=409)
        cleaned(changed)

    def preview(self, now: dt.datetime) -> Preview:
        """Old and new."""
        return Preview([f"{self.round} becomes {self._changed()}."])

    def change(self, now: dt.datetime) -> str:
        """Save number and name."""
        before, changed = str(self.round), self._changed()
        changed.save(update_fields=["number", "name"])
        return f"{before} became {changed}."


@dataclass
class RemoveRound(OfRound):
    """Take a round without phases away."""

    name: ClassVar[str] = "remove_round"

    def check(self, now: dt.datetime) -> None:
        """It must be empty."""
        phases = [phase.title for phase in self.round.phases.all()[:3]]
        if phases:
            mend = "Remove them, or give them to another round."
            raise Refused(f"{self.round} has phases: {', '.join(phases)}.", status=409, mend=mend)

    def preview(self, now: dt.datetime) -> Preview:
        """What goes."""
        return Preview([f"{self.round}, which has no phases, is removed."])

    def change(self, now: dt.datetime) -> str:
        """Delete it."""
        text = f"{self.round} was removed."
        self.round.delete()
        return text
