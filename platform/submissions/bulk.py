"""Doing one thing to many submissions: previewed, confirmed once, then done piece by piece.

A few are done while the organizer waits; more by the site's own worker, whose doorbell may be lost: beat looks
for works that are not done. What each submission gets is the action that its own page offers, checked again at
its turn.
"""

import datetime as dt
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

from django.db import transaction
from django.db.models import Count, FloatField, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone

from accounts.models import User
from accounts.refusals import Refused
from competitions import clock, policy
from competitions.actions.base import Action, Preview
from competitions.models import Competition
from submissions import again, doorbell, forecast, moderation, signals
from submissions.again import counted
from submissions.models import BulkWork, Run, Submission
from submissions.models.runs import AT_WORKER, ENDED
from submissions.transitions import hold

log = logging.getLogger(__name__)

CHUNK = 25  # submissions in one transaction
WITHIN_A_REQUEST = 25  # submissions; what is more is left to the site's worker
SENTENCES_KEPT = 20
IDS_KEPT = 1000  # in the audit entry
PREVIEWS_LAST = dt.timedelta(days=1)
ONE_TURN = dt.timedelta(seconds=60)  # how long one task works before it lets others go first
Kind = BulkWork.Kind


@dataclass(frozen=True)
class Outlook:
    """What a work would do now: how many submissions and runs it touches, and the hours that runs may take."""

    chosen: int
    touched: int
    runs: int
    hours: float
    at_workers: int = 0
    later: int = 0

    @property
    def left(self) -> int:
        """How many stay as they are."""
        return self.chosen - self.touched


def prepare(competition: Competition, *, by: User, kind: str, chosen: Iterable[int], told: str) -> BulkWork:
    """Keep the chosen submissions for a preview; nothing happens to them. Raises Refused where none is chosen.

    `chosen` are ids of the competition's submissions, `told` says in words which they are.
    """
    if not policy.may_edit(by, competition):
        raise Refused(f"Only organizers of {competition.title} may do this.", status=403)
    if kind not in Kind.values:
        raise Refused("There is no such action on many submissions.", status=404)
    ids = sorted(chosen)
    if not ids:
        raise Refused("No submission is chosen.", mend="Tick some, or take all that match.")
    old = timezone.now() - PREVIEWS_LAST
    BulkWork.objects.filter(state=BulkWork.State.PREVIEWED, made_at__lt=old).delete()
    return BulkWork.objects.create(competition=competition, user=by, kind=kind, submissions=ids, told=told[:200])


def outlook(work: BulkWork) -> Outlook:
    """Count what the work would touch, in a few queries for each piece of its submissions."""
    touched = runs = at_workers = later = 0
    hours = 0.0
    for ids in _pieces(work.submissions):
        found = Submission.objects.filter(pk__in=ids)
        of_them = Run.objects.filter(submission__in=ids).order_by()
        unfinished = of_them.exclude(state__in=ENDED)
        if work.kind == Kind.RERUN:
            some, many, seconds = _summed(of_them.filter(again.RUNNABLE))
            touched, runs, hours = touched + some, runs + many, hours + seconds / 3600
        elif work.kind == Kind.RESCORE:
            some, many, _ = _summed(of_them.filter(again.HAS_PREDICTIONS))
            touched, runs = touched + some, runs + many
        elif work.kind == Kind.CANCEL:
            found = found.filter(state=Submission.State.ACTIVE, origin=None)
            some, many, _ = _summed(unfinished.filter(submission__in=found.values("pk")))
            touched, runs = touched + some, runs + many
            at_workers += unfinished.filter(submission__in=found.values("pk"), state__in=AT_WORKER).count()
        else:
            touched += found.filter(disqualified_at=None).count()
            runs += unfinished.count()
            later += _later(ids)
    return Outlook(work.total, touched, runs, hours, at_workers, later)


def _pieces(ids: Sequence[int], size: int = 500) -> Iterator[Sequence[int]]:
    """The ids in pieces: databases limit the parameters of a query."""
    for start in range(0, len(ids), size):
        yield ids[start : start + size]


def _summed(runs: Any) -> tuple[int, int, float]:
    """How many submissions and runs, and the seconds that the runs may take: one query."""
    seconds = Cast(KeyTextTransform("wall_seconds", "budget_json"), FloatField())
    found = runs.aggregate(some=Count("submission", distinct=True), many=Count("pk"), seconds=Sum(seconds))
    return found["some"], found["many"], found["seconds"] or 0.0


