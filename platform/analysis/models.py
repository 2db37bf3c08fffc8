"""What analyses keep: computed sections, and what is measured of datasets and runs for them alone."""

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from competitions.models import Competition, Phase
from datasets.models import DatasetVersion
from submissions.models import Run, Submission


class Computed(models.Model):
    """One section of an analysis over certain inputs, by their hash: whoever sees the same gets the same result.

    `audience` says for whom the inputs are loaded when it is computed; what it shows is in the hash.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waits to be computed"
        COMPUTING = "computing", "is being computed"
        READY = "ready", "ready"
        FAILED = "failed", "failed"

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="computed")
    section = models.SlugField(max_length=40)
    audience = models.JSONField(default=dict)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of all that goes into it.")
    state = models.CharField(max_length=9, choices=State.choices, default=State.WAITING)
    deadline = models.DateTimeField(null=True, blank=True, help_text="When somebody else takes it up again.")
    tries = models.PositiveSmallIntegerField(default=0)
    share = models.FloatField(default=0.0, help_text="How much of the work is done, 0 to 1.")
    sentence = models.CharField(max_length=300, blank=True)
    content = models.BinaryField(null=True, help_text="The result as compressed JSON.")
    seconds = models.FloatField(null=True, blank=True)
    asked_at = models.DateTimeField(default=timezone.now)
    used_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["competition", "section", "fingerprint"], name="one_result_for_the_same_inputs"
            )
        ]
        indexes = [models.Index(fields=["state", "deadline"]), models.Index(fields=["used_at"])]

    def __str__(self) -> str:
        return f"{self.section} of {self.competition}"

    @property
    def is_busy(self) -> bool:
        """Whether it will come."""
        return self.state in (self.State.WAITING, self.State.COMPUTING)


class MetaFeatures(models.Model):
    """The meta-features of a dataset's training part, by name; computed here, or published by others."""

    class Origin(models.TextChoices):
        COMPUTED = "computed", "computed by Podium"
        PUBLISHED = "published", "as published"

    version = models.OneToOneField(DatasetVersion, models.CASCADE, related_name="meta_features")
    origin = models.CharField(max_length=9, choices=Origin.choices, default=Origin.COMPUTED)
    values = models.JSONField(default=dict, help_text="By name; null where one has no value.")
    definitions = models.CharField(max_length=10, default="1", help_text="Of the version of their definitions.")
    sample = models.CharField(max_length=300, blank=True, help_text="On how much of the data they were measured.")
    sentence = models.CharField(max_length=300, blank=True, help_text="Why there are none.")
    deadline = models.DateTimeField(
        null=True, blank=True, help_text="While they are computed: when somebody else takes it up again."
    )
    tries = models.PositiveSmallIntegerField(default=0)
    seconds = models.FloatField(null=True, blank=True)
    made_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"meta-features of {self.version}"

    @property
    def is_waiting(self) -> bool:
        """Whether they are being computed, or will be again."""
        return self.deadline is not None


class BasicEntry(models.Model):
    """A submission of a basic method, which the platform sent itself to learn how hard the datasets are."""

    class Method(models.TextChoices):
        KNN = "knn", "nearest neighbours"
        NB = "nb", "naive Bayes"
        RF = "rf", "random forest"
        SGD = "sgd", "linear model (SGD)"
        SNB = "snb", "selective naive Bayes"

    submission = models.OneToOneField(Submission, models.CASCADE, related_name="basic_entry")
    method = models.CharField(max_length=3, choices=Method.choices)
    is_tuned = models.BooleanField(default=False, help_text="Its hyper-parameters were searched in the budget.")

    class Meta:
        ordering = ["method", "is_tuned", "id"]

    def __str__(self) -> str:
        return f"{self.get_method_display()}, {'tuned' if self.is_tuned else 'default'}"


class OtherScore(models.Model):
    """The score of the prediction that counts for a run under another metric than its task's."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="other_scores")
    part = models.CharField(max_length=5)
    metric = models.CharField(max_length=3)
    value = models.FloatField(null=True, help_text="Normalised. Empty: it has none.")
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "part", "metric"], name="one_other_score_per_part_and_metric")
        ]

    def __str__(self) -> str:
        return f"{self.metric} of run {self.run_id} ({self.part})"


class Replay(models.Model):
    """A competition that was loaded from published results: where they come from, and what is not reproduced."""

    competition = models.OneToOneField(Competition, models.CASCADE, related_name="replay")
    source = models.CharField(max_length=300)
    facts = models.JSONField(default=dict, help_text="Of the source, for the analyses: rounds, budgets and so on.")
    made_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"replay of {self.source}"


class Population(models.Model):
    """Models with their errors and complexities, which somebody uploaded to compare: private to its owner."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="populations")
    name = models.CharField(max_length=120)
    source = models.CharField(max_length=200, help_text="The file, and which part of it.")
    columns = models.JSONField(default=dict, help_text="Lists of numbers of equal length, by the column's name.")
    size = models.PositiveIntegerField()
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-made_at", "-id"]

    def __str__(self) -> str:
        return f"{self.name} ({self.size})"


class Benchmark(models.Model):
    """Results of algorithms with many configurations on many datasets, in MementoML's format.

    What is sent lies in `upload` until the site's worker has read it into `content`.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waits to be read"
        READING = "reading", "is being read"
        READY = "ready", "ready"
        FAILED = "failed", "could not be read"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="benchmarks")
    title = models.CharField(max_length=120)
    source = models.CharField(max_length=300, blank=True)
    is_public = models.BooleanField("public", default=False, help_text="Everybody may see it.")
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    sentence = models.CharField(max_length=400, blank=True, help_text="What is done now, or what was wrong.")
    share = models.FloatField(default=0.0, help_text="How much of the reading is done, 0 to 1.")
    deadline = models.DateTimeField(null=True, blank=True, help_text="When somebody else takes it up again.")
    tries = models.PositiveSmallIntegerField(default=0)
    options = models.JSONField(default=dict, help_text="How it is to be read.")
    upload = models.FileField(upload_to="benchmarks/", max_length=200, blank=True, help_text="As it was sent.")
    content = models.FileField(
        upload_to="benchmarks/", max_length=200, blank=True, help_text="Its arrays, without pickles."
    )
    facts = models.JSONField(
        default=dict, help_text="How many rows, datasets, algorithms, configurations, splits."
    )
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-made_at", "-id"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        """Its page."""
        return reverse("benchmark", args=[self.pk])

    @property
    def is_busy(self) -> bool:
        """Whether it will be ready, or fail."""
        return self.state in (self.State.WAITING, self.State.READING)


class RunOn(models.Model):
    """A run that was let go on beyond its budget, for its learning curve alone.

    It repeats a run that counts with the same seed and the same told budget; its predictions are never scored for
    a board.
    """

    of = models.ForeignKey(Run, models.CASCADE, related_name="run_ons")
    run = models.OneToOneField(Run, models.CASCADE, related_name="runs_on_for")
    factor = models.FloatField(help_text="How many times the budget.")
    phase = models.ForeignKey(Phase, models.CASCADE, related_name="run_ons")

    def __str__(self) -> str:
        return f"run {self.of_id} for {self.factor:g} times its budget"
