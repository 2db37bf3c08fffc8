"""How a team forms and changes: what its people do themselves."""

import datetime as dt

from accounts.models import User
from accounts.refusals import Refused
from competitions import names
from competitions.actions.people import held_a_role, taken_names
from competitions.models import Competition, Entrant, Team, TeamMember
from competitions.policy import IN_TEAM
from competitions.teams.leaving import part
from competitions.teams.rules import (
    changing,
    check_has_room,
    check_is_captain,
    check_is_free,
    check_takes_part,
    own_entrant_for_update,
)


def create(competition: Competition, captain: User, name: str) -> Team:
    """Form a team with its captain; what the captain has submitted alone becomes the team's."""
    with changing(competition) as now:
        check_takes_part(competition, captain)
        check_is_free(competition, captain)
        own = own_entrant_for_update(competition, captain)
        taken = [other for other in taken_names(competition) if own is None or other != own.name]
        team = Team.objects.create(competition=competition, name=names.checked(name, taken=taken))
        TeamMember.objects.create(team=team, user=captain, state=TeamMember.State.CAPTAIN, joined_at=now)
        entrant = own or Entrant(competition=competition)
        entrant.user, entrant.team, entrant.name = None, team, team.name
        entrant.held_a_role = entrant.held_a_role or held_a_role(competition, captain)
        entrant.save()
    return team


def rename(team: Team, name: str, *, by: User) -> None:
    """Give the team another name; only its captain does."""
    with changing(team.competition):
        check_is_captain(team, by, "renames it")
        set_name(team, name)


def set_name(team: Team, name: str) -> None:
    """Name the team and its entrant, where no other has the name. Call with the competition's lock."""
    taken = [other for other in taken_names(team.competition) if other != team.entrant.name]
    team.name = names.checked(name, taken=taken)
    team.save(update_fields=["name"])
    team.entrant.name = team.name
    team.entrant.save(update_fields=["name"])


def invite(team: Team, user: User, *, by: User) -> TeamMember:
    """Ask a participant to come into the team; only its captain asks. Asking twice changes nothing."""
    with changing(team.competition) as now:
        check_is_captain(team, by)
        place = team.members.filter(user=user).first()
        if place is not None:
            return place
        check_takes_part(team.competition, user)
        check_has_room(team, with_invited=True)
        return TeamMember.objects.create(team=team, user=user, joined_at=now)


def take_back(team: Team, user: User, *, by: User) -> None:
    """Take back an invitation that was not accepted; only the captain does."""
    with changing(team.competition):
        check_is_captain(team, by, "takes invitations back")
        if not team.members.filter(user=user, state=TeamMember.State.INVITED).delete()[0]:
            raise Refused(f"{user.display_name} has no open invitation to {team.name}.", status=409)


def accept(team: Team, user: User) -> TeamMember:
    """Come into a team that asked; refused for who is in another one, or has submitted alone."""
    with changing(team.competition) as now:
        place = team.members.filter(user=user).first()
        if place is None:
            raise Refused(f"{team.name} has not asked you to join.", status=403)
        if place.state not in IN_TEAM:
            come_in(place, now)
    return place


def come_in(place: TeamMember, now: dt.datetime) -> None:
    """Make an invitation a membership. Call with the competition's lock."""
    team, user = place.team, place.user
    check_takes_part(team.competition, user)
    check_is_free(team.competition, user, coming_into=team)
    check_has_room(team)
    _give_up_own_entrant(team.competition, user)
    place.state, place.joined_at = TeamMember.State.MEMBER, now
    place.save()
    if held_a_role(team.competition, user) and not team.entrant.held_a_role:
        team.entrant.held_a_role = True
        team.entrant.save(update_fields=["held_a_role"])


def decline(team: Team, user: User) -> None:
    """Answer an invitation with no; possible at any time."""
    team.members.filter(user=user, state=TeamMember.State.INVITED).delete()


def hand_on(team: Team, user: User, *, by: User) -> None:
    """Make another member the captain."""
    with changing(team.competition):
        check_is_captain(team, by, "hands the team on")
        if not team.members.filter(user=user, state=TeamMember.State.MEMBER).exists():
            raise Refused(f"{user.display_name} is not another member of {team.name}.", status=409)
        team.members.filter(user=by).update(state=TeamMember.State.MEMBER)
        team.members.filter(user=user).update(state=TeamMember.State.CAPTAIN)


def leave(team: Team, user: User) -> None:
    """Leave a team; what it submitted stays with it, and the last one to leave ends it."""
    with changing(team.competition) as now:
        place = team.members.filter(user=user, state__in=IN_TEAM).first()
        if place is None:
            raise Refused(f"You are not in {team.name}.", status=409)
        part(place, now)


def _give_up_own_entrant(competition: Competition, user: User) -> None:
    own = own_entrant_for_update(competition, user)
    if own is None:
        return
    if own.submissions.exists():
        raise Refused(
            "You have submitted alone, so you cannot come into a team of others.",
            status=409,
            mend="Form a team yourself: what you submitted becomes its own. Then the two teams can merge.",
        )
    own.delete()
