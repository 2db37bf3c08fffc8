"""What organizers' programs, and code that they run, leave: files, pages of details, and scores by columns."""

from django.db import models

from submissions.models.runs import Run, run_path


class RunFile(models.Model):
    """A file of a run of a competition with its own programs, in its write-once copy."""

    class Kind(models.TextChoices):
        PREDICTIONS = "predictions", "what the code left, as a zip"
        INGESTION_LOG = "ingestion_log", "what the ingestion program printed"
        SCORING_LOG = "scoring_log", "what the scoring program printed"
        SCORES = "scores", "the scores file"
        DETAILS = "details", "the page of details"

    run = models.ForeignKey(Run, models.CASCADE, related_name="files")
    kind = models.CharField(max_length=13, choices=Kind.choices)
    name = models.CharField(max_length=120)
    file = models.FileField(upload_to=run_path, max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["kind", "id"]
        constraints = [models.UniqueConstraint(fields=["run", "kind"], name="one_file_per_kind")]

    def __str__(self) -> str:
        return self.name


class ColumnScore(models.Model):
    """What a scoring program says of one run in one column. People see it only through submissions.public."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="column_scores")
    key = models.CharField(max_length=64)
    value = models.FloatField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="one_score_per_column")]

    def __str__(self) -> str:
        return f"{self.key}: {self.value}"
