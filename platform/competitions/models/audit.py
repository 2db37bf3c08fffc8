"""What organizers and the clock did to a competition: one entry for each action."""

from django.conf import settings
from django.db import models

from competitions.models.contest import Competition


class AuditEntry(models.Model):
    """Who did what, when. Entries are written by actions and never changed."""

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="audit")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: the clock.",
    )
    at = models.DateTimeField()
    action = models.SlugField(max_length=40)
    text = models.CharField(max_length=300, help_text="One sentence for people.")
    data = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["competition", "-at", "-id"])]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return self.text
