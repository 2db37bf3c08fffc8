"""How people leave a team, and what they may do afterwards."""

import datetime as dt

from django.db.models import Q

from accounts.models import User
from competitions import names
from competitions.actions.people import taken_names
from competitions.models import Departure, Entrant, Phase, Team, TeamMember
from competitions.policy import IN_TEAM, own_entrants


def part(place: TeamMember, now: dt.datetime) -> None:
    """End a membership. Call with the competition's lock.

    A captain who goes hands on to whoever has been in the team the longest. The last one to go ends the team, and
    what it submitted is theirs alone from then on.
    """
    team, user = place.team, place.user
    # An upload that is on its way is counted, or finds that the person has left.
    Entrant.objects.select_for_update(no_key=True).get(team=team)
    others = team.members.filter(state__in=IN_TEAM).exclude(pk=place.pk).order_by("joined_at", "id")
    heir = others.first()
    if heir is None:
        end(team, user)
        return
    _remember(place, now)
    place.delete()
    if place.state == TeamMember.State.CAPTAIN:
        heir.state = TeamMember.State.CAPTAIN
        heir.save(update_fields=["state"])


def phases_spent(place: TeamMember) -> list[int]:
    """The phases in which the team used quota while the person was in it, or with what the person submitted."""
    made = place.team.entrant.submissions.filter(uses_quota=True)
    theirs = made.filter(Q(received_at__gte=place.joined_at) | Q(user=place.user_id))
    return list(theirs.order_by("phase").values_list("phase", flat=True).distinct())


def _remember(place: TeamMember, now: dt.datetime) -> None:
    Departure.objects.bulk_create(
        [
            Departure(entrant=place.team.entrant, user=place.user, phase_id=phase, at=now)
            for phase in phases_spent(place)
        ],
        ignore_conflicts=True,
    )


def departed_from(user: User, phase: Phase) -> Departure | None:
    """The departure that keeps the person from competing for somebody else in the phase."""
    found = Departure.objects.filter(user=user, phase=phase).exclude(entrant__in=own_entrants(user))
    return found.select_related("entrant").first()


def end(team: Team, last: User) -> None:
    """End a team; what it submitted goes on as its last member's. Call with the competition's lock."""
    entrant = team.entrant
    if entrant.submissions.exists():
        taken = [name for name in taken_names(team.competition) if name != entrant.name]
        entrant.user, entrant.team = last, None
        entrant.name = names.distinct(last.display_name, taken=taken)
        entrant.save()
    else:
        entrant.delete()
    team.delete()
