"""What organizers do to submissions: run and score again, cancel, disqualify, requalify, withdraw; and what
entrants choose.
"""

import datetime as dt
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db.models import Q, QuerySet

from accounts.models import User
from accounts.refusals import Refused
from competitions import clock
from competitions.actions.base import Action, Preview
from competitions.models import Competition, Entrant, Participant, Phase
from submissions import actions, again, signals
from submissions.again import counted, worst_hours
from submissions.handover import retire
from submissions.models import Handover, Run, RunState, Submission
from submissions.models.runs import AT_WORKER, ENDED
from submissions.standing import standing_submission
from submissions.transitions import end_run, hold, settle

STOPPED = "Stopped because its submission was disqualified."


@dataclass
class OfSubmission(Action):
    """An action on one submission."""

    submission: Submission

    @property
    def competition(self) -> Competition:
        """The contest of the submission."""
        return self.submission.phase.round.competition

    @property
    def who(self) -> str:
        """The submission in a sentence."""
        return f"Submission {self.submission.number} of {self.submission.entrant.name}"

    def change(self, now: dt.datetime) -> str:
        """Do it with the runs of the competition held, as whatever ends a run expects."""
        hold(self.competition)
        return self.apply(now)

    @abstractmethod
    def apply(self, now: dt.datetime) -> str:
        """Do it where the runs are held already; returns the sentence for the audit log."""

    def details(self) -> dict[str, object]:
        """The submission's id."""
        return {"submission": self.submission.pk}


@dataclass
class Rerun(OfSubmission):
    """Run the code of a submission again, on all its datasets or on one."""

    run: Run | None = None
    fresh: bool = False

    name: ClassVar[str] = "rerun"

    def _runs(self) -> list[Run]:
        runs = self.submission.runs.select_related("submission", "task")
        return again.runnable(runs if self.run is None else runs.filter(pk=self.run.pk))

    def check(self, now: dt.datetime) -> None:
        """There must be code that has ended."""
        if self.submission.origin_id and not self._runs():
            origin = self.submission.origin
            assert origin is not None
            mend = f"Run submission {origin.number} of {origin.phase.title} again; this one follows."
            raise Refused(f"{self.who} stands on the runs of an earlier phase.", status=409, mend=mend)
        again.refuse_nothing(self._runs(), "run")

    def preview(self, now: dt.datetime) -> Preview:
        """How many runs, and what stands meanwhile."""
        runs = self._runs()
        how = "with what the phase and its datasets say now" if self.fresh else "with what they ran with before"
        return Preview(
            [
                f"{counted(len(runs), 'run')} of {self.who} go to the queue again, {how}: {worst_hours(runs)}.",
                "Their old scores stand until the new ones come. Live submissions go first.",
            ],
            rerun=len(runs),
        )

    def apply(self, now: dt.datetime) -> str:
        """Queue them."""
        runs = self._runs()
        for run in runs:
            again.run_again(run, fresh=self.fresh)
        settle(self.submission)
        return f"{self.who} is run again ({counted(len(runs), 'run')})."


@dataclass
class RescoreSubmission(OfSubmission):
    """Score the predictions of a submission again; nothing is run."""

    name: ClassVar[str] = "rescore_submission"

    def _runs(self) -> list[Run]:
        return again.scorable(self.submission.runs.select_related("submission"))

    def check(self, now: dt.datetime) -> None:
        """There must be predictions."""
        again.refuse_nothing(self._runs(), "scored")

    def preview(self, now: dt.datetime) -> Preview:
        """How many runs."""
        count = len(self._runs())
        sentence = f"What {counted(count, 'run')} of {self.who} left is scored again; nothing is run."
        return Preview([sentence, "Old scores stand until the new ones come."], rescored=count)

    def apply(self, now: dt.datetime) -> str:
        """Ring for the scorer."""
        runs = self._runs()
        for run in runs:
            again.score_again(run)
        return f"{self.who} is scored again ({counted(len(runs), 'run')})."


