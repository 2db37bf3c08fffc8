"""The time of the protocol has one reader, and a rehearsal's clock moves nothing of another competition."""

import ast
import datetime as dt
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from competitions import clock as protocol_clock
from competitions import policy
from competitions.dataset_policy import concealed
from competitions.models import Competition, Extension, Phase, Task
from leaderboards.models import RankMoment
from submissions import actions, curves, handover
from submissions.models import Prediction
from submissions.models.submission import quota_left
from tests.platform import factories as make
from tests.platform.series import enter, finish, series

ROOT = Path(__file__).resolve().parents[3] / "platform"
APPS = ("competitions", "submissions", "leaderboards", "pages")
OURS = "leases, queues, workers and other work of the site go by our own clock"
SENT = "when mails are sent, and how often, is no matter of the protocol"
LIBRARY = "datasets of the library belong to no competition"
# Every file that asks for our own time, and why that is not the time of a competition.
READS_OUR_CLOCK = {
    "competitions/actions/announcements.py": SENT,
    "competitions/clock.py": "the reader itself",
    "competitions/teams/links.py": "a secret lasts a week of real days, whatever a rehearsal's clock shows",
    "competitions/telling/delivery.py": SENT,
    "pages/contest_forms.py": "what is being made or cloned has no clock yet",
    "pages/datasets.py": LIBRARY,
    "pages/meta_features.py": LIBRARY,
    "pages/queue.py": OURS,
    "pages/team.py": "the links of a team, see competitions/teams/links.py",
    "pages/views/announcements.py": SENT,
    "pages/views/creating.py": "what is being made has no clock yet",
    "pages/views/dataset_uploads.py": LIBRARY,
    "pages/views/datasets.py": LIBRARY,
    "pages/views/site.py": "lists of competitions, in which no rehearsal stands",
    "pages/views/studio/announcements.py": SENT,
    "pages/views/styleguide.py": "examples",
    "pages/views/upload.py": "taken before the competition is known, and turned into its time at once",
    "submissions/again.py": OURS,
    "submissions/bulk.py": OURS,
    "submissions/copies.py": OURS,
    "submissions/deletion.py": OURS,
    "submissions/dispatch.py": OURS,
    "submissions/files.py": OURS,
    "submissions/handover.py": "the tick of our clock, turned into each competition's; when a run was stopped",
    "submissions/models/worker.py": OURS,
    "submissions/programs/scoring.py": OURS,
    "submissions/readiness.py": "readiness checks are no part of the protocol; a day of theirs is a real one",
    "submissions/readiness_attempts.py": OURS,
    "submissions/reconciler.py": OURS,
    "submissions/rehearsal/made_datasets.py": "how long a start takes is no matter of the protocol",
    "submissions/rehearsal/advance.py": "the offset is what a rehearsal's clock is ahead of ours",
    "submissions/reports.py": OURS,
    "submissions/scoring.py": OURS,
    "submissions/tasks.py": "the tick of our clock for curves, turned into each competition's by its query",
    "submissions/transitions.py": OURS,
}
OTHER_READERS = {("timezone", "localtime"), ("datetime", "now"), ("datetime", "utcnow"), ("time", "time")}