def _later(ids: Sequence[int]) -> int:
    """How many entries of later phases came from these submissions and still compete."""
    count = 0
    while ids:
        copies = Submission.objects.filter(origin__in=ids)
        ids = list(copies.values_list("pk", flat=True))
        count += copies.competing().count()
    return count


@dataclass
class Begin(Action):
    """Confirm a previewed work: one entry in the audit log, however many submissions it changes."""

    work: BulkWork
    fresh: bool = False
    why: str = ""

    name: ClassVar[str] = "bulk"

    @property
    def competition(self) -> Competition:
        """The contest whose submissions were chosen."""
        return self.work.competition

    @cached_property
    def seen(self) -> Outlook:
        """What it would do, counted once: for many submissions that takes a second or two."""
        return outlook(self.work)

    def check(self, now: dt.datetime) -> None:
        """Once; with something to do; a disqualification with its reason."""
        if not BulkWork.objects.filter(pk=self.work.pk, state=BulkWork.State.PREVIEWED).exists():
            raise Refused("This was confirmed already.", status=409)
        if not self.seen.touched:
            what = self.work.get_kind_display()
            raise Refused(f"None of the chosen submissions can be changed by “{what}” now.", status=409)
        if self.work.kind == Kind.DISQUALIFY and not self.why.strip():
            raise Refused("Say why; the reason is kept in the log of the competition.")

    def preview(self, now: dt.datetime) -> Preview:
        """How many submissions and runs, the worst hours, and who stays as they are."""
        seen, kind = self.seen, self.work.kind
        what = self.work.get_kind_display().capitalize()
        sentences = [f"{what}: {seen.touched} of {counted(seen.chosen, 'submission')}, {self.work.told}."]
        if kind == Kind.RERUN:
            sentences += [
                f"Into the queue: {counted(seen.runs, 'run')}, up to {forecast.work(seen.hours)}.",
                "Their old scores stand until the new ones come. Live submissions go first.",
            ]
        elif kind == Kind.RESCORE:
            sentences += [
                f"Scored again is what {counted(seen.runs, 'run')} left; nothing is run.",
                "Old scores stand until the new ones come, and the boards follow each of them.",
            ]
        elif kind == Kind.CANCEL:
            sentences.append(f"Ended without a score: {counted(seen.runs, 'run')}.")
            if seen.at_workers:
                told = "they are told with the next heartbeat"
                sentences.append(f"Of these at workers: {seen.at_workers}; {told}.")
        else:
            sentences.append(f"Their scores count no more. Stopped: {counted(seen.runs, 'run')}.")
            if seen.later:
                sentences.append(f"Entries of later phases that came of them and go, too: {seen.later}.")
        if seen.left:
            sentences.append(f"Left as they are: {counted(seen.left, 'submission')}. {_why_left(kind)}")
        return Preview(
            sentences,
            rescored=seen.runs if kind == Kind.RESCORE else 0,
            rerun=seen.runs if kind == Kind.RERUN else 0,
        )

    def change(self, now: dt.datetime) -> str:
        """Let it begin; a few submissions are done at once after the commit."""
        begun = BulkWork.objects.filter(pk=self.work.pk, state=BulkWork.State.PREVIEWED).update(
            state=BulkWork.State.WORKING,
            fresh=self.fresh,
            why=self.why.strip()[:300],
            user=self.by,
            begun_at=timezone.now(),
            heard_at=timezone.now(),
        )
        if not begun:
            raise Refused("This was confirmed already.", status=409)
        transaction.on_commit(partial(_go, self.work.pk, self.work.total), robust=True)
        why = f" Reason: {self.why.strip()}" if self.why.strip() else ""
        what = self.work.get_kind_display().capitalize()
        return f"{what}: {counted(self.work.total, 'submission')}, {self.work.told}.{why}"

    def details(self) -> dict[str, Any]:
        """The work, its kind, and its submissions, the first thousand by their ids."""
        return {
            "work": self.work.pk,
            "kind": self.work.kind,
            "count": self.work.total,
            "submissions": self.work.submissions[:IDS_KEPT],
        }