@dataclass
class CancelSubmission(OfSubmission):
    """End what has not ended of a submission, for an organizer."""

    name: ClassVar[str] = "cancel_submission"

    def _unfinished(self) -> QuerySet[Run]:
        return self.submission.runs.exclude(state__in=ENDED)

    def check(self, now: dt.datetime) -> None:
        """It must be in progress, and not have come from an earlier phase by itself."""
        if not self._unfinished().exists():
            raise Refused(f"{self.who} has ended already.", status=409)
        origin = self.submission.origin
        if origin is not None:
            what = f"{self.who} came from {origin.phase.title} by itself and is not cancelled."
            raise Refused(what, status=409, mend="Disqualify it, or run it again.")

    def preview(self, now: dt.datetime) -> Preview:
        """How many runs end, at once and through their workers."""
        runs = list(self._unfinished())
        held = sum(run.state in AT_WORKER for run in runs)
        sentences = [f"{counted(len(runs), 'run')} of {self.who} end without a score."]
        if held:
            sentences.append(
                f"{counted(held, 'run')} of them are at a worker, which is told with its next heartbeat."
            )
        return Preview(sentences)

    def apply(self, now: dt.datetime) -> str:
        """Cancel it as its entrant would."""
        actions.cancel(self.submission, by=self.by)
        return f"{self.who} was cancelled."


def descendants(submission: Submission) -> list[Submission]:
    """The copies of a submission in later phases, and their copies."""
    found: list[Submission] = []
    for copy in submission.copies.select_related("phase", "entrant").order_by("pk"):
        found += [copy, *descendants(copy)]
    return found


def stop(submission: Submission, sentence: str) -> None:
    """End what has not ended of a submission: at once what waits, through its worker what runs."""
    for run in Run.objects.filter(submission=submission).select_for_update(no_key=True):
        if run.state in (RunState.QUEUED, RunState.COLLECTED, RunState.SCORING):
            end_run(run, RunState.CANCELLED, reason="cancelled", sentence=sentence)
    submission.runs.filter(state__in=AT_WORKER).update(cancel_asked=True, sentence=sentence)


@dataclass
class Disqualify(OfSubmission):
    """Take a submission, and what went forward of it, out of the competition."""

    why: str = ""

    name: ClassVar[str] = "disqualify"

    def check(self, now: dt.datetime) -> None:
        """Once is enough, and it needs a reason."""
        if self.submission.disqualified_at is not None:
            raise Refused(f"{self.who} is disqualified already.", status=409)
        if not self.why.strip():
            raise Refused("Say why; the reason is kept in the log of the competition.")

    def preview(self, now: dt.datetime) -> Preview:
        """Which entry takes its place, and what would run for it."""
        copies = [copy for copy in descendants(self.submission) if copy.competes]
        sentences = [f"{self.who} and its scores do not count any more. What runs of it is stopped."]
        if copies:
            titles = ", ".join(copy.phase.title for copy in copies)
            sentences.append(f"So do its entries in later phases: {titles}.")
        own = self.submission.phase.submissions.filter(entrant=self.submission.entrant).exclude(
            pk=self.submission.pk
        )
        following = standing_submission(own, counts=Phase.Counts.LATEST)
        rerun = 0
        if following is None:
            sentences.append("This entrant has no other submission in the phase and leaves its board.")
        else:
            rerun = self._blind_runs(following)
            more = f"; {counted(rerun, 'run')} of blind phases would be made for it" if rerun else ""
            sentences.append(f"Submission {following.number} of the entrant counts then{more}.")
        return Preview(sentences, rerun=rerun)

    def _blind_runs(self, following: Submission) -> int:
        rows = Handover.objects.filter(source=self.submission, phase__kind=Phase.Kind.AUTOML)
        if not following.has_code:
            return 0
        return sum(row.phase.tasks.count() * row.phase.repeats for row in rows.select_related("phase"))

    def apply(self, now: dt.datetime) -> str:
        """Mark it and its copies; boards follow in the same transaction, the hand-over after it."""
        for submission in [self.submission, *descendants(self.submission)]:
            if submission.disqualified_at is None:
                submission.disqualified_at = now
                submission.save(update_fields=["disqualified_at"])
            stop(submission, STOPPED)
            settle(submission)
        return f"{self.who} was disqualified: {self.why.strip()}"


