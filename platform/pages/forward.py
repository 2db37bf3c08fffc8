"""Which submission of an entrant counts in each phase, and what becomes of it in the phases that follow."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from competitions.lifecycle import takes_over_at
from competitions.models import ColumnBoard, Entrant, Phase
from leaderboards.columns import is_programmed
from leaderboards.columns.choosing import rule_of
from submissions.models import Handover, Submission
from submissions.standing import standing_submission

UNDER_RULE = {
    Phase.Counts.BEST: "the best on the board counts",
    Phase.Counts.CHOSEN: "the one you choose counts, else the latest",
}
ON_BOARDS = {
    ColumnBoard.Rule.FORCE_LAST: "the latest finished one is on the leaderboard",
    ColumnBoard.Rule.FORCE_LATEST_MULTIPLE: "every finished one is on the leaderboard",
    ColumnBoard.Rule.FORCE_BEST: "the best finished one is on the leaderboard",
}
ADDED = "what you added to the leaderboard counts"
ADDS = "nothing of yours is on the leaderboard; add a finished submission on its page"


@dataclass(frozen=True)
class Onward:
    """One phase that follows: when its hand-over is due, and the sentence for the entrant."""

    phase: Phase
    sentence: str
    at: dt.datetime | None
    is_bad: bool = False


@dataclass(frozen=True)
class Standing:
    """What counts for an entrant in one phase. `submission` is None under a rule that only the board can tell."""

    phase: Phase
    submission: Submission | None
    rule: str
    onward: list[Onward]


def standings(phases: Sequence[Phase], entrant: Entrant | None, now: dt.datetime) -> list[Standing]:
    """For each phase in which the entrant has something, latest first: what counts, and where it goes.

    Two queries, however many phases there are; two more for each that programs score.
    """
    if entrant is None:
        return []
    by_phase: dict[int, list[Submission]] = {}
    for submission in Submission.objects.filter(entrant=entrant, phase__in=phases):
        by_phase.setdefault(submission.phase_id, []).append(submission)
    rows = {row.phase_id: row for row in Handover.objects.filter(entrant=entrant).select_related("submission")}
    found = []
    for phase in phases:
        own = by_phase.get(phase.pk, [])
        if not any(one.competes for one in own):
            continue
        by_columns = is_programmed(phase)
        only_the_board_knows = by_columns or phase.counts == Phase.Counts.BEST
        standing = None if only_the_board_knows else standing_submission(own, counts=phase.counts)
        children = [child for child in phases if child.parent_id == phase.pk and child.takes_over]
        onward = [_onward(phase, child, standing, rows.get(child.pk), now) for child in children]
        under = _on_boards(phase, own) if by_columns else UNDER_RULE.get(Phase.Counts(phase.counts), "")
        found.append(Standing(phase, standing, under, onward))
    return found[::-1]


def _on_boards(phase: Phase, own: Iterable[Submission]) -> str:
    """What stands for an entrant on the boards of a phase that programs score."""
    if rule_of(phase):
        return ADDED if any(one.is_chosen for one in own) else ADDS
    board = ColumnBoard.objects.filter(competition=phase.competition).first()
    return ON_BOARDS.get(ColumnBoard.Rule(board.rule), "") if board else ""


def _onward(
    phase: Phase, child: Phase, standing: Submission | None, row: Handover | None, now: dt.datetime
) -> Onward:
    child.parent = phase
    at = takes_over_at(child)
    if row is not None and row.outcome == Handover.Outcome.NO_CODE:
        return Onward(child, f"holds no code, so it has no place in {child.title}", None, is_bad=True)
    if row is not None and row.submission is not None:
        return Onward(child, f"went forward to {child.title} as submission {row.submission.number}", None)
    if standing is not None and child.is_blind and not standing.has_code:
        return Onward(child, f"holds no code, so it would have no place in {child.title}", at, is_bad=True)
    if at is not None and at <= now:
        return Onward(child, f"goes forward to {child.title} as soon as it has ended", None)
    return Onward(child, f"goes forward to {child.title}", at)


def feeds_blind_phases(phases: Iterable[Phase], chosen: Iterable[Phase]) -> list[Phase]:
    """The blind phases that run the code of one of the chosen phases."""
    ids = {phase.pk for phase in chosen}
    return [phase for phase in phases if phase.is_blind and phase.parent_id in ids]
