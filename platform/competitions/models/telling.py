"""What organizers tell their participants, and to whom it was sent."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from competitions.models.contest import Competition
from competitions.models.protocol import Phase


class Announcement(models.Model):
    """A message of the organizers: shown on the site, and sent by mail where they ask for it."""

    class Audience(models.TextChoices):
        EVERYBODY = "everybody", "all participants"
        PHASE = "phase", "those who submitted in a phase"
        PERSON = "person", "chosen participants"

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="announcements")
    subject = models.CharField(max_length=150)
    body = models.TextField(help_text="Markdown.")
    audience = models.CharField(max_length=10, choices=Audience.choices, default=Audience.EVERYBODY)
    phase = models.ForeignKey(Phase, models.SET_NULL, null=True, blank=True, related_name="+")
    by_mail = models.BooleanField(default=True)
    sent_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    sent_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-sent_at", "-id"]

    def __str__(self) -> str:
        return self.subject


class Delivery(models.Model):
    """One recipient of an announcement, and what became of the mail."""

    class State(models.TextChoices):
        ON_SITE = "on_site", "on the site only"
        WAITING = "waiting", "waits"
        SENDING = "sending", "is being sent"
        SENT = "sent", "sent"
        FAILED = "failed", "could not be sent"

    announcement = models.ForeignKey(Announcement, models.CASCADE, related_name="deliveries")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    deadline = models.DateTimeField(null=True, blank=True, help_text="When somebody else takes it up again.")
    problem = models.CharField(max_length=300, blank=True)
    read_at = models.DateTimeField(null=True, blank=True, help_text="When the person first saw it on the site.")

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [models.UniqueConstraint(fields=["announcement", "user"], name="told_once")]
        indexes = [models.Index(fields=["state", "deadline"])]

    def __str__(self) -> str:
        return f"{self.announcement} to {self.user}"
