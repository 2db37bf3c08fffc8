"""Scoring the predictions that stand on boards under the metric that all tasks of their kind have in common.

On the site's own worker, some at a time, once nobody can submit to their phase any more: before that a second
score of the same predictions would be a second question to the hidden labels.
"""

import datetime as dt
import logging
import time

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

import scoring
from analysis.measures.mismatch import common_metric
from analysis.models import OtherScore
from competitions import clock
from competitions.models import Extension
from datasets.models import Metric, TaskKind
from leaderboards.models import LeaderboardRow
from submissions.models import Prediction, Run, RunState
from submissions.scoring import score_prediction

log = logging.getLogger(__name__)

MOST_AT_ONCE = 200
SECONDS_AT_ONCE = 20.0
# Runs whose own score is the common one already.
HAS_IT = Q(run__dataset_version__task_kind=TaskKind.REGRESSION, run__metric=Metric.R2) | (
    ~Q(run__dataset_version__task_kind=TaskKind.REGRESSION) & Q(run__metric=Metric.BAC)
)


def due(now: dt.datetime) -> QuerySet[Prediction]:
    """The predictions that count, stand on a board and want their score; `now` is our time.

    Copies show what their original has, so whatever was copied stands on a board, too.
    """
    phase = "run__submission__phase"
    more_time = Extension.objects.filter(phase=OuterRef(phase))
    more_time = more_time.exclude(clock.passed(now, "closes_at", "phase__round__competition"))
    on_board = LeaderboardRow.objects.filter(submission=OuterRef("run__submission"))
    copied = Run.objects.filter(copied_from=OuterRef("run"))
    known = OtherScore.objects.filter(run=OuterRef("run"), part=OuterRef("part"))
    return (
        Prediction.objects.filter(
            counts=True,
            run__state=RunState.FINISHED,
            run__scores__part=F("part"),  # scored by our metrics, so its part has a solution
        )
        .exclude(run__source=Run.Source.COPY)
        .exclude(HAS_IT)
        .filter(clock.passed(now, f"{phase}__closes_at", f"{phase}__round__competition"))
        .filter(Exists(on_board) | Exists(copied))
        .exclude(Exists(more_time))
        .exclude(Exists(known))
        .select_related("run__dataset_version", "run__task")
        .order_by("run_id", "part", "id")
    )


def score_due(now: dt.datetime) -> int:
    """Score predictions that are due, for a bounded time; returns how many.

    Idempotent: what has its row is not scored again, and two calls at once store each row once.
    """
    until = time.monotonic() + SECONDS_AT_ONCE
    scored = 0
    for prediction in due(now)[:MOST_AT_ONCE]:
        run = prediction.run
        metric = common_metric(run.dataset_version.task_kind)
        value = _value(prediction, metric)
        try:
            with transaction.atomic():
                OtherScore.objects.create(run=run, part=prediction.part, metric=metric, value=value)
        except IntegrityError:
            continue  # another call was faster, or the run was removed
        scored += 1
        if time.monotonic() > until:
            break
    return scored


def _value(prediction: Prediction, metric: str) -> float | None:
    try:
        found = score_prediction(prediction.run, prediction, metric=metric, stderr=False)
    except scoring.ScoringError as problem:
        log.info("prediction %s has no %s: %s", prediction.pk, metric, problem)
        return None
    except Exception:
        # Kept as a row without a value: it would fail again, and keep all others waiting.
        log.exception("prediction %s could not be scored by %s", prediction.pk, metric)
        return None
    return None if found is None else found.value


def forget(run: Run) -> None:
    """Drop what other metrics said of a run: it was scored by another rule or solution, or is run again."""
    OtherScore.objects.filter(run=run).delete()