@dataclass
class Requalify(OfSubmission):
    """Take a disqualification back."""

    name: ClassVar[str] = "requalify"

    def check(self, now: dt.datetime) -> None:
        """It must be disqualified, and its source must not be."""
        if self.submission.disqualified_at is None:
            raise Refused(f"{self.who} is not disqualified.", status=409)
        origin = self.submission.origin
        if origin is not None and origin.disqualified_at is not None:
            mend = f"Requalify submission {origin.number} of {origin.phase.title}."
            raise Refused(f"{self.who} came from a submission that is disqualified.", status=409, mend=mend)

    def preview(self, now: dt.datetime) -> Preview:
        """What counts again."""
        return Preview(
            [
                f"{self.who} counts again where it is the entrant's latest, and so do its later entries.",
                "Runs that were stopped are made anew.",
            ]
        )

    def apply(self, now: dt.datetime) -> str:
        """Unmark it, and those copies that were marked with it."""
        at = self.submission.disqualified_at
        for submission in [self.submission, *descendants(self.submission)]:
            if submission.disqualified_at != at:
                continue
            if submission.origin_id is not None:
                others = Submission.objects.filter(phase=submission.phase, entrant=submission.entrant)
                for other in others.filter(origin__isnull=False).exclude(pk=submission.pk):
                    if other.competes:
                        retire(other)
            submission.disqualified_at = None
            submission.save(update_fields=["disqualified_at"])
            settle(submission)
        return f"{self.who} was requalified."


@dataclass
class Withdraw(Action):
    """Take an entrant out of a competition. The row stays, because its runs tell what happened."""

    entrant: Entrant
    why: str = ""

    name: ClassVar[str] = "withdraw"

    @property
    def competition(self) -> Competition:
        """The entrant's contest."""
        return self.entrant.competition

    def _competing(self) -> list[Submission]:
        own = self.entrant.submissions.competing()
        return list(own.select_related("phase", "entrant"))

    def check(self, now: dt.datetime) -> None:
        """There must be something to take out."""
        if not self._competing():
            raise Refused(f"{self.entrant.name} has no submission that competes.", status=409)

    def preview(self, now: dt.datetime) -> Preview:
        """What leaves the boards."""
        own = self._competing()
        phases = sorted({submission.phase.title for submission in own})
        return Preview(
            [
                f"{counted(len(own), 'submission')} of {self.entrant.name} leave the boards of "
                f"{', '.join(phases)}, and what runs of them is stopped.",
                "Everybody behind moves up. The people of this entrant take part no longer.",
            ]
        )

    def change(self, now: dt.datetime) -> str:
        """Disqualify everything and end the participation of its people."""
        hold(self.competition)
        own = self._competing()
        for submission in own:
            submission.disqualified_at = now
            submission.save(update_fields=["disqualified_at"])
            stop(submission, "Stopped because its entrant was withdrawn.")
            settle(submission)
        people = Q(user=self.entrant.user_id)
        if self.entrant.team_id is not None:
            people = Q(user__team_places__team=self.entrant.team_id)
        self.competition.participants.filter(people).update(state=Participant.State.REMOVED)
        why = f": {self.why.strip()}" if self.why.strip() else "."
        return f"{self.entrant.name} was withdrawn{why}"

    def details(self) -> dict[str, Any]:
        """The entrant's id."""
        return {"entrant": self.entrant.pk}


def choose(submission: Submission, *, by: User) -> None:
    """Let the entrant choose which submission counts, where the phase leaves that to them."""
    from competitions import policy as competition_policy

    phase, entrant = submission.phase, submission.entrant
    if not competition_policy.own_entrants(by).filter(pk=entrant.pk).exists():
        raise Refused("Only its entrant chooses which submission counts.", status=403)
    if phase.counts != Phase.Counts.CHOSEN:
        raise Refused(f"In {phase.title} {phase.get_counts_display()} counts.", status=409)
    if not phase.is_open_for(entrant, clock.now(phase.competition)):
        raise Refused(f"{phase.title} is closed; the choice stands.", status=409)
    if not submission.competes:
        raise Refused("A submission that does not compete cannot be chosen.", status=409)
    phase.submissions.filter(entrant=entrant, is_chosen=True).update(is_chosen=False)
    submission.is_chosen = True
    submission.save(update_fields=["is_chosen"])
    signals.changed.send(sender=Submission, submission=submission)
