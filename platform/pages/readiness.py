"""A submission's readiness check as its page shows it: what is asked for, how far it is, a grid of ticks."""

import datetime as dt
import math
from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings

from competitions.policy import Person
from ingestion.readiness import COLUMNS, PartOutcome, most_seconds, ticks
from ingestion.traits import TRAITS, Trait
from submissions import policy, readiness
from submissions.models import ReadinessCheck, ReadinessRow, Submission
from submissions.models.readiness import CHECK_ACTIVE, CheckState

HEADS = {"ran": "Ran", "valid": "Validation", "test": "Test", "shape": "Shape", "finite": "Finite"}


@dataclass(frozen=True)
class ShownTrait:
    """One line of the grid. `ticks` are (column, True, False or None) in order; none before its run."""

    trait: Trait
    row: ReadinessRow | None
    is_current: bool
    ticks: list[tuple[str, bool | None]]

    @property
    def task(self) -> str:
        """The kind of task in words."""
        return self.trait.task.split(".")[0]


@dataclass(frozen=True)
class Panel:
    """All that the panel of one submission shows to one person."""

    submission: Submission
    check: ReadinessCheck | None
    traits: list[ShownTrait]
    may_act: bool
    left: int
    other: ReadinessCheck | None

    heads = [HEADS[name] for name in COLUMNS]
    total = len(TRAITS)

    @property
    def done(self) -> int:
        """How many traits have been tried."""
        return sum(1 for shown in self.traits if shown.row is not None)

    @property
    def current(self) -> ShownTrait | None:
        """What is tried now."""
        return next((shown for shown in self.traits if shown.is_current), None)

    @property
    def verdict(self) -> tuple[str, str]:
        """The state in words, and the state whose colour it has: what was found counts, not that it ended."""
        if self.check is None:
            return "", ""
        if self.check.state != CheckState.FINISHED:
            return self.check.get_state_display(), self.check.state
        is_ready = all(shown.row is None or shown.row.ok for shown in self.traits)
        return ("ready", "finished") if is_ready else ("not ready", "failed")

    @property
    def wall_seconds(self) -> float:
        """The time of each dataset."""
        return self.check.wall_seconds if self.check else settings.READINESS_SECONDS

    @property
    def most_minutes(self) -> int:
        """How long a whole check takes at most."""
        return math.ceil(most_seconds(settings.READINESS_SECONDS) / 60)


def panel(user: Person, submission: Submission, now: dt.datetime) -> Panel | None:
    """The panel, or None where there is nothing that the person may check or read."""
    if not submission.has_code or not policy.may_see_log(user, submission):
        return None
    if any(run.task.scoring_program_id is not None for run in submission.runs.all()):
        return None  # of no use where organizers' programs run the code
    check = submission.readiness_checks.first()
    rows = {row.trait: row for row in check.rows.all()} if check else {}
    shown = [_shown(trait, rows.get(trait.name), check) for trait in TRAITS]
    active = ReadinessCheck.objects.filter(entrant=submission.entrant_id, state__in=CHECK_ACTIVE)
    return Panel(
        submission=submission,
        check=check,
        traits=shown,
        may_act=policy.may_check_readiness(user, submission),
        left=readiness.left_today(submission.entrant, now),
        other=active.exclude(submission=submission).select_related("submission").first(),
    )


def _shown(trait: Trait, row: ReadinessRow | None, check: ReadinessCheck | None) -> ShownTrait:
    is_current = check is not None and check.is_active and check.current_trait == trait.name and row is None
    if row is None:
        return ShownTrait(trait, None, is_current, [])
    parts = {part: PartOutcome(**outcome) for part, outcome in row.parts.items()}
    found = ticks(row.ran, parts)
    return ShownTrait(trait, row, False, [(HEADS[name], found[name]) for name in COLUMNS])


def whole_log(check: ReadinessCheck) -> Iterator[str]:
    """The full logs of all traits, each under a heading and the sentence on it."""
    titles = {trait.name: trait for trait in TRAITS}
    for row in check.rows.all():
        trait = titles.get(row.trait)
        heading = f"{row.trait}: {trait.title}, {trait.task}" if trait else row.trait
        yield f"==== {heading}\n==== {'ok' if row.ok else row.reason}: {row.sentence}\n"
        if row.log:
            with row.log.open("rb") as file:
                yield file.read().decode("utf-8", errors="replace")
        yield "\n"
