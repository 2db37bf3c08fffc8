"""Nothing stays stuck: doorbells that were lost, leases that ran out, scores nobody computed."""

import datetime as dt

import pytest
from django.utils import timezone

from submissions import dispatch, doorbell, reconciler, scoring
from submissions.models import Attempt, Run, RunState, Submission, Worker
from submissions.reconciler import reconcile
from tests.platform import factories as make

pytestmark = pytest.mark.django_db

AGO = dt.timedelta(minutes=30)


@pytest.fixture
def bells(monkeypatch):
    """Every doorbell that would be rung, instead of ringing it."""
    rung = []
    monkeypatch.setattr(doorbell, "ring_worker", lambda run_id, queue: rung.append((run_id, queue)))
    monkeypatch.setattr(doorbell, "ring_scorer", lambda run_id: rung.append((run_id, "score")))
    return rung


@pytest.fixture
def submission():
    return make.submission(make.phase(make.competition()), make.user("alice"))


def test_it_rings_for_one_run_for_each_idle_worker(submission, bells):
    make.worker()
    assert dispatch.ring() == 1
    assert bells == [(submission.runs.first().pk, "compute.default")]


def test_it_does_not_ring_again_before_the_first_doorbell_had_time(submission, bells):
    make.worker()
    assert [dispatch.ring(), dispatch.ring()] == [1, 0]


def test_it_rings_again_for_a_doorbell_that_was_lost(submission, bells):
    make.worker()
    dispatch.ring()
    Run.objects.exclude(rung_at=None).update(rung_at=timezone.now() - AGO)
    reconcile()
    assert len(bells) == 2
    assert bells[0] == bells[1]


def test_it_rings_nobody_while_every_worker_is_busy_dead_or_revoked(submission, bells):
    busy, _ = make.worker()
    Attempt.objects.create(run=submission.runs.last(), number=1, worker=busy, secret_hash="x")
    make.worker(seen_at=timezone.now() - AGO)
    gone, _ = make.worker()
    gone.revoked_at = timezone.now()
    gone.save()
    assert dispatch.ring() == 0


def test_a_run_that_no_worker_can_hold_says_so(submission, bells):
    make.worker(cores=1)
    run = submission.runs.first()
    Run.objects.update(budget_json={**run.budget_json, "cores": 64})
    reconcile()
    run.refresh_from_db()
    assert bells == []
    assert "64 cores" in run.sentence


def test_a_run_says_when_no_worker_is_connected_and_when_one_is_back(submission, bells):
    run = submission.runs.first()
    dispatch.ring()
    run.refresh_from_db()
    assert "no worker is connected" in run.sentence
    make.worker()
    dispatch.ring()
    run.refresh_from_db()
    assert run.sentence == dispatch.WAITS


def test_a_run_that_waits_for_its_score_is_rung_for_again(submission, bells):
    run = submission.runs.first()
    Run.objects.filter(pk=run.pk).update(state=RunState.COLLECTED, rung_at=timezone.now() - AGO)
    reconcile()
    assert (run.pk, "score") in bells


def test_a_scorer_that_died_is_replaced_and_after_three_times_it_is_our_fault(submission, bells):
    run = submission.runs.first()
    late = {"state": RunState.SCORING, "deadline": timezone.now() - AGO}
    Run.objects.filter(pk=run.pk).update(scoring_tries=1, **late)
    reconcile()
    run.refresh_from_db()
    assert run.state == RunState.COLLECTED
    submission.runs.exclude(pk=run.pk).update(state=RunState.FINISHED)
    Run.objects.filter(pk=run.pk).update(scoring_tries=3, **late)
    reconcile()
    run.refresh_from_db()
    assert (run.state, run.reason) == (RunState.FAILED, "infrastructure")
    submission.refresh_from_db()
    assert submission.state == Submission.State.LOST


