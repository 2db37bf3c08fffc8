"""The prediction files that were published, scored here by the scorer of the challenge."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from django.core.files.base import ContentFile

import scoring
from analysis.replay.entries import Rows, entrant_named, run_of, submission_of
from analysis.replay.source import PredictionFile, Published
from analysis.replay.spreads import subsample_spread
from competitions.models import Phase, Task
from scoring.reading import read_table
from submissions.models import Prediction, Run
from submissions.scoring import bootstrap_seed, score_row

Wanted = Callable[[PredictionFile], bool]
SYSTEM = "aad_freiburg"
WITHIN_THE_BUDGET = f"{SYSTEM}, within the budget"
MOST_VALUES = 1_000_000  # of a test solution whose scores are computed a hundred times for the error bars
COMMENT = "Published predictions, scored here."


@dataclass(frozen=True)
class ScoredFile:
    """A published prediction with the score that it has here."""

    file: PredictionFile
    content: bytes
    score: scoring.Score
    spread: float | None = None  # over subsamples, of the system whose error bars were published


def scored_files(
    published: Published, phase: Phase, tasks: Mapping[str, Task], wanted: Wanted
) -> dict[str, list[ScoredFile]]:
    """The files of a round by the model that made them. It takes a while, so no transaction should be open."""
    found: dict[str, list[ScoredFile]] = defaultdict(list)
    for name, task in tasks.items():
        files = [one for one in published.predictions if one.dataset == name and wanted(one)]
        path = published.reference(f"{name}_test.solution.xz")
        if not files or path is None:
            continue
        solution = read_table(path, what="solution", finite=False)
        for one in files:
            found[one.model].append(_scored(one, task, phase, solution))
    return dict(found)


def _scored(one: PredictionFile, task: Task, phase: Phase, solution: np.ndarray) -> ScoredFile:
    version = task.dataset.current
    assert version is not None, "a replayed dataset has a version"
    shape = version.prediction_shape(Phase.Part.TEST)
    prediction = read_table(one.path, what="prediction", shape=shape, finite=False)
    score = scoring.score(
        solution,
        prediction,
        task=version.task_kind,
        metric=version.metric,
        convention=phase.convention,
        seed=bootstrap_seed(Run(task=task, dataset_version=version), Phase.Part.TEST),
    )
    spread = None
    if one.model == SYSTEM and solution.size <= MOST_VALUES:
        spread = subsample_spread(
            solution, prediction, task=version.task_kind, metric=version.metric, convention=phase.convention
        )
    return ScoredFile(one, one.content(), score, spread)


def error_bars(files: Mapping[str, list[ScoredFile]], published: Published) -> dict[str, dict[str, float | None]]:
    """By dataset: the published error bar of the system, the same by their recipe, and the standard error."""
    return {
        one.file.dataset: {
            "published": published.spreads.get((one.file.dataset, SYSTEM)),
            "spread": one.spread,
            "stderr": one.score.stderr,
        }
        for one in files.get(SYSTEM, ())
        if one.spread is not None and np.isfinite(one.spread)
    }


def add_files(rows: Rows, files: Mapping[str, list[ScoredFile]], phase: Phase, tasks: Mapping[str, Task]) -> None:
    """Take the scored files of a round in, an entrant for each model.

    They are no entries of the challenge, so none of them takes a place.
    """
    for model, scored in sorted(files.items()):
        name = WITHIN_THE_BUDGET if model == SYSTEM else f"{model}, predictions"
        entrant = entrant_named(phase.competition, name, is_baseline=True)
        texts = {f"{one.file.dataset}_test.predict": one.content for one in scored}
        submission = rows.add(submission_of(entrant, phase, texts, COMMENT))
        rows.stored.append(submission.archive)
        for one in scored:
            run = rows.add(run_of(submission, tasks[one.file.dataset], phase.closes_at, "Finished."))
            _add(rows, run, one)


def _add(rows: Rows, run: Run, one: ScoredFile) -> None:
    name = f"{one.file.dataset}_test.predict"
    digest = hashlib.sha256(one.content).hexdigest()
    prediction = Prediction(
        run=run, part=Phase.Part.TEST, name=name, sha256=digest, size=len(one.content), counts=True
    )
    prediction.file.save(name, ContentFile(one.content), save=False)
    rows.stored.append(prediction.file)
    rows.add(prediction)
    rows.add(score_row(run, Phase.Part.TEST, one.score))
