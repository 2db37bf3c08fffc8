"""What the phases page says of each phase: what counts, what follows, when results are public, who won."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

from competitions.lifecycle import phase_state
from competitions.models import Entrant, Phase, Prize
from leaderboards.columns import is_programmed
from leaderboards.prizes import Winner, winners
from submissions import handover

COUNTED = {
    Phase.Counts.LATEST: "Only the latest submission counts, even if it is worse or failed.",
    Phase.Counts.BEST: "The best submission on the board's own part counts.",
    Phase.Counts.CHOSEN: "The submission that the entrant chose counts, else the latest.",
}


@dataclass(frozen=True)
class Card:
    """A phase in words."""

    phase: Phase
    state: str
    counts: str
    onward: str
    results: str
    progress: str
    winners: Sequence[Winner]
    is_in_line: bool
    prizes: list[Prize] = field(default_factory=list)


def cards(phases: Sequence[Phase], entrant: Entrant | None, now: dt.datetime) -> list[Card]:
    """Every phase in the competition's order."""
    prizes: dict[int, list[Prize]] = {}
    for prize in Prize.objects.filter(phase__in=phases):
        prizes.setdefault(prize.phase_id, []).append(prize)
    by_id = {phase.pk: phase for phase in phases}
    found = []
    for phase in phases:
        if phase.parent_id in by_id:
            phase.parent = by_id[phase.parent_id]
        won = winners(phase, now) if phase.pk in prizes else []
        mine = any(entrant is not None and winner.line.entrant_id == entrant.pk for winner in won)
        found.append(
            Card(
                phase,
                phase_state(phase, now),
                what_counts(phase),
                what_follows(phase, phases),
                when_public(phase, now),
                how_far(phase, now),
                won,
                mine,
                prizes.get(phase.pk, []),
            )
        )
    return found


def what_counts(phase: Phase) -> str:
    """Which submission of an entrant stands in the phase."""
    parent = phase.parent
    if phase.is_blind and parent is not None:
        return f"The code that stood in {parent.title}; results alone have no place here."
    if phase.is_hidden and parent is not None:
        return f"The entry that stood in {parent.title}, with the test scores of its very runs."
    carried = ""
    if phase.carry_over and parent is not None:
        carried = f" Entries of {parent.title} stand here until their entrants submit, without quota."
    if is_programmed(phase):
        return "What the leaderboard's own rule says counts." + carried
    return COUNTED[Phase.Counts(phase.counts)] + carried


def what_follows(phase: Phase, phases: Sequence[Phase]) -> str:
    """Where the entries of the phase go."""
    titles = [child.title for child in phases if child.parent_id == phase.pk and child.takes_over]
    if not titles:
        return ""
    listed = " and ".join(filter(None, [", ".join(titles[:-1]), titles[-1]]))
    return f"What counts when it closes goes forward to {listed} by itself."


def when_public(phase: Phase, now: dt.datetime) -> str:
    """When people see its scores."""
    if is_programmed(phase):
        if phase.hides_scores:
            return "Scores become public when it closes."
        return "Scores appear at once." if phase.takes_submissions else "Scores become public after it has closed."
    if phase.takes_submissions:
        part = "validation" if phase.feedback_part == Phase.Part.VALID else "test"
        return f"Scores of the {part} part appear at once."
    if phase.is_released(now):
        return "The test scores are public."
    if phase.release == Phase.When.AT_CLOSE:
        return "The test scores become public when it closes."
    return "The organizers release the test scores after it has closed."


def how_far(phase: Phase, now: dt.datetime) -> str:
    """What is outstanding of a phase that has begun; empty when nothing is."""
    if not phase.is_hidden or not phase.has_begun(now):
        return ""
    progress = handover.progress(phase, now)
    parts = []
    if progress.awaited:
        parts.append(f"{progress.awaited} {'entry is' if progress.awaited == 1 else 'entries are'} awaited")
    if progress.outstanding_runs:
        many = progress.outstanding_runs
        parts.append(f"{many} {'run is' if many == 1 else 'runs are'} outstanding")
    return f"Provisional: {' and '.join(parts)}." if parts else ""
