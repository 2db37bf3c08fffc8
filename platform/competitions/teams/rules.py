"""What every change of a team keeps to."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from competitions import clock, policy
from competitions.models import Competition, Departure, Entrant, Team, TeamMember
from competitions.policy import IN_TEAM


@contextmanager
def changing(competition: Competition, *, merging: bool = False) -> Iterator[dt.datetime]:
    """Hold the competition's lock, after the rules that every change of a team keeps; gives its present moment."""
    with transaction.atomic():
        locked = Competition.objects.select_for_update(no_key=True).get(pk=competition.pk)
        now = clock.now(locked)
        sentence = closing_sentence(locked, now, merging=merging)
        if sentence:
            raise Refused(sentence, status=409)
        yield now


def closing_sentence(competition: Competition, now: dt.datetime, *, merging: bool = False) -> str:
    """Why teams of the competition do not change, or do not merge, now; empty where they may."""
    if competition.max_team_size < 2:
        return f"Everybody competes alone in {competition.title}."
    if competition.state != Competition.State.PUBLISHED:
        return f"{competition.title} is not open to participants."
    closes = competition.teams_close_at
    if closes is not None and closes <= now:
        return f"Teams of {competition.title} have been closed since {closes:%d %B %Y at %H:%M} UTC."
    closes = competition.merges_close_at
    if merging and closes is not None and closes <= now:
        return f"Teams of {competition.title} have not merged since {closes:%d %B %Y at %H:%M} UTC."
    return ""


def team_of(competition: Competition, user: User) -> Team | None:
    """The team in which the person competes here."""
    place = TeamMember.objects.filter(team__competition=competition, user=user, state__in=IN_TEAM)
    found = place.select_related("team").first()
    return found.team if found else None


def check_takes_part(competition: Competition, user: User) -> None:
    """Refuse who is no approved participant."""
    if not policy.Viewer(user, competition).takes_part:
        raise Refused(
            f"{user.display_name} does not take part in {competition.title}.",
            status=403,
            mend="Joining the competition comes first.",
        )


def check_is_free(competition: Competition, user: User, *, coming_into: Team | None = None) -> None:
    """Refuse who is in a team, and who left another one that had submitted with them."""
    team = team_of(competition, user)
    if team is not None:
        raise Refused(
            f"{user.display_name} is in a team already: {team.name}. It is one team a person.", status=409
        )
    left = Departure.objects.filter(user=user, entrant__competition=competition)
    if coming_into is not None:
        left = left.exclude(entrant__team=coming_into)
    departure = left.select_related("entrant").first()
    if departure is not None:
        raise Refused(
            f"{user.display_name} left {departure.entrant.name} after it had submitted, and comes into no other "
            "team of this competition.",
            status=409,
            mend=f"{departure.entrant.name} may ask {user.display_name} back.",
        )


def check_is_captain(team: Team, user: User, what: str = "asks people to join it") -> None:
    """Refuse everybody but the captain."""
    if not team.members.filter(user=user, state=TeamMember.State.CAPTAIN).exists():
        raise Refused(f"Only the captain of {team.name} {what}.", status=403)


def check_has_room(team: Team, *, coming: int = 1, with_invited: bool = False) -> None:
    """Refuse where so many more would not fit into the team; those who were asked count where that is said."""
    most = team.competition.max_team_size
    members = team.members.all() if with_invited else team.members.filter(state__in=IN_TEAM)
    if members.count() + coming <= most:
        return
    if with_invited:
        raise Refused(
            f"{team.name} is full: a team has at most {most} members, those who were asked included.",
            status=409,
            mend="Take back an invitation first.",
        )
    raise Refused(f"{team.name} is full: a team has at most {most} members.", status=409)


def own_entrant_for_update(competition: Competition, user: User) -> Entrant | None:
    """The entrant as which the person competed alone, locked."""
    return Entrant.objects.select_for_update(no_key=True).filter(competition=competition, user=user).first()
