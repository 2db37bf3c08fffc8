"""What follows in the analyses when a run was scored."""

from typing import Any

from django.dispatch import receiver

from analysis import other_scores
from submissions.models import Run
from submissions.signals import scored


@receiver(scored)
def other_metrics_say_anew(run: Run, **kwargs: Any) -> None:
    """A run was scored, maybe again by another solution: what other metrics say of it is computed anew."""
    other_scores.forget(run)
