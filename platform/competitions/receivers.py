"""Whoever ever held a role in a competition is unranked there, also when the role has ended."""

from typing import Any

from django.db.models import QuerySet
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from competitions.models import Entrant, Organizer


@receiver(post_save, sender=Organizer)
def unrank(instance: Organizer, raw: bool = False, **kwargs: Any) -> None:
    """Somebody got a role: who competes already loses the rank."""
    if raw:
        return
    for entrant in Entrant.objects.filter(
        competition=instance.competition_id, user=instance.user_id, held_a_role=False
    ):
        entrant.held_a_role = True
        entrant.save(update_fields=["held_a_role"])


@receiver(post_delete, sender=Organizer)
def remember(instance: Organizer, origin: Any = None, **kwargs: Any) -> None:
    """A role ended: who competes later is recognised. Roles that go with their competition need no memory."""
    ended_by_itself = isinstance(origin, Organizer) or (isinstance(origin, QuerySet) and origin.model is Organizer)
    if ended_by_itself:
        Entrant.objects.update_or_create(
            competition_id=instance.competition_id,
            user_id=instance.user_id,
            defaults={"held_a_role": True},
            create_defaults={"held_a_role": True, "name": instance.user.display_name[:80]},
        )
