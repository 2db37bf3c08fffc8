"""Stored ranks."""

from django.db import models

from competitions.models import Entrant, Phase
from submissions.models import Submission


class LeaderboardRow(models.Model):
    """The place of an entrant in a phase, kept up to date in the transaction that stores a score.

    `cells` holds what the board shows for each task, in the order of the tasks: a list of
    `{"task", "value", "stderr", "rank", "state"}` with values that already went through the public view.
    """

    phase = models.ForeignKey(Phase, models.CASCADE, related_name="leaderboard")
    entrant = models.ForeignKey(Entrant, models.CASCADE, related_name="+")
    submission = models.ForeignKey(Submission, models.CASCADE, related_name="+")
    part = models.CharField(max_length=5)
    rank = models.PositiveIntegerField(null=True, blank=True, help_text="Empty for baselines and the unranked.")
    mean_rank = models.FloatField()
    mean_score = models.FloatField()
    cells = models.JSONField(default=list)
    entries = models.PositiveIntegerField(default=0, help_text="Accepted submissions of the entrant in the phase.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = [models.F("rank").asc(nulls_last=True), "mean_rank", "id"]
        constraints = [models.UniqueConstraint(fields=["phase", "entrant"], name="one_row_per_entrant")]

    def __str__(self) -> str:
        return f"{self.rank}. {self.entrant}"
