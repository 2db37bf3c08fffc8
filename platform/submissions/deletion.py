"""Deleting a competition with everything that was sent to it: at once for people, then piece by piece.

The action takes it out of everybody's sight and stops what runs. The rows and files go afterwards, in small
transactions by the site's worker (`finish`), because one that removes thousands of runs would keep the reports of
other competitions waiting. What is to be deleted is in the database, so a restart only delays it.
"""

import datetime as dt
import logging
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from django.db import transaction
from django.db.models.fields.files import FieldFile
from django.utils import timezone

from accounts.refusals import Refused
from competitions import clock, policy
from competitions.actions.base import Action, Preview, record
from competitions.actions.copying import free_slug
from competitions.models import AuditEntry, Competition, Deletion, Entrant, Phase, PhaseFile, Task, Team
from datasets.versions import delete_afterwards
from submissions import doorbell
from submissions.files import discard_incoming
from submissions.models import (
    Attempt,
    Handover,
    Prediction,
    ReadinessCheck,
    ReadinessRow,
    Run,
    RunFile,
    Submission,
    Worker,
)
from submissions.models.readiness import CHECK_AT_WORKER, CheckState
from submissions.models.runs import AT_WORKER, ENDED, RunState
from submissions.rehearsal import made_datasets
from submissions.transitions import hold

log = logging.getLogger(__name__)

CHUNK = 50  # submissions a transaction
DELETED = "Its competition was deleted."


@dataclass
class DeleteCompetition(Action):
    """Delete a competition for good. `typed` is its title or slug, typed by the owner who means it."""

    contest: Competition
    typed: str

    name: ClassVar[str] = "delete_competition"

    @property
    def competition(self) -> Competition:
        """The competition that goes."""
        return self.contest

    def permit(self) -> None:
        """Only an owner deletes."""
        if self.by is not None and not policy.owns(self.by, self.contest):
            raise Refused(f"Only owners of {self.contest.title} may delete it.", status=403)

    def check(self, now: dt.datetime) -> None:
        """The name must be typed, and it must not be on its way out already."""
        if Deletion.objects.filter(competition=self.contest).exists():
            raise Refused(f"{self.contest.title} is being deleted already.", status=409)
        if self.typed.strip() not in (self.contest.title, self.contest.slug):
            mend = f"Type {self.contest.title} or {self.contest.slug}."
            raise Refused("What was typed is not the name of the competition.", mend=mend)

    def preview(self, now: dt.datetime) -> Preview:
        """What would be gone."""
        return Preview(what_goes(self.contest))

    def change(self, now: dt.datetime) -> str:
        """Take it out of sight, stop what runs, and remember it; `finish` removes the rest."""
        rehearsals = Competition.objects.filter(rehearses=self.contest, deletion=None)
        for gone in (self.contest, *rehearsals):
            self._begin(gone)
        revoke_workers()
        transaction.on_commit(doorbell.ring_deletion, robust=True)
        return f"{self.contest.title} was deleted."

    def _begin(self, gone: Competition) -> None:
        Deletion.objects.create(
            competition=gone,
            slug=gone.slug,
            title=gone.title,
            was_rehearsal=gone.rehearses_id is not None,
            asked_by=self.by,
            asked_by_name=self.by.username if self.by else "",
            asked_at=timezone.now(),
            counts=counts_of(gone),
        )
        # The address is free at once, and without a role nobody but the operator sees a draft.
        gone.organizers.all().delete()
        Competition.objects.filter(pk=gone.pk).update(
            slug=free_slug(f"deleted-{gone.pk}"),
            state=Competition.State.DRAFT,
            rehearses=None,
            clock_offset=dt.timedelta(0),
            queue_paused_at=timezone.now(),
        )
        hold(gone)
        stop_all(gone)


