"""All scored submissions of an entrant in a phase, as a set of models: error, wall time and size of the archive.

An analysis is of a phase that is over for its audience (`inputs.audience`). Where names are concealed there are no
sets: how many submissions somebody made, how long they ran and how large they are would tell whose they are.
"""

from collections import defaultdict
from collections.abc import Collection
from typing import Any

import numpy as np
from django.db.models import Count, Max, Prefetch, Sum

from analysis.inputs.boards import BoardTable
from analysis.measures.spaces.samples import LEAST
from analysis.spaces.modelset import ModelSet
from competitions.models import Phase
from submissions.models import Run, Score, Submission
from submissions.public import coarse_seconds
from submissions.standing import public_scores, runs_by_task

OF_RUN = ("submission", "task", "repeat", "state", "wall_seconds")


def candidates(board: BoardTable) -> list[tuple[int, str, int]]:
    """The entrants of a board with at least 10 competing submissions: id, name and how many; most first."""
    if board.is_anonymous:
        return []
    names = {entry.key: entry.name for entry in board.entries if entry.key is not None}
    found = Submission.objects.filter(phase=board.phase_id).competing()
    counts = found.values_list("entrant").annotate(count=Count("pk")).filter(count__gte=LEAST)
    ordered = counts.order_by("-count", "entrant")
    return [(entrant, names[entrant], count) for entrant, count in ordered if entrant in names]


def state_of(board: BoardTable, entrants: Collection[int]) -> list[Any]:
    """What changes when a submission, score or time of the entrants does: two queries, which read none of them."""
    of_entrants = {"submission__phase": board.phase_id, "submission__entrant__in": list(entrants)}
    runs = Run.objects.filter(**of_entrants).values("state").order_by("state")
    times = list(runs.values_list("state").annotate(Count("pk"), Sum("wall_seconds"), Max("attempt_number")))
    scores = Score.objects.filter(
        run__in=Run.objects.filter(**of_entrants), run__task__in=_tasks(board), part=board.part
    ).aggregate(Count("pk"), Max("pk"), Sum("value"))
    return [times, scores]


def models_of(board: BoardTable, entrant: int, name: str) -> ModelSet:
    """The competing submissions of an entrant as models.

    The error is 1 - the mean over the board's datasets of the scores as people see them; a submission without a
    score on every one of them has failed and has no error.
    """
    phase = Phase.objects.get(pk=board.phase_id)
    scores = Prefetch("scores", Score.objects.only("run", "part", "metric", "value", "stderr"))
    submissions = list(
        Submission.objects.filter(phase=phase, entrant=entrant)
        .competing()
        .order_by("received_at", "pk")
        .values_list("pk", "size")
    )
    runs: dict[int, list[Run]] = defaultdict(list)
    of_entrant = Run.objects.filter(submission__phase=phase, submission__entrant=entrant)
    for run in of_entrant.only(*OF_RUN).prefetch_related(scores):
        runs[run.submission_id].append(run)
    rows = [_model(board, phase, runs.get(pk, []), size) for pk, size in submissions]
    table = np.array(rows, dtype=float).reshape(-1, 3)
    columns = {"error": table[:, 0], "wall_seconds": table[:, 1], "archive_bytes": table[:, 2]}
    return ModelSet(name, columns, f"submissions to {board.title}")


def _model(board: BoardTable, phase: Phase, runs: list[Run], size: int) -> tuple[float, float, float]:
    digits = board.digits
    values = public_scores(runs_by_task(runs), _tasks(board), part=board.part, digits=digits)
    times = [run.wall_seconds for run in runs if run.wall_seconds is not None]
    told = [coarse_seconds(time) if phase.is_hidden else time for time in times]
    missing = not values or any(value is None for value in values)
    error = np.nan if missing else 1.0 - float(np.mean([value for value in values if value is not None]))
    return round(error, digits + 2), sum(told) if told else np.nan, float(size)


def _tasks(board: BoardTable) -> list[int]:
    return [dataset.task_id for dataset in board.datasets]
