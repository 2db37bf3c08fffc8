"""Organizers' own programs, and the boards of columns that their scores fill."""

from django.core.files.storage import Storage, storages
from django.db import models

from competitions.models.contest import Competition


def program_storage() -> Storage:
    """Programs lie where solutions do: a scoring program may hold answers."""
    return storages["solutions"]


class Program(models.Model):
    """A program of the organizers: it prepares what entrants' code meets, or scores what that code left."""

    class Kind(models.TextChoices):
        INGESTION = "ingestion", "ingestion program"
        SCORING = "scoring", "scoring program"

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="programs")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    name = models.CharField(max_length=120)
    file = models.FileField(storage=program_storage, upload_to="programs/", max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    command = models.TextField(help_text="Of its metadata, split like a shell would; no shell runs.")
    layout = models.PositiveSmallIntegerField(
        choices=[(1, "the places of CodaLab 1.5"), (2, "the places of Codabench")],
        default=2,
        help_text="Where it finds its files, as `ingestion.programs` numbers the layouts.",
    )
    image = models.CharField(max_length=200, blank=True, help_text="Empty: the image of the phase.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["kind", "id"]

    def __str__(self) -> str:
        return self.name


class ColumnBoard(models.Model):
    """A leaderboard whose columns a scoring program fills. A competition may have several."""

    class Rule(models.TextChoices):
        ADD = "Add", "entrants add one submission, which stays"
        ADD_AND_DELETE = "Add_And_Delete", "entrants add one submission, and may take it away"
        ADD_AND_DELETE_MULTIPLE = "Add_And_Delete_Multiple", "entrants add as many as they like"
        FORCE_LAST = "Force_Last", "the latest finished submission"
        FORCE_LATEST_MULTIPLE = "Force_Latest_Multiple", "every finished submission"
        FORCE_BEST = "Force_Best", "the best finished submission by the first column to sort by"

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="column_boards")
    key = models.CharField(max_length=64)
    title = models.CharField(max_length=120)
    order = models.PositiveIntegerField(default=0)
    is_hidden = models.BooleanField(default=False)
    rule = models.CharField(max_length=30, choices=Rule.choices, default=Rule.ADD)
    primary = models.CharField(max_length=64, blank=True, help_text="The key of the column that decides.")

    class Meta:
        ordering = ["order", "id"]
        constraints = [models.UniqueConstraint(fields=["competition", "key"], name="one_board_per_key")]

    def __str__(self) -> str:
        return self.title


class Column(models.Model):
    """A column of such a board: a key of the scoring program's scores, or computed of other columns."""

    class Computation(models.TextChoices):
        NONE = "", "as the scoring program says"
        AVG = "avg", "the mean of the columns"
        SUM = "sum", "their sum"
        MIN = "min", "the least of them"
        MAX = "max", "the greatest of them"
        MEAN_RANK = "mean_rank", "the mean of the ranks on the columns"
        RECIPROCAL_RANK = "mrr", "the mean reciprocal rank on the columns"

    board = models.ForeignKey(ColumnBoard, models.CASCADE, related_name="columns")
    key = models.CharField(max_length=64)
    title = models.CharField(max_length=80)
    group = models.CharField(max_length=80, blank=True)
    order = models.PositiveIntegerField(default=0)
    is_ascending = models.BooleanField(default=False, help_text="Smaller is better.")
    precision = models.PositiveSmallIntegerField(default=2)
    is_hidden = models.BooleanField(default=False)
    computation = models.CharField(max_length=10, choices=Computation.choices, blank=True)
    fields = models.JSONField(default=list, blank=True, help_text="The keys of the columns it is computed of.")
    weights = models.JSONField(default=list, blank=True, help_text="One number for each of them; empty: equal.")

    class Meta:
        ordering = ["order", "id"]
        constraints = [models.UniqueConstraint(fields=["board", "key"], name="one_column_per_key")]

    def __str__(self) -> str:
        return self.title