@dataclass
class ThrowAwayRehearsal(DeleteCompetition):
    """Delete the rehearsal of a competition; one click, by whoever may edit the competition itself."""

    typed: str = ""

    name: ClassVar[str] = "throw_away_rehearsal"

    def permit(self) -> None:
        """Organizers of the competition that is rehearsed, or of the rehearsal."""
        original = self.contest.rehearses
        if self.by is None or policy.may_edit(self.by, original or self.contest):
            return
        raise Refused(f"Only organizers of {self.contest.title} may do this.", status=403)

    def check(self, now: dt.datetime) -> None:
        """It must be a rehearsal, and still there."""
        if self.contest.rehearses_id is None:
            raise Refused(f"{self.contest.title} is no rehearsal.", status=409)
        self.typed = self.contest.slug
        super().check(now)

    def change(self, now: dt.datetime) -> str:
        """Delete it, and say so in the log of the competition: that of the rehearsal goes with it."""
        original = self.contest.rehearses
        text = super().change(now)
        if original is not None:
            told = f"The rehearsal of {original.title} was thrown away."
            record(original, by=self.by, action=self.name, text=told, at=clock.now(original))
        return text


def counts_of(competition: Competition) -> dict[str, int]:
    """How many entrants, submissions and runs a competition has."""
    found = Submission.objects.filter(phase__round__competition=competition)
    return {
        "entrants": competition.entrants.count(),
        "submissions": found.count(),
        "runs": Run.objects.filter(submission__in=found).count(),
    }


def what_goes(competition: Competition) -> list[str]:
    """What the deletion would remove, in sentences."""
    counts = counts_of(competition)
    active = Run.objects.filter(submission__phase__round__competition=competition).exclude(state__in=ENDED).count()
    sentences = [
        f"{competition.title} would be gone for good, with its pages, phases, boards, {counts['entrants']} "
        f"entrants, {counts['submissions']} submissions, {counts['runs']} runs and all their files.",
        "Its datasets stay in the library. The operator of this site keeps its audit log.",
    ]
    if active:
        sentences.append(f"{active} runs that have not ended would be cancelled first.")
    if Competition.objects.filter(rehearses=competition).exists():
        sentences.append("Its rehearsal goes with it.")
    return sentences


def revoke_workers(also: Competition | None = None) -> None:
    """Revoke workers that served only competitions that go: without a scope they would serve all competitions.

    `also` is one that goes without an action.
    """
    stay = Competition.objects.filter(deletion=None)
    if also is not None:
        stay = stay.exclude(pk=also.pk)
    scoped = Worker.objects.filter(revoked_at=None).exclude(competitions=None)
    alone = scoped.exclude(pk__in=Worker.objects.filter(competitions__in=stay).values("pk"))
    Worker.objects.filter(pk__in=list(alone.values_list("pk", flat=True))).update(revoked_at=timezone.now())


def stop_all(competition: Competition) -> None:
    """Cancel every run and check: those at a worker by its next heartbeat, the others now."""
    now = timezone.now()
    runs = Run.objects.filter(submission__phase__round__competition=competition)
    waiting = runs.filter(state__in=(RunState.QUEUED, RunState.COLLECTED, RunState.SCORING))
    waiting.update(state=RunState.CANCELLED, reason="cancelled", sentence=DELETED, ended_at=now, deadline=None)
    runs.filter(state__in=AT_WORKER).update(cancel_asked=True, sentence=DELETED)
    checks = ReadinessCheck.objects.filter(entrant__competition=competition)
    checks.filter(state=CheckState.QUEUED).update(state=CheckState.CANCELLED, sentence=DELETED, ended_at=now)
    checks.filter(state__in=CHECK_AT_WORKER).update(cancel_asked=True, sentence=DELETED)


def finish_all() -> None:
    """Go on with every deletion that has not ended."""
    for deletion in Deletion.objects.filter(competition__isnull=False).order_by("pk"):
        try:
            finish(deletion)
        except Exception:
            log.exception("%s could not be deleted yet", deletion.slug)


