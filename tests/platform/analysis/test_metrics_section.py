"""The predictions that stand on boards under the common metric: when they are scored, and what is said of them."""

import datetime as dt

import pytest
from django.utils import timezone

from analysis import other_scores
from analysis.inputs.audience import Audience
from analysis.models import OtherScore
from analysis.sections.base import quiet
from analysis.sections.metrics import SECTION
from competitions.models import Phase, Task
from submissions.signals import scored
from tests.platform import factories as make
from tests.platform.series import enter, finish

pytestmark = pytest.mark.django_db

# AUC is perfect for Alice's, but all lie above a half; Bob's lie on the right sides of it but for one.
ALICE = {"valid": [0.6, 0.9, 0.7, 0.8], "test": [0.6, 0.9, 0.7, 0.8, 0.8, 0.6]}
BOB = {"valid": [0.1, 0.9, 0.2, 0.1], "test": [0.1, 0.9, 0.2, 0.8, 0.7, 0.3]}


@pytest.fixture
def phase():
    made = make.phase(make.competition(), tasks=1)
    finish(enter(made, make.user("alice")), ALICE)
    finish(enter(made, make.user("bob")), BOB)
    return made


def over(phase):
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() - dt.timedelta(minutes=1))
    phase.refresh_from_db()
    return phase


def result(phase, **audience):
    asked = Audience(phase=phase.pk, part="valid", **audience)
    return SECTION.build(SECTION.load(phase.competition, asked, timezone.now()), quiet)


def test_nothing_is_scored_by_another_metric_while_a_phase_is_open(phase):
    assert other_scores.score_due(timezone.now()) == 0


def test_what_stands_on_a_board_is_scored_once_when_the_phase_is_over(phase):
    over(phase)
    assert other_scores.score_due(timezone.now()) == 4
    assert other_scores.score_due(timezone.now()) == 0
    assert set(OtherScore.objects.values_list("metric", flat=True)) == {"BAC"}


def test_tasks_with_the_common_metric_need_no_other(phase):
    over(phase)
    Task.objects.filter(phase=phase).update(metric="BAC")
    for submission in phase.submissions.all():
        submission.runs.update(metric="BAC")
    assert other_scores.score_due(timezone.now()) == 0
    assert "is scored by the common metric already" in result(phase).blocks[-1].text


def test_a_new_score_drops_what_other_metrics_said(phase):
    other_scores.score_due(over(phase).closes_at + dt.timedelta(days=1))
    run = phase.submissions.first().runs.get()
    scored.send(sender=type(run), run=run)
    assert not OtherScore.objects.filter(run=run).exists()
    assert other_scores.score_due(timezone.now()) == 2


def test_another_metric_may_have_another_winner(phase):
    other_scores.score_due(over(phase).closes_at + dt.timedelta(days=1))
    found = result(phase)
    (row,) = found.named("datasets").rows
    assert row[1:4] == ("AUC", "BAC", 2) and row[7:] == (2, False)
    assert found.headline.startswith("On 0 of 1 datasets")
    assert len(found.named("two_metrics").rows) == 2
    (figure,) = SECTION.tools[0].answer(found, {"dataset": row[0]})
    assert "takes place 2" in figure.sentence


def test_what_is_not_scored_yet_is_told(phase):
    over(phase)
    notes = " ".join(block.text for block in result(phase).blocks)
    assert "2 scores under the common metric are not computed yet" in notes


def test_a_prediction_without_a_value_is_counted_and_left_out(phase):
    other_scores.score_due(over(phase).closes_at + dt.timedelta(days=1))
    OtherScore.objects.filter(run__submission__user__username="bob").update(value=None)
    found = result(phase)
    assert "1 prediction has no score" in found.blocks[0].text
    assert [row[1] for row in found.named("scores").rows] == ["alice"]
