"""One archive by an entrant for a phase."""

import datetime as dt
from uuid import uuid4

from django.conf import settings
from django.db import models

from competitions.models import Entrant, Phase


def archive_path(submission: "Submission", filename: str) -> str:
    """A random place, so that nobody guesses a rival's archive."""
    return f"submissions/{uuid4().hex}.zip"


class SubmissionQuerySet(models.QuerySet["Submission"]):
    """The selections that several places need."""

    def counting_for_quota(self) -> "SubmissionQuerySet":
        """Those that used up quota."""
        return self.filter(uses_quota=True)

    def competing(self) -> "SubmissionQuerySet":
        """Those that may be an entrant's entry: neither cancelled nor disqualified nor lost by our fault, and not
        beyond the budget.
        """
        return (
            self.exclude(state__in=[Submission.State.CANCELLED, Submission.State.LOST])
            .exclude(arrival=Submission.Arrival.RUN_ON)
            .filter(disqualified_at=None)
        )


class Submission(models.Model):
    """An archive that was accepted at the door, with one run for each task of its phase."""

    class Kind(models.TextChoices):
        CODE = "code", "code"
        RESULTS = "results", "results"
        BOTH = "both", "code and results"

    class State(models.TextChoices):
        ACTIVE = "active", "in progress"
        FINISHED = "finished", "finished"
        FAILED = "failed", "failed"
        LOST = "lost", "lost to our infrastructure"
        CANCELLED = "cancelled", "cancelled"

    class Arrival(models.TextChoices):
        UPLOADED = "uploaded", "uploaded"
        MIGRATED = "migrated", "migrated from the parent phase"
        CARRIED = "carried", "carried over from the parent phase"
        BASIC = "basic", "a basic method, run by the platform"
        RUN_ON = "run_on", "beyond its budget, for its learning curve alone"

    # Sent by the platform itself: they wait behind live work and are handed on nowhere.
    OF_THE_PLATFORM = (Arrival.BASIC, Arrival.RUN_ON)

    entrant = models.ForeignKey(Entrant, models.PROTECT, related_name="submissions")
    phase = models.ForeignKey(Phase, models.PROTECT, related_name="submissions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="submissions")
    arrival = models.CharField(max_length=8, choices=Arrival.choices, default=Arrival.UPLOADED)
    origin = models.ForeignKey(
        "self", models.PROTECT, null=True, blank=True, related_name="copies", help_text="Of a handed over one."
    )
    number = models.PositiveIntegerField(help_text="1, 2, 3 … of this entrant in this competition.")
    received_at = models.DateTimeField(
        help_text="When the upload was complete; decides what is the latest. Copies keep their origin's."
    )
    archive = models.FileField(upload_to=archive_path, max_length=200)
    filename = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    interface = models.CharField(max_length=10, blank=True, help_text="model or metadata, for code.")
    notes = models.JSONField(default=list, help_text="What the door dropped or noticed.")
    comment = models.CharField(max_length=200, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACTIVE)
    ended_at = models.DateTimeField(null=True, blank=True)
    uses_quota = models.BooleanField(default=True)
    disqualified_at = models.DateTimeField(null=True, blank=True)
    fanned_from = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="fans",
        help_text="Sent to several phases at once.",
    )
    is_chosen = models.BooleanField(default=False, help_text="Counts where the phase lets entrants choose.")
    is_kit_code = models.BooleanField(
        default=False, help_text="The starting kit's own code, put in by a command: may run unconfined."
    )

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-received_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["entrant", "number"], name="one_submission_per_number"),
            models.UniqueConstraint(
                fields=["phase", "entrant"],
                condition=models.Q(origin__isnull=False, disqualified_at__isnull=True)
                & ~models.Q(state="cancelled"),
                name="one_handed_over_submission",
            ),
        ]
        indexes = [
            models.Index(fields=["phase", "entrant", "-received_at"]),
            # Of the organizers' table, a page at a time.
            models.Index(fields=["phase", "-received_at", "-id"], name="submissions_by_receipt"),
            models.Index(fields=["phase", "state", "-received_at", "-id"], name="submissions_by_state"),
        ]

    def __str__(self) -> str:
        return f"submission {self.number} of {self.entrant}"

    def get_absolute_url(self) -> str:
        return f"/competitions/{self.phase.round.competition.slug}/submissions/{self.pk}/"

    @property
    def has_code(self) -> bool:
        """Whether it holds code that later blind phases can run."""
        return self.kind in (self.Kind.CODE, self.Kind.BOTH)

    @property
    def is_active(self) -> bool:
        """Whether some run has not ended."""
        return self.state == self.State.ACTIVE

    @property
    def is_first_running(self) -> bool:
        """Whether it has never ended yet; one that is run again had its scores before."""
        return self.is_active and self.ended_at is None

    @property
    def competes(self) -> bool:
        """Whether it may be its entrant's entry, as `competing` selects them."""
        is_real = self.arrival != self.Arrival.RUN_ON
        return (
            is_real and self.disqualified_at is None and self.state not in (self.State.CANCELLED, self.State.LOST)
        )


class Handover(models.Model):
    """What became of an entrant when a phase took over the entries of its parent; one row for each, ever."""

    class Outcome(models.TextChoices):
        MIGRATED = "migrated", "migrated"
        CARRIED = "carried", "carried over"
        NO_CODE = "no_code", "no code: results alone cannot enter a blind phase"
        NOTHING = "nothing", "nothing that could go forward"

    phase = models.ForeignKey(Phase, models.CASCADE, related_name="handovers")
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="handovers")
    outcome = models.CharField(max_length=8, choices=Outcome.choices)
    source = models.ForeignKey(Submission, models.PROTECT, null=True, related_name="handovers")
    submission = models.OneToOneField(Submission, models.PROTECT, null=True, related_name="handover")
    made_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["phase", "entrant"], name="one_handover_per_entrant")]

    def __str__(self) -> str:
        return f"{self.entrant} in {self.phase}: {self.outcome}"


def quota_left(phase: Phase, entrant: Entrant, now: dt.datetime) -> int | None:
    """How many submissions the entrant may still make now; None means without limit.

    A day is a UTC calendar day.
    """
    made = Submission.objects.filter(phase=phase, entrant=entrant).counting_for_quota()
    left: list[int] = []
    if phase.daily_quota is not None:
        day = now.astimezone(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        left.append(phase.daily_quota - made.filter(received_at__gte=day).count())
    if phase.total_quota is not None:
        left.append(phase.total_quota - made.count())
    return max(0, min(left)) if left else None
