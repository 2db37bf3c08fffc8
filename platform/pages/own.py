"""A submission's page and list: runs as one person may see them."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Prefetch, QuerySet

from competitions.models import Phase, Task
from competitions.policy import Person, known_tasks
from leaderboards.models import ColumnRow, LeaderboardRow
from pages.curve_plot import Plot, draw
from pages.programmed import RunFiles, with_columns, with_files
from submissions.curves import curves
from submissions.dispatch import queue_positions
from submissions.models import Attempt, Prediction, Run, RunState, Submission
from submissions.public import RunView, run_view, submission_state
from submissions.standing import standing_submission

RUNS = (
    Run.objects.order_by("order", "id")
    .select_related("task", "dataset_version", "built_image")
    .prefetch_related("scores")
)


@dataclass(frozen=True)
class ShownRun:
    """One run: its public view, its place in the queue, its clock, and what could be done better.

    `inside` is what only organizers see, None for everybody else.
    """

    run: Run
    view: RunView
    position: int | None
    elapsed: float | None
    advice: str
    inside: "Inside | None"
    plot: Plot | None
    files: RunFiles

    @property
    def state_label(self) -> str:
        """The state in words, with the note of a run that was stopped and counts."""
        if self.view.stopped:
            return (
                "finished, stopped: memory" if self.view.reason == "out_of_memory" else "finished, stopped: time"
            )
        return self.view.state_label


@dataclass(frozen=True)
class Inside:
    """How a run went, for organizers: every attempt with its worker, and every file that was collected."""

    attempts: list[Attempt]
    files: list[Prediction]


@dataclass(frozen=True)
class ListedSubmission:
    """One line of a list of submissions; state and label are those that its viewer may know."""

    submission: Submission
    runs: list[RunView]
    counts: bool
    state: str
    state_label: str


def with_runs(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Load what lists and pages of submissions read, in a fixed number of queries."""
    return submissions.select_related("entrant", "user", "phase__round__competition").prefetch_related(
        Prefetch("runs", RUNS)
    )


def counting(phase_ids: Iterable[int], entrant_ids: Iterable[int]) -> set[int]:
    """The submissions that stand for their entrants on the boards of these phases.

    One query over the submissions of the entrants asked for, and one where the best counts, or where programs
    score: the board knows it.
    """
    phases, entrants = list(phase_ids), list(entrant_ids)
    made: dict[tuple[int, int], list[Submission]] = {}
    programmed = Task.objects.filter(phase=OuterRef("phase"), scoring_program__isnull=False)
    submissions = Submission.objects.filter(phase__in=phases, entrant__in=entrants).select_related("phase")
    for submission in submissions.only(*OF_STANDING).annotate(by_columns=Exists(programmed)):
        made.setdefault((submission.phase_id, submission.entrant_id), []).append(submission)
    found: set[int] = set()
    best: set[int] = set()
    by_columns: set[int] = set()
    for own in made.values():
        phase = own[0].phase
        if vars(own[0])["by_columns"]:
            by_columns.add(phase.pk)
        elif phase.counts == Phase.Counts.BEST:
            best.add(phase.pk)
        elif (standing := standing_submission(own, counts=phase.counts, interim=True)) is not None:
            found.add(standing.pk)
    if best:
        rows = LeaderboardRow.objects.filter(board__phase__in=best, board__is_frozen=False, entrant__in=entrants)
        found.update(rows.values_list("submission", flat=True))
    if by_columns:
        listed = ColumnRow.objects.filter(phase__in=by_columns, is_frozen=False, entrant__in=entrants)
        found.update(listed.values_list("submission", flat=True))
    return found


OF_STANDING = (
    "entrant",
    "received_at",
    "arrival",
    "state",
    "ended_at",
    "disqualified_at",
    "is_chosen",
    "phase__counts",
)


def listed(submissions: Sequence[Submission], *, sees_hidden: bool, now: dt.datetime) -> list[ListedSubmission]:
    """Lines of a list for submissions loaded by `with_runs`."""
    standing = counting(
        {submission.phase_id for submission in submissions}, {submission.entrant_id for submission in submissions}
    )
    lines = []
    for submission, pairs in zip(submissions, _views(submissions, sees_hidden, now), strict=True):
        views = [view for _, view in pairs]
        lines.append(
            ListedSubmission(submission, views, submission.pk in standing, *submission_state(submission, views))
        )
    return lines


