"""Links that let whoever has one come into a team. Their secret is shown once; only its digest is kept."""

import datetime as dt
import hashlib
import secrets

from django.utils import timezone

from accounts.models import User
from accounts.refusals import Refused
from competitions.models import Competition, Team, TeamLink, TeamMember
from competitions.policy import IN_TEAM
from competitions.teams.changes import come_in
from competitions.teams.rules import changing, check_has_room, check_is_captain

MOST_LINKS = 5  # of a team at once
LASTS = dt.timedelta(days=7)


def make_link(team: Team, *, by: User) -> str:
    """The secret of a new link into the team, which lasts a week; only the captain makes one."""
    with changing(team.competition):
        check_is_captain(team, by)
        team.links.filter(expires_at__lte=timezone.now()).delete()
        if team.links.count() >= MOST_LINKS:
            raise Refused(
                f"{team.name} has {MOST_LINKS} links already.", status=409, mend="Take one of them back first."
            )
        secret = secrets.token_urlsafe(24)
        TeamLink.objects.create(team=team, digest=_digest(secret), made_by=by, expires_at=timezone.now() + LASTS)
    return secret


def revoke_link(team: Team, link_id: int, *, by: User) -> None:
    """Take a link back: nobody comes in by it any more."""
    with changing(team.competition):
        check_is_captain(team, by, "takes links back")
        team.links.filter(pk=link_id).delete()


def link_of(competition: Competition, secret: str) -> TeamLink:
    """The link that has this secret; raises Refused for one that is unknown, taken back or too old."""
    links = TeamLink.objects.filter(team__competition=competition, digest=_digest(secret))
    link = links.filter(expires_at__gt=timezone.now()).select_related("team__competition").first()
    if link is None:
        raise Refused(
            "This link into a team does not hold any more, or never did.",
            status=404,
            mend="Ask the captain of the team for a new one.",
        )
    return link


def join_by_link(competition: Competition, secret: str, user: User) -> Team:
    """Come into the team of a link."""
    with changing(competition) as now:
        team = link_of(competition, secret).team
        place = team.members.filter(user=user).first()
        if place is None:
            check_has_room(team)
            place = TeamMember(team=team, user=user)
        if place.state not in IN_TEAM:
            come_in(place, now)
    return team


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
