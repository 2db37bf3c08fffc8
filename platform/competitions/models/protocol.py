"""Rounds, phases and tasks: what is asked, when, and with what budget."""

import datetime as dt
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from competitions import images
from competitions.models.contest import Competition
from datasets.models import Dataset, Metric
from ingestion.budget import LONGEST_WALL_SECONDS, MOST_CORES, MOST_MEMORY, Budget

if TYPE_CHECKING:
    from competitions.models.people import Entrant

CHALLENGE_WALL_SECONDS = 1200.0
WALL_RANGE = [MinValueValidator(1), MaxValueValidator(LONGEST_WALL_SECONDS)]


class Round(models.Model):
    """A numbered group of phases: 0 Preparation, 1 Novice, 2 Intermediate, 3 Advanced, 4 Expert, 5 Master."""

    competition = models.ForeignKey(Competition, models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=60, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["competition", "number"], name="one_round_per_number")]

    def __str__(self) -> str:
        return f"Round {self.number}: {self.name}" if self.name else f"Round {self.number}"


class Phase(models.Model):
    """A window in time with a kind, its tasks, quotas and budget."""

    class Kind(models.TextChoices):
        TWEAKATHON = "tweakathon", "Tweakathon: submit, and see scores at once"
        FINAL = "final", "Final: test scores of the last Tweakathon entry"
        AUTOML = "automl", "AutoML: code of an earlier phase runs on new, unseen datasets"
        OPEN = "open", "open"

    class Accepts(models.TextChoices):
        BOTH = "both", "code and results"
        CODE = "code", "code only"
        RESULTS = "results", "results only"

    class TieRule(models.TextChoices):
        EARLIER = "earlier", "the earlier submission wins"
        SHARED = "shared", "the place is shared"

    class Part(models.TextChoices):
        VALID = "valid", "validation"
        TEST = "test", "test"

    class Counts(models.TextChoices):
        LATEST = "latest", "the latest submission"
        BEST = "best", "the best submission on the board's own part"
        CHOSEN = "chosen", "the submission that the entrant chose, else the latest"

    class Board(models.TextChoices):
        SHOWN = "shown", "everybody sees it"
        FROZEN = "frozen", "it stays as it was when it was frozen"
        HIDDEN = "hidden", "only organizers see it"

    class When(models.TextChoices):
        AT_CLOSE = "at_close", "when the phase closes"
        BY_HAND = "by_hand", "when an organizer does it"

    class Convention(models.TextChoices):
        CHAPTER = "chapter", "the equations of the chapter"
        LIBSCORES = "libscores", "the 2015 scorer, digit by digit"

    HIDDEN_KINDS = (Kind.FINAL, Kind.AUTOML)

    round = models.ForeignKey(Round, models.CASCADE, related_name="phases")
    number = models.PositiveIntegerField(help_text="1, 2, 3 … over the whole competition.")
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.TWEAKATHON)
    title = models.CharField(max_length=80)
    description = models.TextField(blank=True)
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField(null=True, blank=True)
    parent = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="children")
    track = models.SlugField(
        max_length=40, blank=True, help_text="Phases of one round with different tracks stand side by side."
    )
    carry_over = models.BooleanField(
        default=False, help_text="Entries of the parent phase stand here until their entrants submit."
    )
    accepts = models.CharField(max_length=8, choices=Accepts.choices, default=Accepts.BOTH)
    feedback_part = models.CharField(max_length=5, choices=Part.choices, default=Part.VALID)
    counts = models.CharField(max_length=6, choices=Counts.choices, default=Counts.LATEST)
    tie_rule = models.CharField(max_length=8, choices=TieRule.choices, default=TieRule.EARLIER)
    ranks_baselines = models.BooleanField(
        default=False, help_text="Baselines take places, as on the boards of 2015. For replays only."
    )
    convention = models.CharField(max_length=10, choices=Convention.choices, default=Convention.CHAPTER)
    board = models.CharField(max_length=6, choices=Board.choices, default=Board.SHOWN)
    is_anonymous = models.BooleanField(default=False, help_text="The board shows no names until the release.")
    release = models.CharField(
        max_length=8, choices=When.choices, default=When.AT_CLOSE, help_text="When test scores become public."
    )
    released_at = models.DateTimeField(null=True, blank=True)
    reveal = models.CharField(
        max_length=8, choices=When.choices, default=When.AT_CLOSE, help_text="When blind datasets get their names."
    )
    daily_quota = models.PositiveIntegerField(null=True, blank=True, default=5)
    total_quota = models.PositiveIntegerField(null=True, blank=True)
    score_digits = models.PositiveSmallIntegerField(
        default=4, validators=[MinValueValidator(1), MaxValueValidator(12)]
    )
    any_time = models.BooleanField(default=True, help_text="Complete predictions count although time ran out.")
    repeats = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1), MaxValueValidator(20)],
        help_text="Runs of each dataset with fresh seeds; the median counts.",
    )
    allow_saved_models = models.BooleanField(default=False)
    trusted_workers_only = models.BooleanField(default=False)
    resource_class = models.SlugField(max_length=40, default="default", help_text="The class of worker.")
    wall_seconds = models.FloatField(
        null=True, blank=True, validators=WALL_RANGE, help_text="Empty: the dataset's own budget."
    )
    cores = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_CORES)],
        help_text="Empty: all that the worker has.",
    )
    memory_bytes = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_MEMORY)],
        help_text="Empty: all of the worker's.",
    )
    hidden_columns = models.JSONField(default=list, blank=True, help_text="Keys of columns not shown here.")
    hides_output = models.BooleanField(
        default=False, help_text="Entrants see neither logs nor files of their runs, although scores are shown."
    )
    hides_scores = models.BooleanField(default=False, help_text="Entrants see no score before the end.")
    shows_details = models.BooleanField(
        default=False, help_text="Entrants see the page of details that the scoring program writes of their runs."
    )
    scores_failed_ingestion = models.BooleanField(
        default=False, help_text="The scoring program runs although the ingestion program failed."
    )
    fans_out_from = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="fans",
        help_text="A submission to that phase is at once one to this phase.",
    )
    image = models.CharField(
        max_length=200,
        blank=True,
        choices=images.choices,
        error_messages={"invalid_choice": images.NOT_ALLOWED},
        help_text="Empty: the installation's sandbox image.",
    )

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["round", "number"], name="one_phase_per_number")]

    def __str__(self) -> str:
        return self.title

    @property
    def competition(self) -> Competition:
        """The contest this phase belongs to."""
        return self.round.competition

    def clean(self) -> None:
        """Refuse dates and parents against the protocol, and what would change the meaning of runs that exist."""
        from competitions import guards, protocol_check

        protocol_check.clean_phase(self)
        guards.clean_phase(self)

    def has_begun(self, now: dt.datetime) -> bool:
        """Whether the phase's window has opened."""
        return self.opens_at <= now

    def has_ended(self, now: dt.datetime) -> bool:
        """Whether the phase's window has closed."""
        return self.closes_at is not None and self.closes_at <= now

    def is_open(self, now: dt.datetime) -> bool:
        """Whether now lies inside the window."""
        return self.has_begun(now) and not self.has_ended(now)

    def closing_for(self, entrant: "Entrant | None") -> dt.datetime | None:
        """When the phase closes for this entrant, who may have been given more time; None: never."""
        if self.closes_at is None or entrant is None or entrant.pk is None or self.pk is None:
            return self.closes_at
        given = self.extensions.filter(entrant=entrant).values_list("closes_at", flat=True).first()
        return max(given, self.closes_at) if given else self.closes_at

    def is_open_for(self, entrant: "Entrant | None", now: dt.datetime) -> bool:
        """Whether now lies inside the window, with the extra time that this entrant was given."""
        if self.is_open(now) or not self.has_begun(now):
            return self.is_open(now)
        closing = self.closing_for(entrant)
        return closing is None or now < closing

    @property
    def takes_submissions(self) -> bool:
        """Whether people submit to this kind of phase at all."""
        return self.kind in (self.Kind.TWEAKATHON, self.Kind.OPEN)

    @property
    def takes_over(self) -> bool:
        """Whether entries of the parent phase are handed over to this one."""
        return self.parent_id is not None and (self.is_hidden or self.carry_over)

    @property
    def is_blind(self) -> bool:
        """Whether it runs on datasets that entrants do not know before they are revealed."""
        return self.kind == self.Kind.AUTOML

    @property
    def is_hidden(self) -> bool:
        """Whether entrants must learn nothing of the run but its reason (design, section 8)."""
        return self.kind in self.HIDDEN_KINDS

    @property
    def needs_trusted_workers(self) -> bool:
        """Whether its runs go only to workers that the operator trusts: those of blind phases always."""
        return self.trusted_workers_only or self.is_hidden

    def is_released(self, now: dt.datetime) -> bool:
        """Whether its test scores are public: since an organizer released it, or since it closed by itself."""
        if self.released_at is not None and self.released_at <= now:
            return True
        return self.release == self.When.AT_CLOSE and self.has_ended(now)

    def public_part(self, now: dt.datetime) -> str | None:
        """The part whose scores everybody may see now; None while there is none.

        A Tweakathon shows its feedback part from its beginning, a Final or AutoML phase the test part once it
        is released.
        """
        if self.takes_submissions:
            return self.feedback_part if self.has_begun(now) else None
        return self.Part.TEST if self.is_released(now) else None


