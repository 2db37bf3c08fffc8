"""Learning curves: scored once when the phase is over, and shown part by part, never while they could be asked."""

import datetime as dt

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from competitions.models import Extension
from submissions import curves
from submissions.models import Prediction, PredictionScore, Run, RunState, Submission
from submissions.scoring import score_run
from tests.platform import factories as make

pytestmark = pytest.mark.django_db

# Three predictions of a run, each better than the one before.
STEPS = {
    1: {"valid": [0.9, 0.1, 0.8, 0.2], "test": [0.9, 0.1, 0.8, 0.2, 0.3, 0.7]},
    2: {"valid": [0.5, 0.4, 0.2, 0.8], "test": [0.5, 0.4, 0.2, 0.8, 0.7, 0.3]},
    3: {"valid": [0.1, 0.9, 0.2, 0.8], "test": [0.1, 0.9, 0.2, 0.8, 0.7, 0.3]},
}


@pytest.fixture
def phase(db):
    return make.phase(make.competition(), tasks=1)


@pytest.fixture
def run(phase):
    made = make.submission(phase, make.user("alice")).runs.get()
    keep_steps(made)
    score_run(made.pk)
    made.refresh_from_db()
    assert made.state == RunState.FINISHED
    return made


def keep_steps(run, steps=STEPS):
    Run.objects.filter(pk=run.pk).update(state=RunState.COLLECTED)
    for number, parts in steps.items():
        for part, values in parts.items():
            prediction = Prediction(
                run=run, part=part, number=number, name=f"{part}_{number}", seconds=float(10**number), size=1
            )
            prediction.file.save("p", ContentFile(make.column(values)), save=False)
            prediction.save()


def shown(run, now, *, sees_hidden=False):
    run = Run.objects.select_related("submission__phase").get(pk=run.pk)
    found = curves.curves([run], sees_hidden=sees_hidden, now=now).get(run.pk, [])
    return {curve.part: [(point.seconds, point.score.value) for point in curve.points] for curve in found}


def over(phase):
    return phase.closes_at + dt.timedelta(seconds=1)


def test_nothing_is_scored_while_the_phase_is_open(run, phase):
    assert curves.score_due(timezone.now()) == 0
    assert shown(run, timezone.now(), sees_hidden=True) == {}


def test_every_kept_prediction_is_scored_once_when_the_phase_is_over(run, phase):
    assert curves.score_due(over(phase)) == 6
    assert curves.score_due(over(phase)) == 0
    assert PredictionScore.objects.filter(value__isnull=False).count() == 6


def test_the_curve_of_the_feedback_part_appears_then_and_that_of_the_test_part_after_the_release(run, phase):
    curves.score_due(over(phase))
    assert shown(run, timezone.now()) == {}
    after = shown(run, over(phase))
    assert set(after) == {"valid"}
    assert [seconds for seconds, _ in after["valid"]] == [10.0, 100.0, 1000.0]
    assert after["valid"][0][1] < after["valid"][1][1] < after["valid"][2][1] == 1.0
    phase.released_at = over(phase)
    phase.save()
    assert set(shown(run, over(phase))) == {"valid", "test"}


def test_organizers_see_both_parts_as_soon_as_they_are_scored(run, phase):
    curves.score_due(over(phase))
    assert set(shown(run, over(phase), sees_hidden=True)) == {"valid", "test"}


def test_a_final_that_is_released_opens_the_test_part_of_its_tweakathon_too(run, phase):
    later = over(phase)
    final = make.phase(
        phase.competition,
        tasks=0,
        kind="final",
        parent=phase,
        opens_at=phase.closes_at,
        closes_at=later + dt.timedelta(days=1),
    )
    curves.score_due(later)
    assert set(shown(run, later)) == {"valid"}
    assert set(shown(run, over(final))) == {"valid", "test"}


