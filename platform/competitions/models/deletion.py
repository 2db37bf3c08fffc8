"""What is left of a competition that was deleted: who did it, when, and its audit log, for the operator."""

from django.conf import settings
from django.db import models

from competitions.models.contest import Competition


class Deletion(models.Model):
    """A competition that is being deleted, then what is remembered of it.

    While `competition` is set its rows and files are still being removed; the site's worker goes on until it is
    empty, also after a restart.
    """

    competition = models.OneToOneField(
        Competition,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="deletion",
        help_text="Empty: it is gone.",
    )
    slug = models.CharField(max_length=80)
    title = models.CharField(max_length=120)
    was_rehearsal = models.BooleanField(default=False)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    asked_by_name = models.CharField(max_length=150, blank=True, help_text="Empty: the operator's command.")
    asked_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    counts = models.JSONField(default=dict, help_text="How many submissions, runs and entrants it had.")
    audit = models.JSONField(default=list, help_text="Its audit log, the oldest entry first.")

    class Meta:
        ordering = ["-asked_at", "-id"]

    def __str__(self) -> str:
        return f"{self.title} ({self.slug})"
