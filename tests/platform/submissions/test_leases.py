"""Worker and site that cannot hear each other for a while: who goes on, who stops, what counts as lost."""

import datetime as dt
import json

import pytest
from django.utils import timezone

from submissions import leases
from submissions.models import Attempt, Pulse, Run, RunState
from submissions.reconciler import lose_attempts_of, reconcile
from tests.platform import factories as make

pytestmark = pytest.mark.django_db

SECOND = dt.timedelta(seconds=1)
MINUTE = dt.timedelta(minutes=1)


class AtWorker:
    """A worker's calls, at moments that the test chooses."""

    def __init__(self, client, name, monkeypatch):
        self.worker, self.token = make.worker(name)
        self.client, self.monkeypatch = client, monkeypatch
        self.credentials = {}

    def post(self, path, at, **body):
        self.monkeypatch.setattr("api.worker.timezone.now", lambda: at)
        return self.client.post(
            f"/worker/{path}",
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Bearer {self.token}"},
        )

    def claim(self, run, at):
        answer = self.post(f"runs/{run.pk}/claim", at)
        if answer.status_code == 200:
            self.credentials = {key: answer.json()[key] for key in ("attempt", "secret")}
        return answer.status_code

    def beat(self, run, at, seconds=0.0):
        body = {**self.credentials, "started": True, "wall_seconds": seconds}
        return self.post(f"runs/{run.pk}/heartbeat", at, **body).status_code

    def report(self, run, at):
        body = {**self.credentials, "status": "failed", "reason": "crashed", "sentence": "It crashed."}
        return self.post(f"runs/{run.pk}/report", at, **body).status_code


@pytest.fixture
def start():
    return timezone.now()


@pytest.fixture
def run():
    return make.submission(make.phase(make.competition(), tasks=1), make.user("alice")).runs.get()


@pytest.fixture
def one(client, monkeypatch, run, start):
    """A worker that has run for 5 s and was last heard then; the reconciler looked at the same moment."""
    worker = AtWorker(client, "one", monkeypatch)
    assert worker.claim(run, start) == 200
    reconcile(start)
    assert worker.beat(run, start + 5 * SECOND, seconds=5.0) == 200
    return worker


def looks(run, moments):
    """The state of the run after the reconciler looked at each moment."""
    for moment in moments:
        reconcile(moment)
    run.refresh_from_db()
    return run.state


def every_five_seconds(start, until):
    moment = start
    while moment <= until:
        yield moment
        moment += 5 * SECOND


@pytest.fixture
def away(one, run, start):
    """The worker was not heard for three minutes, in which the site was there."""
    assert looks(run, every_five_seconds(start, start + 3 * MINUTE)) == RunState.QUEUED
    return one


def test_a_worker_that_is_back_within_the_grace_goes_on_with_its_run(away, run, start):
    assert away.beat(run, start + 4 * MINUTE, seconds=240) == 200
    run.refresh_from_db()
    attempt = run.attempts.get()
    assert (run.state, attempt.outcome, attempt.note) == (RunState.RUNNING, Attempt.Outcome.OPEN, "")
    assert run.started_at == start, "the clock of the run did not begin anew"
    assert run.sentence == "Is running."


def test_calls_that_arrive_together_take_it_back_once(away, run, start):
    # What a worker sent while the site hung is answered all at once, each call by what it read before the others.
    stale = run.attempts.get()
    moment = start + 4 * MINUTE
    assert leases.take_back(run, stale, moment)
    assert leases.take_back(run, stale, moment)
    assert run.attempts.get().outcome == Attempt.Outcome.OPEN


def test_its_report_is_still_accepted(away, run, start):
    assert away.report(run, start + 4 * MINUTE) == 200
    run.refresh_from_db()
    assert (run.state, run.reason) == (RunState.FAILED, "crashed")


def test_after_the_grace_it_is_not(away, run, start, settings):
    late = start + 5 * SECOND + settings.LEASE_GRACE + SECOND
    assert away.beat(run, late) == 410
    assert away.report(run, late) == 410


def test_it_stops_when_another_worker_was_given_the_run(away, run, start, client, monkeypatch):
    other = AtWorker(client, "two", monkeypatch)
    assert other.claim(run, start + 4 * MINUTE) == 200
    assert away.beat(run, start + 4 * MINUTE) == 410
    assert other.beat(run, start + 4 * MINUTE) == 200
    assert run.attempts.get(number=1).outcome == Attempt.Outcome.LOST


def test_one_that_was_started_again_does_not_get_its_run_back(one, run, start):
    lose_attempts_of(one.worker)
    assert one.beat(run, start + 10 * SECOND) == 410


def test_one_whose_run_was_cancelled_meanwhile_stops(away, run, start):
    from submissions.actions import cancel

    cancel(run.submission, by=run.submission.user)
    assert away.beat(run, start + 4 * MINUTE) == 410


def test_a_worker_that_was_away_three_times_has_not_lost_its_run_thrice(away, run, start):
    moment = start + 4 * MINUTE
    for _ in range(3):
        assert away.beat(run, moment) == 200
        assert looks(run, every_five_seconds(moment, moment + 2 * MINUTE)) == RunState.QUEUED
        moment += 3 * MINUTE
    assert away.report(run, moment) == 200


def test_a_site_that_was_away_waits_one_lease_before_it_judges(one, run, start):
    back = start + 8 * MINUTE
    assert looks(run, [back, back + 5 * SECOND, back + 25 * SECOND]) == RunState.RUNNING
    assert run.attempts.get().outcome == Attempt.Outcome.OPEN
    assert one.beat(run, back + 26 * SECOND) == 200
    assert looks(run, every_five_seconds(back + 30 * SECOND, back + 50 * SECOND)) == RunState.RUNNING


def test_a_worker_that_is_not_heard_in_that_lease_has_lost_its_run(one, run, start):
    back = start + 8 * MINUTE
    assert looks(run, every_five_seconds(back, back + 35 * SECOND)) == RunState.QUEUED


def test_a_worker_that_died_before_the_site_did_is_not_forgiven(one, run, start):
    Pulse.objects.update(seen_at=start + 2 * MINUTE)
    assert looks(run, [start + 60 * MINUTE]) == RunState.QUEUED


def test_a_reconciler_that_always_comes_late_still_finds_the_dead(one, run, start):
    assert looks(run, [start + n * 31 * SECOND for n in range(1, 5)]) == RunState.QUEUED


def test_how_long_the_site_was_away_is_nothing_at_its_first_start(start):
    assert Pulse.beat(start) == dt.timedelta(0)
    assert Pulse.beat(start + MINUTE) == MINUTE


def test_another_run_at_the_same_worker_keeps_it_from_taking_the_first_back(away, run, start):
    second = make.submission(run.submission.phase, make.user("bob")).runs.get()
    Attempt.objects.create(run=second, number=1, worker=away.worker, secret_hash="x")
    assert away.beat(run, start + 4 * MINUTE) == 410
    assert Run.objects.get(pk=run.pk).state == RunState.QUEUED
