"""An upload, the pieces it came in, and how far the work on it is."""

from typing import Any

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.db import models
from django.urls import reverse


def upload_storage() -> Storage:
    """Where the pieces lie: an upload holds hidden targets, so beside the solutions, where no link leads."""
    return storages["solutions"]


class Upload(models.Model):
    """One file of an organizer on its way to a dataset.

    Every state that is not an end has a sentence for its owner and a deadline, after which the reconciler
    rings again, begins anew or gives up.
    """

    class State(models.TextChoices):
        RECEIVING = "receiving", "is being sent"
        WAITING = "waiting", "waits"
        WORKING = "working", "is being read"
        TABLE = "table", "waits for your choices"
        CHECKED = "checked", "checked"
        IMPORTED = "imported", "imported"
        REFUSED = "refused", "refused"
        FAILED = "failed", "failed"

    class Job(models.TextChoices):
        CHECK = "check", "check only"
        IMPORT = "import", "import"
        PREPARE = "prepare", "prepare a table"
        TRY = "try", "try a recipe, keep nothing"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="dataset_uploads")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    filename = models.CharField(max_length=200)
    size = models.PositiveBigIntegerField(help_text="Bytes of the whole file.")
    received = models.PositiveBigIntegerField(default=0, help_text="Bytes that have arrived, from the start on.")
    fingerprint = models.CharField(max_length=200, blank=True, help_text="By which its sender knows it again.")
    sha256 = models.CharField(max_length=64, blank=True)
    dataset = models.ForeignKey(
        "datasets.Dataset",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="Whose new version it is to be; empty where its name decides.",
    )
    title = models.CharField(max_length=120, blank=True)
    description = models.TextField(blank=True)

    state = models.CharField(max_length=10, choices=State.choices, default=State.RECEIVING)
    job = models.CharField(max_length=10, choices=Job.choices, default=Job.IMPORT)
    progress = models.FloatField(default=0.0, help_text="Of the work, from 0 to 1.")
    sentence = models.CharField(max_length=500, blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveIntegerField(default=0)

    report = models.JSONField(default=dict, blank=True, help_text="Errors, warnings and notes.")
    table = models.JSONField(default=dict, blank=True, help_text="The columns, where the file is a table.")
    recipe = models.JSONField(default=dict, blank=True, help_text="How the table is made a dataset. Private.")
    version = models.ForeignKey(
        "datasets.DatasetVersion", models.SET_NULL, null=True, blank=True, related_name="uploads"
    )

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [models.Index(fields=["state", "deadline"])]
        constraints = [
            # So that a place is left for scoring, and the memory of one reading is enough.
            models.UniqueConstraint(
                fields=["state"], condition=models.Q(state="working"), name="one_upload_is_worked_on"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.filename} of {self.owner}"

    def get_absolute_url(self) -> str:
        """The address of its page."""
        return reverse("dataset_upload", kwargs={"upload_id": self.pk})

    @property
    def is_busy(self) -> bool:
        """Whether the site works on it, or will soon without its owner."""
        return self.state in BUSY

    @property
    def is_complete(self) -> bool:
        """Whether every byte has arrived."""
        return self.received == self.size


BUSY = (Upload.State.WAITING, Upload.State.WORKING)


class UploadPart(models.Model):
    """One piece of an upload. The pieces follow each other without a gap."""

    upload = models.ForeignKey(Upload, models.CASCADE, related_name="parts")
    offset = models.PositiveBigIntegerField()
    size = models.PositiveIntegerField()
    file = models.FileField(storage=upload_storage, upload_to="uploads/", max_length=200)

    class Meta:
        ordering = ["offset"]
        constraints = [models.UniqueConstraint(fields=["upload", "offset"], name="one_part_per_offset")]

    def __str__(self) -> str:
        return f"{self.size} bytes from {self.offset}"

    def stored(self) -> Any:
        """The stored piece, opened for reading."""
        return self.file.open("rb")
