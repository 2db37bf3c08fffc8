"""Learning curves of a board as arrays, with what came when runs went on beyond their budget."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from django.core.cache import cache
from django.db.models import Count, F, Max, Q

from analysis.inputs.boards import BoardTable, Floats
from analysis.inputs.combined import joinable
from analysis.models import RunOn
from submissions import curves
from submissions.models import PredictionScore, Reason, Run, RunState, Score

EMPTY: Floats = np.zeros(0)
KEPT_SECONDS = 600  # of a count, at the longest


@dataclass(frozen=True)
class Trace:
    """The curve of an entry on a dataset of its board: scores as the audience sees them, over seconds, by time.

    `unscored` predictions have no score, and `waiting` ones have none yet. `beyond_seconds` and `beyond_scores`
    are of a run that repeated it for `factor` times the budget: only what came after the budget.
    """

    entry: int
    dataset: int
    seconds: Floats
    scores: Floats
    unscored: int = 0
    waiting: int = 0
    beyond_seconds: Floats = field(default_factory=lambda: EMPTY)
    beyond_scores: Floats = field(default_factory=lambda: EMPTY)
    factor: float = 0.0

    def whole(self) -> tuple[Floats, Floats]:
        """Its seconds and scores with those of the run that went on."""
        seconds = np.concatenate((self.seconds, self.beyond_seconds))
        return seconds, np.concatenate((self.scores, self.beyond_scores))


@dataclass(frozen=True)
class Standing:
    """The run behind a cell of a board, and the run whose predictions it shows."""

    entry: int
    dataset: int
    run: int
    root: int
    metric: str
    convention: str


def standing_runs(board: BoardTable) -> list[Standing]:
    """The runs behind the cells of a board that finished, or that their time stopped; of repeats the one whose
    score stands. A few queries.
    """
    row_of = {int(pk): row for row, pk in enumerate(board.submissions)}
    column_of = {one.task_id: column for column, one in enumerate(board.datasets)}
    found = Run.objects.filter(submission__in=list(row_of), task__in=list(column_of)).filter(
        Q(state=RunState.FINISHED) | Q(state=RunState.FAILED, reason=Reason.TIMED_OUT)
    )
    columns = ("pk", "submission", "task", "repeat", "metric", "convention", "copied_from")
    rows = list(found.order_by("repeat", "pk").values_list(*columns))
    chosen = _of_repeats(board, rows, row_of, column_of)
    roots = _roots({pk: (copied or pk) for pk, *_, copied in rows})
    return [
        Standing(row_of[submission], column_of[task], pk, roots[pk], metric, convention)
        for pk, submission, task, _, metric, convention, _ in rows
        if pk in chosen
    ]


def _of_repeats(
    board: BoardTable, rows: Sequence[Any], row_of: dict[int, int], column_of: dict[int, int]
) -> set[int]:
    """Of every cell one run: with repeats, the one whose score is nearest to what the board shows."""
    if not any(repeat for _, _, _, repeat, *_ in rows):
        return {pk for pk, *_ in rows}
    values = dict(
        Score.objects.filter(run__in=[pk for pk, *_ in rows], part=board.part).values_list("run", "value")
    )
    best: dict[tuple[int, int], tuple[float, int]] = {}
    for pk, submission, task, *_ in rows:
        cell = row_of[submission], column_of[task]
        gap = abs(values.get(pk, np.inf) - np.nan_to_num(board.scores[cell]))
        if cell not in best or gap < best[cell][0]:
            best[cell] = gap, pk
    return {pk for _, pk in best.values()}


def _roots(roots: dict[int, int]) -> dict[int, int]:
    """Each run's id to that of the run whose predictions it shows, through copies of copies."""
    for _ in range(curves.LONGEST_CHAIN):
        copies = Run.objects.filter(pk__in=set(roots.values()), copied_from__isnull=False)
        further = dict(copies.values_list("pk", "copied_from"))
        if not further:
            break
        roots = {pk: further.get(root, root) or root for pk, root in roots.items()}
    return roots


