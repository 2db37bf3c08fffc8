"""Making the runs of a submission, each with a snapshot of what it will run with."""

import secrets
from collections.abc import Sequence
from typing import Any

from accounts.refusals import Refused
from competitions.models import Phase, Task
from datasets.models import DatasetVersion
from submissions.models import Run, RunState, Submission

SEEDS = 2**31
WAITS_FOR_WORKER = "Waits for a worker."
WAITS_FOR_SCORE = "Waits for its score."


def tasks_of(phase: Phase) -> list[Task]:
    """The tasks of a phase in their order, with all that making a run reads."""
    found = phase.tasks.select_related("dataset", "phase", "scoring_program", "ingestion_program")
    return list(found.prefetch_related("dataset__versions"))


def snapshot(phase: Phase, task: Task) -> dict[str, Any]:
    """The fields of a run that keep what it runs with, so that later edits do not change what a score means."""
    version = current_version(task)
    return {
        "dataset_version": version,
        "metric": task.metric or version.metric,
        "convention": phase.convention,
        "budget_json": task.budget().to_json(),
        "image": phase.image,
        "any_time": phase.any_time,
        "resource_class": phase.resource_class,
    }


def current_version(task: Task) -> DatasetVersion:
    """The version that new runs use; raises Refused while the dataset has no data."""
    version = task.dataset.current
    if version is None:
        raise Refused(f"{task} has no data yet.", status=409)
    return version


def code_runs(submission: Submission, task: Task, order: int) -> list[Run]:
    """Queue the submission's code on a task, as often as the phase asks, each time with a fresh seed."""
    fields = snapshot(submission.phase, task)
    return [
        Run.objects.create(
            submission=submission,
            task=task,
            order=order,
            dataset_name=task.name,
            source=Run.Source.CODE,
            repeat=repeat,
            seed=secrets.randbelow(SEEDS),
            state=RunState.QUEUED,
            sentence=WAITS_FOR_WORKER,
            **fields,
        )
        for repeat in range(submission.phase.repeats)
    ]


def results_run(submission: Submission, task: Task, order: int) -> Run:
    """A run whose predictions came with the archive and wait for their score."""
    return Run.objects.create(
        submission=submission,
        task=task,
        order=order,
        dataset_name=task.name,
        source=Run.Source.RESULTS,
        state=RunState.COLLECTED,
        sentence=WAITS_FOR_SCORE,
        **snapshot(submission.phase, task),
    )


def chosen(tasks: Sequence[Task], names: Sequence[str] | None, phase: Phase) -> list[Task]:
    """The tasks, or those named; a name that is not there is refused."""
    if not tasks:
        raise Refused(f"{phase.title} has no datasets yet.", status=409)
    if not names:
        return list(tasks)
    by_name = {task.name: task for task in tasks}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise Refused(f"{phase.title} has no task {unknown[0]!r}.", mend=f"Its tasks are {', '.join(by_name)}.")
    return [by_name[name] for name in names]
