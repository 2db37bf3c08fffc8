"""What follows from a role: whoever ever held one in a competition is unranked there, and so is their team, for
ever; and who makes competitions or edits one may send datasets.
"""

from typing import Any

from django.db.models import QuerySet
from django.db.models.signals import post_delete, post_save, pre_save
from django.dispatch import receiver

from accounts.models import User
from competitions import fact_sheets, policy
from competitions.models import Competition, Entrant, HeldRole, Organizer
from datasets.signals import upload_asked


@receiver(post_save, sender=Organizer)
def unrank(instance: Organizer, raw: bool = False, **kwargs: Any) -> None:
    """Somebody got a role: it is remembered, and whoever competes for them already loses the rank."""
    if raw:
        return
    HeldRole.objects.get_or_create(competition=instance.competition, user=instance.user)
    for entrant in policy.own_entrants(instance.user).filter(
        competition=instance.competition_id, held_a_role=False
    ):
        entrant.held_a_role = True
        entrant.save(update_fields=["held_a_role"])


@receiver(post_delete, sender=Organizer)
def remember(instance: Organizer, origin: Any = None, **kwargs: Any) -> None:
    """A role ended: one that was made past `unrank` is remembered now. Those that go with their competition or
    their person need no memory.
    """
    ended_by_itself = isinstance(origin, Organizer) or (isinstance(origin, QuerySet) and origin.model is Organizer)
    if ended_by_itself:
        HeldRole.objects.get_or_create(competition_id=instance.competition_id, user_id=instance.user_id)


@receiver(pre_save, sender=Entrant)
def answers_are_owed(instance: Entrant, raw: bool = False, **kwargs: Any) -> None:
    """A new entrant owes the answers that are required."""
    if instance._state.adding and not raw:
        instance.owes_answers = fact_sheets.owes(instance)


def mirror(role: Organizer, rehearsal: Competition) -> None:
    """Give the person the same role in the rehearsal."""
    Organizer.objects.update_or_create(
        competition=rehearsal,
        user_id=role.user_id,
        defaults={"role": role.role, "sees_hidden": role.sees_hidden},
    )


@receiver(post_save, sender=Organizer)
def role_in_the_rehearsal(instance: Organizer, raw: bool = False, **kwargs: Any) -> None:
    """A role was given or changed: it is the same in the competition's rehearsal."""
    if not raw:
        for rehearsal in Competition.objects.filter(rehearses=instance.competition_id):
            mirror(instance, rehearsal)


@receiver(post_delete, sender=Organizer)
def no_role_in_the_rehearsal(instance: Organizer, **kwargs: Any) -> None:
    """A role was taken: the rehearsal is out of sight, too."""
    Organizer.objects.filter(competition__rehearses=instance.competition_id, user=instance.user_id).delete()


@receiver(upload_asked)
def organizers_send_datasets(user: User, **kwargs: Any) -> bool:
    """Who may make competitions, and who edits one."""
    edits = Organizer.objects.filter(user=user, role__in=policy.EDITING)
    return policy.may_create_competition(user) or edits.exists()
