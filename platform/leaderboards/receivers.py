"""The board follows the scores, in the same transaction, and what else its rows depend on."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.db.models import Q
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from competitions.actions.dates import moved
from competitions.models import Competition, Entrant, Phase, Task
from competitions.signals import shifted
from leaderboards import board
from leaderboards.entries import name_key
from leaderboards.models import Board, LeaderboardRow, RankMoment
from submissions.models import Submission
from submissions.signals import changed

# Fields of a phase on which no row depends.
KEEPS_ENTRIES = frozenset({"board", "closes_at", "is_anonymous", "opens_at", "released_at", "title"})


@receiver(changed)
def refresh_board(submission: Submission, **kwargs: Any) -> None:
    """A submission was received, scored, cancelled or disqualified: its phase's board may change.

    Storing a score settles the submission, which sends this signal, so a score and its rank are one step.
    """
    board.refresh(submission.phase, entrants=[submission.entrant_id])


@receiver(shifted)
def boards_are_shifted(competition: Competition, delta: dt.timedelta, **kwargs: Any) -> None:
    """The competition's clock was moved: its boards came about earlier, too."""
    rows = ("received_at", "last_received_at", "updated_at")
    for part in (
        moved(Board, "phase__round__competition", competition, "made_at"),
        moved(LeaderboardRow, "board__phase__round__competition", competition, *rows),
        moved(RankMoment, "phase__round__competition", competition, "at"),
    ):
        part.move(delta)


@receiver(post_delete, sender=Submission)
def submission_deleted(instance: Submission, **kwargs: Any) -> None:
    """Its entrant has another entry now, or none; the boards of a competition that is being deleted can wait."""
    phase = Phase.objects.filter(pk=instance.phase_id, round__competition__deletion=None).first()
    if phase is not None:
        board.refresh_now(phase, entrants=[instance.entrant_id])


@receiver(post_save, sender=Phase)
def phase_edited(
    instance: Phase, created: bool, raw: bool = False, update_fields: Collection[str] | None = None, **kwargs: Any
) -> None:
    """Digits, parts or a rule may have changed, or the board was frozen: rows made before would be wrong."""
    if created or raw:
        return
    if instance.board == Phase.Board.FROZEN or LeaderboardRow.objects.filter(board__phase=instance).exists():
        entries_stay = update_fields is not None and KEEPS_ENTRIES.issuperset(update_fields)
        board.refresh_now(instance, entrants=[] if entries_stay else None)


@receiver([post_save, post_delete], sender=Task)
def task_edited(instance: Task, raw: bool = False, **kwargs: Any) -> None:
    """A dataset came, left or moved: every row has other columns."""
    if not raw and LeaderboardRow.objects.filter(board__phase=instance.phase_id).exists():
        board.refresh_now(instance.phase)


@receiver(post_save, sender=Entrant)
def entrant_edited(instance: Entrant, created: bool, raw: bool = False, **kwargs: Any) -> None:
    """Whether an entrant is ranked may have changed, or the name."""
    if created or raw:
        return
    LeaderboardRow.objects.filter(entrant=instance, board__is_frozen=True).update(name_key=name_key(instance.name))
    on_it = Q(boards__rows__entrant=instance, boards__is_frozen=False)
    for phase in Phase.objects.filter(on_it).distinct():
        board.refresh_now(phase, entrants=[instance.pk], renamed=True)
