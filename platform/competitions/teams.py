"""Teams: several people who compete as one entrant.

Every change takes the lock of the competition first, so that two of them at once follow each other: nobody ends
up in two teams, and no team grows past its size. Who has submitted stays with that entrant, since a person who
could change sides would have two quotas and two entries.
"""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.refusals import Refused
from competitions import names, policy
from competitions.actions.people import held_a_role, taken_names
from competitions.models import Competition, Entrant, Team, TeamMember
from competitions.policy import IN_TEAM


def create(competition: Competition, captain: User, name: str) -> Team:
    """Form a team with its captain; what the captain has submitted alone becomes the team's."""
    with _changing(competition):
        _check_takes_part(competition, captain)
        _check_has_no_team(competition, captain)
        own = Entrant.objects.select_for_update(no_key=True).filter(competition=competition, user=captain).first()
        taken = [other for other in taken_names(competition) if own is None or other != own.name]
        team = Team.objects.create(competition=competition, name=names.checked(name, taken=taken))
        TeamMember.objects.create(team=team, user=captain, state=TeamMember.State.CAPTAIN)
        entrant = own or Entrant(competition=competition)
        entrant.user, entrant.team, entrant.name = None, team, team.name
        entrant.held_a_role = entrant.held_a_role or held_a_role(competition, captain)
        entrant.save()
    return team


def invite(team: Team, user: User, *, by: User) -> TeamMember:
    """Ask a participant to come into the team; only its captain asks. Asking twice changes nothing."""
    with _changing(team.competition):
        _check_is_captain(team, by)
        place = team.members.filter(user=user).first()
        if place is not None:
            return place
        _check_takes_part(team.competition, user)
        if team.members.count() >= team.competition.max_team_size:
            raise Refused(
                f"{team.name} is full: a team has at most {team.competition.max_team_size} members, those who "
                "were asked included.",
                status=409,
                mend="Take back an invitation first.",
            )
        return TeamMember.objects.create(team=team, user=user)


def take_back(team: Team, user: User, *, by: User) -> None:
    """Take back an invitation that was not accepted; only the captain does."""
    with _changing(team.competition):
        _check_is_captain(team, by)
        if not team.members.filter(user=user, state=TeamMember.State.INVITED).delete()[0]:
            raise Refused(f"{user.display_name} has no open invitation to {team.name}.", status=409)


def accept(team: Team, user: User) -> TeamMember:
    """Come into a team that asked; refused for who is in another one, or has submitted alone."""
    with _changing(team.competition):
        place = team.members.filter(user=user).first()
        if place is None:
            raise Refused(f"{team.name} has not asked you to join.", status=403)
        if place.state in IN_TEAM:
            return place
        _check_takes_part(team.competition, user)
        _check_has_no_team(team.competition, user)
        if team.members.filter(state__in=IN_TEAM).count() >= team.competition.max_team_size:
            raise Refused(f"{team.name} is full.", status=409)
        _give_up_own_entrant(team.competition, user)
        place.state, place.joined_at = TeamMember.State.MEMBER, timezone.now()
        place.save()
        if held_a_role(team.competition, user):
            _unrank(team)
    return place


def decline(team: Team, user: User) -> None:
    """Answer an invitation with no; possible at any time."""
    team.members.filter(user=user, state=TeamMember.State.INVITED).delete()


def leave(team: Team, user: User) -> None:
    """Leave a team that has not submitted since one came in; the last one to leave ends the team.

    A captain who leaves hands on to whoever has been in the team the longest. What the last member submitted
    alone before the team was formed is theirs again.
    """
    with _changing(team.competition):
        place = team.members.filter(user=user, state__in=IN_TEAM).first()
        if place is None:
            raise Refused(f"You are not in {team.name}.", status=409)
        others = team.members.filter(state__in=IN_TEAM).exclude(pk=place.pk).order_by("joined_at", "id")
        heir = others.first()
        if heir is not None and team.entrant.submissions.filter(received_at__gte=place.joined_at).exists():
            raise Refused(
                f"{team.name} has submitted since you came in, so its submissions are yours too.",
                status=409,
                mend="You compete with it to the end.",
            )
        place.delete()
        if heir is None:
            _end(team, user)
        elif place.state == TeamMember.State.CAPTAIN:
            heir.state = TeamMember.State.CAPTAIN
            heir.save()


def team_of(competition: Competition, user: User) -> Team | None:
    """The team in which the person competes here."""
    place = TeamMember.objects.filter(team__competition=competition, user=user, state__in=IN_TEAM)
    found = place.select_related("team").first()
    return found.team if found else None


@contextmanager
def _changing(competition: Competition) -> Iterator[None]:
    """Hold the competition's lock, after the rules that every change of a team keeps."""
    with transaction.atomic():
        now = Competition.objects.select_for_update(no_key=True).get(pk=competition.pk)
        _check_open(now, timezone.now())
        yield


def _check_open(competition: Competition, now: dt.datetime) -> None:
    if competition.max_team_size < 2:
        raise Refused(f"Everybody competes alone in {competition.title}.", status=409)
    if competition.state != Competition.State.PUBLISHED:
        raise Refused(f"{competition.title} is not open to participants.", status=409)
    closes = competition.teams_close_at
    if closes is not None and closes <= now:
        raise Refused(
            f"Teams of {competition.title} have been closed since {closes:%d %B %Y at %H:%M} UTC.", status=409
        )


def _check_takes_part(competition: Competition, user: User) -> None:
    if not policy.Viewer(user, competition).takes_part:
        raise Refused(
            f"{user.display_name} does not take part in {competition.title}.",
            status=403,
            mend="Joining the competition comes first.",
        )


def _check_has_no_team(competition: Competition, user: User) -> None:
    team = team_of(competition, user)
    if team is not None:
        raise Refused(
            f"{user.display_name} is in a team already: {team.name}. It is one team a person.", status=409
        )


def _check_is_captain(team: Team, user: User) -> None:
    if not team.members.filter(user=user, state=TeamMember.State.CAPTAIN).exists():
        raise Refused(f"Only the captain of {team.name} asks people to join it.", status=403)


def _give_up_own_entrant(competition: Competition, user: User) -> None:
    own = Entrant.objects.select_for_update(no_key=True).filter(competition=competition, user=user).first()
    if own is None:
        return
    if own.submissions.exists():
        raise Refused(
            "You have submitted alone, so you cannot come into a team of others.",
            status=409,
            mend="Form a team yourself: what you submitted becomes its own.",
        )
    own.delete()


def _unrank(team: Team) -> None:
    entrant = team.entrant
    if not entrant.held_a_role:
        entrant.held_a_role = True
        entrant.save(update_fields=["held_a_role"])


def _end(team: Team, last: User) -> None:
    """End a team without members. Submissions in it can only be those of its last member."""
    entrant = team.entrant
    if entrant.submissions.exists():
        taken = [name for name in taken_names(team.competition) if name != entrant.name]
        entrant.user, entrant.team = last, None
        entrant.name = names.distinct(last.display_name, taken=taken)
        entrant.save()
    else:
        entrant.delete()
    team.delete()
