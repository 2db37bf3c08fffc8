"""Who organizes, who takes part, and as what they compete."""

from django.conf import settings
from django.db import models
from django.utils import timezone

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
    sees_hidden = models.BooleanField(
        default=False, help_text="For a reviewer: may also see labels and the names of hidden datasets."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["competition", "user"], name="one_role_per_person")]

    def __str__(self) -> str:
        return f"{self.user} ({self.role})"


class HeldRole(models.Model):
    """Whoever ever held a role in a competition: written with the role, kept when it ends."""

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="held_roles")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="held_roles")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["competition", "user"], name="one_memory_per_person")]

    def __str__(self) -> str:
        return f"{self.user} held a role"


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
    wants_mail = models.BooleanField(
        default=True, help_text="Whether announcements come by mail; on the site they always stand."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["competition", "user"], name="one_wish_per_person")]

    def __str__(self) -> str:
        return f"{self.user} ({self.state})"


class Team(models.Model):
    """Several people who compete as one entrant."""

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="teams")
    name = models.CharField(max_length=80)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["competition", "name"], name="one_team_per_name")]

    def __str__(self) -> str:
        return self.name


class TeamMember(models.Model):
    """A person's place in a team: asked to come, in it, or the captain, who asks others."""

    class State(models.TextChoices):
        INVITED = "invited", "invited"
        MEMBER = "member", "member"
        CAPTAIN = "captain", "captain"

    team = models.ForeignKey(Team, models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="team_places")
    state = models.CharField(max_length=8, choices=State.choices, default=State.INVITED)
    joined_at = models.DateTimeField(
        default=timezone.now, help_text="When the person was asked, then when they came in."
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="one_place_in_a_team")]

    def __str__(self) -> str:
        return f"{self.user} ({self.state})"


class TeamLink(models.Model):
    """A link that lets whoever has it come into a team. Only the digest of its secret is kept."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="links")
    digest = models.CharField(max_length=64, unique=True)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    made_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["-made_at"]

    def __str__(self) -> str:
        return f"a link into {self.team}"


class TeamMerge(models.Model):
    """One team's captain asks another team to come in as a whole; it is gone once it was answered."""

    into = models.ForeignKey(Team, models.CASCADE, related_name="merges_asked")
    team = models.ForeignKey(Team, models.CASCADE, related_name="merges_offered", help_text="Which would end.")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    asked_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["into", "team"], name="one_offer_to_merge")]

    def __str__(self) -> str:
        return f"{self.team} into {self.into}"


class Entrant(models.Model):
    """Who competes: a user or a team. Quota and rank are the entrant's."""

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="entrants")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="entrants"
    )
    team = models.OneToOneField(Team, models.PROTECT, null=True, blank=True, related_name="entrant")
    name = models.CharField(max_length=80)
    is_baseline = models.BooleanField(default=False, help_text="Shown on the board, never shifts a rank.")
    held_a_role = models.BooleanField(
        default=False, help_text="Ever an organizer here: takes no rank, also after the role has ended."
    )
    owes_answers = models.BooleanField(
        default=False, help_text="Has not answered the required questions of the fact sheet: takes no rank yet."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["competition", "user"], name="one_entrant_per_person"),
            models.CheckConstraint(
                condition=models.Q(user__isnull=False, team__isnull=True)
                | models.Q(user__isnull=True, team__isnull=False),
                name="an_entrant_is_a_person_or_a_team",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_ranked(self) -> bool:
        """Whether this entrant takes a place on the board."""
        return not (self.is_baseline or self.held_a_role or self.owes_answers)


class Departure(models.Model):
    """Who left a team after it had submitted with them in a phase: there they compete for nobody else."""

    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="departures")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="departures")
    phase = models.ForeignKey("competitions.Phase", models.CASCADE, related_name="departures")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "phase"], name="one_departure_in_a_phase")]

    def __str__(self) -> str:
        return f"{self.user} left {self.entrant}"