def _why_left(kind: str) -> str:
    return {
        Kind.RERUN: "They hold no code that has ended, or stand on the runs of an earlier phase.",
        Kind.RESCORE: "They left no predictions.",
        Kind.CANCEL: "They have ended, or came from an earlier phase by themselves.",
        Kind.DISQUALIFY: "They are disqualified already.",
    }[Kind(kind)]


def _go(work_id: int, total: int) -> None:
    if total <= WITHIN_A_REQUEST:
        while step(work_id):
            pass
    else:
        doorbell.ring_bulk_works()


def work_on(now: dt.datetime | None = None) -> int:
    """Go on with every work that is not done, for a while; returns how many pieces were done."""
    end = (now or timezone.now()) + ONE_TURN
    pieces = 0
    works = BulkWork.objects.filter(state=BulkWork.State.WORKING).order_by("begun_at", "pk")
    for work_id in works.values_list("pk", flat=True):
        try:
            while timezone.now() < end and step(work_id):
                pieces += 1
        except Exception:
            # It is tried again at the next turn; works behind it do not wait for it.
            log.exception("a piece of bulk work %s broke down", work_id)
    if pieces and works.exists():
        doorbell.ring_bulk_works()
    return pieces


def step(work_id: int) -> bool:
    """Do the next piece of a work in one transaction; returns whether there was one to do."""
    with transaction.atomic():
        works = BulkWork.objects.select_for_update(of=("self",), no_key=True).select_related("competition", "user")
        work = works.filter(pk=work_id, state=BulkWork.State.WORKING).first()
        if work is None:
            return False
        # Competition, runs, submissions, boards: the order in which everybody locks them.
        Competition.objects.select_for_update(no_key=True).get(pk=work.competition_id)
        ids = work.submissions[work.position : work.position + CHUNK]
        if not policy.may_edit(work.user, work.competition):
            work.state, work.ended_at = BulkWork.State.STOPPED, timezone.now()
            work.left_out = [*work.left_out, f"{work.user} may not change this competition any more."]
        else:
            hold(work.competition)
            with signals.together():
                _do(work, ids)
        work.position += len(ids) if work.is_working else 0
        if work.is_working and work.position >= work.total:
            work.state, work.ended_at = BulkWork.State.DONE, timezone.now()
        work.heard_at = timezone.now()
        work.save()
    return True


def _do(work: BulkWork, ids: Sequence[int]) -> None:
    """Change each submission of a piece apart, so that one that cannot be changed keeps no other from it."""
    related = Submission.objects.select_related("phase__round__competition", "entrant", "origin__phase")
    there = related.filter(pk__in=ids, phase__round__competition=work.competition_id).in_bulk()
    now = clock.now(work.competition)
    for submission_id in ids:
        submission = there.get(submission_id)
        if submission is None:
            _leave(work, "A submission is not there any more.")
            continue
        try:
            with transaction.atomic():
                action = action_on(work, submission)
                action.check(now)
                action.apply(now)
        except Refused as refused:
            _leave(work, refused.message)
        except Exception:
            log.exception("submission %s could not be changed by bulk work %s", submission_id, work.pk)
            who = f"Submission {submission.number} of {submission.entrant.name}"
            _leave(work, f"{who} could not be changed by a fault of ours; it is in the site's log.")
        else:
            work.changed += 1


def _leave(work: BulkWork, sentence: str) -> None:
    if len(work.left_out) < SENTENCES_KEPT:
        work.left_out = [*work.left_out, sentence]


def action_on(work: BulkWork, submission: Submission) -> moderation.OfSubmission:
    """The action on one submission that the work asks for."""
    if work.kind == Kind.RERUN:
        return moderation.Rerun(by=work.user, submission=submission, fresh=work.fresh)
    if work.kind == Kind.RESCORE:
        return moderation.RescoreSubmission(by=work.user, submission=submission)
    if work.kind == Kind.CANCEL:
        return moderation.CancelSubmission(by=work.user, submission=submission)
    return moderation.Disqualify(by=work.user, submission=submission, why=work.why)


def stop(work: BulkWork, *, by: User) -> bool:
    """Let a work end where it is; what it has done stays. Returns whether it was at work."""
    if not policy.may_edit(by, work.competition):
        raise Refused(f"Only organizers of {work.competition.title} may do this.", status=403)
    stopped = BulkWork.objects.filter(pk=work.pk, state=BulkWork.State.WORKING).update(
        state=BulkWork.State.STOPPED, ended_at=timezone.now()
    )
    return bool(stopped)
