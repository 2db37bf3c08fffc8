"""The prediction files that were published, scored here by the scorer of the challenge."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from django.core.files.base import ContentFile

import scoring
from analysis.replay.entries import Rows, entrant_named, run_of, submission_of
from analysis.replay.source import PredictionFile, Published
from competitions.models import Phase, Task
from scoring.reading import read_table
from submissions.models import Prediction, Run, Score
from submissions.scoring import bootstrap_seed

WITHIN_THE_BUDGET = "aad_freiburg, within the budget"
COMMENT = "Published predictions, scored here."


@dataclass(frozen=True)
class ScoredFile:
    """A published prediction with the score that it has here."""

    file: PredictionFile
    content: bytes
    score: scoring.Score


def scored_files(
    published: Published, phase: Phase, tasks: Mapping[str, Task], models: Collection[str] | None
) -> dict[str, list[ScoredFile]]:
    """The files of a round by the model that made them. It takes a while, so no transaction should be open."""
    found: dict[str, list[ScoredFile]] = defaultdict(list)
    for name, task in tasks.items():
        wanted = [one for one in published.predictions if one.dataset == name]
        wanted = [one for one in wanted if models is None or one.model in models]
        path = published.reference(f"{name}_test.solution.xz")
        if not wanted or path is None:
            continue
        solution = read_table(path, what="solution", finite=False)
        for one in wanted:
            found[one.model].append(_scored(one, task, phase, solution))
    return dict(found)


def _scored(one: PredictionFile, task: Task, phase: Phase, solution: np.ndarray) -> ScoredFile:
    version = task.dataset.current
    assert version is not None, "a replayed dataset has a version"
    shape = version.prediction_shape(Phase.Part.TEST)
    score = scoring.score(
        solution,
        read_table(one.path, what="prediction", shape=shape, finite=False),
        task=version.task_kind,
        metric=version.metric,
        convention=phase.convention,
        seed=bootstrap_seed(Run(task=task, dataset_version=version), Phase.Part.TEST),
    )
    return ScoredFile(one, one.content(), score)


def add_files(rows: Rows, files: Mapping[str, list[ScoredFile]], phase: Phase, tasks: Mapping[str, Task]) -> None:
    """Take the scored files of a round in, an entrant for each model.

    They are no entries of the challenge, so none of them takes a place.
    """
    for model, scored in sorted(files.items()):
        name = WITHIN_THE_BUDGET if model == "aad_freiburg" else f"{model}, predictions"
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
    replicates, score = one.score.replicates, one.score
    rows.add(
        Score(
            run=run,
            part=Phase.Part.TEST,
            metric=score.metric,
            convention=score.convention,
            value=score.value,
            raw=score.raw,
            stderr=score.stderr,
            left_out=score.left_out,
            replicates=None if replicates is None else np.asarray(replicates, dtype="<f4").tobytes(),
        )
    )
