"""What entrants do with boards of columns: put a submission on them, and take it away."""

from dataclasses import dataclass

from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from competitions import clock, policy
from competitions.models import ColumnBoard, Phase
from leaderboards.columns.keeping import is_programmed
from submissions import signals
from submissions.models import Submission
from submissions.programs.board_rules import ENTRANTS_ADD, MAY_TAKE_AWAY, Rule


def rule_of(phase: Phase) -> str:
    """The rule by which entrants put submissions on the boards of the phase; empty where they do not choose.

    One submission is on all boards of its phase or on none, so the freest of their rules decides.
    """
    rules = set(ColumnBoard.objects.filter(competition=phase.competition).values_list("rule", flat=True))
    return next((rule for rule in reversed(ENTRANTS_ADD) if rule in rules), "")


@dataclass(frozen=True)
class Choice:
    """What its entrant may do now with a submission and the boards of its phase, where entrants choose."""

    is_on_board: bool
    may_add: bool
    may_take_away: bool
    replaces: bool  # adding it takes another one's place


def choice_of(submission: Submission) -> Choice | None:
    """The choice of the submission's entrant; None where boards are filled by themselves."""
    if not is_programmed(submission.phase) or not (rule := rule_of(submission.phase)):
        return None
    is_open, is_on = _is_open(submission), submission.is_chosen
    return Choice(
        is_on_board=is_on and may_stand(submission),
        may_add=is_open and not is_on and may_stand(submission),
        may_take_away=is_open and is_on and rule in MAY_TAKE_AWAY,
        replaces=rule != Rule.ADD_AND_DELETE_MULTIPLE,
    )


def may_stand(submission: Submission) -> bool:
    """Whether a board may list it, if it is added."""
    return submission.disqualified_at is None and submission.state == Submission.State.FINISHED


def _is_open(submission: Submission) -> bool:
    phase = submission.phase
    return phase.is_open_for(submission.entrant, clock.now(phase.competition))


def add(submission: Submission, *, by: User) -> None:
    """Put a finished submission on the boards of its phase; where only one may stand there, in another's place."""
    rule = _permitted(submission, by)
    if not may_stand(submission):
        raise Refused("Only a submission that has finished can be on the leaderboard.", status=409)
    with transaction.atomic():
        if rule != Rule.ADD_AND_DELETE_MULTIPLE:
            others = submission.phase.submissions.filter(entrant=submission.entrant_id, is_chosen=True)
            others.exclude(pk=submission.pk).update(is_chosen=False)
        _set(submission, to=True)


def take_away(submission: Submission, *, by: User) -> None:
    """Take a submission away from the boards of its phase, where their rule allows it."""
    if _permitted(submission, by) not in MAY_TAKE_AWAY:
        raise Refused(
            "Here a submission stays on the leaderboard.",
            mend="Add another one; it takes the place of this one.",
            status=409,
        )
    with transaction.atomic():
        _set(submission, to=False)


def _permitted(submission: Submission, by: User) -> str:
    """The rule in force; raises Refused where the person or the moment is not right."""
    phase = submission.phase
    if not policy.own_entrants(by).filter(pk=submission.entrant_id).exists():
        raise Refused("Only its entrant decides whether a submission is on the leaderboard.", status=403)
    rule = rule_of(phase)
    if not rule:
        raise Refused(f"The leaderboard of {phase.title} is filled by itself.", status=409)
    if not _is_open(submission):
        raise Refused(f"{phase.title} is closed; its leaderboard stands.", status=409)
    return rule


def _set(submission: Submission, *, to: bool) -> None:
    """Compare and set; whoever did it tells the boards, in the same transaction."""
    if Submission.objects.filter(pk=submission.pk, is_chosen=not to).update(is_chosen=to):
        submission.is_chosen = to
        signals.changed.send(sender=Submission, submission=submission)
