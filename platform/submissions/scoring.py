"""Scoring a collected run with the hidden solutions, on the site's own queue.

Never in the process, container or user that ran the participant's code.
"""

import hashlib
import hmac
import logging
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.db import transaction
from django.utils import timezone

import scoring
from accounts.beats import prolonged
from datasets.files import solution_path
from scoring.names import LIBSCORES
from scoring.reading import read_table
from submissions import doorbell, signals
from submissions.models import Prediction, Run, RunState, Score
from submissions.transitions import end_run, move, settle

log = logging.getLogger(__name__)


def bootstrap_seed(run: Run, part: str) -> int:
    """The seed of the resamples: the same for every entrant of a task, unknown outside the site."""
    text = f"bootstrap:{run.task_id}:{run.dataset_version_id}:{part}"
    digest = hmac.new(settings.SECRET_KEY.encode(), text.encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:4], "big")


@contextmanager
def local_copy(field_file: Any, name: str) -> Iterator[Path]:
    """A path to a stored file under a given name, whatever the storage is; gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="score-", dir=settings.FILE_UPLOAD_TEMP_DIR))
    try:
        path = folder / Path(name).name
        with field_file.storage.open(field_file.name, "rb") as source, path.open("wb") as target:
            shutil.copyfileobj(source, target, 2**20)
        yield path
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def counting_predictions(run: Run) -> list[Prediction]:
    """The predictions whose score stands for the run.

    Numbered files beat unnumbered ones, and of the numbers the highest that is complete in all parts counts.
    A results archive may leave out a part; what is there counts.
    """
    predictions = list(run.predictions.all())
    if run.source == Run.Source.RESULTS:
        return predictions
    if run.source == Run.Source.COPY:
        return [prediction for prediction in predictions if prediction.counts]
    parts = set(run.dataset_version.parts())
    by_number: dict[int | None, list[Prediction]] = {}
    for prediction in predictions:
        by_number.setdefault(prediction.number, []).append(prediction)
    complete = [number for number, files in by_number.items() if {file.part for file in files} >= parts]
    if not complete:
        return []
    best = max(complete, key=lambda number: -1 if number is None else number)
    return by_number[best]


def score_prediction(
    run: Run, prediction: Prediction, *, metric: str = "", stderr: bool = True
) -> "scoring.Score | None":
    """Compute the score of one prediction; None where the part has no solution.

    `metric` is another than the run's own, for analyses.
    """
    version = run.dataset_version
    if not version.solution(prediction.part):
        return None
    with (
        solution_path(version, prediction.part, f"{run.dataset_name}_{prediction.part}.solution") as hidden,
        local_copy(prediction.file, prediction.name) as prediction_path,
    ):
        # The scorer of 2015 knew columns without an answer; the chapter's equations do not.
        finite = run.convention != LIBSCORES
        shape = version.prediction_shape(prediction.part)
        solution = read_table(hidden, what="solution", finite=finite)
        predicted = read_table(prediction_path, what="prediction", shape=shape, finite=finite)
    return scoring.score(
        solution,
        predicted,
        task=version.task_kind,
        metric=metric or run.metric,
        convention=run.convention,
        stderr=stderr,
        seed=bootstrap_seed(run, prediction.part),
        # Neighbours in time are alike, so rows of chronological data are resampled in blocks.
        blocks=scoring.block_length(len(solution)) if version.is_chronological else None,
    )


def lease_kept(run: Run) -> AbstractContextManager[None]:
    """Prolong the deadline of a run while it is scored, so that a scorer that was killed is noticed soon."""

    def prolong() -> None:
        same = Run.objects.filter(pk=run.pk, state=RunState.SCORING, scoring_tries=run.scoring_tries)
        same.update(deadline=timezone.now() + settings.SCORING_LEASE)

    return prolonged(prolong, every=settings.SCORING_LEASE.total_seconds() / 4, what=f"run {run.pk}")


def score_run(run_id: int) -> None:
    """Score one collected run: compare-and-set to scoring, compute, store scores and ranks in one transaction."""
    run = Run.objects.select_related("dataset_version", "task", "submission__phase").filter(pk=run_id).first()
    if run is None:
        return
    deadline = timezone.now() + settings.SCORING_LEASE
    claimed = move(
        run,
        RunState.COLLECTED,
        RunState.SCORING,
        deadline=deadline,
        scoring_tries=run.scoring_tries + 1,
        # A run that was stopped keeps the sentence that says so.
        sentence=run.sentence if run.reason else "Is being scored.",
    )
    if not claimed:
        return
    try:
        with lease_kept(run):
            predictions = counting_predictions(run)
            found = [(prediction, score_prediction(run, prediction)) for prediction in predictions]
    except scoring.BadPredictionError as problem:
        with transaction.atomic():
            end_run(run, RunState.FAILED, reason="bad_predictions", sentence=str(problem))
            settle(run.submission)
        return
    except Exception:
        # Ours, not the participant's: the reconciler tries again when the lease is over.
        log.exception("scoring run %s failed", run.pk)
        move(run, RunState.SCORING, RunState.SCORING, deadline=timezone.now())
        return
    store_scores(run, found)


def store_scores(run: Run, predictions: "list[tuple[Prediction, scoring.Score | None]]") -> None:
    """Keep the scores and finish the run; the board changes in the same transaction.

    `predictions` are those that count, each with its score, or None where its part has no solution.
    """
    with transaction.atomic():
        if not predictions:
            end_run(
                run,
                RunState.FAILED,
                reason="no_predictions",
                sentence="No prediction was complete for every part of the dataset.",
            )
            settle(run.submission)
            return
        sentence = run.sentence if run.reason else "Finished."
        finished = move(
            run,
            RunState.SCORING,
            RunState.FINISHED,
            ended_at=timezone.now(),
            deadline=None,
            sentence=sentence,
        )
        if not finished:
            return
        run.scores.all().delete()
        for prediction, score in predictions:
            Prediction.objects.filter(pk=prediction.pk).update(counts=True)
            if score is None:
                continue
            score_row(run, prediction.part, score).save(force_insert=True)
        signals.scored.send(sender=Run, run=run)
        settle(run.submission)
        transaction.on_commit(doorbell.ring_dispatcher, robust=True)


def score_row(run: Run, part: str, found: scoring.Score) -> Score:
    """The row, not stored yet, that keeps what scoring found for a part of a run."""
    replicates = found.replicates
    return Score(
        run=run,
        part=part,
        metric=found.metric,
        convention=found.convention,
        value=found.value,
        raw=found.raw,
        stderr=found.stderr,
        left_out=found.left_out,
        replicates=None if replicates is None else np.asarray(replicates, dtype="<f4").tobytes(),
    )
