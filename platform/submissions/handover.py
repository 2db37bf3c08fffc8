"""The hand-over: entries of a phase that has ended go forward to the phases that follow it.

What is due is decided by the pure rules of `competitions.lifecycle` from the rows, every time anew; nothing is
remembered between two ticks, so a tick may come late, twice, or at once with another.
"""

import datetime as dt
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Prefetch, Q
from django.utils import timezone

from competitions import clock, policy
from competitions.actions import release
from competitions.actions.base import record
from competitions.lifecycle import Entry, Step, due_handovers, due_reveals, handover_step
from competitions.models import Competition, Entrant, Extension, Phase, Task
from submissions import copies, dispatch, making, signals
from submissions.models import Handover, Run, RunState, Score, Submission
from submissions.models.runs import AT_WORKER, ENDED, HELD
from submissions.programs.board_rules import going_forward
from submissions.programs.making import is_programmed, make_runs
from submissions.standing import public_scores, runs_by_task, standing_submission
from submissions.transitions import end_run, settle

log = logging.getLogger(__name__)

SUPERSEDED = "Another submission of the same entrant has taken its place."


@dataclass(frozen=True)
class Due:
    """What is to be done with one entrant: take over this submission, None for nothing; `row` is what was done."""

    entrant_id: int
    source_id: int | None
    row: Handover | None


@dataclass(frozen=True)
class Progress:
    """How far the hand-over to a phase is: entrants who are awaited, and runs that have not ended."""

    awaited: int
    outstanding_runs: int

    @property
    def is_complete(self) -> bool:
        """Whether every entry is there and every run has ended."""
        return not (self.awaited or self.outstanding_runs)


def tick(at: dt.datetime | None = None, *, only: Competition | None = None) -> int:
    """Do all that is due by now in every competition, or in one; returns how many entrants were handed over.

    `at` is our time; what is due, each competition's clock says. Parents come before their children, so that after
    hours of downtime one tick catches up. Datasets get their names first: the phase that offers them takes its
    entries over in the same tick.
    """
    phases = Phase.objects.filter(round__competition__deletion=None)
    phases = phases.select_related("round__competition", "parent__round")
    if only is not None:
        phases = phases.filter(round__competition=only)
    unrevealed = _unrevealed()
    for competition, own in _by_competition(phases):
        if competition.state == Competition.State.DRAFT and competition.published_at is None:
            continue  # its dates are still being chosen, maybe copied from a year that has gone by
        for phase in due_reveals(own, unrevealed, clock.at(at or timezone.now(), competition)):
            try:
                release.Reveal(by=None, phase=phase).execute()
            except Exception:
                log.exception("the datasets of phase %s could not be revealed", phase.pk)
    count = 0
    for competition, own in _by_competition(phases.filter(parent__isnull=False)):
        now = clock.at(at or timezone.now(), competition)  # read again: the datasets were revealed a moment ago
        count += sum(hand_over(phase, now) for phase in due_handovers(own, now))
    return count


def _by_competition(phases: Iterable[Phase]) -> list[tuple[Competition, list[Phase]]]:
    """The phases of each competition, with the competition."""
    found: dict[int, list[Phase]] = {}
    for phase in phases:
        found.setdefault(phase.round.competition_id, []).append(phase)
    return [(own[0].competition, own) for own in found.values()]


def _unrevealed() -> set[int]:
    blind = Task.objects.filter(phase__kind=Phase.Kind.AUTOML, revealed_at=None)
    return set(blind.values_list("phase", flat=True))


def hand_over(phase: Phase, now: dt.datetime) -> int:
    """Hand over to a phase what can go forward by now; returns how many entrants it was.

    Each entrant has a transaction of their own: a problem with one keeps nobody else waiting.
    """
    count = 0
    for due in pending(phase, now):
        try:
            count += hand_over_entrant(phase, due.entrant_id, now)
        except Exception:
            log.exception("entrant %s could not be handed over to phase %s", due.entrant_id, phase.pk)
    if count:
        _tell(phase, f"{count} {'entrant was' if count == 1 else 'entrants were'} handed over", now)
    return count


