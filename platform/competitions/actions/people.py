"""Taking part, and as whom."""

from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from competitions import policy
from competitions.models import Competition, Entrant, Participant


def join(competition: Competition, user: User) -> Participant:
    """Let a person take part, at once or after approval; joining twice changes nothing."""
    if not policy.may_see(user, competition) or competition.state != Competition.State.PUBLISHED:
        raise Refused(f"{competition.title} is not open to participants.", status=409)
    wish = policy.participation(user, competition)
    if wish is not None:
        return wish
    if competition.registration == Competition.Registration.CLOSED:
        raise Refused(f"{competition.title} takes no new participants.", status=409)
    approved = competition.registration == Competition.Registration.OPEN
    state = Participant.State.APPROVED if approved else Participant.State.PENDING
    wish, _ = Participant.objects.get_or_create(competition=competition, user=user, defaults={"state": state})
    return wish


def entrant_of(competition: Competition, user: User) -> Entrant:
    """As what the person competes; made on first use. Who ever held a role here is never ranked."""
    holds_role = competition.organizers.filter(user=user).exists() or user.is_superuser
    with transaction.atomic():
        entrant, _ = Entrant.objects.get_or_create(
            competition=competition,
            user=user,
            defaults={"name": user.display_name[:80], "held_a_role": holds_role},
        )
        if holds_role and not entrant.held_a_role:
            entrant.held_a_role = True
            entrant.save(update_fields=["held_a_role"])
    return entrant
