"""Boards of columns follow the scores, in the same transaction, and what else their rows depend on."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.db.models import Q
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from competitions.actions.dates import moved
from competitions.models import Column, ColumnBoard, Competition, Entrant, Phase, Task
from competitions.signals import merged, places_changed, shifted
from leaderboards.columns import keeping
from leaderboards.entries import name_key
from leaderboards.models import ColumnPicture, ColumnRow

# Fields of a phase on which rows depend.
CHANGES_ROWS = frozenset({"board", "hidden_columns", "ranks_baselines", "tie_rule"})


@receiver(shifted)
def rows_are_shifted(competition: Competition, delta: dt.timedelta, **kwargs: Any) -> None:
    """The competition's clock was moved: its boards came about earlier, too."""
    moved(ColumnRow, "phase__round__competition", competition, "received_at", "updated_at").move(delta)
    moved(ColumnPicture, "phase__round__competition", competition, "made_at").move(delta)


@receiver(post_save, sender=Phase)
def phase_edited(
    instance: Phase, created: bool, raw: bool = False, update_fields: Collection[str] | None = None, **kwargs: Any
) -> None:
    """A rule may have changed, or the boards were frozen."""
    if created or raw or (update_fields is not None and CHANGES_ROWS.isdisjoint(update_fields)):
        return
    if keeping.is_programmed(instance):
        keeping.refresh_now(instance)


@receiver([post_save, post_delete], sender=Task)
def task_edited(instance: Task, raw: bool = False, **kwargs: Any) -> None:
    """A task came, left or was set aside: other values count."""
    _refresh_all(Q(pk=instance.phase_id), raw=raw)


@receiver([post_save, post_delete], sender=ColumnBoard)
def board_edited(instance: ColumnBoard, raw: bool = False, **kwargs: Any) -> None:
    """The rule of a board, or what decides it, may be another."""
    _refresh_all(Q(round__competition=instance.competition_id), raw=raw)


@receiver([post_save, post_delete], sender=Column)
def column_edited(instance: Column, raw: bool = False, **kwargs: Any) -> None:
    """A column is computed, rounded or sorted in another way."""
    competition = ColumnBoard.objects.filter(pk=instance.board_id).values("competition")
    _refresh_all(Q(round__competition__in=competition), raw=raw)


def _refresh_all(which: Q, *, raw: bool) -> None:
    """Refresh the phases among these that have rows; in a fixture everything comes as it was."""
    if raw:
        return
    for phase in Phase.objects.filter(which, column_rows__is_frozen=False).distinct():
        keeping.refresh_now(phase)


@receiver(post_save, sender=Entrant)
def entrant_edited(instance: Entrant, created: bool, raw: bool = False, **kwargs: Any) -> None:
    """Whether an entrant is ranked may have changed, or the name."""
    if created or raw:
        return
    ColumnRow.objects.filter(entrant=instance, is_frozen=True).update(name_key=name_key(instance.name))
    # Also where it is not listed yet: a baseline needs no button.
    here = Phase.objects.filter(submissions__entrant=instance, tasks__scoring_program__isnull=False)
    for phase in here.distinct():
        keeping.refresh_now(phase, entrants=[instance.pk])


@receiver(places_changed)
def ranked_anew(competition: Competition, **kwargs: Any) -> None:
    """Who takes a place changed for several entrants at once: nothing else of their rows did."""
    for phase in Phase.objects.filter(column_rows__is_frozen=False, round__competition=competition).distinct():
        keeping.refresh_now(phase, entrants=[])


@receiver(merged)
def picture_follows(staying: Entrant, going: Entrant, **kwargs: Any) -> None:
    """Two teams became one: on frozen boards what stood for either stands for both."""
    rows = ColumnRow.objects.filter(entrant=going, is_frozen=True)
    rows.update(entrant=staying, name_key=name_key(staying.name))
