"""What organizers do to teams, also after the date from which teams do not change by themselves."""

import datetime as dt
from dataclasses import dataclass
from typing import Any, ClassVar

from accounts.models import User
from accounts.refusals import Refused
from competitions import names, teams
from competitions.actions.base import Action, Preview
from competitions.actions.people import taken_names
from competitions.models import Competition, Phase, Team, TeamMember
from competitions.policy import IN_TEAM
from competitions.teams.changes import set_name
from competitions.teams.leaving import end, phases_spent


@dataclass
class OfTeam(Action):
    """An action on one team."""

    team: Team

    @property
    def competition(self) -> Competition:
        """The contest of the team."""
        return self.team.competition

    def members(self) -> list[TeamMember]:
        """The places in the team, the captain's first, then by time."""
        places = self.team.members.filter(state__in=IN_TEAM).select_related("user", "team__entrant")
        return sorted(
            places, key=lambda place: (place.state != TeamMember.State.CAPTAIN, place.joined_at, place.pk)
        )

    def details(self) -> dict[str, Any]:
        """The team's id."""
        return {"team": self.team.pk}


@dataclass
class RenameTeam(OfTeam):
    """Give a team another name."""

    new_name: str

    name: ClassVar[str] = "rename-team"

    def check(self, now: dt.datetime) -> None:
        """The name must be one that nobody else here has."""
        taken = [other for other in taken_names(self.competition) if other != self.team.name]
        self.new_name = names.checked(self.new_name, taken=taken)

    def preview(self, now: dt.datetime) -> Preview:
        """The old name and the new one."""
        return Preview([f"{self.team.name} is called {self.new_name} from now on, on every board."])

    def change(self, now: dt.datetime) -> str:
        """Name the team and its entrant."""
        old = self.team.name
        set_name(self.team, self.new_name)
        return f"The team {old} was renamed to {self.team.name}."


@dataclass
class RemoveMember(OfTeam):
    """Take somebody out of a team."""

    user: User

    name: ClassVar[str] = "remove-member"

    def _place(self) -> TeamMember | None:
        return next((place for place in self.members() if place.user_id == self.user.pk), None)

    def check(self, now: dt.datetime) -> None:
        """The person must be in the team, and must not be the last one."""
        if self._place() is None:
            raise Refused(f"{self.user.display_name} is not in {self.team.name}.", status=409)
        if len(self.members()) == 1:
            raise Refused(
                f"{self.user.display_name} is the only member of {self.team.name}.",
                status=409,
                mend="Dissolve the team instead.",
            )

    def preview(self, now: dt.datetime) -> Preview:
        """What stays with the team, and what the person may do then."""
        place = self._place()
        assert place is not None
        who = self.user.display_name
        told = [f"{who} leaves {self.team.name}. What the team submitted stays with the team."]
        spent = _titles(phases_spent(place))
        if spent:
            told.append(
                f"{who} competes alone from then on, but not in {spent}, where the team has submitted, and comes "
                "into no other team."
            )
        else:
            told.append(f"{who} may compete alone, or come into another team.")
        if place.state == TeamMember.State.CAPTAIN:
            told.append("Whoever has been in the team the longest becomes its captain.")
        return Preview(told)

    def change(self, now: dt.datetime) -> str:
        """End the membership."""
        place = self._place()
        assert place is not None
        teams.part(place, now)
        return f"{self.user.display_name} was taken out of the team {self.team.name}."


@dataclass
class DissolveTeam(OfTeam):
    """End a team; its captain goes on alone with what it submitted."""

    name: ClassVar[str] = "dissolve-team"

    def check(self, now: dt.datetime) -> None:
        """Nothing is against it; what follows, the preview says."""

    def preview(self, now: dt.datetime) -> Preview:
        """Who keeps what."""
        members = self.members()
        captain = members[0].user.display_name
        told = [f"{self.team.name} ends, and so do its invitations and links."]
        if self.team.entrant.submissions.exists():
            told.append(f"What it submitted goes on as {captain}'s alone.")
        for place in members[1:]:
            spent = _titles(phases_spent(place))
            if spent:
                told.append(f"{place.user.display_name} does not compete alone in {spent}.")
        return Preview(told)

    def change(self, now: dt.datetime) -> str:
        """Let everybody leave, the captain last."""
        title = self.team.name
        captain, *others = self.members()
        for place in others:
            teams.part(place, now)
        end(self.team, captain.user)
        return f"The team {title} was dissolved."


def _titles(phases: list[int]) -> str:
    found = Phase.objects.filter(pk__in=phases).order_by("number").values_list("title", flat=True)
    return ", ".join(found)
