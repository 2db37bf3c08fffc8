"""Taking part, and as whom."""

from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from competitions import allow_list, names, policy
from competitions.models import Competition, Entrant, HeldRole, Participant


def join(competition: Competition, user: User) -> Participant:
    """Let a person take part, at once or after approval; joining twice changes nothing.

    Where a list decides, an address counts only once the person proved that it is theirs.
    """
    if not policy.may_see(user, competition) or competition.state != Competition.State.PUBLISHED:
        raise Refused(f"{competition.title} is not open to participants.", status=409)
    wish = policy.participation(user, competition)
    if wish is not None:
        return wish
    if competition.registration == Competition.Registration.CLOSED:
        raise Refused(f"{competition.title} takes no new participants.", status=409)
    mode, modes = competition.registration, Competition.Registration
    if mode == modes.ALLOW_LIST and not allow_list.admits(competition, user):
        raise Refused(
            f"{competition.title} is for those on its list, and none of your verified e-mail addresses is on it.",
            status=403,
            mend="Add or verify the address at which you were invited: E-mail addresses in the menu of your name.",
        )
    state = Participant.State.PENDING if mode == modes.APPROVAL else Participant.State.APPROVED
    wish, _ = Participant.objects.get_or_create(competition=competition, user=user, defaults={"state": state})
    return wish


def entrant_of(competition: Competition, user: User) -> Entrant:
    """As what the person competes: their team's entrant, else their own, made on first use.

    Who ever held a role here is never ranked, and neither is their team.
    """
    entrant = policy.own_entrant(user, competition)
    if entrant is None:
        with transaction.atomic():
            # The lock makes this and the forming of teams follow each other, so that nobody competes twice.
            Competition.objects.select_for_update(no_key=True).get(pk=competition.pk)
            entrant = policy.own_entrant(user, competition) or Entrant.objects.create(
                competition=competition,
                user=user,
                name=names.distinct(user.display_name, taken=taken_names(competition)),
                held_a_role=held_a_role(competition, user),
            )
    if not entrant.held_a_role and held_a_role(competition, user):
        entrant.held_a_role = True
        entrant.save(update_fields=["held_a_role"])
    return entrant


def locked_entrant(competition: Competition, user: User) -> Entrant:
    """As what the person competes, locked until the transaction ends; refused where that has just changed."""
    entrant = Entrant.objects.select_for_update(no_key=True).filter(pk=entrant_of(competition, user).pk).first()
    if entrant is None or policy.own_entrant(user, competition) != entrant:
        raise Refused("Your team has changed in this moment.", status=409, mend="Submit again.")
    return entrant


def held_a_role(competition: Competition, user: User) -> bool:
    """Whether the person holds or ever held a role here; superusers hold all."""
    return (
        user.is_superuser
        or competition.organizers.filter(user=user).exists()
        or HeldRole.objects.filter(competition=competition, user=user).exists()
    )


def taken_names(competition: Competition) -> list[str]:
    """The names under which somebody competes here."""
    return list(competition.entrants.values_list("name", flat=True))
