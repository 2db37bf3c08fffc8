"""The rules of the protocol over a clock: pure functions, no change of state.

The actions that follow them are `submissions.handover` (entries go forward) and `competitions.actions.release`
(datasets get their names).
"""

import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from competitions.models.protocol import Phase, Task


def current_phase(phases: Sequence[Phase], now: dt.datetime) -> Phase | None:
    """The phase a visitor should see first.

    One that is open for submissions; else any open one; else the next to open after the last that closed;
    else the last. Phases are given in the competition's order.
    """
    running = [phase for phase in phases if phase.is_open(now)]
    for phase in running:
        if phase.takes_submissions:
            return phase
    if running:
        return running[0]
    coming = [phase for phase in phases if not phase.has_begun(now)]
    if coming:
        return min(coming, key=lambda phase: phase.opens_at)
    return phases[-1] if phases else None


def phase_state(phase: Phase, now: dt.datetime) -> str:
    """Return `upcoming`, `open`, `closed` or `released`: closed, and its test scores are public."""
    if not phase.has_begun(now):
        return "upcoming"
    if not phase.has_ended(now):
        return "open"
    return "released" if phase.is_hidden and phase.is_released(now) else "closed"


def takes_over_at(phase: Phase) -> dt.datetime | None:
    """When the entries of the parent are handed over to this phase; None: never, as things stand."""
    if not phase.takes_over or phase.parent is None or phase.parent.closes_at is None:
        return None
    return max(phase.opens_at, phase.parent.closes_at)


def due_handovers(phases: Iterable[Phase], now: dt.datetime) -> list[Phase]:
    """The phases that take over by now, parents before children; wants `parent` loaded.

    It says nothing of what was done already: that is in the rows, for each entrant.
    """
    due = [(at, phase) for phase in phases if (at := takes_over_at(phase)) is not None and at <= now]
    due.sort(key=lambda pair: (pair[1].opens_at, pair[0], pair[1].number))
    return [phase for _, phase in due]


def due_reveals(phases: Iterable[Phase], unrevealed: Collection[int], now: dt.datetime) -> list[Phase]:
    """The blind phases that have closed and whose datasets are to get their names by themselves.

    `unrevealed` holds the ids of the phases with datasets that have none yet.
    """
    return [
        phase
        for phase in phases
        if phase.is_blind
        and phase.reveal == Phase.When.AT_CLOSE
        and phase.has_ended(now)
        and phase.pk in unrevealed
    ]


def revealed_tasks(tasks: Iterable[Task], now: dt.datetime) -> set[int]:
    """The ids of the tasks whose datasets entrants may know now; wants all tasks of a competition, with phases.

    A dataset that an unrevealed blind phase uses is hidden in every other phase that had not shown it before,
    so that a Tweakathon which opens too early gives nothing away. What was shown stays known: a blind phase of
    next year hides nothing of this year's.
    """
    tasks = list(tasks)
    secret = {task.dataset_id: task.phase for task in tasks if task.phase.is_blind and not task.is_revealed(now)}
    known = set()
    for task in tasks:
        blind = secret.get(task.dataset_id)
        since = task.revealed_at if task.phase.is_blind else task.phase.opens_at
        came_first = blind is not None and since is not None and since < blind.opens_at
        if task.is_revealed(now) and (blind is None or came_first):
            known.add(task.pk)
    return known


class Step(StrEnum):
    """What is to be done with one entrant at a hand-over."""

    WAIT = "wait"
    TAKE = "take"
    NOTHING = "nothing"


@dataclass(frozen=True)
class Entry:
    """A submission of the parent phase, as far as a hand-over depends on it."""

    submission_id: int
    received_at: dt.datetime
    is_active: bool
    competes: bool
    is_chosen: bool = False


def handover_step(
    entries: Sequence[Entry],
    *,
    counts: str,
    best: int | None = None,
    extended_until: dt.datetime | None = None,
    now: dt.datetime,
) -> tuple[Step, int | None]:
    """Which submission of one entrant goes forward, if that is settled.

    `counts` is the rule of the parent phase, `best` the best submission under the rule `best`, computed when
    nothing runs any more. Whoever has extra time left is waited for, and so is a submission that runs and may
    become the one that counts. Ids break ties of the time of receipt.
    """
    if extended_until is not None and now < extended_until:
        return Step.WAIT, None
    competing = sorted((e for e in entries if e.competes), key=lambda e: (e.received_at, e.submission_id))
    if not competing:
        return Step.NOTHING, None
    if counts == Phase.Counts.BEST:
        if any(entry.is_active for entry in competing):
            return Step.WAIT, None
        return Step.TAKE, best if best is not None else competing[-1].submission_id
    chosen = [entry for entry in competing if entry.is_chosen] if counts == Phase.Counts.CHOSEN else []
    standing = (chosen or competing)[-1]
    return (Step.WAIT, None) if standing.is_active else (Step.TAKE, standing.submission_id)
