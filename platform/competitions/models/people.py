"""Who organizes, who takes part, and as what they compete."""

from django.conf import settings
from django.db import models

from competitions.models.contest import Competition


class Organizer(models.Model):
    """A role in one competition."""

    class Role(models.TextChoices):
        OWNER = "owner", "owner"
        EDITOR = "editor", "editor"
        REVIEWER = "reviewer", "reviewer: sees, cannot change"

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="organizers")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="organizes")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.EDITOR)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["competition", "user"], name="one_role_per_person")]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class Participant(models.Model):
    """A person's wish to take part, and the organizers' answer."""

    class State(models.TextChoices):
        PENDING = "pending", "waits for approval"
        APPROVED = "approved", "takes part"
        REJECTED = "rejected", "rejected"
        REMOVED = "removed", "removed"

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="participants")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="participates")
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["competition", "user"], name="one_wish_per_person")]

    def __str__(self) -> str:
        return f"{self.user} ({self.state})"


class Entrant(models.Model):
    """Who competes: quota and rank are the entrant's, so that a team can be one."""

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="entrants")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="entrants")
    name = models.CharField(max_length=80)
    is_baseline = models.BooleanField(default=False, help_text="Shown on the board, never shifts a rank.")
    held_a_role = models.BooleanField(
        default=False, help_text="Ever an organizer here: takes no rank, also after the role has ended."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["competition", "user"], name="one_entrant_per_person")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_ranked(self) -> bool:
        """Whether this entrant takes a place on the board."""
        return not (self.is_baseline or self.held_a_role)
