"""Bundles that organizers bring: what was sent, what was found in it, and what they answered."""

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import models
from django.urls import reverse

from competitions.models import Competition


def bundle_storage() -> Storage:
    """Bundles lie where solutions do: they hold the reference data."""
    return storages["solutions"]


class BundleImport(models.Model):
    """One bundle from its arrival to the competition made of it; what was sent is kept until then."""

    class State(models.TextChoices):
        WAITING = "waiting", "waits to be read"
        READING = "reading", "is being read"
        ASKS = "asks", "asks the organizer"
        REFUSED = "refused", "has errors"
        IMPORTED = "imported", "imported"
        FAILED = "failed", "failed"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="bundle_imports")
    file = models.FileField(storage=bundle_storage, upload_to="bundles/", blank=True, max_length=200)
    filename = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    deadline = models.DateTimeField(null=True, blank=True, help_text="When somebody else takes it up again.")
    tries = models.PositiveSmallIntegerField(default=0)
    sentence = models.CharField(max_length=300, blank=True, help_text="What happens to it now.")
    is_wanted = models.BooleanField(default=False, help_text="The organizer has seen the report, and imports it.")
    report = models.JSONField(default=dict, blank=True, help_text="Errors, warnings, questions, what was found.")
    answers = models.JSONField(default=dict, blank=True, help_text="Of the organizer, by the question's key.")
    competition = models.OneToOneField(
        Competition, models.SET_NULL, null=True, blank=True, related_name="bundle_import"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.filename

    def get_absolute_url(self) -> str:
        return reverse("bundle_import", args=[self.pk])

    @property
    def is_busy(self) -> bool:
        """Whether something happens to it without its owner."""
        return self.state in (self.State.WAITING, self.State.READING)


class BundleExport(models.Model):
    """A competition written as a bundle. It holds the labels, so it lies where solutions do, and for a day."""

    class State(models.TextChoices):
        WAITING = "waiting", "waits to be written"
        WRITING = "writing", "is being written"
        READY = "ready", "ready"
        FAILED = "failed", "failed"

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="exports")
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    with_solutions = models.BooleanField(default=False, help_text="With the archives of reference entries.")
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    deadline = models.DateTimeField(help_text="When somebody else takes it up again, or it is removed.")
    tries = models.PositiveSmallIntegerField(default=0)
    sentence = models.CharField(max_length=300, blank=True)
    file = models.FileField(storage=bundle_storage, upload_to="exports/", blank=True, max_length=200)
    sha256 = models.CharField(max_length=64, blank=True)
    size = models.PositiveBigIntegerField(default=0)
    unsayable = models.JSONField(default=list, blank=True, help_text="What the bundle does not say.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.competition}, {self.created_at:%Y-%m-%d %H:%M}"

    @property
    def is_busy(self) -> bool:
        """Whether it is on its way."""
        return self.state in (self.State.WAITING, self.State.WRITING)