def finish(deletion: Deletion) -> bool:
    """Remove what is left of a competition, unless a worker still holds a run of it; returns whether it is gone.

    Safe to call at any time and from several processes: what one has removed, the other does not find.
    """
    competition = deletion.competition
    if competition is None:
        return True
    stop_all(competition)  # again: an upload may have been on its way
    if _is_at_a_worker(competition):
        return False
    of_phases = {"phase__round__competition": competition}
    Handover.objects.filter(**of_phases).delete()
    submissions = Submission.objects.filter(**of_phases).order_by("pk")
    Run.objects.filter(submission__in=submissions).exclude(copied_from=None).update(copied_from=None)
    submissions.exclude(origin=None).update(origin=None)
    submissions.exclude(fanned_from=None).update(fanned_from=None)
    while chunk := list(submissions.values_list("pk", flat=True)[:CHUNK]):
        remove_submissions(chunk)
    _remove_rest(deletion, competition)
    return True


def _is_at_a_worker(competition: Competition) -> bool:
    runs = Run.objects.filter(submission__phase__round__competition=competition, state__in=AT_WORKER)
    checks = ReadinessCheck.objects.filter(entrant__competition=competition, state__in=CHECK_AT_WORKER)
    return runs.exists() or checks.exists()


def remove_submissions(ids: list[int]) -> None:
    """Remove some submissions with their runs, and then their files."""
    with transaction.atomic():
        stored = _files_of(ids)
        attempts = list(Attempt.objects.filter(run__submission__in=ids).values_list("run", "number"))
        Submission.objects.filter(pk__in=ids).delete()
        delete_afterwards(stored)
        for run_id, number in attempts:
            transaction.on_commit(partial(discard_incoming, run_id, number), robust=True)


def _files_of(ids: list[int]) -> list[tuple[Any, str]]:
    """(storage, name) of every stored file of some submissions. Copies name the files of their origins."""
    found: list[FieldFile] = [one.archive for one in Submission.objects.filter(pk__in=ids).only("archive")]
    found += [one.log for one in Run.objects.filter(submission__in=ids).only("log")]
    found += [one.file for one in Prediction.objects.filter(run__submission__in=ids).only("file")]
    found += [one.file for one in RunFile.objects.filter(run__submission__in=ids).only("file")]
    logs = ReadinessRow.objects.filter(readiness_check__submission__in=ids).only("log")
    found += [one.log for one in logs]
    return list({(file.storage, str(file.name)) for file in found if file})


def _remove_rest(deletion: Deletion, competition: Competition) -> None:
    """Remove the competition itself, and keep its audit log with the deletion."""
    made = made_datasets.stand_ins_of(competition)
    with transaction.atomic():
        of_phases = PhaseFile.objects.filter(phase__round__competition=competition)
        files = [image.file for image in competition.images.all()]
        files += [one.file for one in competition.programs.all()] + [one.file for one in of_phases]
        stored = [(file.storage, str(file.name)) for file in files]
        Entrant.objects.filter(competition=competition).delete()
        Team.objects.filter(competition=competition).delete()
        Phase.objects.filter(round__competition=competition).update(parent=None, fans_out_from=None)
        Task.objects.filter(phase__round__competition=competition).delete()  # they protect their programs
        audit = AuditEntry.objects.filter(competition=competition).select_related("user").order_by("at", "id")
        Deletion.objects.filter(pk=deletion.pk).update(
            audit=[as_json(entry) for entry in audit], ended_at=timezone.now()
        )
        competition.delete()
        delete_afterwards(stored)
    made_datasets.remove(made)
    log.info("the competition %s, deleted by %s, is gone", deletion.slug, deletion.asked_by_name or "the operator")


def as_json(entry: AuditEntry) -> dict[str, Any]:
    """An entry of the audit log as it outlives its competition."""
    return {
        "at": entry.at.isoformat(),
        "user": entry.user.username if entry.user else None,
        "action": entry.action,
        "text": entry.text,
        "data": entry.data,
    }
