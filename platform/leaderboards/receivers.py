"""The board follows the scores, in the same transaction, and what else its rows depend on."""

import datetime as dt
from collections.abc import Collection, Mapping
from types import ModuleType
from typing import Any

from django.db.models import F, Q
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from competitions.actions.dates import moved
from competitions.models import Competition, Entrant, Phase, Task
from competitions.signals import merged, places_changed, shifted
from leaderboards import board, columns
from leaderboards.entries import name_key
from leaderboards.models import Board, LeaderboardRow, RankMoment
from submissions.models import Submission
from submissions.signals import changed, changed_together, put_off

# Fields of a phase on which no row depends.
KEEPS_ENTRIES = frozenset({"board", "closes_at", "is_anonymous", "opens_at", "released_at", "title"})


@receiver(changed)
def refresh_board(submission: Submission, **kwargs: Any) -> None:
    """A submission was received, scored, cancelled or disqualified: its phase's board may change.

    Storing a score settles the submission, which sends this signal, so a score and its rank are one step. Where
    many submissions change in one transaction, the boards follow once, at its end.
    """
    if not put_off(submission):
        _keeper(submission.phase).refresh(submission.phase, entrants=[submission.entrant_id])


@receiver(changed_together)
def refresh_boards(entrants: Mapping[int, Collection[int]], **kwargs: Any) -> None:
    """The boards of many submissions that changed together."""
    for phase in Phase.objects.filter(pk__in=entrants).order_by("pk"):
        _keeper(phase).refresh(phase, entrants=sorted(entrants[phase.pk]))


def _keeper(phase: Phase) -> ModuleType:
    """What keeps the board of a phase: one of columns where organizers' programs score."""
    return columns if columns.is_programmed(phase) else board


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
        kept = columns if columns.is_programmed(phase) else board
        kept.refresh_now(phase, entrants=[instance.entrant_id])


@receiver(post_save, sender=Phase)
def phase_edited(
    instance: Phase, created: bool, raw: bool = False, update_fields: Collection[str] | None = None, **kwargs: Any
) -> None:
    """Digits, parts or a rule may have changed, or the board was frozen: rows made before would be wrong."""
    if created or raw:
        return
    if columns.is_programmed(instance):
        return  # `leaderboards.columns.receivers` keeps its boards
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


@receiver(places_changed)
def ranked_anew(competition: Competition, **kwargs: Any) -> None:
    """Who takes a place changed for several entrants at once: nothing else of their rows did."""
    for phase in Phase.objects.filter(boards__is_frozen=False, round__competition=competition).distinct():
        board.refresh_now(phase, entrants=[])


@receiver(merged)
def picture_follows(staying: Entrant, going: Entrant, **kwargs: Any) -> None:
    """Two teams became one. On a frozen board their better row stays; live boards follow their submissions."""
    rows = LeaderboardRow.objects.filter(board__is_frozen=True)
    for row in rows.filter(entrant=going).select_related("board"):
        own = rows.filter(board=row.board_id, entrant=staying).first()
        if own is None or row.position < own.position:
            _leave_picture(own)
            row.entrant, row.name_key = staying, name_key(staying.name)
            row.save(update_fields=["entrant", "name_key"])
        else:
            _leave_picture(row)


def _leave_picture(row: LeaderboardRow | None) -> None:
    if row is None:
        return
    row.delete()
    below = LeaderboardRow.objects.filter(board=row.board_id, position__gt=row.position)
    below.update(position=F("position") - 1)
    fewer = {"listed": F("listed") - 1}
    if row.rank is not None:
        fewer["ranked"] = F("ranked") - 1
    Board.objects.filter(pk=row.board_id).update(**fewer)
