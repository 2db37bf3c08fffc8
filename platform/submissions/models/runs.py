"""Runs, attempts, what they left, and what it scored."""

from uuid import uuid4

from django.db import models
from django.utils import timezone

from competitions.models import Task
from datasets.models import DatasetVersion, Metric
from ingestion.budget import Budget
from submissions.models.image import BuiltImage
from submissions.models.submission import Submission
from submissions.models.worker import Worker


class RunState(models.TextChoices):
    """queued -> claimed -> running -> collected -> scoring -> finished, or failed, or cancelled."""

    QUEUED = "queued", "queued"
    CLAIMED = "claimed", "starting"
    RUNNING = "running", "running"
    COLLECTED = "collected", "waiting for its score"
    SCORING = "scoring", "scoring"
    FINISHED = "finished", "finished"
    FAILED = "failed", "failed"
    CANCELLED = "cancelled", "cancelled"


ENDED = (RunState.FINISHED, RunState.FAILED, RunState.CANCELLED)
AT_WORKER = (RunState.CLAIMED, RunState.RUNNING)
# Runs that wait because their dataset is in quarantine: nobody waits for them.
HELD = models.Q(state=RunState.QUEUED, task__quarantined_at__isnull=False)


class Reason(models.TextChoices):
    """Why a run failed, or the note on one that was stopped but counts (interfaces, "Reasons")."""

    TIMED_OUT = "timed_out", "out of time"
    OUT_OF_MEMORY = "out_of_memory", "out of memory"
    CRASHED = "crashed", "the program failed"
    NO_PREDICTIONS = "no_predictions", "no predictions"
    BAD_PREDICTIONS = "bad_predictions", "predictions cannot be scored"
    OUTPUT_TOO_LARGE = "output_too_large", "too much output"
    REFUSED = "refused", "refused at the door"
    INGESTION_FAILED = "ingestion_failed", "the organizer's ingestion program failed"
    SCORING_FAILED = "scoring_failed", "the organizer's scoring program failed"
    INFRASTRUCTURE = "infrastructure", "our infrastructure failed"
    CANCELLED = "cancelled", "cancelled"


def run_path(run: "Run", filename: str) -> str:
    """A random place of its own for each file of a run."""
    return f"runs/{uuid4().hex}"


class Run(models.Model):
    """One submission on one task: the unit of work, of failure and of score.

    It keeps the dataset version, metric, budget and image it ran with, so that later edits of the task do not
    change what a score means.
    """

    class Source(models.TextChoices):
        CODE = "code", "the submission's code is run"
        RESULTS = "results", "the submission's own predictions are scored"
        COPY = "copy", "the predictions of an earlier run of the same entry stand"

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="runs")
    task = models.ForeignKey(Task, models.PROTECT, related_name="runs")
    order = models.PositiveIntegerField(default=0, help_text="The task's place in its phase.")
    source = models.CharField(max_length=8, choices=Source.choices)
    dataset_version = models.ForeignKey(DatasetVersion, models.PROTECT, related_name="runs")
    dataset_name = models.CharField(max_length=80, help_text="The name the program and its files use.")
    metric = models.CharField(max_length=3, choices=Metric.choices)
    convention = models.CharField(max_length=10, default="chapter", help_text="Of scoring.")
    repeat = models.PositiveSmallIntegerField(default=0, help_text="0, 1, 2 … of the phase's repeats.")
    copied_from = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="copies")
    budget_json = models.JSONField()
    image = models.CharField(max_length=200, blank=True, help_text="As its phase names it.")
    built_image = models.ForeignKey(
        BuiltImage, models.PROTECT, null=True, blank=True, related_name="runs", help_text="What it started in."
    )
    seed = models.PositiveIntegerField(default=0)
    any_time = models.BooleanField(default=True)
    resource_class = models.SlugField(max_length=40, default="default")
    is_rerun = models.BooleanField(default=False)

    state = models.CharField(max_length=10, choices=RunState.choices, default=RunState.QUEUED)
    deadline = models.DateTimeField(null=True, blank=True, help_text="When the reconciler looks after this state.")
    reason = models.CharField(max_length=20, choices=Reason.choices, blank=True)
    sentence = models.TextField(blank=True, help_text="What the participant may read about the state.")
    attempt_number = models.PositiveIntegerField(default=0)
    attempts_before = models.PositiveIntegerField(
        default=0, help_text="The last attempt before it was run again; what was lost until then counts no more."
    )
    scoring_tries = models.PositiveIntegerField(default=0)
    queued_at = models.DateTimeField(default=timezone.now)
    rung_at = models.DateTimeField(null=True, blank=True, help_text="When its doorbell was last rung.")
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    cancel_asked = models.BooleanField(default=False)

    wall_seconds = models.FloatField(null=True, blank=True)
    cpu_seconds = models.FloatField(null=True, blank=True)
    peak_memory_bytes = models.PositiveBigIntegerField(null=True, blank=True)
    output_bytes = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="What the output folder held in the end."
    )
    prediction_bytes = models.PositiveBigIntegerField(null=True, blank=True, help_text="What was collected of it.")
    error_lines = models.TextField(blank=True, help_text="The program's own last lines, where it failed.")
    log = models.FileField(upload_to=run_path, blank=True, max_length=200)
    log_tail = models.TextField(blank=True)
    program_report = models.JSONField(
        default=dict,
        blank=True,
        help_text="Of organizers' programs: `metadata` for scoring, notes and last lines for organizers.",
    )

    class Meta:
        ordering = ["order", "id"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "task", "repeat"], name="one_run_per_task_and_repeat")
        ]
        indexes = [
            models.Index(fields=["state", "deadline"]),
            models.Index(fields=["state", "resource_class", "queued_at"]),
            # Which submissions failed on a dataset, or for a reason, without reading the runs.
            models.Index(fields=["task", "state", "reason", "submission"], name="runs_by_outcome"),
        ]

    def __str__(self) -> str:
        return f"{self.submission} on {self.dataset_name}"

    @property
    def budget(self) -> Budget:
        """What this run may use."""
        return Budget.from_json(self.budget_json)

    @property
    def has_ended(self) -> bool:
        """Whether its state is final."""
        return self.state in ENDED


