"""How many rows the parts of datasets have, and how well the best does under balanced accuracy."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Max

from analysis.inputs.tables import BoardTable
from analysis.models import OtherScore
from datasets.models import DatasetVersion, Metric


def rows_of(boards: Sequence[BoardTable]) -> dict[int, dict[str, int]]:
    """Rows of the part that each dataset is judged by, and its labels, by the task: one query.

    Of datasets that the audience may know alone.
    """
    version_of = {
        dataset.version_id: board.part for board in boards for dataset in board.datasets if dataset.version_id
    }
    known = DatasetVersion.objects.filter(pk__in=version_of).values("pk", "valid_num", "test_num", "label_num")
    facts = {one["pk"]: one for one in known}
    found = {}
    for board in boards:
        for dataset in board.datasets:
            if dataset.version_id in facts:
                own = facts[dataset.version_id]
                rows = own["test_num"] if board.part == "test" else own["valid_num"]
                found[dataset.task_id] = {"rows": rows, "labels": own["label_num"]}
    return found


def best_balanced(boards: Sequence[BoardTable]) -> dict[int, float]:
    """The best normalised balanced accuracy of any entry, by the task: one query for each board.

    Of tasks judged by another metric it is there once the site has scored their predictions under both.
    """
    found: dict[int, float] = {}
    for board in boards:
        tasks = [dataset.task_id for dataset in board.datasets if dataset.version_id]
        scores: Any = OtherScore.objects.filter(
            run__submission__in=board.submissions[board.ranked].tolist(),
            run__task__in=tasks,
            part=board.part,
            metric=Metric.BAC,
        )
        best = scores.values("run__task").annotate(best=Max("value")).values_list("run__task", "best")
        found |= {task: round(value, board.digits) for task, value in best if value is not None}
        for index, dataset in enumerate(board.datasets):
            own = board.scores[board.ranked, index]
            if dataset.metric == Metric.BAC and (own == own).any():
                found[dataset.task_id] = float(own[own == own].max())
    return found
