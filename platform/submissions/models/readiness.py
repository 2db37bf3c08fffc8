"""Readiness checks: a submission's code, briefly, on small made datasets of every trait."""

import dataclasses
from uuid import uuid4

from django.conf import settings
from django.db import models
from django.utils import timezone

from competitions.models import Entrant
from ingestion.budget import KIB, Budget
from ingestion.readiness import trial_budget
from submissions.models.runs import Reason
from submissions.models.submission import Submission
from submissions.models.worker import Worker

LOG_BYTES = 256 * KIB  # of each dataset's log


class CheckState(models.TextChoices):
    """queued -> claimed -> running -> finished, or failed (ours), or cancelled."""

    QUEUED = "queued", "queued"
    CLAIMED = "claimed", "starting"
    RUNNING = "running", "running"
    FINISHED = "finished", "finished"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


CHECK_AT_WORKER = (CheckState.CLAIMED, CheckState.RUNNING)
CHECK_ACTIVE = (CheckState.QUEUED, *CHECK_AT_WORKER)


def row_log_path(row: "ReadinessRow", filename: str) -> str:
    """A random place of its own for each log."""
    return f"checks/{uuid4().hex}"


class ReadinessCheck(models.Model):
    """One check of one submission. It costs no quota and has no score; what it found stands in its rows.

    It keeps what it needs of a worker as a run does. Of attempts it knows the present one: rows that an earlier
    one reported stay, so that a check goes on where it was interrupted.
    """

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="readiness_checks")
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="readiness_checks")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="readiness_checks")
    counts = models.BooleanField(default=True, help_text="Toward what the entrant may ask for in a day.")
    wall_seconds = models.FloatField(help_text="For each dataset.")
    seed = models.PositiveIntegerField(default=0)
    image = models.CharField(max_length=200, blank=True)
    resource_class = models.SlugField(max_length=40, default="default")

    state = models.CharField(max_length=10, choices=CheckState.choices, default=CheckState.QUEUED)
    sentence = models.TextField(blank=True)
    deadline = models.DateTimeField(null=True, blank=True, help_text="When the reconciler looks after this state.")
    asked_at = models.DateTimeField(default=timezone.now)
    rung_at = models.DateTimeField(null=True, blank=True, help_text="When its doorbell was last rung.")
    claimed_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    cancel_asked = models.BooleanField(default=False)

    attempt_number = models.PositiveIntegerField(default=0)
    losses = models.PositiveIntegerField(default=0, help_text="How often our side lost it.")
    worker = models.ForeignKey(Worker, models.SET_NULL, null=True, blank=True, related_name="readiness_checks")
    secret_hash = models.CharField(max_length=64, blank=True)
    heard_at = models.DateTimeField(null=True, blank=True)
    current_trait = models.CharField(max_length=40, blank=True)
    current_seconds = models.FloatField(default=0.0)

    class Meta:
        ordering = ["-asked_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["entrant"], condition=models.Q(state__in=CHECK_ACTIVE), name="one_active_check_per_entrant"
            )
        ]
        indexes = [models.Index(fields=["state", "deadline"])]

    def __str__(self) -> str:
        return f"readiness check {self.pk} of {self.submission}"

    @property
    def budget(self) -> Budget:
        """What the run on each dataset may use: the time of the check, and all that the worker gives to a run."""
        return dataclasses.replace(trial_budget(self.wall_seconds), log_bytes=LOG_BYTES)

    @property
    def is_active(self) -> bool:
        """Whether it has not ended."""
        return self.state in CHECK_ACTIVE


class ReadinessRow(models.Model):
    """What became of one trait, as `ingestion.readiness.Row`, with its log."""

    readiness_check = models.ForeignKey(ReadinessCheck, models.CASCADE, related_name="rows")
    trait = models.CharField(max_length=40)
    ok = models.BooleanField()
    ran = models.BooleanField()
    reason = models.CharField(max_length=20, choices=Reason.choices, blank=True)
    sentence = models.TextField(blank=True)
    wall_seconds = models.FloatField(default=0.0)
    parts = models.JSONField(default=dict, help_text="By part: predicted, shape, finite.")
    log = models.FileField(upload_to=row_log_path, blank=True, max_length=200)
    log_tail = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["readiness_check", "trait"], name="one_row_per_trait"),
        ]

    def __str__(self) -> str:
        return f"{self.trait} of {self.readiness_check}"
