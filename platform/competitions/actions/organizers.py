"""Giving and taking roles. Only owners do, and one owner always stays."""

import datetime as dt
from dataclasses import dataclass
from typing import Any, ClassVar

from accounts.models import User
from accounts.refusals import Refused
from competitions import policy
from competitions.actions.base import Preview
from competitions.actions.participants import called
from competitions.actions.people import held_a_role
from competitions.actions.queue import OfCompetition
from competitions.models import Organizer

Role = Organizer.Role
MAY = {
    Role.OWNER: "changes everything, gives and takes roles, and may delete the competition",
    Role.EDITOR: "changes the competition and acts on submissions of others",
    Role.REVIEWER: "sees what organizers see and changes nothing",
}


@dataclass
class OfRole(OfCompetition):
    """An action on the role of one person."""

    person: User

    def permit(self) -> None:
        """Roles are the owners' matter."""
        if self.by is not None and not policy.owns(self.by, self.contest):
            raise Refused(f"Only owners of {self.contest.title} give and take roles.", status=403)

    def held(self) -> Organizer | None:
        """The role that the person has now."""
        return self.contest.organizers.filter(user=self.person).first()

    def check_owner_stays(self) -> None:
        """Refuse to take the last owner's role."""
        others = self.contest.organizers.filter(role=Role.OWNER).exclude(user=self.person)
        held = self.held()
        if held is not None and held.role == Role.OWNER and not others.exists():
            raise Refused(
                f"{self.person.display_name} is the only owner of {self.contest.title}.",
                status=409,
                mend="Make somebody else an owner first.",
            )

    def details(self) -> dict[str, Any]:
        """Whose role it is."""
        return {"person": self.person.get_username()}


@dataclass
class GiveRole(OfRole):
    """Make somebody an organizer, or change which one."""

    name: ClassVar[str] = "give_role"

    role: str
    sees_hidden: bool = False

    def _sees_hidden(self) -> bool:
        """Owners and editors see everything in any case; of reviewers an owner decides."""
        return self.role == Role.REVIEWER and self.sees_hidden

    def check(self, now: dt.datetime) -> None:
        """It must change something and leave an owner."""
        if self.role not in Role.values:
            raise Refused(f"There is no role {self.role!r}.")
        held = self.held()
        if held is not None and (held.role, held.sees_hidden) == (self.role, self._sees_hidden()):
            raise Refused(f"{self.person.display_name} has this role already.", status=409)
        if self.role != Role.OWNER:
            self.check_owner_stays()

    def preview(self, now: dt.datetime) -> Preview:
        """What the person may do then, and that they are not ranked any more."""
        who = self.person.display_name
        sentences = [f"{who} becomes {self._plain_role()}, who {MAY[Role(self.role)]}."]
        if self._sees_hidden():
            sentences.append("They see the names of hidden datasets, unreleased scores and logs of hidden phases.")
        if self.person.is_superuser or held_a_role(self.contest, self.person):
            return Preview(sentences)
        sentences.append(f"{who} takes no rank in this competition from now on, also after the role has ended.")
        entrant = policy.own_entrant(self.person, self.contest)
        if entrant is not None:
            what = "their team" if entrant.team_id else "who competes already"
            sentences.append(f"{entrant.name}, {what}, loses its place on every board.")
        return Preview(sentences)

    def change(self, now: dt.datetime) -> str:
        """Write the role; who holds one is unranked by that."""
        was = self.held()
        Organizer.objects.update_or_create(
            competition=self.contest,
            user=self.person,
            defaults={"role": self.role, "sees_hidden": self._sees_hidden()},
        )
        before = f", was {was.role}" if was else ""
        return f"{called(self.person)} became {self._role()}{before}."

    def _plain_role(self) -> str:
        return f"{'a' if self.role == Role.REVIEWER else 'an'} {self.role}"

    def _role(self) -> str:
        return self._plain_role() + (" who sees what is hidden" if self._sees_hidden() else "")

    def details(self) -> dict[str, Any]:
        """Who got which role."""
        return {**super().details(), "role": self.role, "sees_hidden": self._sees_hidden()}


@dataclass
class TakeRole(OfRole):
    """End somebody's role; organizers may also give up their own."""

    name: ClassVar[str] = "take_role"

    def permit(self) -> None:
        """Owners, and the person themselves."""
        if self.by is None or self.by != self.person:
            super().permit()

    def check(self, now: dt.datetime) -> None:
        """There must be one to take, and an owner must stay."""
        if self.held() is None:
            raise Refused(f"{self.person.display_name} has no role in {self.contest.title}.", status=409)
        self.check_owner_stays()

    def preview(self, now: dt.datetime) -> Preview:
        """What ends and what does not."""
        who = self.person.display_name
        return Preview(
            [
                f"{who} does not see or change anything here any more that participants do not.",
                f"{who} stays without a rank in this competition: a role that was held is remembered.",
            ]
        )

    def change(self, now: dt.datetime) -> str:
        """Remove the role."""
        held = self.held()
        was = held.role if held else ""
        self.contest.organizers.filter(user=self.person).delete()
        return f"{called(self.person)} is no {was} any more."
