"""A competition with something of everything in it, for tests that look at every page."""

import datetime as dt
import html
import re
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import Resolver404, resolve
from django.utils import timezone

from accounts.models import User
from competitions import teams
from competitions.models import (
    Announcement,
    Answer,
    AuditEntry,
    Competition,
    Delivery,
    Organizer,
    Page,
    Participant,
    Phase,
    Prize,
    Question,
    Round,
    Task,
)
from datasets.models import Dataset
from datasets.uploads.models import Upload
from leaderboards import board
from submissions.models import Run, RunState, Submission
from tests.platform import factories as make

OVERVIEW = """Programs learn on their own, within a budget, on data that nobody has seen.

## How to take part
1. Download the starting kit.
2. Try your program at home.
3. Submit it.

| part | who sees its labels |
|------|---------------------|
| train | everybody |
| test | the organizers |
"""
NAMES = (
    "erin",
    "farid",
    "grace",
    "heidi",
    "ivan",
    "judy",
    "kofi",
    "lena",
    "An_entrant_with_a_very_long_name_without_any_blank_in_it",
)
NO_PAGES = ("/static/", "/admin/", "/favicon")
# What a page shows depends much on who looks at it.
SHOWN_DIFFERENTLY = ("competitions/<slug:slug>/submissions/<int:submission_id>/",)
# Where no link leads.
BEGIN = ("/", "/styleguide/", "/accounts/logout/", "/accounts/password/reset/", "/accounts/password/reset/done/")


@dataclass
class World:
    """The competition, and the people by what they are to it."""

    contest: Competition
    people: dict[str, User] = field(default_factory=dict)
    submission: Submission | None = None


def build() -> World:
    """Olga organizes it; Alice and Bob are a team; Carol waits for approval; Charlie is a stranger."""
    olga = make.user("olga", first_name="Olga", last_name="Petrova")
    olga.user_permissions.add(
        *Permission.objects.filter(codename__in=("create_competitions", "add_competition", "add_dataset"))
    )
    contest = make.competition(
        "learning",
        olga,
        title="Learning without help 2026",
        summary="Three rounds of rising difficulty, from two known datasets to blind ones.",
        overview=OVERVIEW,
        rules="- One account a person.\n- Be fair.",
        max_team_size=3,
    )
    world = World(contest, {"owner": olga})
    Page.objects.create(competition=contest, slug="prizes", title="Prizes", body="The first three are paid.")
    _people(world)
    tweakathon, final = _phases(world)
    _submissions(world, tweakathon)
    _team(world)
    _telling(world, tweakathon)
    _machines(world)
    Upload.objects.create(owner=olga, filename="dorothea.zip", size=10_000_000)
    for phase in (tweakathon, final):
        board.refresh_now(phase)
    return world


def _people(world: World) -> None:
    contest = world.contest
    alice, bob = make.user("alice"), make.user("bob")
    world.people |= {"participant": alice, "mate": bob, "stranger": make.user("charlie")}
    world.people["reviewer"] = make.user("rita")
    Organizer.objects.create(competition=contest, user=world.people["reviewer"], role=Organizer.Role.REVIEWER)
    for person in (alice, bob, make.user("dave")):
        make.participant(contest, person)
    make.participant(contest, make.user("carol"), Participant.State.PENDING)
    make.participant(contest, make.user("oscar"), Participant.State.REMOVED)


def _team(world: World) -> None:
    """What Alice has sent alone becomes the team's; Dave was asked to come."""
    alice, bob = world.people["participant"], world.people["mate"]
    team = teams.create(world.contest, alice, "The sceptics")
    for person in (bob, make.user("dave")):
        teams.invite(team, person, by=alice)
    teams.accept(team, bob)


def _phases(world: World) -> tuple[Phase, Phase]:
    contest, now, day = world.contest, timezone.now(), dt.timedelta(days=1)
    group = Round.objects.create(competition=contest, number=0, name="Preparation")
    datasets = [make.dataset(contest.created_by, name) for name in ("adult", "digits")]
    Dataset.objects.filter(pk=datasets[0].pk).update(is_public=True, description="Census data, *cleaned*.")

    def phase(number: int, title: str, kind: str, opens: int, closes: int, **fields: object) -> Phase:
        made = Phase.objects.create(
            round=group,
            number=number,
            title=title,
            kind=kind,
            opens_at=now + opens * day,
            closes_at=now + closes * day,
            **fields,
        )
        for order, dataset in enumerate(datasets):
            Task.objects.create(phase=made, dataset=dataset, order=order)
        return made

    tweakathon = phase(1, "Tweakathon 0", "tweakathon", -20, 10)
    final = phase(2, "Final 0", "final", 10, 12, parent=tweakathon)
    phase(3, "AutoML 1", "automl", 10, 14, parent=tweakathon)
    Prize.objects.create(phase=final, place=1, title="The first prize")
    return tweakathon, final