class Attempt(models.Model):
    """One try at a run by one worker; its number is the fence against late reports."""

    class Outcome(models.TextChoices):
        OPEN = "open", "in progress"
        REPORTED = "reported", "reported"
        LOST = "lost", "its worker was not heard any more"
        RELEASED = "released", "given back by its worker"
        CANCELLED = "cancelled", "cancelled"

    run = models.ForeignKey(Run, models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    worker = models.ForeignKey(Worker, models.SET_NULL, null=True, related_name="attempts")
    secret_hash = models.CharField(max_length=64)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, default=Outcome.OPEN)
    claimed_at = models.DateTimeField(default=timezone.now)
    heard_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)
    wall_seconds = models.FloatField(default=0.0)
    cpu_seconds = models.FloatField(default=0.0)
    memory_bytes = models.PositiveBigIntegerField(default=0)
    log_tail = models.TextField(blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="one_attempt_per_number")]
        indexes = [models.Index(fields=["claimed_at"])]

    def __str__(self) -> str:
        return f"attempt {self.number} at {self.run}"


class Prediction(models.Model):
    """One collected prediction file, in its write-once copy."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="predictions")
    attempt_number = models.PositiveIntegerField(default=0)
    part = models.CharField(max_length=5)
    number = models.BigIntegerField(null=True, blank=True, help_text="Of an any-time run; empty: unnumbered.")
    name = models.CharField(max_length=120)
    seconds = models.FloatField(null=True, blank=True, help_text="Since the clock started.")
    file = models.FileField(upload_to=run_path, max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    counts = models.BooleanField(default=False, help_text="The one whose score stands for the run.")

    class Meta:
        ordering = ["part", "number"]

    def __str__(self) -> str:
        return self.name


class Score(models.Model):
    """The value of one metric on one part of one run. People see it only through submissions.public."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="scores")
    part = models.CharField(max_length=5)
    metric = models.CharField(max_length=3)
    convention = models.CharField(max_length=10, default="chapter")
    value = models.FloatField(help_text="Normalised.")
    raw = models.FloatField()
    stderr = models.FloatField(null=True, blank=True)
    left_out = models.PositiveIntegerField(default=0)
    replicates = models.BinaryField(null=True, help_text="float32, bootstrap values of `value`.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "part"], name="one_score_per_part")]

    def __str__(self) -> str:
        return f"{self.metric} {self.value:.4f} ({self.part})"
