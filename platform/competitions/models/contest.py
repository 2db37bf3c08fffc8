"""One contest and its pages."""

import datetime as dt
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from competitions.models.protocol import Phase


RESERVED_SLUGS = ("new", "import")


def image_path(image: "PageImage", filename: str) -> str:
    """Where a picture of a page is kept; the name that was sent is not part of it."""
    return f"pages/{image.competition_id}/{secrets.token_hex(8)}{Path(filename).suffix}"


class Competition(models.Model):
    """One contest: pages, organizers, participants, rounds."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft: only its organizers see it"
        PUBLISHED = "published", "published"
        ARCHIVED = "archived", "archived: readable, closed"

    class Registration(models.TextChoices):
        OPEN = "open", "anybody may join"
        APPROVAL = "approval", "an organizer approves"
        ALLOW_LIST = "allow_list", "those whose e-mail address is on a list"
        CLOSED = "closed", "closed"

    class Visibility(models.TextChoices):
        PUBLIC = "public", "listed, and everybody may read it"
        UNLISTED = "unlisted", "not listed: whoever knows the address may read it"
        PRIVATE = "private", "only its participants, those on its e-mail list and its organizers"

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=120)
    summary = models.CharField(max_length=300, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    registration = models.CharField(max_length=10, choices=Registration.choices, default=Registration.OPEN)
    allowed_emails = models.TextField(
        blank=True, help_text="One address or @domain a line: who may join where a list decides."
    )
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PUBLIC)
    published_at = models.DateTimeField(null=True, blank=True, help_text="When it was first published.")
    logo = models.ForeignKey("PageImage", models.SET_NULL, null=True, blank=True, related_name="+")
    reward = models.CharField(max_length=256, blank=True)
    contact_email = models.EmailField(blank=True)
    programs_are_public = models.BooleanField(
        default=False, help_text="Participants may download the organizers' programs."
    )
    labels_are_readable = models.BooleanField(
        default=False,
        help_text="An owner let participants' code run where labels can be read; the front page says so.",
    )
    overview = models.TextField(blank=True, help_text="Markdown.")
    evaluation = models.TextField(blank=True, help_text="Markdown, shown above the generated description.")
    rules = models.TextField(blank=True, help_text="Markdown, shown above the generated rules.")
    teams_close_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on teams neither form nor change. Empty: they always may."
    )
    merges_close_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on teams do not merge. Empty: as long as teams may change."
    )
    max_team_size = models.PositiveSmallIntegerField(
        default=1, validators=[MinValueValidator(1)], help_text="1: everybody competes alone."
    )
    queue_paused_at = models.DateTimeField(
        null=True, blank=True, help_text="While set, no waiting run of this competition is given to a worker."
    )
    rehearses = models.OneToOneField(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="rehearsal",
        help_text="Of a rehearsal: the competition whose course it tries out.",
    )
    clock_offset = models.DurationField(
        default=dt.timedelta(0), help_text="Of a rehearsal: how far its clock is ahead of ours."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(rehearses__isnull=False) | models.Q(clock_offset=dt.timedelta(0)),
                name="only_a_rehearsal_has_another_clock",
            )
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return f"/competitions/{self.slug}/"

    def clean(self) -> None:
        """Refuse an address that the site uses itself; bring the e-mail list into one spelling."""
        from competitions import allow_list

        if self.slug in RESERVED_SLUGS:
            raise ValidationError({"slug": f"The address /competitions/{self.slug}/ is the site's own."})
        try:
            self.allowed_emails = allow_list.tidied(self.allowed_emails)
        except ValidationError as problem:
            raise ValidationError({"allowed_emails": problem.messages}) from problem

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


class PageImage(models.Model):
    """A picture that organizers uploaded for their pages, encoded anew by us."""

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="images")
    name = models.CharField(max_length=100)
    file = models.FileField(upload_to=image_path, max_length=200)
    size = models.PositiveIntegerField()
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    uploaded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]

    def __str__(self) -> str:
        return self.name