def _tell(phase: Phase, what: str, now: dt.datetime) -> None:
    """One line in the audit log of the competition."""
    assert phase.parent is not None
    text = f"{what} from {phase.parent.title} to {phase.title}."
    record(phase.competition, by=None, action="hand_over", text=text, at=now, phase=phase.number)


def pending(phase: Phase, now: dt.datetime, *, entrant_id: int | None = None) -> list[Due]:
    """The entrants whose hand-over is not as it should be, or all that is known of one: four queries.

    Nobody while the phase has no datasets: a submission without a run would never end. Nobody, either, while a
    phase that shows names and logs has datasets which are still hidden.
    """
    tasks = phase.tasks.count()
    if phase.parent is None or not tasks:
        return []
    if not phase.is_hidden and not policy.shows_all_datasets(phase, now):
        return []
    entries = entries_of(phase.parent, entrant_id)
    extensions = dict(Extension.objects.filter(phase=phase.parent_id).values_list("entrant", "closes_at"))
    rows = {row.entrant_id: row for row in _rows(phase, entrant_id)}
    by_columns = is_programmed(phase.parent.tasks.all())
    counts = Phase.Counts.BEST if by_columns else phase.parent.counts
    found = []
    for entrant in sorted(entries):
        row = rows.get(entrant)
        step, source = handover_step(
            entries[entrant],
            counts=counts,
            best=_best(phase.parent, entrant, row, by_columns) if counts == Phase.Counts.BEST else None,
            extended_until=extensions.get(entrant),
            now=now,
        )
        if step is not Step.WAIT and not _is_done(row, source, tasks):
            found.append(Due(entrant, source, row))
    return found


def _is_done(row: Handover | None, source_id: int | None, tasks: int) -> bool:
    """Whether the hand-over of an entrant is as it should be with this submission of the parent, or with none."""
    if row is None or row.source_id is None:
        return (row.source_id if row else None) == source_id
    if row.source_id != source_id or row.submission is None:
        return row.source_id == source_id
    has_all = bool(vars(row)["task_count"] >= tasks)  # counted by _rows
    return has_all and row.submission.state != Submission.State.CANCELLED


def _rows(phase: Phase, entrant_id: int | None) -> Iterable[Handover]:
    rows = Handover.objects.filter(phase=phase).select_related("submission__phase", "submission__origin")
    rows = rows.annotate(task_count=Count("submission__runs__task", distinct=True))
    return rows if entrant_id is None else rows.filter(entrant=entrant_id)


def entries_of(phase: Phase, entrant_id: int | None = None) -> dict[int, list[Entry]]:
    """The submissions of a phase by entrant, as far as a hand-over depends on them: one query."""
    # What the platform sent goes nowhere by itself: organizers choose the phases in which it runs.
    submissions = Submission.objects.filter(phase=phase).exclude(arrival__in=Submission.OF_THE_PLATFORM)
    if entrant_id is not None:
        submissions = submissions.filter(entrant=entrant_id)
    unfinished = Run.objects.filter(submission=OuterRef("pk")).exclude(state__in=ENDED).exclude(HELD)
    columns = ("pk", "entrant_id", "received_at", "state", "disqualified_at", "is_chosen", "runs_on")
    found: dict[int, list[Entry]] = {}
    for row in submissions.annotate(runs_on=Exists(unfinished)).values_list(*columns, named=True):
        competes = row.disqualified_at is None and row.state not in (
            Submission.State.CANCELLED,
            Submission.State.LOST,
        )
        runs_on = competes and (row.runs_on or row.state == Submission.State.ACTIVE)
        entry = Entry(row.pk, row.received_at, runs_on, competes, row.is_chosen)
        found.setdefault(row.entrant_id, []).append(entry)
    return found