def _run_ons(roots: Iterable[int]) -> list[tuple[int, int, float]]:
    """Of each root the longest run that went on and has ended with predictions: root, run, factor."""
    found = RunOn.objects.filter(
        of__in=set(roots), run__state=RunState.FINISHED, run__dataset_version=F("of__dataset_version")
    )
    return list({of: (of, run, factor) for of, run, factor in found.order_by("factor", "pk").values_list(
        "of", "run", "factor"
    )}.values())  # fmt: skip


def marks(boards: Iterable[BoardTable]) -> list[dict[str, Any]]:
    """What changes whenever a curve of the boards does: which runs, how many scores of theirs, and the last.

    Counting takes long where runs keep many predictions, so a count is kept until anything is scored anywhere.
    """
    newest = PredictionScore.objects.order_by("-pk").values_list("pk", flat=True).first()
    found = []
    for board in boards:
        roots = {one.root for one in standing_runs(board)}
        longer = _run_ons(roots)
        runs = sorted(roots | {run for _, run, _ in longer})
        digest = hashlib.sha256(repr((newest, board.part, runs)).encode()).hexdigest()
        key = f"curve-marks-{digest}"
        counted = cache.get(key)
        if counted is None:
            scores = PredictionScore.objects.filter(prediction__run__in=runs, prediction__part=board.part)
            counted = scores.aggregate(n=Count("pk"), last=Max("pk"))
            cache.set(key, counted, KEPT_SECONDS)
        found.append({**counted, "runs": len(runs), "longer": sorted(run for _, run, _ in longer)})
    return found


def combined_traces(boards: Sequence[BoardTable], together: BoardTable) -> list[Trace]:
    """The curves of several boards by the rows and columns of `combined.combined`, which is `together`."""
    if len(boards) == 1:
        return traces(boards[0])
    row_of = {entry.key: row for row, entry in enumerate(together.entries)}
    found, at = [], 0
    for board in joinable(boards):
        keys = [entry.key for entry in board.entries]
        for trace in traces(board):
            found.append(replace(trace, entry=row_of[keys[trace.entry]], dataset=at + trace.dataset))
        at += len(board.datasets)
    return found


def traces(board: BoardTable) -> list[Trace]:
    """The curves of the entries of a board that the audience may see, of datasets whose budget it may know.

    The part is the board's, and whether it may be seen was decided when the board was loaded. Where names are
    concealed there are none: the same moments stand beside the name elsewhere.
    """
    if board.is_anonymous:
        return []
    shown = [one for one in standing_runs(board) if board.datasets[one.dataset].time_budget > 0]
    factors = {of: (run, factor) for of, run, factor in _run_ons(one.root for one in shown)}
    wanted = {one.root for one in shown} | {run for run, _ in factors.values()}
    points = curves.points(wanted, board.part, digits=board.digits)
    found = []
    for one in shown:
        run, factor = factors.get(one.root, (0, 0.0))
        longer = points.get((run, one.metric, one.convention))
        own = points.get((one.root, one.metric, one.convention))
        if own is None and longer is None:
            continue
        own = own or curves.Points()
        if not own.seconds and own.only is not None and np.isfinite(board.scores[one.entry, one.dataset]):
            own = curves.Points([own.only], [float(board.scores[one.entry, one.dataset])])
        late, late_scores = _beyond(longer, board.datasets[one.dataset].time_budget)
        found.append(
            Trace(
                entry=one.entry,
                dataset=one.dataset,
                seconds=np.array(own.seconds),
                scores=np.array(own.values),
                unscored=own.unscored,
                waiting=own.waiting,
                beyond_seconds=late,
                beyond_scores=late_scores,
                factor=factor,
            )
        )
    return found


def _beyond(points: "curves.Points | None", budget: float) -> tuple[Floats, Floats]:
    if points is None:
        return EMPTY, EMPTY
    seconds, values = np.array(points.seconds), np.array(points.values)
    return seconds[seconds > budget], values[seconds > budget]
