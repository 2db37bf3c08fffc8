"""What an edit of a phase changes, in words, and what follows from it."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db import models
from django.utils import timezone

from competitions.actions.base import Changed
from competitions.actions.dates import told
from competitions.actions.seen import fingerprint
from competitions.models import Competition, Phase
from ingestion.budget import format_size

# The fields of a phase that organizers edit, with the names that pages give them, in the order of the form.
LABELS = {
    "round": "Round",
    "kind": "Kind",
    "title": "Title",
    "description": "Description",
    "opens_at": "Opens",
    "closes_at": "Closes",
    "parent": "Comes after",
    "carry_over": "Takes over entries",
    "track": "Track",
    "daily_quota": "Submissions a day",
    "total_quota": "Submissions in all",
    "accepts": "Takes",
    "counts": "What counts",
    "wall_seconds": "Seconds for each dataset",
    "cores": "Cores",
    "memory_bytes": "Memory",
    "image": "Image",
    "resource_class": "Class of worker",
    "trusted_workers_only": "Trusted workers only",
    "any_time": "Any-time rule",
    "repeats": "Runs of each dataset",
    "allow_saved_models": "Saved models allowed",
    "board": "Leaderboard",
    "feedback_part": "Part that is shown",
    "score_digits": "Digits of scores",
    "tie_rule": "Ties",
    "is_anonymous": "Names hidden until the release",
    "ranks_baselines": "Baselines take places",
    "convention": "Equations of the metrics",
    "release": "Release",
    "reveal": "Names of blind datasets",
}
ON_THE_BOARD = (
    *("counts", "tie_rule", "score_digits", "feedback_part", "ranks_baselines", "convention"),
    *("board", "is_anonymous"),
)
EMPTY = {
    "closes_at": "never",
    "parent": "nothing",
    "daily_quota": "no limit",
    "total_quota": "no limit",
    "wall_seconds": "each dataset's own",
    "cores": "all that the worker has",
    "memory_bytes": "all that the worker has",
    "image": "the site's own",
}


def told_here(moment: dt.datetime) -> str:
    """A moment by the clocks of the active time zone, for previews; the audit log has UTC (`dates.told`)."""
    zone = timezone.get_current_timezone_name()
    if zone == "UTC":
        return told(moment)
    here = timezone.localtime(moment)
    return f"{here.day} {here:%b %Y, %H:%M} {zone}"


def value_in_words(phase: Phase, name: str, *, moment: Callable[[dt.datetime], str] = told) -> str:
    """What a phase's field holds, as a person reads it."""
    value = getattr(phase, name)
    if value is None or value == "":
        return EMPTY.get(name, "nothing")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dt.datetime):
        return moment(value)
    if name == "memory_bytes":
        return format_size(value)
    if isinstance(value, float):
        return f"{value:,g}"
    display: Callable[[], str] | None = getattr(phase, f"get_{name}_display", None)
    return str(display() if display and name != "image" else value)


def changed_fields(before: Phase, after: Phase, names: Iterable[str] = LABELS) -> list[str]:
    """The names of the fields in which two states of a phase differ."""
    return [name for name in names if getattr(before, _column(name)) != getattr(after, _column(name))]


def _column(name: str) -> str:
    return f"{name}_id" if name in ("round", "parent") else name


def changes(
    before: Phase,
    after: Phase,
    names: Iterable[str] = LABELS,
    *,
    moment: Callable[[dt.datetime], str] = told,
) -> list[Changed]:
    """Old and new values of the fields that differ; `moment` words the dates."""
    return [
        Changed(
            LABELS[name],
            value_in_words(before, name, moment=moment),
            value_in_words(after, name, moment=moment),
        )
        for name in changed_fields(before, after, names)
    ]


def as_data(found: Iterable[Changed]) -> list[dict[str, str]]:
    """The same as the audit log keeps it."""
    return [{"field": one.label, "old": one.old, "new": one.new} for one in found]


def consequences(before: Phase, after: Phase, now: dt.datetime) -> list[str]:
    """What an edit of a phase means for those who take part, in sentences; empty where it means nothing yet."""
    changed = changed_fields(before, after)
    submissions = before.submissions.count()
    told_of = []
    if submissions and any(name in ON_THE_BOARD for name in changed):
        told_of.append(
            f"The leaderboard of {before.title} is made anew from its {_counted(submissions, 'submission')}; "
            "places may change at once. Nothing is run or scored again."
        )
    if {"daily_quota", "total_quota"} & set(changed) and before.has_begun(now):
        told_of.append("Submissions that were received stay; the new quota holds from the next one on.")
    if {"opens_at", "closes_at"} & set(changed):
        told_of += _waiting(after)
    if {"parent", "carry_over"} & set(changed) and after.takes_over and after.has_begun(now):
        told_of.append(f"Entries of {after.parent} are handed over to {after.title} within a minute.")
    if before.is_released(now) != after.is_released(now):
        public = "become public at once" if after.is_released(now) else "are hidden again"
        told_of.append(f"Test scores of {after.title} {public}.")
    if before.competition.state == Competition.State.PUBLISHED:
        told_of.append("Everybody who may read the competition sees the change at once.")
    return told_of


def _waiting(phase: Phase) -> list[str]:
    """Which phases take over when this one closes."""
    if phase.pk is None or phase.closes_at is None:
        return []
    waiting = [child.title for child in phase.children.order_by("number") if child.takes_over]
    if not waiting:
        return []
    verb = "take" if len(waiting) > 1 else "takes"
    return [f"{' and '.join(waiting)} {verb} over the entries of {phase.title} on {told_here(phase.closes_at)}."]


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def values_of(rows: Iterable[models.Model], names: Iterable[str]) -> list[object]:
    """What some fields of rows hold, for the digest that a form carries (`seen.fingerprint`)."""
    columns = [_column(name) for name in names]
    return [value for row in rows for value in (row.pk, *(getattr(row, column) for column in columns))]


def seen_of(phase: Phase) -> str:
    """The digest of everything in a phase that its form edits."""
    return fingerprint(*values_of([phase], LABELS))


def assigned(phase: Phase, values: Mapping[str, Any]) -> Phase:
    """The phase with these values, not saved."""
    for name, value in values.items():
        setattr(phase, name, value)
    return phase