def reads_of_time(path: Path) -> set[str]:
    """The ways in which a file asks for the present time, as `timezone.now`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            converts = node.func.attr == "localtime" and node.args
            if (name, node.func.attr) in OTHER_READERS | {("timezone", "now")} and not converts:
                found.add(f"{name}.{node.func.attr}")
        if isinstance(node, ast.ImportFrom) and node.module == "django.db.models.functions":
            found |= {"the database's Now" for alias in node.names if alias.name == "Now"}
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.timezone":
            found.add("an import of timezone's own functions")
    return found


def test_the_time_of_a_competition_has_a_single_reader():
    reading = {}
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts and (ways := reads_of_time(path)):
                reading[path.relative_to(ROOT).as_posix()] = ways
    unknown = {name: ways for name, ways in reading.items() if name not in READS_OUR_CLOCK}
    assert not unknown, "Read clock.now(competition), or say in this test why it is our own time."
    assert set(READS_OUR_CLOCK) == set(reading), "These no longer read our clock."
    assert set().union(*reading.values()) <= {"timezone.now", "timezone.localtime"}


@pytest.fixture
def ahead(clock):
    """A rehearsal whose clock is 30 days ahead, of a series that is going on."""
    made = series(clock.now)
    rehearsal = series(clock.now + dt.timedelta(days=30))
    Competition.objects.filter(pk=rehearsal.contest.pk).update(
        rehearses=made.contest, clock_offset=dt.timedelta(days=30)
    )
    rehearsal.contest.refresh_from_db()
    return made, rehearsal


@pytest.mark.django_db
def test_only_a_rehearsal_has_another_clock(clock):
    contest = make.competition()
    assert protocol_clock.now(contest) == clock.now
    with pytest.raises(IntegrityError), transaction.atomic():
        Competition.objects.filter(pk=contest.pk).update(clock_offset=dt.timedelta(hours=1))


@pytest.mark.django_db
def test_windows_quotas_and_times_of_receipt_follow_it(ahead, clock, tmp_path):
    _, rehearsal = ahead
    alice = make.user("alice")
    make.participant(rehearsal.contest, alice)
    phase = rehearsal["Tweakathon[0]"]
    sent = actions.submit(user=alice, phase=phase, archive=make.code_zip(tmp_path), filename="a.zip")
    assert sent.received_at == clock.now + dt.timedelta(days=30)
    now = protocol_clock.now(rehearsal.contest)
    assert quota_left(phase, sent.entrant, now) == phase.daily_quota - 1
    assert quota_left(phase, sent.entrant, now + dt.timedelta(days=1)) == phase.daily_quota


@pytest.mark.django_db
def test_a_tick_does_in_each_competition_what_its_own_clock_says(ahead, clock):
    made, rehearsal = ahead
    for one in (made, rehearsal):
        finish(enter(one["Tweakathon[0]"], make.user("alice")))
    Competition.objects.filter(pk=rehearsal.contest.pk).update(clock_offset=dt.timedelta(days=30, hours=11))
    assert handover.tick() == 2  # into the Final and the blind phase of the rehearsal alone
    assert not made["Final[0]"].handovers.exists()
    assert rehearsal["Final[0]"].handovers.count() == 1
    clock.move(hours=11)
    assert handover.tick(only=made.contest) == 2


@pytest.mark.django_db
def test_what_is_rehearsed_hides_and_reveals_no_dataset_elsewhere(ahead, clock):
    made, rehearsal = ahead
    blind = rehearsal["AutoML[1]"].tasks.first()
    task = Task.objects.create(phase=made["Tweakathon[0]"], dataset=blind.dataset, order=9)
    assert policy.known_tasks([task], clock.now) == {task.pk}
    assert not concealed([blind.dataset], clock.now)
    own = rehearsal["Tweakathon[1]"]
    assert not policy.shows_all_datasets(own, own.opens_at)


@pytest.mark.django_db
def test_places_are_noted_at_the_time_of_the_competition(ahead, clock):
    _, rehearsal = ahead
    phase = rehearsal["Tweakathon[0]"]
    finish(enter(phase, make.user("alice")))
    moment = RankMoment.objects.filter(phase=phase).latest("at")
    assert moment.at == clock.now + dt.timedelta(days=30)


@pytest.mark.django_db
def test_curves_are_due_when_the_competition_says_that_the_phase_is_over(ahead, clock):
    made, rehearsal = ahead
    numbered = []
    for one in (made, rehearsal):
        finish(enter(one["Tweakathon[0]"], make.user("alice")))
        found = Prediction.objects.filter(run__submission__phase=one["Tweakathon[0]"]).order_by("pk")
        Prediction.objects.filter(pk=found[0].pk).update(number=1)
        numbered.append(found[0])
    assert not curves.due(timezone.now()).exists()
    Competition.objects.filter(pk=rehearsal.contest.pk).update(clock_offset=dt.timedelta(days=30, hours=11))
    assert list(curves.due(timezone.now())) == [numbered[1]]
    Extension.objects.create(
        phase=rehearsal["Tweakathon[0]"],
        entrant=numbered[1].run.submission.entrant,
        closes_at=clock.now + dt.timedelta(days=30, hours=12),
        why="A fault of ours.",
        given_by=make.user("olga"),
    )
    assert not curves.due(timezone.now()).exists()


@pytest.mark.django_db
def test_without_a_rehearsal_the_rule_costs_one_query_more(clock, django_assert_num_queries):
    make.phase(make.competition())
    with django_assert_num_queries(1):
        past = protocol_clock.passed(clock.now, "opens_at", "round__competition")
    assert Phase.objects.filter(past).count() == 1