def _submissions(world: World, phase: Phase) -> None:
    for index, name in enumerate(NAMES):
        person = make.user(name)
        make.participant(world.contest, person)
        sent = make.submission(phase, person, state=Submission.State.FINISHED)
        for run in sent.runs.all():
            make.score(run, 0.93 - 0.07 * index)
    world.submission = _half_failed(phase, world.people["participant"])
    make.submission(phase, make.user("erin"))  # waits


def _half_failed(phase: Phase, person: User) -> Submission:
    """One run finished, one crashed."""
    now = timezone.now()
    sent = make.submission(phase, person, state=Submission.State.FINISHED, comment="with a smaller model")
    first, second = sent.runs.order_by("order")
    make.score(first, 0.81)
    Run.objects.filter(pk=second.pk).update(
        state=RunState.FAILED,
        reason="crashed",
        sentence="The program ended with an error after 12 s.",
        started_at=now - dt.timedelta(seconds=12),
        ended_at=now,
        wall_seconds=12.0,
        error_lines="ValueError: array has no columns",
        log_tail="fit 12 trees\nValueError: array has no columns\n",
    )
    return sent


def _telling(world: World, phase: Phase) -> None:
    contest, olga = world.contest, world.people["owner"]
    told = Announcement.objects.create(
        competition=contest, subject="A dataset was mended", body="**digits** had a wrong label.", sent_by=olga
    )
    for participant in contest.participants.filter(state=Participant.State.APPROVED):
        Delivery.objects.create(announcement=told, user=participant.user, state=Delivery.State.SENT)
    kinds = (("text", "Which model?", []), ("choice", "Which hardware?", ["CPU", "GPU"]))
    for order, (kind, text, choices) in enumerate((*kinds, ("number", "How many features?", []))):
        asked = Question.objects.create(
            competition=contest, order=order, kind=kind, text=text, choices=choices, is_required=order == 0
        )
        for index, entrant in enumerate(contest.entrants.order_by("pk")[1:6]):
            value = {"text": "Boosted trees.", "choice": ["CPU", "GPU"][index % 2], "number": 10 * index}[kind]
            Answer.objects.create(question=asked, entrant=entrant, value=value)
    for days in range(3):
        AuditEntry.objects.create(
            competition=contest,
            user=olga if days else None,
            at=timezone.now() - dt.timedelta(days=days),
            action="change_dates",
            text=f"{phase.title} closes {days + 1} days later.",
        )


def _machines(world: World) -> None:
    make.worker("rack-1")
    make.worker("rack-2", seen_at=timezone.now() - dt.timedelta(hours=2))


def pages(person: User | None, known: set[str]) -> list[str]:
    """Where links lead somebody from the front page, one address of each kind, as far as they are pages.

    Kinds that are known are followed but not named again; the new ones are added to them.
    """
    client = Client()
    if person is not None:
        client.force_login(person)
    found, kinds, waiting = [], set(), list(BEGIN)
    while waiting:
        address = waiting.pop(0)
        kind = kind_of(address)
        if kind is None or kind in kinds:
            continue
        kinds.add(kind)
        answer = client.get(address, headers={"accept": "text/html"})
        if answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/html"):
            if kind not in known or kind.startswith(SHOWN_DIFFERENTLY):
                found.append(address)
            links = re.findall(r'href="([/?][^"#]*)', answer.content.decode())
            waiting += [urljoin(address, html.unescape(link)) for link in links]
    known |= kinds
    return found


def kind_of(address: str) -> str | None:
    """The route of an address; None for what is no page of ours."""
    parts = urlsplit(address)
    if parts.path.startswith(NO_PAGES):
        return None
    try:
        match = resolve(parts.path)
    except Resolver404:
        return None
    return match.route
