"""Runs that stand for an earlier run of the same entry: nothing is computed twice, no score is lost."""

from collections.abc import Iterable, Sequence

from django.db.models import F
from django.utils import timezone

from competitions.models import Task
from ingestion.budget import Budget
from submissions import making
from submissions.models import Prediction, Run, RunState, Score, Submission
from submissions.public import CONCEALED, round_significant
from submissions.transitions import settle

USAGE = ("wall_seconds", "cpu_seconds", "peak_memory_bytes")
KEPT_STATES = (RunState.FINISHED, RunState.FAILED)


def earlier_runs(source: Submission, tasks: Sequence[Task]) -> dict[int, list[Run]]:
    """For each dataset of the tasks, the ended runs of the entry's chain that are nearest, repeats together.

    The chain is the submission, the one it came from, and so on back to the upload.
    """
    chain: list[Submission] = []
    at: Submission | None = source
    while at is not None:
        chain.append(at)
        at = at.origin
    place = {submission.pk: index for index, submission in enumerate(chain)}
    datasets = {task.dataset_id for task in tasks}
    runs = Run.objects.filter(submission__in=chain, task__dataset__in=datasets, state__in=KEPT_STATES)
    runs = runs.select_related("task", "submission__phase", "dataset_version").order_by("repeat")
    found: dict[int, list[Run]] = {}
    for run in sorted(runs.prefetch_related("predictions"), key=lambda run: place[run.submission_id]):
        nearest = found.setdefault(run.task.dataset_id, [])
        if not nearest or nearest[0].submission_id == run.submission_id:
            nearest.append(run)
    return found


def stand(runs: Sequence[Run], *, has_code: bool, budget: Budget, image: str) -> bool:
    """Whether these earlier runs stand in the child phase, so that nothing need be run.

    They do with well-formed predictions for every part. A run of code that failed stands where code would only
    fail again, with the same budget and image; and what results left out stays left out where there is no code.
    """
    if not runs:
        return False
    if not has_code:
        return True
    for run in runs:
        if run.state == RunState.FAILED:
            is_code = run.source == Run.Source.CODE or _root(run).source == Run.Source.CODE
            if not (is_code and run.budget == budget and run.image == image):
                return False
        elif not _parts(run) >= set(run.dataset_version.parts()):
            return False
    return True


def _root(run: Run) -> Run:
    while run.copied_from is not None:
        run = run.copied_from
    return run


def _parts(run: Run) -> set[str]:
    return {prediction.part for prediction in run.predictions.all() if prediction.counts}


def copy_runs(submission: Submission, task: Task, order: int, earlier: Iterable[Run]) -> list[Run]:
    """Let earlier runs stand for the submission on a task.

    They keep the version, budget, image and seed they ran with. The metric and the convention are those of the
    new phase: where these differ, the predictions are scored again.
    """
    wanted = making.snapshot(submission.phase, task)
    made = []
    for run in earlier:
        copy = Run(
            submission=submission,
            task=task,
            order=order,
            dataset_name=task.name,
            source=Run.Source.COPY,
            copied_from=run,
            repeat=run.repeat,
            dataset_version=run.dataset_version,
            metric=wanted["metric"],
            convention=wanted["convention"],
            budget_json=run.budget_json,
            image=run.image,
            built_image=run.built_image,
            seed=run.seed,
            any_time=run.any_time,
            resource_class=run.resource_class,
        )
        _take(copy, run)
        made.append(copy)
    return made


def refresh_copies(submission: Submission) -> None:
    """Bring what stands for the submission's runs in line with those that have ended since; boards follow.

    Called whenever a submission settles, so that a score which was given again reaches every later phase.
    """
    stale = Run.objects.filter(
        source=Run.Source.COPY,
        copied_from__submission=submission,
        copied_from__state__in=KEPT_STATES,
        copied_from__ended_at__gt=F("queued_at"),
    ).exclude(state=RunState.CANCELLED)
    for copy in stale.select_related("submission", "copied_from__submission__phase"):
        assert copy.copied_from is not None
        _take(copy, copy.copied_from)
        settle(copy.submission)


def _take(copy: Run, run: Run) -> None:
    """Write the outcome of `run` into its copy: state, usage, predictions, and scores where they mean the same."""
    is_scored = run.state == RunState.FINISHED
    means_the_same = (copy.metric, copy.convention) == (run.metric, run.convention)
    copy.state = RunState.COLLECTED if is_scored and not means_the_same else run.state
    copy.reason = run.reason
    copy.started_at, copy.ended_at = run.started_at, run.ended_at
    copy.deadline, copy.rung_at, copy.scoring_tries = None, None, 0
    copy.queued_at = timezone.now()
    # What a hidden phase does not say must not come out by the copy in an open one: no log is ever copied, and
    # usage and sentence only from where the entrant could read them.
    hidden = run.submission.phase.is_hidden
    copy.sentence = CONCEALED.get(run.reason, "Finished.") if hidden else run.sentence
    if copy.state == RunState.COLLECTED:
        copy.sentence = making.WAITS_FOR_SCORE
    copy.error_lines = "" if hidden else run.error_lines
    for name in USAGE:
        setattr(copy, name, None if hidden else getattr(run, name))
    if hidden and run.wall_seconds is not None:
        copy.wall_seconds = round_significant(run.wall_seconds, 1)
    copy.save()
    copy.predictions.all().delete()
    Prediction.objects.bulk_create(
        Prediction(
            run=copy,
            attempt_number=one.attempt_number,
            part=one.part,
            number=one.number,
            name=one.name,
            seconds=one.seconds,
            file=one.file.name,
            sha256=one.sha256,
            size=one.size,
            counts=one.counts,
        )
        for one in run.predictions.all()
    )
    copy.scores.all().delete()
    if is_scored and means_the_same:
        Score.objects.bulk_create(
            Score(
                run=copy,
                part=score.part,
                metric=score.metric,
                convention=score.convention,
                value=score.value,
                raw=score.raw,
                stderr=score.stderr,
                left_out=score.left_out,
                replicates=score.replicates,
            )
            for score in run.scores.all()
        )