def test_an_error_of_ours_while_scoring_is_tried_again_and_never_blamed_on_the_entrant(
    submission, bells, monkeypatch
):
    run = submission.runs.first()
    Run.objects.filter(pk=run.pk).update(state=RunState.COLLECTED)

    def broken(run):
        raise OSError("disk is full")

    monkeypatch.setattr(scoring, "counting_predictions", broken)
    scoring.score_run(run.pk)
    reconcile()
    run.refresh_from_db()
    assert run.state == RunState.COLLECTED
    assert run.reason == ""


def test_a_cancelled_run_whose_worker_died_is_cancelled_and_not_queued_again(submission, bells):
    run = submission.runs.first()
    Attempt.objects.create(run=run, number=1, worker=None, secret_hash="x")
    Run.objects.filter(pk=run.pk).update(
        state=RunState.RUNNING, attempt_number=1, cancel_asked=True, deadline=timezone.now() - AGO
    )
    reconcile()
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_quota_comes_back_for_our_failures_at_most_twice_a_day(bells):
    phase = make.phase(make.competition(), tasks=1)
    for _ in range(3):
        run = make.submission(phase, make.user("alice")).runs.get()
        for number in (1, 2, 3):
            Attempt.objects.create(run=run, number=number, worker=None, secret_hash="x")
            late = timezone.now() - AGO
            Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING, attempt_number=number, deadline=late)
            reconcile()
    assert [found.uses_quota for found in Submission.objects.order_by("number")] == [False, False, True]


def test_queue_positions_count_within_a_class_of_workers(submission):
    other = make.submission(submission.phase, make.user("bob"))
    other.runs.update(resource_class="gpu")
    runs = [*submission.runs.all(), *other.runs.all()]
    positions = dispatch.queue_positions(runs)
    assert [positions[run.pk] for run in runs] == [1, 2, 1, 2]
    Run.objects.update(state=RunState.FINISHED)
    assert dispatch.queue_position(submission.runs.first()) is None


def test_one_run_that_cannot_be_mended_keeps_nobody_else_waiting(submission, bells, monkeypatch):
    runs = list(submission.runs.all())
    for run in runs:
        Attempt.objects.create(run=run, number=1, worker=None, secret_hash="x")
    submission.runs.update(state=RunState.RUNNING, attempt_number=1, deadline=timezone.now() - AGO)
    real = reconciler.end_attempt

    def broken(run, *args, **kwargs):
        if run.pk == runs[0].pk:
            raise RuntimeError("a row that is out of order")
        real(run, *args, **kwargs)

    monkeypatch.setattr(reconciler, "end_attempt", broken)
    reconcile()
    assert [run.state for run in submission.runs.all()] == [RunState.RUNNING, RunState.QUEUED]


def test_a_score_that_is_still_being_computed_keeps_its_lease(submission, settings, monkeypatch):
    settings.SCORING_LEASE = dt.timedelta(seconds=60)
    run = submission.runs.first()
    Run.objects.filter(pk=run.pk).update(state=RunState.COLLECTED)
    seen = []
    monkeypatch.setattr(scoring, "counting_predictions", lambda run: seen.append(run.scoring_tries) or [])
    scoring.score_run(run.pk)
    run.refresh_from_db()
    assert (seen, run.state, run.deadline) == ([1], RunState.FAILED, None)


def test_how_many_queries_the_queue_takes_does_not_depend_on_its_length(
    submission, bells, django_assert_max_num_queries
):
    for number in range(20):
        make.submission(submission.phase, make.user(f"person{number}"))
    make.worker()
    with django_assert_max_num_queries(10):
        dispatch.ring()
    with django_assert_max_num_queries(5):
        dispatch.queue_positions(list(submission.runs.all()))
    Worker.objects.all().delete()
    with django_assert_max_num_queries(10):
        dispatch.ring()
    assert not Run.objects.exclude(sentence__contains="no worker is connected").exists()


def test_a_run_that_lost_its_worker_keeps_saying_so_while_it_waits(submission, bells):
    make.worker()
    run = submission.runs.first()
    Attempt.objects.create(run=run, number=1, worker=None, secret_hash="x")
    Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING, attempt_number=1, deadline=timezone.now() - AGO)
    reconcile()
    run.refresh_from_db()
    assert run.sentence == "Waits for a worker again. Its worker was not heard any more."
