"""What a rehearsal has come to: where its clock stands, and what became of every entrant in every phase."""

import datetime as dt
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from competitions import clock
from competitions.actions.release import OfPhase
from competitions.lifecycle import phase_state, takes_over_at
from competitions.models import AuditEntry, Competition, Phase
from submissions.models import Handover, Run, RunState, Submission
from submissions.models.runs import ENDED
from submissions.rehearsal.advance import Stop, by_hand, coming
from submissions.rehearsal.entrants import PLAYERS, PREFIX

MOST_EVENTS = 100
FAILS = frozenset(f"{PREFIX}{player.username}" for player in PLAYERS if player.fails)


@dataclass
class Part:
    """What one entrant has in one phase. `outcome` says how it came there, `runs` counts runs by their state."""

    entrant: str
    outcome: str
    submission_id: int | None = None
    number: int | None = None
    state: str = ""
    runs: Counter[str] = field(default_factory=Counter)
    sentences: list[str] = field(default_factory=list)
    is_expected: bool = True

    def to_json(self) -> dict[str, Any]:
        """As the command prints it."""
        return {
            "entrant": self.entrant,
            "outcome": self.outcome,
            "state": self.state or None,
            "runs": dict(self.runs),
            "sentences": self.sentences,
        }


@dataclass
class PhaseReport:
    """A phase of a rehearsal. `handed_over_at`: when entries come from its parent; None: they do not."""

    phase: Phase
    state: str
    handed_over_at: dt.datetime | None
    parts: list[Part] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As the command prints it."""
        return {
            "number": self.phase.number,
            "title": self.phase.title,
            "state": self.state,
            "entrants": [part.to_json() for part in self.parts],
        }


@dataclass
class Report:
    """All that the page and the command tell."""

    rehearsal: Competition
    now: dt.datetime
    phases: list[PhaseReport]
    coming: list[Stop]
    events: list[AuditEntry]
    by_hand: list[OfPhase]

    @property
    def runs_on(self) -> int:
        """How many runs have not ended."""
        return sum(
            count
            for phase in self.phases
            for part in phase.parts
            for state, count in part.runs.items()
            if state not in ENDED
        )

    @property
    def problems(self) -> list[str]:
        """What did not go as a competition should: runs that failed though their code is in order."""
        return [
            f"{phase.phase.title}, {part.entrant}: {sentence}"
            for phase in self.phases
            for part in phase.parts
            if not part.is_expected
            for sentence in part.sentences or [f"The submission is {part.state}."]
        ]

    def to_json(self) -> dict[str, Any]:
        """As the command prints it."""
        return {
            "ok": not self.problems and not self.runs_on,
            "slug": self.rehearsal.slug,
            "rehearses": self.rehearsal.rehearses.slug if self.rehearsal.rehearses else None,
            "clock": self.now.isoformat(),
            "ahead_seconds": self.rehearsal.clock_offset.total_seconds(),
            "phases": [phase.to_json() for phase in self.phases],
            "by_hand": [f"{action.phase.title}: {action.name}" for action in self.by_hand],
            "problems": self.problems,
            "events": [{"at": entry.at.isoformat(), "text": entry.text} for entry in reversed(self.events)],
        }


def report(rehearsal: Competition) -> Report:
    """Tell of a rehearsal; the number of queries does not depend on what is in it."""
    now = clock.now(rehearsal)
    phases = {
        phase.pk: PhaseReport(phase, phase_state(phase, now), takes_over_at(phase))
        for phase in rehearsal.phases().select_related("parent")
    }
    parts = _submitted(rehearsal)
    for phase_id, part in parts:
        phases[phase_id].parts.append(part)
    for phase_id, part in _left_behind(rehearsal):
        phases[phase_id].parts.append(part)
    events = AuditEntry.objects.filter(competition=rehearsal).order_by("-at", "-id")[:MOST_EVENTS]
    waits = by_hand(rehearsal)
    return Report(rehearsal, now, list(phases.values()), coming(rehearsal, now), list(events), waits)


def _submitted(rehearsal: Competition) -> list[tuple[int, Part]]:
    """What stands in the phases, with the phases' ids: one query for submissions and one for runs."""
    found = Submission.objects.filter(phase__round__competition=rehearsal).select_related("entrant", "user")
    parts: dict[int, tuple[int, Part]] = {}
    for one in found.exclude(state=Submission.State.CANCELLED).order_by("phase__number", "number"):
        part = Part(one.entrant.name, one.get_arrival_display(), one.pk, one.number, one.state)
        part.is_expected = one.state not in (Submission.State.FAILED, Submission.State.LOST)
        part.is_expected = part.is_expected or one.user.username in FAILS
        parts[one.pk] = (one.phase_id, part)
    for run in Run.objects.filter(submission__in=parts).order_by("order", "repeat"):
        part = parts[run.submission_id][1]
        part.runs[run.state] += 1
        if run.state == RunState.FAILED:
            part.sentences.append(f"{run.dataset_name}: {run.sentence}")
    return list(parts.values())


def _left_behind(rehearsal: Competition) -> list[tuple[int, Part]]:
    """Those of whom nothing went forward into a phase."""
    rows = Handover.objects.filter(phase__round__competition=rehearsal, submission=None).select_related("entrant")
    return [(row.phase_id, Part(row.entrant.name, row.get_outcome_display())) for row in rows.order_by("pk")]
