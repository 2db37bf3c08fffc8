"""What entrants tried as a whole, compared by the scores that everybody may see when a phase is over."""

import datetime as dt

import numpy as np
import pytest
from django.utils import timezone

from analysis import work
from analysis.inputs.audience import Audience
from analysis.sections import BY_KEY
from competitions.models import Phase
from leaderboards.board import refresh_now
from submissions.models import Run, Score
from tests.platform import factories as make

pytestmark = pytest.mark.django_db
SPACES = BY_KEY["spaces"]


@pytest.fixture
def phase():
    """A phase that is over: alice made 12 submissions, bob 11 of which one has no score, charlie one."""
    phase = make.phase(make.competition(), closes_at=timezone.now() - dt.timedelta(minutes=1))
    for name, scores in (("alice", [0.5 + 0.02 * i for i in range(12)]), ("bob", [0.3] * 10), ("charlie", [0.9])):
        person = make.user(name)
        for index, score in enumerate(scores):
            submission = make.submission(phase, person, size=1000 + index)
            for run in submission.runs.all():
                make.score(run, score)
                Run.objects.filter(pk=run.pk).update(wall_seconds=1.0 + index)
        if name == "bob":
            make.submission(phase, person, received_at=timezone.now() - dt.timedelta(hours=2))
    refresh_now(phase)
    return phase


def seen(of: Phase, **audience):
    audience = {"phase": of.pk, "part": "valid", **audience}
    return work.compute_now(of.competition, SPACES, Audience(**audience))


def test_entrants_with_enough_submissions_are_compared(phase):
    found = seen(phase)
    assert [row[:3] for row in found.named("sets").rows] == [("alice", 12, 0), ("bob", 10, 1)]
    assert found.named("tests").rows[0][2] == 1.0
    assert found.headline.startswith("alice and bob differ, D = 1.000")
    errors = [row[1] for row in found.named("distributions").rows if row[0] == "alice"]
    assert errors == pytest.approx(np.linspace(0.28, 0.5, 12))
    assert {"distributions_by_wall_seconds", "buckets_by_archive_bytes"} <= {one.key for one in found.figures()}


def test_a_phase_without_enough_submissions_says_so(phase):
    phase.submissions.filter(entrant__user__username__in=["alice", "bob"]).update(state="cancelled")
    assert "No entrant has 10 submissions" in seen(phase).headline


def test_nobody_is_compared_where_names_are_concealed(phase):
    Phase.objects.filter(pk=phase.pk).update(is_anonymous=True, release=Phase.When.BY_HAND)
    found = seen(phase)
    assert "Names are not shown" in found.headline
    assert "alice" not in str(found.to_json())
    assert "alice" in str(seen(phase, sees_hidden=True).to_json())


def test_several_phases_together_are_not_compared(phase):
    other = make.phase(phase.competition, tasks=1, number=2, closes_at=timezone.now() - dt.timedelta(minutes=1))
    make.score(make.submission(other, make.user("dora")).runs.get(), 0.5)
    refresh_now(other)
    assert "choose one" in seen(phase, phase=None).headline


def test_a_changed_score_asks_for_a_new_result(phase):
    def asked():
        audience = Audience(phase=phase.pk, part="valid")
        return SPACES.load(phase.competition, audience, timezone.now()).fingerprint()

    before = asked()
    assert asked() == before
    old = Score.objects.filter(run__submission__entrant__user__username="alice").earliest("pk")
    Score.objects.filter(pk=old.pk).update(value=0.1)
    assert asked() != before


def test_looking_costs_a_bounded_number_of_queries(phase, django_assert_max_num_queries):
    with django_assert_max_num_queries(20):
        SPACES.load(phase.competition, Audience(phase=phase.pk, part="valid"), timezone.now())