def shown_runs(
    submission: Submission,
    *,
    user: Person,
    sees_hidden: bool,
    may_see_log: bool,
    sees_attempts: bool,
    now: dt.datetime,
) -> list[ShownRun]:
    """Every run of a submission loaded by `with_runs`, with all that its page shows to a user."""
    [views] = _views([submission], sees_hidden, now)
    positions = queue_positions([run for run, _ in views]) if not _is_concealed(submission, may_see_log) else {}
    drawn = curves([run for run, _ in views], sees_hidden=sees_hidden, now=now)
    inside = _inside(submission, [run for run, _ in views]) if sees_attempts else {}
    files = with_files(user, submission)
    return [
        ShownRun(
            run,
            view,
            positions.get(run.pk),
            _elapsed(run, view, now) if may_see_log else view.wall_seconds,
            advice(view, submission.phase) if may_see_log and not run.task.scoring_program_id else "",
            inside.get(run.pk),
            draw(drawn.get(run.pk, [])),
            files.get(run.pk, RunFiles()),
        )
        for run, view in views
    ]


def _inside(submission: Submission, runs: Sequence[Run]) -> dict[int, Inside]:
    """For each run its attempts and files: two queries."""
    found = {run.pk: Inside([], []) for run in runs}
    for attempt in Attempt.objects.filter(run__submission=submission).select_related("worker"):
        found[attempt.run_id].attempts.append(attempt)
    for file in Prediction.objects.filter(run__submission=submission).order_by("part", "seconds", "number"):
        found[file.run_id].files.append(file)
    return found


def _views(
    submissions: Sequence[Submission], sees_hidden: bool, now: dt.datetime
) -> list[list[tuple[Run, RunView]]]:
    """For each submission its runs, each with what the viewer may know of it; one query."""
    tasks = {}
    for submission in submissions:
        for run in submission.runs.all():
            run.submission = submission  # the public view reads the phase; without this it would query for it
            run.task.phase = submission.phase
            tasks[run.task_id] = run.task
    known = known_tasks(tasks.values(), now)
    of_columns = with_columns(submissions, sees_hidden=sees_hidden, now=now)
    return [
        [
            (
                run,
                run_view(
                    run,
                    sees_hidden=sees_hidden,
                    now=now,
                    is_known=run.task_id in known,
                    columns=of_columns.get(run.pk, ()),
                ),
            )
            for run in submission.runs.all()
        ]
        for submission in submissions
    ]


def _is_concealed(submission: Submission, may_see_log: bool) -> bool:
    return submission.phase.is_hidden and not may_see_log


def _elapsed(run: Run, view: RunView, now: dt.datetime) -> float | None:
    """Seconds of the budget used: measured where there is a measure, else since the start."""
    if run.state == RunState.RUNNING and run.started_at is not None:
        since = (now - run.started_at).total_seconds()
        return min(max(since, view.wall_seconds or 0.0), run.budget.wall_seconds)
    return view.wall_seconds


ADVICE = {
    "timed_out": "Save predictions early and often: what is complete when the time is up counts where the phase "
    "allows it. `self.time_left()` tells how much is left.",
    "out_of_memory": "Keep sparse data sparse, work on samples or blocks, and let go of what is no longer needed.",
    "crashed": "`kit.py run` of the starting kit runs the same code on your machine and shows the whole error.",
    "no_predictions": "Give `predict`, or write one file for each part, named as the rules say; "
    "`kit.py run` shows what would be collected.",
    "bad_predictions": "`kit.py check` reads prediction files by the same code and names the line.",
    "output_too_large": "Write predictions only, and no more than a few dozen of them.",
}
SPARE_SHARE = 0.5


def advice(view: RunView, phase: Phase) -> str:
    """One sentence on what could be done better; empty where there is nothing to say."""
    if view.reason in ADVICE:
        return ADVICE[view.reason]
    used, budget = view.wall_seconds, view.wall_budget
    if view.state == RunState.FINISHED and used is not None and budget and used < SPARE_SHARE * budget:
        return (
            f"It used {used:,.0f} of {budget:,.0f} s; time left over is not carried to "
            "another dataset, so a longer search could use it."
        )
    return ""
