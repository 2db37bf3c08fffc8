"""Bundles that organizers bring: what was sent, what was found in it, and what they answered."""

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import models

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

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="bundle_imports")
    file = models.FileField(storage=bundle_storage, upload_to="bundles/", blank=True, max_length=200)
    filename = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    deadline = models.DateTimeField(null=True, blank=True, help_text="When somebody else takes it up again.")
    tries = models.PositiveSmallIntegerField(default=0)
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
