"""Datasets: an identity, and numbered versions whose files never change."""

from typing import Any

from django.conf import settings
from django.core.files.storage import Storage, storages
from django.core.validators import MinValueValidator
from django.db import models

from datasets.uploads.models import Upload as Upload  # so that Django finds the models of the package
from datasets.uploads.models import UploadPart as UploadPart


def solution_storage() -> Storage:
    """The storage root of hidden solutions; no view and no worker link ever opens it."""
    return storages["solutions"]


class TaskKind(models.TextChoices):
    """The four kinds of learning task, by the names of the info file."""

    BINARY = "binary.classification", "binary classification"
    MULTICLASS = "multiclass.classification", "multi-class classification"
    MULTILABEL = "multilabel.classification", "multi-label classification"
    REGRESSION = "regression", "regression"


class Metric(models.TextChoices):
    """The six metrics of the challenge."""

    R2 = "R2", "R2: coefficient of determination"
    ABS = "ABS", "ABS: one minus relative absolute error"
    BAC = "BAC", "BAC: balanced accuracy"
    AUC = "AUC", "AUC: area under the ROC curve"
    F1 = "F1", "F1: harmonic mean of precision and recall"
    PAC = "PAC", "PAC: probabilistic accuracy"


class Dataset(models.Model):
    """A dataset in AutoML format, owned by an organizer."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="datasets")
    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=120)
    description = models.TextField(blank=True, help_text="What participants may read about it.")
    private_description = models.TextField(blank=True, help_text="Only organizers read this.")
    licence = models.CharField(
        max_length=200, blank=True, help_text="Under which terms others may use it: a name or an address."
    )
    citation = models.TextField(blank=True, help_text="What to cite when it is used.")
    source = models.TextField(blank=True, help_text="Where the data come from. It may tell what a hidden set is.")
    is_public = models.BooleanField(
        "public", default=False, help_text="Everybody may see its card and take its public files."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title

    @property
    def current(self) -> "DatasetVersion | None":
        """The version that new runs use: the newest that is not held back; no query where they were prefetched."""
        if "versions" in getattr(self, "_prefetched_objects_cache", {}):
            usable = [version for version in self.versions.all() if not version.is_held]
            return max(usable, key=lambda version: version.number, default=None)
        return self.versions.in_use().first()


class DatasetShare(models.Model):
    """Another organizer's part in a dataset; what each role may do, `datasets.policy` says."""

    class Role(models.TextChoices):
        """From less to more."""

        USER = "user", "may use it"
        EDITOR = "editor", "may change it"

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="shares")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="dataset_shares")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.USER)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["dataset", "user"], name="one_share_per_person"),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.get_role_display()}"


class VersionInUse(Exception):
    """Something would have changed a version that runs have used."""


class VersionQuerySet(models.QuerySet["DatasetVersion"]):
    """Versions; what a run has used is changed and removed by no query either."""

    def in_use(self) -> "VersionQuerySet":
        """Those that new runs may use, the newest of a dataset first."""
        return self.filter(is_held=False).order_by("-number")

    def update(self, **fields: Any) -> int:
        """Change what may be changed. Raises VersionInUse."""
        frozen = sorted(set(fields) - set(DatasetVersion.CHANGEABLE))
        if frozen and self.filter(runs__isnull=False).exists():
            raise VersionInUse(f"Runs have used these versions: {', '.join(frozen)} can no longer be changed.")
        return super().update(**fields)


