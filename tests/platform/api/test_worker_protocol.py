"""Announce, claim, heartbeat, upload, report: what a worker may do and what it may not."""

import datetime as dt
import hashlib
import json

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from submissions.models import Attempt, Run, RunState, Submission, Worker
from submissions.reconciler import reconcile
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


class Caller:
    """A worker's HTTP calls."""

    def __init__(self, client, token):
        self.client, self.headers = client, {"Authorization": f"Bearer {token}"}

    def post(self, path, body=None):
        answer = self.client.post(
            f"/worker/{path}", json.dumps(body or {}), content_type="application/json", headers=self.headers
        )
        return answer

    def claim(self, run):
        answer = self.post(f"runs/{run.pk}/claim")
        assert answer.status_code == 200, answer.content
        claimed = answer.json()
        return claimed, {"attempt": claimed["attempt"], "secret": claimed["secret"]}

    def upload(self, run, credentials, name, content):
        link = self.post(f"runs/{run.pk}/uploads", {**credentials, "name": name, "size": len(content)})
        assert link.status_code == 200, link.content
        answer = self.client.put(path_of(link.json()["url"]), content, content_type="application/octet-stream")
        assert answer.status_code == 204, answer.content
        return reported(name, content)


def reported(name, content):
    return {"name": name, "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


def path_of(url):
    assert url.startswith("/worker/files/")
    return url


@pytest.fixture
def phase():
    return make.phase(make.competition(), tasks=1)


@pytest.fixture
def run(phase):
    return make.submission(phase, make.user("alice")).runs.get()


@pytest.fixture
def caller(client):
    _worker, token = make.worker("one")
    return Caller(client, token)


@pytest.fixture
def other(client):
    _worker, token = make.worker("two")
    return Caller(client, token)


def test_it_refuses_a_call_without_a_token_with_a_wrong_one_and_with_a_revoked_one(client, run, caller):
    assert client.post(f"/worker/runs/{run.pk}/claim").status_code == 401
    assert Caller(client, "wrong").post(f"runs/{run.pk}/claim").status_code == 401
    Worker.objects.update(revoked_at=timezone.now())
    assert caller.post(f"runs/{run.pk}/claim").status_code == 401


def test_a_token_is_not_kept_in_the_clear():
    worker, token = make.worker()
    assert token not in json.dumps([worker.token_hash, worker.name])
    assert Worker.by_token(token) == worker


def test_announcing_makes_a_worker_alive_with_its_capacity(caller):
    Worker.objects.update(seen_at=None)
    answer = caller.post("announce", {"sandbox": "docker", "cores": 4, "memory_bytes": 2**33})
    assert answer.json()["resource_class"] == "default"
    worker = Worker.objects.get(name="one")
    assert worker.is_alive(timezone.now())
    assert worker.capacity.cores == 4


def test_exactly_one_worker_gets_a_run(run, caller, other):
    caller.claim(run)
    second = other.post(f"runs/{run.pk}/claim")
    assert second.status_code == 409
    assert Attempt.objects.count() == 1
    run.refresh_from_db()
    assert (run.state, run.attempt_number) == (RunState.CLAIMED, 1)


def test_a_claim_names_no_solution_and_its_links_open_only_their_own_object(run, caller, client):
    claimed, _ = caller.claim(run)
    assert "solution" not in json.dumps(claimed)
    got = client.get(path_of(claimed["dataset"]["url"]))
    assert got.status_code == 200
    assert b"".join(got.streaming_content).startswith(b"PK")
    assert client.put(path_of(claimed["dataset"]["url"]), b"x").status_code == 403
    assert client.get("/worker/files/forged").status_code == 403


def test_a_claim_tells_where_the_arrays_are_and_what_they_are(run, caller, client):
    assert caller.claim(run)[0]["dataset"]["cache"] is None
    version = run.dataset_version
    version.cache_zip.save("arrays.zip", ContentFile(b"arrays"), save=False)
    version.cache_sha256 = hashlib.sha256(b"arrays").hexdigest()
    version.save()
    Run.objects.update(state=RunState.QUEUED)
    Attempt.objects.update(outcome=Attempt.Outcome.REPORTED)
    offered = caller.claim(run)[0]["dataset"]["cache"]
    content = b"".join(client.get(path_of(offered["url"])).streaming_content)
    assert hashlib.sha256(content).hexdigest() == offered["sha256"]


@pytest.mark.parametrize(
    "fields",
    [{"resource_class": "gpu"}, {"cores": 1}, {"memory_bytes": 2**20}, {"sandbox": "unconfined"}],
    ids=["class", "cores", "memory", "no sandbox"],
)
def test_a_worker_that_may_not_take_a_run_is_refused(run, client, fields):
    Run.objects.update(budget_json={**run.budget_json, "cores": 2, "memory_bytes": 2**30})
    _, token = make.worker(**fields)
    assert Caller(client, token).post(f"runs/{run.pk}/claim").status_code == 409
    run.refresh_from_db()
    assert run.state == RunState.QUEUED


def test_a_blind_phase_runs_only_on_trusted_workers(run, client, caller):
    phase = run.submission.phase
    phase.trusted_workers_only = True
    phase.save()
    _, token = make.worker(is_trusted=False)
    assert Caller(client, token).post(f"runs/{run.pk}/claim").status_code == 409
    caller.claim(run)


def test_a_heartbeat_prolongs_the_lease_and_shows_the_log(run, caller):
    _, credentials = caller.claim(run)
    Run.objects.update(deadline=timezone.now())
    beat = {**credentials, "started": True, "wall_seconds": 1.5, "log_tail": "epoch 1"}
    assert caller.post(f"runs/{run.pk}/heartbeat", beat).json() == {"cancel": False}
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert run.log_tail == "epoch 1"
    assert run.deadline > timezone.now() + dt.timedelta(seconds=20)


def test_another_worker_or_another_secret_cannot_speak_for_an_attempt(run, caller, other):
    _, credentials = caller.claim(run)
    for who, changed in [(other, {}), (caller, {"secret": "guess"}), (caller, {"attempt": 2})]:
        body = {**credentials, **changed}
        assert who.post(f"runs/{run.pk}/heartbeat", body).status_code == 404
        assert who.post(f"runs/{run.pk}/report", {**body, "status": "ok"}).status_code == 404


def report_predictions(caller, run, credentials, content=b"0.5\n" * 4, test=b"0.5\n" * 6):
    files = []
    for part, data in (("valid", content), ("test", test)):
        name = f"{run.dataset_name}_{part}.predict"
        files.append({**caller.upload(run, credentials, name, data), "part": part})
    return caller.post(f"runs/{run.pk}/report", {**credentials, "status": "ok", "predictions": files})


def test_a_report_keeps_write_once_copies_and_waits_for_its_score(run, caller):
    _, credentials = caller.claim(run)
    answer = report_predictions(caller, run, credentials)
    assert answer.json() == {"state": "collected"}
    prediction = run.predictions.get(part="valid")
    assert prediction.file.read() == b"0.5\n" * 4
    assert not default_storage.exists(f"incoming/{run.pk}")


def test_an_upload_changed_after_it_was_reported_never_reaches_the_score(run, caller, client):
    _, credentials = caller.claim(run)
    name = f"{run.dataset_name}_valid.predict"
    link = caller.post(f"runs/{run.pk}/uploads", {**credentials, "name": name, "size": 4}).json()["url"]
    client.put(path_of(link), b"good", content_type="application/octet-stream")
    file = {**reported(name, b"good"), "part": "valid"}
    client.put(path_of(link), b"evil", content_type="application/octet-stream")
    answer = caller.post(f"runs/{run.pk}/report", {**credentials, "status": "ok", "predictions": [file]})
    assert answer.status_code == 409
    assert run.predictions.count() == 0


def test_a_file_that_is_too_large_gets_no_link(run, caller):
    _, credentials = caller.claim(run)
    asked = {**credentials, "name": f"{run.dataset_name}_valid.predict", "size": 10**9}
    assert caller.post(f"runs/{run.pk}/uploads", asked).status_code == 413


def test_a_late_report_of_a_lost_attempt_is_refused(run, caller, other):
    _, late = caller.claim(run)
    Run.objects.update(deadline=timezone.now() - dt.timedelta(seconds=1))
    reconcile()
    run.refresh_from_db()
    assert run.state == RunState.QUEUED
    _, current = other.claim(run)
    assert current["attempt"] == 2
    assert caller.post(f"runs/{run.pk}/report", {**late, "status": "ok"}).status_code == 410
    assert report_predictions(other, run, current).status_code == 200


def test_a_run_lost_three_times_fails_as_our_fault_and_costs_no_quota(run, caller):
    for attempt in (1, 2, 3):
        claimed, _ = caller.claim(run)
        assert claimed["attempt"] == attempt
        Run.objects.update(deadline=timezone.now() - dt.timedelta(seconds=1))
        reconcile()
        run.refresh_from_db()
    assert (run.state, run.reason) == (RunState.FAILED, "infrastructure")
    submission = Submission.objects.get()
    assert submission.state == Submission.State.LOST
    assert not submission.uses_quota


def test_a_worker_that_stops_gives_its_run_back_without_counting_against_it(run, caller):
    for _ in range(4):
        _, credentials = caller.claim(run)
        caller.post(f"runs/{run.pk}/report", {**credentials, "status": "released"})
        run.refresh_from_db()
        assert run.state == RunState.QUEUED


def test_a_failed_run_keeps_its_reason_sentence_and_usage(run, caller):
    _, credentials = caller.claim(run)
    body = {"status": "failed", "reason": "timed_out", "sentence": "Ran out of time.", "wall_seconds": 10.0}
    caller.post(f"runs/{run.pk}/report", {**credentials, **body})
    run.refresh_from_db()
    assert (run.state, run.reason, run.sentence, run.wall_seconds) == (
        "failed",
        "timed_out",
        "Ran out of time.",
        10,
    )
    assert Submission.objects.get().state == Submission.State.FAILED
    assert Submission.objects.get().uses_quota


def test_a_report_with_an_unknown_status_or_reason_is_refused(run, caller):
    _, credentials = caller.claim(run)
    for body in ({"status": "won"}, {"status": "failed", "reason": "bad luck"}):
        assert caller.post(f"runs/{run.pk}/report", {**credentials, **body}).status_code == 422


def test_a_worker_without_a_broker_hears_of_a_run_it_may_take_by_asking(run, caller, client):
    assert caller.post("next", {"wait_seconds": 0}).json() == {"run": run.pk}
    _, gpu = make.worker(resource_class="gpu")
    assert Caller(client, gpu).post("next", {"wait_seconds": 0}).json() == {"run": None}
    caller.claim(run)
    assert caller.post("next", {"wait_seconds": 0}).json() == {"run": None}
