"""One contest and its pages."""

import datetime as dt
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from competitions.models.protocol import Phase


class Competition(models.Model):
    """One contest: pages, organizers, participants, rounds."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft: only its organizers see it"
        PUBLISHED = "published", "published"
        ARCHIVED = "archived", "archived: readable, closed"

    class Registration(models.TextChoices):
        OPEN = "open", "anybody may join"
        APPROVAL = "approval", "an organizer approves"
        CLOSED = "closed", "closed"

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=120)
    summary = models.CharField(max_length=300, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    registration = models.CharField(max_length=10, choices=Registration.choices, default=Registration.OPEN)
    overview = models.TextField(blank=True, help_text="Markdown.")
    evaluation = models.TextField(blank=True, help_text="Markdown, shown above the generated description.")
    rules = models.TextField(blank=True, help_text="Markdown, shown above the generated rules.")
    teams_close_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on teams neither form nor change. Empty: they always may."
    )
    max_team_size = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(1)], help_text="1: everybody competes alone."
    )
    queue_paused_at = models.DateTimeField(
        null=True, blank=True, help_text="While set, no waiting run of this competition is given to a worker."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return f"/competitions/{self.slug}/"

    def phases(self) -> "QuerySet[Phase]":
        """All phases in the order of the competition, with their rounds."""
        from competitions.models.protocol import Phase

        return Phase.objects.filter(round__competition=self).select_related("round").order_by("number")

    def current_phase(self, now: dt.datetime) -> "Phase | None":
        """The phase a visitor should see first: open for submissions, else the latest begun, else the next."""
        from competitions.lifecycle import current_phase

        return current_phase(list(self.phases()), now)


class Page(models.Model):
    """A page that organizers added beside the usual ones."""

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="pages")
    slug = models.SlugField(max_length=60)
    title = models.CharField(max_length=80)
    body = models.TextField(help_text="Markdown.")
    order = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["order", "id"]
        constraints = [models.UniqueConstraint(fields=["competition", "slug"], name="one_page_per_slug")]

    def __str__(self) -> str:
        return self.title