def _best(phase: Phase, entrant_id: int, row: Handover | None, by_columns: bool) -> int | None:
    """The entrant's best submission, or where programs score the one that stands on the board.

    One that went forward stays, so that a score given later moves nothing.
    """
    own = list(Submission.objects.filter(phase=phase, entrant=entrant_id))
    if row is not None and any(one.pk == row.source_id and one.competes for one in own):
        return row.source_id
    if by_columns:
        return going_forward(phase, entrant_id)
    task_ids = list(phase.tasks.filter(quarantined_at=None).values_list("pk", flat=True))
    scores = Prefetch("scores", Score.objects.defer("replicates"))
    runs: dict[int, list[Run]] = {}
    for run in Run.objects.filter(submission__in=own).prefetch_related(scores):
        runs.setdefault(run.submission_id, []).append(run)

    def shown(submission: Submission) -> Sequence[float | None]:
        by_task = runs_by_task(runs.get(submission.pk, ()))
        return public_scores(by_task, task_ids, part=phase.feedback_part, digits=phase.score_digits)

    best = standing_submission(own, counts=phase.counts, scores=shown)
    return best.pk if best else None


def hand_over_entrant(phase: Phase, entrant_id: int, now: dt.datetime) -> int:
    """Hand over one entrant, if that is still to be done; returns 1 when something was changed."""
    with transaction.atomic():
        # Uploads take this lock, too: numbers stay unique, and of two ticks at once the second finds it done.
        entrant = Entrant.objects.select_for_update(no_key=True).get(pk=entrant_id)
        due = next(iter(pending(phase, now, entrant_id=entrant_id)), None)
        if due is None:
            return 0
        row = due.row
        if row is not None and row.source_id == due.source_id and row.submission and row.submission.competes:
            _complete(row.submission)
        else:
            _take_over(phase, entrant, due, now)
        transaction.on_commit(dispatch.after_commit, robust=True)
    return 1


def _take_over(phase: Phase, entrant: Entrant, due: Due, now: dt.datetime) -> None:
    """Make the row, and the submission that it names; what was handed over before steps back."""
    if due.row is not None and due.row.submission is not None:
        retire(due.row.submission)
    submission: Submission | None = None
    if due.source_id is None:
        outcome = Handover.Outcome.NOTHING
    else:
        source = Submission.objects.select_related("phase", "origin").get(pk=due.source_id)
        outcome = Handover.Outcome.CARRIED if phase.takes_submissions else Handover.Outcome.MIGRATED
        if phase.is_blind and not source.has_code:
            outcome = Handover.Outcome.NO_CODE
        else:
            submission = _copy_that_stands(phase, source) or _copied(phase, entrant, source)
    Handover.objects.update_or_create(
        phase=phase,
        entrant=entrant,
        defaults={"outcome": outcome, "source_id": due.source_id, "submission": submission, "made_at": now},
    )
    if submission is not None:
        settle(submission)


def _copy_that_stands(phase: Phase, source: Submission) -> Submission | None:
    """A copy that was made before and may stand again: its source was disqualified for a while."""
    for copy in source.copies.filter(phase=phase):
        if not copy.competes:
            continue
        if not copy.runs.filter(Q(state=RunState.CANCELLED) | Q(cancel_asked=True)).exists():
            return copy
        retire(copy)
    return None


def _copied(phase: Phase, entrant: Entrant, source: Submission) -> Submission:
    last = entrant.submissions.aggregate(last=Max("number"))["last"] or 0
    carried, tasks = phase.takes_submissions, making.tasks_of(phase)
    submission = Submission.objects.create(
        entrant=entrant,
        phase=phase,
        user_id=source.user_id,
        arrival=Submission.Arrival.CARRIED if carried else Submission.Arrival.MIGRATED,
        origin=source,
        number=last + 1,
        received_at=source.received_at,
        archive=source.archive.name,
        filename=source.filename,
        sha256=source.sha256,
        size=source.size,
        kind=source.kind,
        interface=source.interface,
        comment=source.comment,
        is_kit_code=source.is_kit_code,
        uses_quota=False,
        # What stood on the board of columns stands on the next one, too: its entrant added it once.
        is_chosen=is_programmed(tasks),
    )
    _make_runs(submission, source, list(enumerate(tasks)))
    return submission


