"""A contest with everybody in it. Alice competes, Bob too, Charlie is a stranger, Olga organizes, Rita reviews."""

import datetime as dt
from dataclasses import dataclass, field

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone

from accounts.models import User
from competitions.models import Competition, Organizer, Page, Phase
from leaderboards import board
from submissions.models import Run, Submission
from tests.platform import factories as make

ROLES = ("anonymous", "stranger", "participant", "other", "organizer", "reviewer", "superuser")


@dataclass
class World:
    contest: Competition
    phase: Phase
    blind: Phase
    submission: Submission
    finished: Submission
    people: dict[str, User] = field(default_factory=dict)

    def client(self, role: str) -> Client:
        client = Client()
        if role != "anonymous":
            client.force_login(self.people[role])
        return client

    @property
    def run(self) -> Run:
        run = self.submission.runs.first()
        assert run is not None
        return run

    def url(self, ending: str = "") -> str:
        return f"/competitions/{self.contest.slug}/{ending}"


@pytest.fixture
def world(db) -> World:
    olga = make.user("olga")
    contest = make.competition("contest", olga, title="The contest")
    Page.objects.create(competition=contest, slug="prizes", title="Prizes", body="None.")
    phase = make.phase(contest)
    later = timezone.now() + dt.timedelta(days=40)
    blind = make.phase(
        contest,
        kind="automl",
        title="AutoML[1]",
        parent=phase,
        opens_at=later,
        closes_at=later + dt.timedelta(days=1),
    )
    people = {
        "organizer": olga,
        "stranger": make.user("charlie"),
        "participant": make.user("alice"),
        "other": make.user("bob"),
        "reviewer": make.user("rita"),
        "superuser": make.user("sam", is_superuser=True, is_staff=True),
    }
    Organizer.objects.create(competition=contest, user=people["reviewer"], role=Organizer.Role.REVIEWER)
    for role in ("participant", "other"):
        make.participant(contest, people[role])
    finished = scored(phase, people["other"], 0.4)
    submission = make.submission(phase, people["participant"])
    run = submission.runs.first()
    run.log.save("log", ContentFile(b"\x1b[31mred\x1b[0m <script>alert(1)</script>\n"), save=False)
    run.log_tail = "\x1b[31mred\x1b[0m <script>alert(1)</script>\n"
    run.save()
    board.refresh_now(phase)
    return World(contest, phase, blind, submission, finished, people)


def scored(phase: Phase, person: User, value: float) -> Submission:
    """A finished submission with the same validation score, and a better test score, on every task."""
    made = make.submission(phase, person, state=Submission.State.FINISHED)
    for run in made.runs.all():
        make.score(run, value)
        make.score(run, value + 0.1, part="test")
    return made
