"""The board follows the scores, in the same transaction."""

from typing import Any

from django.dispatch import receiver

from leaderboards import board
from submissions.models import Submission
from submissions.signals import changed


@receiver(changed)
def refresh_board(submission: Submission, **kwargs: Any) -> None:
    """A submission was received, scored, cancelled or disqualified: its phase's board may change.

    Storing a score settles the submission, which sends this signal, so a score and its rank are one step.
    """
    board.refresh(submission.phase)
