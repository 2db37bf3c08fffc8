"""Running and scoring again: what is done to a run, without asking who may."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.refusals import Refused
from competitions.models import Phase, Task
from submissions import dispatch, making
from submissions.forecast import work
from submissions.models import Prediction, Reason, Run, RunState, Score, Submission
from submissions.programs import kinds
from submissions.programs import making as programmed
from submissions.standing import standing_submission
from submissions.transitions import move

AGAIN = "Waits for a worker: the organizers run it again."
SCORED_AGAIN = "Waits for its score: the organizers have it scored again."
SCORABLE = (RunState.FINISHED, RunState.FAILED)
OF_SCORING = (Reason.BAD_PREDICTIONS, Reason.SCORING_FAILED)
# What `runnable` and `scorable` find, for the database.
RUNNABLE = Q(source=Run.Source.CODE, state__in=SCORABLE) & ~Q(submission__state=Submission.State.CANCELLED)
ONLY_A_SCORE = (
    Q(source=Run.Source.RESULTS)
    & Exists(Score.objects.filter(run=OuterRef("pk")))
    & ~Exists(Prediction.objects.filter(run=OuterRef("pk")).exclude(file=""))
)
HAS_PREDICTIONS = (Q(state=RunState.FINISHED) | Q(state=RunState.FAILED, reason__in=OF_SCORING)) & ~ONLY_A_SCORE


def runnable(runs: Iterable[Run]) -> list[Run]:
    """Those whose code can be run again: ended, of a submission that was not cancelled."""
    return [
        run
        for run in runs
        if run.source == Run.Source.CODE
        and run.state in SCORABLE
        and run.submission.state != Submission.State.CANCELLED
    ]


def scorable(runs: Iterable[Run]) -> list[Run]:
    """Those that left predictions: finished, or failed while they were scored.

    Of a replay of published results, only scores may be known: those stand as they are.
    """
    found = []
    for run in runs:
        failed_in_scoring = run.state == RunState.FAILED and run.reason in OF_SCORING
        if run.state == RunState.FINISHED or failed_in_scoring:
            found.append(run)
    results = [run.pk for run in found if run.source == Run.Source.RESULTS]
    alone = (
        set(Run.objects.filter(ONLY_A_SCORE, pk__in=results).values_list("pk", flat=True)) if results else set()
    )
    return [run for run in found if run.pk not in alone]


def run_again(run: Run, *, fresh: bool) -> None:
    """Queue a run's code again, inside a transaction; its old score stands until the new one comes.

    With `fresh` it runs with what the phase and the task say now, else with what it ran with before.
    """
    run = (
        Run.objects.select_for_update(of=("self",), no_key=True)
        .select_related("submission__phase", "task__ingestion_program")
        .get(pk=run.pk)
    )
    fields: dict[str, object] = {}
    if fresh:
        task = next(task for task in making.tasks_of(run.submission.phase) if task.pk == run.task_id)
        fields = _snapshot(run, task)
    waits = run.task.scoring_program_id is None or kinds.needs_worker(run.submission, run.task)
    number = run.attempt_number + 1  # a number that no attempt has: reports of earlier ones are refused
    queued = move(
        run,
        SCORABLE,
        RunState.QUEUED if waits else RunState.COLLECTED,
        is_rerun=True,
        reason="",
        sentence=AGAIN if waits else SCORED_AGAIN,
        attempt_number=number,
        attempts_before=number,
        scoring_tries=0,
        queued_at=timezone.now(),
        rung_at=None,
        started_at=None,
        deadline=None,
        cancel_asked=False,
        log="",
        log_tail="",
        error_lines="",
        program_report={},
        **fields,
    )
    if queued:
        run.predictions.all().delete()
        run.files.all().delete()
        # Its `ended_at` stays: it tells that the submission had its scores before.
        Submission.objects.filter(pk=run.submission_id).update(state=Submission.State.ACTIVE)
        transaction.on_commit(dispatch.after_commit, robust=True)


def _snapshot(run: Run, task: Task) -> dict[str, object]:
    if task.scoring_program_id is not None:
        return programmed.snapshot(run.submission, task)
    return making.snapshot(run.submission.phase, task)


def score_again(run: Run, **fields: object) -> None:
    """Have the predictions of a run scored again, inside a transaction; `fields` replace what it is scored by."""
    run = Run.objects.select_for_update(of=("self",), no_key=True).get(pk=run.pk)
    sentence = run.sentence if run.state == RunState.FINISHED and run.reason else SCORED_AGAIN
    reason = "" if run.reason in OF_SCORING else run.reason
    moved = move(
        run,
        SCORABLE,
        RunState.COLLECTED,
        sentence=sentence,
        reason=reason,
        scoring_tries=0,
        rung_at=None,
        deadline=None,
        **fields,
    )
    if moved:
        transaction.on_commit(dispatch.after_commit, robust=True)


def standing_runs(phase: Phase, task: Task | None = None) -> list[Run]:
    """The runs of the submissions that stand for their entrants, on one task or on all; three queries.

    Under the rule `best` every competing submission may stand, so all of them count.
    """
    competing = list(phase.submissions.competing())
    if phase.counts != Phase.Counts.BEST:
        by_entrant: dict[int, list[Submission]] = {}
        for submission in competing:
            by_entrant.setdefault(submission.entrant_id, []).append(submission)
        standing = (standing_submission(own, counts=phase.counts) for own in by_entrant.values())
        competing = [submission for submission in standing if submission is not None]
    runs = Run.objects.filter(submission__in=[submission.pk for submission in competing])
    if task is not None:
        runs = runs.filter(task=task)
    return list(runs.select_related("submission__entrant", "submission__phase", "task"))


def counted(number: int, word: str) -> str:
    """`1 run`, `3 runs`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def worst_hours(runs: Iterable[Run]) -> str:
    """How long the runs may take one after the other at most: `up to 2.5 worker-hours`."""
    return f"up to {work(sum(run.budget.wall_seconds for run in runs) / 3600)}"


def refuse_nothing(runs: list[Run], what: str) -> None:
    """Refuse an action that has nothing to act on."""
    if not runs:
        raise Refused(f"There is no run that could be {what} again.", status=409)
