"""The board follows the scores, in the same transaction, and what else its rows depend on."""

from typing import Any

from django.db.models.signals import post_save
from django.dispatch import receiver

from competitions.models import Entrant, Phase
from leaderboards import board
from leaderboards.models import LeaderboardRow
from submissions.models import Submission
from submissions.signals import changed


@receiver(changed)
def refresh_board(submission: Submission, **kwargs: Any) -> None:
    """A submission was received, scored, cancelled or disqualified: its phase's board may change.

    Storing a score settles the submission, which sends this signal, so a score and its rank are one step.
    """
    board.refresh(submission.phase)


@receiver(post_save, sender=Phase)
def phase_edited(instance: Phase, created: bool, raw: bool = False, **kwargs: Any) -> None:
    """Digits, feedback part or rule of ties may have changed: rows made by the old ones would be wrong."""
    if not created and not raw and LeaderboardRow.objects.filter(phase=instance).exists():
        board.refresh_now(instance)


@receiver(post_save, sender=Entrant)
def entrant_edited(instance: Entrant, created: bool, raw: bool = False, **kwargs: Any) -> None:
    """Whether an entrant is ranked may have changed."""
    if created or raw:
        return
    for phase in Phase.objects.filter(leaderboard__entrant=instance):
        board.refresh_now(phase)