class PhaseFile(models.Model):
    """A file that organizers offer in a phase: public data, or a starting kit of their own."""

    class Kind(models.TextChoices):
        PUBLIC_DATA = "public_data", "public data"
        STARTING_KIT = "starting_kit", "starting kit"

    phase = models.ForeignKey(Phase, models.CASCADE, related_name="files")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    name = models.CharField(max_length=120)
    file = models.FileField(upload_to="phase_files/", max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()

    class Meta:
        ordering = ["kind", "id"]

    def __str__(self) -> str:
        return self.name


class Task(models.Model):
    """A dataset inside a phase, with its metric and its budget."""

    phase = models.ForeignKey(Phase, models.CASCADE, related_name="tasks")
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="tasks")
    order = models.PositiveIntegerField(default=0)
    alias = models.SlugField(max_length=60, blank=True, help_text="The name shown where the dataset is hidden.")
    metric = models.CharField(max_length=3, choices=Metric.choices, blank=True)
    wall_seconds = models.FloatField(null=True, blank=True, validators=WALL_RANGE)
    revealed_at = models.DateTimeField(
        null=True, blank=True, help_text="When the dataset of a blind phase got its name and became downloadable."
    )
    quarantined_at = models.DateTimeField(
        null=True, blank=True, help_text="While set, its runs wait and it takes no part in the ranking."
    )
    scoring_program = models.ForeignKey(
        "competitions.Program", models.PROTECT, null=True, blank=True, related_name="scored_tasks"
    )
    ingestion_program = models.ForeignKey(
        "competitions.Program", models.PROTECT, null=True, blank=True, related_name="fed_tasks"
    )
    overlaps = models.BooleanField(
        default=False, help_text="The ingestion program runs beside the scoring program, not before it."
    )
    shows_input = models.BooleanField(
        default=False, help_text="Participants may download the input data of the organizers' programs."
    )
    quarantine_reason = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["order", "id"]
        constraints = [
            models.UniqueConstraint(fields=["phase", "dataset"], name="a_dataset_once_in_a_phase"),
        ]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save it; a new task whose place is taken goes to the end, because neutral names follow the places."""
        if self._state.adding:
            others = Task.objects.filter(phase=self.phase_id)
            if others.filter(order=self.order).exists():
                self.order = (others.aggregate(last=models.Max("order"))["last"] or 0) + 1
        super().save(*args, **kwargs)

    def clean(self) -> None:
        """Refuse what would change the meaning of runs that exist."""
        from competitions import guards

        guards.clean_task(self)

    @property
    def name(self) -> str:
        """The name that entrants, programs and prediction files use.

        The alias; without one, in a blind phase a neutral name by its place, elsewhere the dataset's file prefix.
        It stays the same when the dataset is revealed, because files and logs were named so.
        """
        if self.alias:
            return self.alias
        if self.phase.is_blind:
            return f"dataset{self.order + 1}"
        return self.dataset_name

    @property
    def dataset_name(self) -> str:
        """The dataset's own name, the prefix of its files: for organizers, and for all once it is revealed."""
        version = self.dataset.current
        return version.name if version else self.dataset.slug

    def asked(self) -> dict[str, Any]:
        """What it asks, and of what: the fields of a task that asks the same in another phase of the contest."""
        names = ("dataset_id", "order", "metric", "wall_seconds", "overlaps", "shows_input")
        programs = ("scoring_program_id", "ingestion_program_id")
        return {name: getattr(self, name) for name in (*names, *programs)}

    def is_revealed(self, now: dt.datetime) -> bool:
        """Whether entrants may know the dataset by this task: from the opening, in a blind phase once revealed.

        A dataset that an unrevealed blind phase of the competition uses is still hidden everywhere
        (`lifecycle.revealed_tasks`).
        """
        if self.phase.is_blind:
            return self.revealed_at is not None and self.revealed_at <= now
        return self.phase.has_begun(now)

    def budget(self) -> Budget:
        """What one run of this task may use; the task's time wins over the phase's over the dataset's."""
        version = self.dataset.current
        wall = self.wall_seconds or self.phase.wall_seconds or (version.time_budget if version else None)
        return Budget(
            wall_seconds=wall or CHALLENGE_WALL_SECONDS,
            cores=self.phase.cores,
            memory_bytes=self.phase.memory_bytes,
        )


