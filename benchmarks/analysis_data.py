"""A series that is over, with many entrants and datasets, in the database for `benchmarks/analysis.py`.

It has all that sections read: scores with replicates, points of learning curves, scores by a second metric, the
basic methods with defaults and tuned, and the meta-features of every dataset.
"""

import datetime as dt
from typing import Any

import numpy as np
from django.utils import timezone

from accounts.models import User
from analysis.measures.meta_names import KNOWN
from analysis.models import BasicEntry, MetaFeatures, OtherScore
from benchmarks.leaderboard_data import BATCH, people_of, task_of
from competitions.models import Competition, Entrant, Organizer, Phase, Round, Task
from leaderboards import board
from submissions.models import Prediction, PredictionScore, Run, RunState, Score, Submission

SLUG = "series"
ROUNDS = 6
REPLICATES = 200
STAMPS = (15.0, 60.0, 240.0, 900.0)  # seconds at which predictions of a run were complete


def make(*, entrants: int, datasets: int, seed: int = 0) -> Competition:
    """A Tweakathon and an AutoML phase in each of six rounds; all are over and released, and everybody scored."""
    random = np.random.default_rng(seed)
    owner = User.objects.create_user("olga", "olga@example.org")
    contest = Competition.objects.create(
        slug=SLUG, title="A long series", summary="Made by benchmarks/analysis.py.",
        state=Competition.State.PUBLISHED, created_by=owner,
    )  # fmt: skip
    Organizer.objects.create(competition=contest, user=owner, role=Organizer.Role.OWNER)
    people = people_of(contest, entrants, random)
    skill = {one.pk: float(random.normal(0.5, 0.15)) for one in people}
    basic = _basic_methods(contest)
    skill |= {one.pk: float(random.normal(0.35, 0.1)) for one in basic}
    each, order = datasets // ROUNDS, 0
    for number in range(ROUNDS):
        group = Round.objects.create(competition=contest, number=number, name=f"Round {number}")
        for kind in (Phase.Kind.TWEAKATHON, Phase.Kind.AUTOML):
            phase = _phase(group, kind, contest.phases().count() + 1)
            if kind == Phase.Kind.TWEAKATHON:
                tasks = [_task(phase, owner, order + index, random) for index in range(each)]
                _results(phase, tasks, people, skill, random)
            else:
                again = [(one.dataset, one.order, one.metric) for one in tasks]
                tasks = [
                    Task.objects.create(
                        phase=phase, dataset=dataset, order=place, metric=metric, revealed_at=timezone.now()
                    )
                    for dataset, place, metric in again
                ]
                _results(phase, tasks, [*people, *basic], skill, random)
                _tell_basic_methods(phase, basic)
            board.refresh_now(phase)
        order += each
    return contest


def _basic_methods(contest: Competition) -> list[Entrant]:
    """One entrant of nobody's for each basic method, with defaults and tuned; one method is not tuned."""
    kinds = [(method, tuned) for method in BasicEntry.Method.values for tuned in (False, True)]
    kinds.remove((BasicEntry.Method.SNB, True))
    names = [f"{method}, {'tuned' if tuned else 'default'}" for method, tuned in kinds]
    users = User.objects.bulk_create([User(username=name, email="") for name in names])
    return Entrant.objects.bulk_create(
        [
            Entrant(competition=contest, user=user, name=name, is_baseline=True)
            for user, name in zip(users, names, strict=True)
        ]
    )


def _tell_basic_methods(phase: Phase, basic: list[Entrant]) -> None:
    for submission in phase.submissions.filter(entrant__in=basic).select_related("entrant"):
        method, _, how = submission.entrant.name.partition(", ")
        BasicEntry.objects.create(submission=submission, method=method, is_tuned=how == "tuned")


