"""Judging what a scoring program wrote: only numbers of declared columns are kept."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from competitions import clock
from competitions.models import Column, Competition, Phase
from submissions import public

MOST_NAMED = 5
LONGEST_SHOWN = 40


@dataclass(frozen=True)
class Judged:
    """The values by column, what organizers should know, and why they cannot stand: empty where they do."""

    values: dict[str, float]
    notes: tuple[str, ...] = ()
    problem: str = ""


def declared_keys(competition: Competition) -> list[str]:
    """The keys that a scoring program fills: the columns of all boards that are not computed of others."""
    columns = Column.objects.filter(board__competition=competition, computation="")
    return list(dict.fromkeys(columns.order_by("board__order", "order", "pk").values_list("key", flat=True)))


def told_keys(phase: Phase) -> list[str]:
    """The keys of columns that an entrant of the phase may read about now."""
    if not public.shows_columns(phase, sees_hidden=False, now=clock.now(phase.competition)):
        return []
    columns = public.visible_columns(phase.competition, phase, sees_hidden=False)
    return [column.key for column in columns]


def judge(
    scores: Mapping[str, object], declared: Collection[str], *, told: Collection[str] | None = None
) -> Judged:
    """What of the scores stands. Undeclared keys are left out; a declared one has to be a finite number.

    The problem is told to entrants: it names only the columns `told` (all where that is None), and notes the rest.
    """
    told = declared if told is None else told
    if not scores:
        return Judged({}, problem="It wrote no scores.")
    problems: dict[str, str] = {}
    values: dict[str, float] = {}
    for key in declared:
        if key not in scores:
            continue
        number = as_number(scores[key])
        if number is None:
            problems[key] = f"{key} is {_shown(scores[key])}"
        else:
            values[key] = number
    unknown = [key for key in scores if key not in declared]
    notes = [f"No column is declared for {_named(unknown)}: left out."] if unknown else []
    missing = [key for key in declared if key not in scores]
    if missing and len(missing) < len(declared):
        notes.append(f"It gave no score for {_named(missing)}.")
    if problems:
        if not set(problems) <= set(told):
            notes.append(f"No finite numbers: {'; '.join(list(problems.values())[:MOST_NAMED])}.")
        public_ones = [text for key, text in problems.items() if key in told]
        what = "; ".join(public_ones[:MOST_NAMED]) or "one is none"
        return Judged(values, tuple(notes), f"A score has to be a finite number: {what}.")
    if not values and not set(declared) <= set(told):
        notes.append(f"The columns are {_named(list(declared))}.")
        return Judged({}, tuple(notes), "It wrote scores for none of the columns.")
    if not values:
        known = f"The columns are {_named(list(declared))}." if declared else "The competition has no columns."
        return Judged({}, tuple(notes), f"It wrote scores for {_named(unknown)} only. {known}")
    return Judged(values, tuple(notes))


def as_number(value: object) -> float | None:
    """The value as a finite number; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, float | int) and not isinstance(value, bool):
        return "not finite"
    if isinstance(value, str):
        return f"the text {_printable(value)!r}"
    return "empty" if value is None else repr(value)[:LONGEST_SHOWN]


def _named(keys: Collection[str]) -> str:
    shown = [_printable(key) for key in list(keys)[:MOST_NAMED]]
    more = len(keys) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _printable(text: object) -> str:
    return "".join(letter for letter in str(text)[:LONGEST_SHOWN] if letter.isprintable())
