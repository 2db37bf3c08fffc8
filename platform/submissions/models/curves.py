"""Scores of the numbered predictions of any-time runs, from which learning curves are drawn."""

from django.db import models

from submissions.models.runs import Prediction


class PredictionScore(models.Model):
    """The score of one numbered prediction. People see it only through submissions.curves.

    Computed once the phase is over, because many scores of one run would tell the labels. A run's own score, of
    the prediction that counts, is a `Score`.
    """

    prediction = models.OneToOneField(Prediction, models.CASCADE, related_name="curve_score")
    value = models.FloatField(null=True, help_text="Normalised. Empty: it cannot be scored.")
    stderr = models.FloatField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.prediction}: {self.value}"