def _task(phase: Phase, owner: User, order: int, random: np.random.Generator) -> Task:
    """A new dataset in a phase, without files but with meta-features; every second is scored by another metric."""
    task = task_of(phase, owner, order)
    if order % 2:
        Task.objects.filter(pk=task.pk).update(metric="AUC")
        task.metric = "AUC"
    values = {name: float(random.normal()) for name in KNOWN}
    MetaFeatures.objects.create(version=task.dataset.versions.get(), values=values)
    return task


def _phase(group: Round, kind: str, number: int) -> Phase:
    now, day = timezone.now(), dt.timedelta(days=1)
    return Phase.objects.create(
        round=group, number=number, kind=kind, title=f"{Phase.Kind(kind).label}[{group.number}]",
        opens_at=now - (100 - number) * day, closes_at=now - (90 - number) * day, released_at=now - 10 * day,
    )  # fmt: skip


def _results(
    phase: Phase, tasks: list[Task], people: list[Entrant], skill: dict[int, float], random: np.random.Generator
) -> None:
    now = timezone.now()
    sent = Submission.objects.bulk_create(
        [
            Submission(
                entrant=one, phase=phase, user=one.user, number=phase.number, ended_at=now,
                received_at=phase.opens_at + dt.timedelta(hours=float(random.uniform(1, 200))),
                archive="submissions/none.zip", filename="submission.zip", sha256="0" * 64, size=1,
                kind=Submission.Kind.CODE, state=Submission.State.FINISHED,
            )
            for one in people
        ],
        BATCH,
    )  # fmt: skip
    versions = {task.pk: task.dataset.versions.get() for task in tasks}
    runs = Run.objects.bulk_create(
        [
            Run(
                submission=submission, task=task, order=task.order, source=Run.Source.CODE,
                metric=task.metric or "BAC",
                dataset_version=versions[task.pk], dataset_name=versions[task.pk].name, state=RunState.FINISHED,
                budget_json={"wall_seconds": 1200.0, "cores": None, "memory_bytes": None},
                wall_seconds=float(random.uniform(200, 1200)),
            )
            for submission in sent
            for task in tasks
        ],
        BATCH,
    )  # fmt: skip
    ease = {task.pk: float(random.normal(0, 0.15)) for task in tasks}
    for begin in range(0, len(runs), 1000):
        _scores([run for run in runs[begin : begin + 1000] if random.random() > 0.02], skill, ease, random)


def _scores(runs: list[Run], skill: dict[int, float], ease: dict[int, float], random: np.random.Generator) -> None:
    scores, predictions, points, others = [], [], [], []
    for run in runs:
        middle = skill[run.submission.entrant_id] + ease[run.task_id]
        for part in ("valid", "test"):
            value = float(np.clip(random.normal(middle, 0.05), -1, 1))
            drawn = np.clip(random.normal(value, 0.0123, REPLICATES), -1, 1).astype(np.float32)
            more: dict[str, Any] = {"replicates": drawn.tobytes()} if part == "test" else {}
            scores.append(
                Score(
                    run=run, part=part, metric=run.metric, value=value, raw=(1 + value) / 2, stderr=0.0123, **more
                )
            )
            if run.metric != "BAC":
                others.append(
                    OtherScore(run=run, part=part, metric="BAC", value=float(random.normal(value, 0.05)))
                )
        for number, seconds in enumerate(STAMPS):
            points.append(value * (number + 1) / len(STAMPS))
            predictions.append(
                Prediction(
                    run=run, part="test", number=number, name=f"{number}.predict", seconds=seconds,
                    file="none", sha256="0" * 64, size=1, counts=number == len(STAMPS) - 1,
                )
            )  # fmt: skip
    Score.objects.bulk_create(scores, BATCH)
    OtherScore.objects.bulk_create(others, BATCH)
    made = Prediction.objects.bulk_create(predictions, BATCH)
    PredictionScore.objects.bulk_create(
        [
            PredictionScore(prediction=one, value=value, stderr=0.01)
            for one, value in zip(made, points, strict=True)
        ],
        BATCH,
    )
