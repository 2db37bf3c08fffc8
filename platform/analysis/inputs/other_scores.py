"""What the metrics that all tasks have in common say of the entries of a board."""

from dataclasses import dataclass

import numpy as np

from analysis.inputs.boards import BoardTable, Floats
from analysis.inputs.curves import standing_runs
from analysis.measures.mismatch import common_metric
from analysis.models import OtherScore


@dataclass(frozen=True)
class CommonScores:
    """Scores of a board's entries under the common metric, n x T, rounded as the board is, NaN where missing.

    `metrics` (T,) names it, empty for datasets whose kind the audience may not know; `waiting` (T,) counts
    ranked entries that have a score of their own and none of this metric yet, `failed` (T,) those that have none
    at all.
    """

    metrics: tuple[str, ...]
    scores: Floats
    waiting: tuple[int, ...]
    failed: tuple[int, ...]


def common_scores(board: BoardTable) -> CommonScores:
    """What the common metrics say of a board; its own scores where its metric is the common one. Few queries."""
    metrics = tuple(common_metric(one.kind) if one.kind else "" for one in board.datasets)
    scores = np.full_like(board.scores, np.nan)
    failed = np.zeros(board.scores.shape, dtype=bool)
    other = [column for column, one in enumerate(board.datasets) if metrics[column] not in ("", one.metric)]
    same = [
        column for column, one in enumerate(board.datasets) if metrics[column] and metrics[column] == one.metric
    ]
    scores[:, same] = board.scores[:, same]
    standing = [one for one in standing_runs(board) if one.dataset in other] if other else []
    found = OtherScore.objects.filter(run__in={one.root for one in standing}, part=board.part)
    values = {(run, metric): value for run, metric, value in found.values_list("run", "metric", "value")}
    for one in standing:
        cell = one.entry, one.dataset
        if (key := (one.root, metrics[one.dataset])) in values:
            value = values[key]
            failed[cell] = value is None
            scores[cell] = np.nan if value is None else round(value, board.digits) + 0.0
    waiting = np.isfinite(board.scores) & np.isnan(scores) & ~failed
    # Who takes no place is not compared.
    waiting[~board.ranked], failed[~board.ranked] = False, False
    waiting[:, [column for column, metric in enumerate(metrics) if not metric]] = False
    return CommonScores(metrics, scores, tuple(waiting.sum(axis=0).tolist()), tuple(failed.sum(axis=0).tolist()))
