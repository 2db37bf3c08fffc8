"""One wish of an organizer on many submissions, done piece by piece."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from competitions.models import Competition


class BulkWork(models.Model):
    """Running again, scoring again, cancelling or disqualifying many submissions.

    It is made when the preview is shown and holds the very submissions that were previewed. Once confirmed, the
    site works through them; `position` moves in the transaction that did a piece, so that nothing is done twice
    and nothing is left out, whoever stops in between.
    """

    class Kind(models.TextChoices):
        RERUN = "rerun", "run again"
        RESCORE = "rescore", "score again"
        CANCEL = "cancel", "cancel"
        DISQUALIFY = "disqualify", "disqualify"

    class State(models.TextChoices):
        PREVIEWED = "previewed", "waits for confirmation"
        WORKING = "working", "at work"
        DONE = "done", "done"
        STOPPED = "stopped", "stopped"

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="bulk_works")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    told = models.CharField(max_length=200, help_text="Which submissions, in words.")
    submissions = models.JSONField(default=list, help_text="Ids, the oldest first.")
    fresh = models.BooleanField(default=False, help_text="Run again with the budget, image and data of now.")
    why = models.CharField(max_length=300, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PREVIEWED)
    position = models.PositiveIntegerField(default=0, help_text="How many of the submissions were looked at.")
    changed = models.PositiveIntegerField(default=0)
    left_out = models.JSONField(default=list, help_text="Sentences on the first of those left as they were.")
    made_at = models.DateTimeField(default=timezone.now)
    begun_at = models.DateTimeField(null=True, blank=True)
    heard_at = models.DateTimeField(null=True, blank=True, help_text="When a piece was done last.")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-made_at", "-id"]
        indexes = [models.Index(fields=["competition", "state"])]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.total} submissions of {self.competition}"

    @property
    def total(self) -> int:
        """How many submissions were chosen."""
        return len(self.submissions)

    @property
    def skipped(self) -> int:
        """How many of those looked at were left as they were."""
        return self.position - self.changed

    @property
    def is_working(self) -> bool:
        """Whether it goes on."""
        return self.state == self.State.WORKING
