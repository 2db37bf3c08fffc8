"""A competition with as many entrants as wanted, straight in the database, for `benchmarks/leaderboard.py`."""

import datetime as dt
from dataclasses import dataclass

import numpy as np
from django.utils import timezone

from accounts.models import User
from competitions.models import Competition, Entrant, Organizer, Participant, Phase, Round, Task
from datasets.models import Dataset, DatasetVersion
from leaderboards import board
from leaderboards.models import LeaderboardRow
from submissions.models import Run, RunState, Score, Submission

NAMES = ("christine", "jasmine", "madeline", "philippine", "sylvine", "albert", "dilbert", "fabert", "robert")
SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ha", "ki", "lo", "mu", "na", "pe", "ri", "so", "ta", "vo", "wa")
BATCH = 500


@dataclass(frozen=True)
class Made:
    """What was made: a Tweakathon with everybody's submissions, and some who look at it."""

    competition: Competition
    phase: Phase
    owner: User
    last: User  # an entrant far down the board


def make(*, entrants: int, datasets: int, submissions: int, seed: int = 0) -> Made:
    """A phase in which every entrant made the given number of submissions, all finished; ranks are stored."""
    random = np.random.default_rng(seed)
    now = timezone.now()
    owner = User.objects.create_user("olga", "olga@example.org")
    competition = Competition.objects.create(
        slug="thousand",
        title="A thousand entrants",
        summary="Made by benchmarks/leaderboard.py.",
        state=Competition.State.PUBLISHED,
        created_by=owner,
    )
    Organizer.objects.create(competition=competition, user=owner, role=Organizer.Role.OWNER)
    phase = Phase.objects.create(
        round=Round.objects.create(competition=competition, number=1, name="Novice"),
        number=1,
        title="Tweakathon[1]",
        opens_at=now - dt.timedelta(days=40),
        closes_at=now + dt.timedelta(days=40),
    )
    tasks = [task_of(phase, owner, order) for order in range(datasets)]
    people = people_of(competition, entrants, random)
    _submissions(phase, people, submissions, now, random)
    _runs(phase, tasks, random)
    board.refresh_now(phase)
    return found()


def found() -> Made:
    """What an earlier run made."""
    competition = Competition.objects.get(slug="thousand")
    phase = competition.phases().get()
    rows = LeaderboardRow.objects.filter(board__phase=phase, board__part="valid")
    last = rows.exclude(rank=None).order_by("-position")[20]
    return Made(competition, phase, competition.created_by, last.submission.user)


def task_of(phase: Phase, owner: User, order: int) -> Task:
    """A new dataset in a phase, without files."""
    name = NAMES[order % len(NAMES)] + ("" if order < len(NAMES) else str(order))
    dataset = Dataset.objects.create(owner=owner, slug=name, title=name.capitalize())
    DatasetVersion.objects.create(
        dataset=dataset, number=1, name=name, task_kind="binary.classification", metric="BAC", time_budget=1200,
        feat_num=100, target_num=1, label_num=2, train_num=5000, valid_num=1000, test_num=3000,
        has_valid_solution=True, has_test_solution=True, facts={}, public_sha256="0" * 64, public_bytes=1,
    )  # fmt: skip
    return Task.objects.create(phase=phase, dataset=dataset, order=order)


def people_of(competition: Competition, count: int, random: np.random.Generator) -> list[Entrant]:
    """So many participants as entrants, a few of them baselines."""
    names = [f"{''.join(random.choice(SYLLABLES, 3))}{index}" for index in range(count)]
    users = User.objects.bulk_create([User(username=name, email=f"{name}@example.org") for name in names], BATCH)
    Participant.objects.bulk_create(
        [Participant(competition=competition, user=user, state=Participant.State.APPROVED) for user in users],
        BATCH,
    )
    return Entrant.objects.bulk_create(
        [
            Entrant(competition=competition, user=user, name=user.username, is_baseline=index % 300 == 7)
            for index, user in enumerate(users)
        ],
        BATCH,
    )


def _submissions(
    phase: Phase, people: list[Entrant], each: int, now: dt.datetime, random: np.random.Generator
) -> None:
    Submission.objects.bulk_create(
        [
            Submission(
                entrant=entrant,
                phase=phase,
                user=entrant.user,
                number=number + 1,
                received_at=now - dt.timedelta(days=float(39 * (1 - (number + random.random()) / each)), hours=1),
                ended_at=now,
                archive="submissions/none.zip",
                filename="submission.zip",
                sha256="0" * 64,
                size=1,
                kind=Submission.Kind.CODE,
                state=Submission.State.FINISHED,
            )
            for entrant in people
            for number in range(each)
        ],
        BATCH,
    )


def _runs(phase: Phase, tasks: list[Task], random: np.random.Generator) -> None:
    versions = {task.pk: task.dataset.versions.get() for task in tasks}
    budget = {"wall_seconds": 1200.0, "cores": None, "memory_bytes": None}
    runs = Run.objects.bulk_create(
        [
            Run(
                submission=submission,
                task=task,
                order=task.order,
                source=Run.Source.CODE,
                dataset_version=versions[task.pk],
                dataset_name=versions[task.pk].name,
                metric="BAC",
                budget_json=budget,
                state=RunState.FINISHED,
                wall_seconds=float(random.uniform(200, 1200)),
            )
            for submission in phase.submissions.all()
            for task in tasks
        ],
        BATCH,
    )
    skill = dict.fromkeys(phase.submissions.values_list("entrant_id", flat=True), 0.0)
    skill = {entrant: float(random.normal(0.5, 0.15)) for entrant in skill}
    Score.objects.bulk_create(
        [
            Score(run=run, part=part, metric="BAC", value=value, raw=(1 + value) / 2, stderr=0.0123)
            for run in runs
            if random.random() > 0.02
            for part in ("valid", "test")
            for value in [float(np.clip(skill[run.submission.entrant_id] + random.normal(0, 0.05), -1, 1))]
        ],
        BATCH,
    )
