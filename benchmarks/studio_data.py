"""A competition with as many submissions as wanted, in all states, straight in the database, for `studio.py`."""

import datetime as dt
from dataclasses import dataclass

import numpy as np
from django.utils import timezone

from accounts.models import User
from benchmarks.leaderboard_data import people_of, task_of
from competitions.models import Competition, Entrant, Organizer, Phase, Round, Task
from submissions.models import Reason, Run, RunState, Submission

BATCH = 500
SLUG = "many"
PHASES = 3
SHARE_FAILED, SHARE_WAITING = 0.1, 0.01
REASONS = (Reason.CRASHED, Reason.TIMED_OUT, Reason.OUT_OF_MEMORY, Reason.NO_PREDICTIONS)


@dataclass(frozen=True)
class Made:
    """The competition, its owner, who sees everything, and a reviewer, who does not."""

    competition: Competition
    owner: User
    reviewer: User
    submissions: int
    runs: int


def make(*, submissions: int, datasets: int, entrants: int, seed: int = 0) -> Made:
    """Three phases that are over, open and to come, with the submissions spread over the first two."""
    random = np.random.default_rng(seed)
    now = timezone.now()
    owner = User.objects.create_user("olga", "olga@example.org")
    reviewer = User.objects.create_user("rita", "rita@example.org")
    competition = Competition.objects.create(
        slug=SLUG, title="Many submissions", state=Competition.State.PUBLISHED, created_by=owner
    )
    Organizer.objects.create(competition=competition, user=owner, role=Organizer.Role.OWNER)
    Organizer.objects.create(competition=competition, user=reviewer, role=Organizer.Role.REVIEWER)
    group = Round.objects.create(competition=competition, number=1, name="Novice")
    phases = [
        Phase.objects.create(
            round=group,
            number=index + 1,
            title=f"Tweakathon[{index + 1}]",
            opens_at=now + dt.timedelta(days=30 * (index - 2)),
            closes_at=now + dt.timedelta(days=30 * (index - 1)),
        )
        for index in range(PHASES)
    ]
    tasks = {
        phase.pk: [task_of(phase, owner, phase.number * datasets + order) for order in range(datasets)]
        for phase in phases
    }
    people = people_of(competition, entrants, random)
    _submissions(phases[:2], people, submissions, now, random)
    _runs(competition, tasks, random)
    return found()


def found() -> Made:
    """What an earlier run made."""
    competition = Competition.objects.get(slug=SLUG)
    reviewer = competition.organizers.get(role=Organizer.Role.REVIEWER).user
    every = Submission.objects.filter(phase__round__competition=competition)
    runs = Run.objects.filter(submission__in=every).count()
    return Made(competition, competition.created_by, reviewer, every.count(), runs)


def _submissions(
    phases: list[Phase], people: list[Entrant], count: int, now: dt.datetime, random: np.random.Generator
) -> None:
    made, drawn = [], random.random(count)
    for index in range(count):
        entrant = people[index % len(people)]
        state = Submission.State.FINISHED
        if drawn[index] < SHARE_WAITING:
            state = Submission.State.ACTIVE
        elif drawn[index] < SHARE_WAITING + SHARE_FAILED:
            state = Submission.State.FAILED
        made.append(
            Submission(
                entrant=entrant,
                phase=phases[index % len(phases)],
                user=entrant.user,
                number=index // len(people) + 1,
                received_at=now - dt.timedelta(minutes=float(count - index + random.random())),
                ended_at=None if state == Submission.State.ACTIVE else now,
                archive="submissions/none.zip",
                filename=f"attempt-{index}.zip",
                sha256=f"{index:064x}",
                size=1,
                kind=Submission.Kind.RESULTS if index % 7 == 0 else Submission.Kind.CODE,
                state=state,
            )
        )
    Submission.objects.bulk_create(made, BATCH)


def _runs(competition: Competition, tasks: dict[int, list[Task]], random: np.random.Generator) -> None:
    versions = {task.pk: task.dataset.versions.get() for some in tasks.values() for task in some}
    states = {Submission.State.ACTIVE: RunState.QUEUED, Submission.State.FAILED: RunState.FAILED}
    budget = {"wall_seconds": 1200.0, "cores": None, "memory_bytes": None}
    every = Submission.objects.filter(phase__round__competition=competition)
    made = []
    for submission in every:
        state = states.get(Submission.State(submission.state), RunState.FINISHED)
        for task in tasks[submission.phase_id]:
            made.append(
                Run(
                    submission=submission,
                    task=task,
                    order=task.order,
                    source=Run.Source.CODE,
                    dataset_version=versions[task.pk],
                    dataset_name=versions[task.pk].name,
                    metric="BAC",
                    budget_json=budget,
                    state=state,
                    reason=REASONS[random.integers(len(REASONS))] if state == RunState.FAILED else "",
                    wall_seconds=float(random.uniform(200, 1200)),
                    sentence="Waits for a worker." if state == RunState.QUEUED else "",
                )
            )
    Run.objects.bulk_create(made, BATCH)
