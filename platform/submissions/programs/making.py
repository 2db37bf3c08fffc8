"""Making the runs of a submission that organizers' programs score."""

import secrets
from collections.abc import Iterable

from competitions import images
from competitions.models import Task
from submissions import making
from submissions.models import Run, RunState, Submission
from submissions.programs.kinds import image_of, is_programmed, needs_worker

__all__ = ["is_programmed", "make_run", "make_runs", "snapshot"]


def snapshot(submission: Submission, task: Task) -> dict[str, object]:
    """The fields of a run that keep what it runs with. What is half done when time is up never counts here."""
    fields = making.snapshot(submission.phase, task)
    return {**fields, "any_time": False, "image": image_of(task, submission.phase)}


def make_run(submission: Submission, task: Task, order: int) -> Run:
    """A run that waits for a worker, or at once for its score where nothing is to run before."""
    waits = needs_worker(submission, task)
    fields = snapshot(submission, task)
    if waits:
        images.require_allowed(str(fields["image"]))
    return Run.objects.create(
        submission=submission,
        task=task,
        order=order,
        dataset_name=task.name,
        source=Run.Source.CODE if submission.has_code else Run.Source.RESULTS,
        seed=secrets.randbelow(making.SEEDS),
        state=RunState.QUEUED if waits else RunState.COLLECTED,
        sentence=making.WAITS_FOR_WORKER if waits else making.WAITS_FOR_SCORE,
        **fields,
    )


def make_runs(submission: Submission, tasks: Iterable[tuple[int, Task]]) -> list[Run]:
    """One run for each task, given with its place."""
    return [make_run(submission, task, order) for order, task in tasks]
