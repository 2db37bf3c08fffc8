"""Stored ranks, what is said about each board, and how the ranks came about over time."""

from typing import Any

from django.db import models

from competitions.models import ColumnBoard, Entrant, Phase
from submissions.models import Submission


class Board(models.Model):
    """What is known of one board as a whole: a phase's ranking by one part, as it is or as it was frozen.

    `notes` says what would change the winner, as `leaderboards.notes` stores it.
    """

    phase = models.ForeignKey(Phase, models.CASCADE, related_name="boards")
    part = models.CharField(max_length=5)
    is_frozen = models.BooleanField(default=False, help_text="A picture of how it was when it was frozen.")
    ranked = models.PositiveIntegerField(default=0, help_text="Entrants with a place.")
    listed = models.PositiveIntegerField(default=0, help_text="All entrants, with baselines and organizers.")
    notes = models.JSONField(default=list)
    task_ids = models.JSONField(
        default=list, help_text="What its cells stand for, in their order; empty: all tasks of the phase."
    )
    made_at = models.DateTimeField(help_text="When it was frozen, or changed last.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["phase", "part", "is_frozen"], name="one_board_per_part")]

    def __str__(self) -> str:
        return f"{self.phase} ({self.part})"


class LeaderboardRow(models.Model):
    """The place of an entrant on a board, kept up to date in the transaction that stores a score.

    All numbers already went through the public view, so that what is sorted, ranked and exported says no more
    than what is shown.
    """

    board = models.ForeignKey(Board, models.CASCADE, related_name="rows")
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    submission = models.ForeignKey(Submission, models.CASCADE, related_name="+")
    position = models.PositiveIntegerField(default=0, help_text="Of all rows; the unranked stand in between.")
    rank = models.PositiveIntegerField(null=True, blank=True, help_text="Empty for baselines and the unranked.")
    rank_above = models.PositiveIntegerField(default=0, help_text="The place before it; 0: it leads.")
    mean_rank = models.FloatField()
    mean_score = models.FloatField()
    task_ranks = models.JSONField(default=list, help_text="Dense ranks in the order of the tasks.")
    scores = models.JSONField(default=dict, help_text="Shown scores by `t` and the task's id; missing: no key.")
    stored_cells = models.JSONField(default=list, help_text="What is shown for each task, without its rank.")
    scored = models.PositiveSmallIntegerField(default=0, help_text="Datasets with a score.")
    entries = models.PositiveIntegerField(default=0, help_text="Accepted submissions of the entrant in the phase.")
    wall_seconds = models.FloatField(
        null=True, blank=True, help_text="Time its runs took together; rounded in hidden phases."
    )
    received_at = models.DateTimeField(help_text="Of the entry that counts; breaks ties.")
    last_received_at = models.DateTimeField(help_text="Of the entrant's latest submission here.")
    name_key = models.CharField(max_length=240, default="", help_text="The name as it is sorted and searched.")
    neutral_number = models.PositiveIntegerField(null=True, help_text="Stands for the name on anonymous boards.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["board", "entrant"], name="one_row_per_entrant_and_board")]
        indexes = [models.Index(fields=["board", "position"], name="rows_of_a_board")]

    def __str__(self) -> str:
        return f"{self.rank}. {self.entrant}"

    @property
    def cells(self) -> list[dict[str, Any]]:
        """What the board shows for each task, in the order of the tasks.

        Dictionaries of `task`, `value`, `text`, `stderr`, `state` and `rank`, and where a phase repeats its runs
        `low`, `high`, `repeats` (with a score) and `runs`.
        """
        ranks = [*self.task_ranks, *[None] * len(self.stored_cells)]
        return [{**cell, "rank": rank} for cell, rank in zip(self.stored_cells, ranks, strict=False)]


class NeutralNumber(models.Model):
    """The number that stands for an entrant's name on the anonymous board of a phase, the same for ever."""

    phase = models.ForeignKey(Phase, models.CASCADE, related_name="+")
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    number = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["phase", "entrant"], name="one_number_per_entrant"),
            models.UniqueConstraint(fields=["phase", "number"], name="one_entrant_per_number"),
        ]

    def __str__(self) -> str:
        return f"Entrant {self.number}"


class RankMoment(models.Model):
    """All places of a phase's board from a moment on, until the next moment.

    `places` holds pairs of entrant id and place as little-endian int32. One row for a change, not one for each
    entrant that it moves: a new leader moves everybody.
    """

    phase = models.ForeignKey(Phase, models.CASCADE, related_name="moments")
    at = models.DateTimeField()
    places = models.BinaryField()

    class Meta:
        ordering = ["at", "id"]
        indexes = [models.Index(fields=["phase", "at"], name="moments_of_a_phase")]

    def __str__(self) -> str:
        return f"{self.phase} at {self.at:%Y-%m-%d %H:%M:%S}"


class ColumnRow(models.Model):
    """A submission on a board of columns, kept up to date in the transaction that stores its scores."""

    board = models.ForeignKey(ColumnBoard, models.CASCADE, related_name="rows")
    phase = models.ForeignKey(Phase, models.CASCADE, related_name="column_rows")
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    submission = models.ForeignKey(Submission, models.CASCADE, related_name="+")
    position = models.PositiveIntegerField(default=0)
    rank = models.PositiveIntegerField(null=True, blank=True, help_text="Empty for who takes no place.")
    values = models.JSONField(
        default=dict, help_text="Rounded values by `t`, the task's id, `c` and the column's id; missing: no key."
    )
    received_at = models.DateTimeField(help_text="Of the submission; breaks ties.")
    name_key = models.CharField(max_length=240, default="", help_text="The name as it is sorted and searched.")
    neutral_number = models.PositiveIntegerField(null=True, help_text="Stands for the name on anonymous boards.")
    is_frozen = models.BooleanField(default=False, help_text="Of the picture of how the board was when frozen.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["board", "phase", "submission", "is_frozen"], name="one_row_per_submission"
            )
        ]
        indexes = [models.Index(fields=["board", "phase", "is_frozen", "position"], name="rows_of_columns")]

    def __str__(self) -> str:
        return f"{self.rank}. {self.entrant}"


class ColumnPicture(models.Model):
    """That the boards of columns of a phase were frozen, and when; an empty board leaves nothing else."""

    phase = models.OneToOneField(Phase, models.CASCADE, related_name="column_picture")
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.phase} at {self.made_at:%Y-%m-%d %H:%M:%S}"