def _make_runs(submission: Submission, source: Submission, tasks: Sequence[tuple[int, Task]]) -> None:
    """A run, or its repeats, for each task: the earlier ones where they stand, else the code runs.

    In a blind phase the code always runs; prediction files inside the archive never count there.
    """
    phase = submission.phase
    if is_programmed(task for _, task in tasks):
        # What programs make of a submission depends on their own luck and data: nothing stands, all runs again.
        make_runs(submission, tasks)
        return
    earlier = {} if phase.is_blind else copies.earlier_runs(source, [task for _, task in tasks])
    for order, task in tasks:
        runs = earlier.get(task.dataset_id, [])
        if copies.stand(runs, has_code=source.has_code, budget=task.budget(), image=phase.image):
            copies.copy_runs(submission, task, order, runs)
        elif source.has_code:
            making.code_runs(submission, task, order)
        else:
            run = making.results_run(submission, task, order)
            sentence = f"Submission {source.number} holds no predictions for {task.name}."
            end_run(run, RunState.FAILED, reason="no_predictions", sentence=sentence)


def _complete(submission: Submission) -> None:
    """Make the runs on datasets that came to the phase after the hand-over."""
    there = set(submission.runs.values_list("task", flat=True))
    tasks = [pair for pair in enumerate(making.tasks_of(submission.phase)) if pair[1].pk not in there]
    if tasks and submission.origin is not None and submission.competes:
        Submission.objects.filter(pk=submission.pk).update(state=Submission.State.ACTIVE)
        _make_runs(submission, submission.origin, tasks)
    settle(submission)


def retire(submission: Submission) -> None:
    """Take a handed over submission out of its phase because another one stands for its entrant now."""
    runs = list(Run.objects.filter(submission=submission).select_for_update(no_key=True))
    for run in runs:
        if run.state in (RunState.QUEUED, RunState.COLLECTED, RunState.SCORING):
            end_run(run, RunState.CANCELLED, reason="cancelled", sentence=SUPERSEDED)
    submission.runs.filter(state__in=AT_WORKER).update(cancel_asked=True, sentence=SUPERSEDED)
    if submission.disqualified_at is None:
        Submission.objects.filter(pk=submission.pk).update(
            state=Submission.State.CANCELLED, ended_at=submission.ended_at or timezone.now()
        )
        submission.refresh_from_db()
    signals.changed.send(sender=Submission, submission=submission)


def go_forward(phase_id: int, entrant_id: int) -> None:
    """After a submission has settled: hand its entrant over where that waited for it."""
    found = Phase.objects.filter(parent=phase_id).select_related("round__competition", "parent__round")
    children = list(found)
    if not children:
        return
    now = clock.now(children[0].competition)
    for child in due_handovers(children, now):
        if hand_over_entrant(child, entrant_id, now):
            _tell(child, f"{Entrant.objects.get(pk=entrant_id)} was handed over", now)


def progress(phase: Phase, now: dt.datetime) -> Progress:
    """How much is outstanding in a phase that takes over from its parent: three queries."""
    outstanding = Run.objects.filter(submission__phase=phase).exclude(state__in=ENDED).exclude(HELD)
    outstanding = outstanding.exclude(submission__state=Submission.State.CANCELLED)
    outstanding = outstanding.exclude(submission__arrival__in=Submission.OF_THE_PLATFORM)
    awaited = 0
    if phase.takes_over and phase.parent is not None and due_handovers([phase], now):
        rows = set(phase.handovers.values_list("entrant", flat=True))
        entries = entries_of(phase.parent)
        awaited = sum(
            entrant not in rows and any(entry.competes for entry in own) for entrant, own in entries.items()
        )
    return Progress(awaited, outstanding.count())
