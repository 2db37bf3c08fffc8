"""Two ticks, an upload and a tick, a score and a tick, at the same moment: one hand-over comes of it."""

import datetime as dt

import pytest
from django.utils import timezone

from submissions.actions import submit
from submissions.models import Handover, Submission
from submissions.scoring import score_run
from tests.platform import factories as make
from tests.platform.series import collected, copies, enter, finish, series, tick
from tests.platform.submissions.test_at_once import at_once

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def contest():
    """A series whose Tweakathon[0] closed a minute ago."""
    return series(timezone.now() - dt.timedelta(hours=10, minutes=1))


def test_four_ticks_at_once_hand_everybody_over_once(contest):
    people = [make.user(f"person{number}") for number in range(5)]
    for person in people:
        finish(enter(contest["Tweakathon[0]"], person))
    Handover.objects.all().delete()  # whatever the settling itself has done: begin anew, with four at once
    for copy in Submission.objects.filter(origin__isnull=False):
        copy.delete()
    at_once([tick] * 4)
    for title in ("Final[0]", "AutoML[1]"):
        assert contest[title].handovers.count() == 5
        assert len(copies(contest[title])) == 5
    numbers = list(Submission.objects.values_list("entrant", "number"))
    assert len(numbers) == len(set(numbers)) == 15


def test_the_last_score_and_a_tick_at_once_lose_nobody(contest):
    source = enter(contest["Tweakathon[0]"], make.user("alice"))
    runs = [collected(run) for run in source.runs.all()]
    at_once([lambda pk=run.pk: score_run(pk) for run in runs] + [tick, tick])
    tick()
    for title in ("Final[0]", "AutoML[1]"):
        (entry,) = copies(contest[title])
        assert entry.origin == source
    assert Submission.objects.count() == 3


def test_a_late_upload_and_ticks_at_once_end_with_the_late_one_standing(contest, tmp_path):
    alice = make.user("alice")
    make.participant(contest.contest, alice)
    finish(enter(contest["Tweakathon[0]"], alice, hours_ago=2))
    begun = contest.at(10) - dt.timedelta(seconds=1)
    archive = make.code_zip(tmp_path)

    def upload():
        return submit(
            user=alice, phase=contest["Tweakathon[0]"], archive=archive, filename="s.zip", begun_at=begun
        )

    answers = at_once([upload, tick, tick])
    late = next(answer for answer in answers if isinstance(answer, Submission))
    finish(late)
    tick()
    (entry,) = copies(contest["AutoML[1]"])
    assert entry.origin == late
    assert Handover.objects.filter(phase=contest["AutoML[1]"]).count() == 1