class Extension(models.Model):
    """More time for one entrant in one phase, given by an organizer after a fault that was not theirs."""

    phase = models.ForeignKey(Phase, models.CASCADE, related_name="extensions")
    entrant = models.ForeignKey("competitions.Entrant", models.CASCADE, related_name="extensions")
    closes_at = models.DateTimeField()
    why = models.CharField(max_length=300)
    given_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    given_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["phase", "entrant"], name="one_extension_per_entrant")]

    def __str__(self) -> str:
        return f"{self.entrant} until {self.closes_at:%Y-%m-%d %H:%M}"


class Prize(models.Model):
    """What the holder of a place in a phase gets, once the conditions are met."""

    phase = models.ForeignKey(Phase, models.CASCADE, related_name="prizes")
    place = models.PositiveSmallIntegerField(validators=[MinValueValidator(1)])
    title = models.CharField(max_length=120)

    class Meta:
        ordering = ["place"]
        constraints = [models.UniqueConstraint(fields=["phase", "place"], name="one_prize_per_place")]

    def __str__(self) -> str:
        return f"{self.place}. {self.title}"


class PrizeClaim(models.Model):
    """How far an entrant has come with the conditions of a prize; who is declined makes room for the next."""

    class State(models.TextChoices):
        PROVISIONAL = "provisional", "provisional: the fact sheet is awaited"
        FACT_SHEET = "fact_sheet", "fact sheet in: the code's publication is awaited"
        PUBLISHED = "published", "code published: the organizers confirm"
        CONFIRMED = "confirmed", "confirmed"
        DECLINED = "declined", "declined: the next in line moves up"

    phase = models.ForeignKey(Phase, models.CASCADE, related_name="claims")
    entrant = models.ForeignKey("competitions.Entrant", models.CASCADE, related_name="claims")
    state = models.CharField(max_length=12, choices=State.choices, default=State.PROVISIONAL)
    fact_sheet = models.TextField(blank=True)
    code_url = models.URLField(blank=True)
    licence = models.CharField(max_length=60, blank=True, help_text="The SPDX name of an open licence.")
    publishes_code = models.BooleanField(
        default=False, help_text="The entrant agrees that everybody may download the submission that won."
    )
    note = models.CharField(max_length=300, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["phase", "entrant"], name="one_claim_per_entrant")]

    def __str__(self) -> str:
        return f"{self.entrant}: {self.state}"