def test_while_anybody_has_extra_time_the_phase_is_not_over(run, phase):
    """Who may still submit could be told by the others what the curves say about the labels."""
    carol = make.entrant(phase.competition, make.user("carol"))
    until = over(phase) + dt.timedelta(hours=2)
    Extension.objects.create(
        phase=phase, entrant=carol, closes_at=until, why="x", given_by=phase.competition.created_by
    )
    assert curves.score_due(over(phase)) == 0
    assert curves.score_due(until) == 6
    assert shown(run, over(phase)) == {}
    assert set(shown(run, until)) == {"valid"}


def test_a_copy_shares_the_curve_once_its_own_phase_is_released(run, phase):
    curves.score_due(over(phase))
    final = make.phase(
        phase.competition, tasks=0, kind="final", parent=phase, opens_at=phase.closes_at, closes_at=over(phase)
    )
    copy = Submission.objects.create(
        entrant=run.submission.entrant,
        phase=final,
        user=run.submission.user,
        number=2,
        origin=run.submission,
        received_at=timezone.now(),
        size=1,
        kind="code",
    )
    copied = Run.objects.create(
        submission=copy,
        task=run.task,
        source="copy",
        copied_from=run,
        dataset_version=run.dataset_version,
        dataset_name=run.dataset_name,
        metric=run.metric,
        budget_json=run.budget_json,
        state=RunState.FINISHED,
    )
    assert shown(copied, phase.closes_at) == {}
    expected = shown(run, over(final))["test"]
    assert shown(copied, over(final)) == {"test": expected}
    Run.objects.filter(pk=copied.pk).update(metric="BAC")
    assert shown(copied, over(final)) == {}


def test_a_run_of_a_blind_phase_shows_no_curve_before_the_release(run, phase):
    type(phase).objects.filter(pk=phase.pk).update(kind="automl", release="by_hand")
    curves.score_due(over(phase))
    assert shown(run, over(phase)) == {}
    type(phase).objects.filter(pk=phase.pk).update(released_at=over(phase))
    assert set(shown(run, over(phase))) == {"test"}


def test_what_cannot_be_scored_keeps_nobody_waiting_and_is_left_out(phase):
    run = make.submission(phase, make.user("alice")).runs.get()
    keep_steps(run, {**STEPS, 2: {"valid": ["x"], "test": [1, 2]}})
    score_run(run.pk)
    assert curves.score_due(over(phase)) == 6
    assert curves.score_due(over(phase)) == 0
    assert [seconds for seconds, _ in shown(run, over(phase))["valid"]] == [10.0, 1000.0]


def test_a_run_that_is_scored_again_gets_its_curve_anew(run, phase):
    curves.score_due(over(phase))
    Run.objects.filter(pk=run.pk).update(state=RunState.COLLECTED, metric="BAC")
    score_run(run.pk)
    assert not PredictionScore.objects.exists()
    assert curves.score_due(over(phase)) == 6


def test_a_call_scores_a_bounded_number(run, phase, monkeypatch):
    monkeypatch.setattr(curves, "MOST_AT_ONCE", 4)
    assert [curves.score_due(over(phase)) for _ in range(3)] == [4, 2, 0]


def test_two_calls_at_once_store_each_score_once(run, phase, monkeypatch):
    """The second call begins while the first has scored a prediction and not stored it yet."""
    first = curves._score
    state = {"entered": False}

    def meanwhile(prediction):
        if not state["entered"]:
            state["entered"] = True
            assert curves.score_due(over(phase)) == 6
        return first(prediction)

    monkeypatch.setattr(curves, "_score", meanwhile)
    assert curves.score_due(over(phase)) == 0
    assert PredictionScore.objects.count() == 6


def test_values_on_a_curve_are_rounded_as_every_public_score(run, phase):
    type(phase).objects.filter(pk=phase.pk).update(score_digits=1)
    curves.score_due(over(phase))
    for _, value in shown(run, over(phase), sees_hidden=True)["valid"]:
        assert value == round(value, 1)