class DatasetVersion(models.Model):
    """The files and facts of a dataset at one time. A run keeps the version it ran with.

    From the first run that used it, nothing that a score depends on can be changed: only what is in CHANGEABLE.
    """

    # What is made of its files, or tells about them, and may be made again.
    CHANGEABLE = ("is_held", "card", "findings", "cache_zip", "cache_sha256", "cache_bytes")

    class Layout(models.TextChoices):
        AUTOML = "automl", "AutoML format"
        FILES = "files", "any files, which the programs of a competition read"

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="versions")
    layout = models.CharField(max_length=6, choices=Layout.choices, default=Layout.AUTOML)
    number = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    is_held = models.BooleanField(
        "held back", default=False, help_text="New runs use an earlier version until this one is swapped in."
    )

    name = models.CharField(max_length=80, help_text="The prefix of its files, as prediction files must use.")
    task_kind = models.CharField(max_length=30, choices=TaskKind.choices, blank=True)
    metric = models.CharField(max_length=3, choices=Metric.choices, blank=True)
    time_budget = models.FloatField(null=True, blank=True, validators=[MinValueValidator(1)])
    feat_num = models.PositiveIntegerField(default=0)
    target_num = models.PositiveIntegerField(default=0)
    label_num = models.PositiveIntegerField(default=0)
    train_num = models.PositiveIntegerField(default=0)
    valid_num = models.PositiveIntegerField(default=0)
    test_num = models.PositiveIntegerField(default=0)
    has_valid_solution = models.BooleanField(default=False)
    has_test_solution = models.BooleanField(default=False)
    is_chronological = models.BooleanField(
        "in order of time", default=False, help_text="Its samples are in order of time and are never shuffled."
    )
    facts = models.JSONField(default=dict, help_text="Class balance, sparsity, missing values and so on.")
    card = models.JSONField(default=dict, blank=True, help_text="The dataset card; organizers see all of it.")
    findings = models.JSONField(default=list, blank=True, help_text="What the checks found, with severities.")
    recipe = models.JSONField(
        default=dict, blank=True, help_text="How it was made of a table. Private: it tells probes and the split."
    )
    checksums = models.JSONField(
        default=dict, blank=True, help_text="SHA-256 and bytes of each of its files, by name. Private."
    )

    public_zip = models.FileField(upload_to="datasets/", blank=True, max_length=200)
    public_sha256 = models.CharField(max_length=64, blank=True)
    public_bytes = models.PositiveBigIntegerField(default=0)
    cache_zip = models.FileField(
        upload_to="dataset_caches/", blank=True, max_length=200, help_text="The public files as binary arrays."
    )
    cache_sha256 = models.CharField(max_length=64, blank=True)
    cache_bytes = models.PositiveBigIntegerField(default=0)
    valid_solution = models.FileField(storage=solution_storage, upload_to="solutions/", blank=True, max_length=200)
    test_solution = models.FileField(storage=solution_storage, upload_to="solutions/", blank=True, max_length=200)
    reference = models.FileField(
        storage=solution_storage,
        upload_to="solutions/",
        blank=True,
        max_length=200,
        help_text="A zip of what only an organizer's scoring program reads. The public zip of the same version is "
        "the input data; it may be missing.",
    )
    reference_sha256 = models.CharField(max_length=64, blank=True)
    reference_bytes = models.PositiveBigIntegerField(default=0)
    private_info = models.TextField(blank=True)

    objects = VersionQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["dataset", "number"], name="one_version_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.name} (version {self.number})"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store it. Raises VersionInUse where a run has used it and what a score depends on was changed."""
        wanted = kwargs.get("update_fields")
        if self.pk and (wanted is None or set(wanted) - set(self.CHANGEABLE)):
            self._refuse_changes()
        super().save(*args, **kwargs)

    @property
    def is_used(self) -> bool:
        """Whether a run has used it, or will."""
        return bool(self.pk) and self.runs.exists()

    def _refuse_changes(self) -> None:
        stored = DatasetVersion.objects.filter(pk=self.pk).first()
        if stored is None or not stored.is_used:
            return
        names = [f.attname for f in self._meta.concrete_fields if f.attname not in self.CHANGEABLE]
        changed = sorted(name for name in names if getattr(self, name) != getattr(stored, name))
        if changed:
            raise VersionInUse(f"Runs have used {stored}: {', '.join(changed)} can no longer be changed.")

    def rows(self, part: str) -> int:
        """The number of samples of `valid` or `test`."""
        return {"valid": self.valid_num, "test": self.test_num}[part]

    def prediction_shape(self, part: str) -> tuple[int, int]:
        """The rows and columns that a prediction file of a part must have."""
        return self.rows(part), self.target_num

    def solution(self, part: str) -> Any:
        """The solution file of a part, falsy where there is none."""
        return {"valid": self.valid_solution, "test": self.test_solution}[part]

    def parts(self) -> list[str]:
        """The parts to predict: those that have samples."""
        return [part for part in ("valid", "test") if self.rows(part)]
