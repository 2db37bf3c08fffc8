"""A worker's token in the wrong hands, or a worker that talks nonsense: nothing breaks, nothing is left."""

import datetime as dt
import json
import threading
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.utils import timezone

from api import worker as worker_api
from submissions.files import incoming_names
from submissions.models import Attempt, Prediction, Run, RunState, Submission, Worker
from submissions.scoring import score_run
from tests.platform import factories as make
from tests.platform.api.test_worker_protocol import Caller, path_of, report_predictions, reported

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return make.phase(make.competition(), tasks=1)


@pytest.fixture
def run(phase):
    return make.submission(phase, make.user("alice")).runs.get()


@pytest.fixture
def caller(client):
    return Caller(client, make.worker("one")[1])


def stored_files():
    root = Path(default_storage.location)
    return sorted(path for folder in ("runs", "incoming") for path in (root / folder).rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "said",
    [
        '"memory_bytes": 1e400',
        '"memory_bytes": 9223372036854775808',
        '"memory_bytes": 1000000000000000000000000000000',
        '"wall_seconds": Infinity',
        '"wall_seconds": NaN',
        '"wall_seconds": -1',
        '"cpu_seconds": 1e999',
        '"wall_seconds": "soon"',
    ],
)
def test_numbers_that_no_column_holds_are_refused_and_change_nothing(run, caller, client, said):
    _, credentials = caller.claim(run)
    body = json.dumps({**credentials, "started": True})[:-1] + f", {said}}}"
    answer = client.post(
        f"/worker/runs/{run.pk}/heartbeat", body, content_type="application/json", headers=caller.headers
    )
    assert answer.status_code == 422
    run.refresh_from_db()
    assert run.state == RunState.CLAIMED


def test_a_report_with_a_number_beyond_all_columns_is_refused_and_leaves_no_file(run, caller):
    before = stored_files()
    _, credentials = caller.claim(run)
    name = f"{run.dataset_name}_valid.predict"
    file = {**caller.upload(run, credentials, name, b"0.5\n" * 4), "part": "valid"}
    for wrong in ({"peak_memory_bytes": 10**30}, {"predictions": [{**file, "number": 10**30}]}):
        body = {**credentials, "status": "ok", "predictions": [file], **wrong}
        assert caller.post(f"runs/{run.pk}/report", body).status_code == 422
    assert [path for path in stored_files() if path not in before and "incoming" not in path.parts] == []


def test_a_prediction_number_of_eighteen_digits_is_kept(run, caller):
    _, credentials = caller.claim(run)
    number = 999_999_999_999_999_999
    name = f"{run.dataset_name}_valid_{number}.predict"
    file = {**caller.upload(run, credentials, name, b"0.5\n" * 4), "part": "valid", "number": number}
    answer = caller.post(f"runs/{run.pk}/report", {**credentials, "status": "ok", "predictions": [file]})
    assert answer.status_code == 200
    assert run.predictions.get().number == number


def test_nul_characters_and_half_surrogates_in_what_a_program_printed_are_stored_as_text(run, caller):
    _, credentials = caller.claim(run)
    tail = "epoch \x00 1 \ud83d end"
    beat = {**credentials, "started": True, "log_tail": tail}
    assert caller.post(f"runs/{run.pk}/heartbeat", beat).status_code == 200
    run.refresh_from_db()
    assert run.log_tail == "epoch \N{SYMBOL FOR NULL} 1 ? end"
    body = {**credentials, "status": "failed", "reason": "crashed", "sentence": tail, "log_tail": tail}
    assert caller.post(f"runs/{run.pk}/report", body).status_code == 200
    run.refresh_from_db()
    assert run.sentence == "epoch \N{SYMBOL FOR NULL} 1 ? end"


def test_a_failure_without_a_sentence_gets_one(run, caller):
    _, credentials = caller.claim(run)
    caller.post(f"runs/{run.pk}/report", {**credentials, "status": "failed", "reason": "timed_out"})
    run.refresh_from_db()
    assert run.sentence == "Out of time."


def test_what_a_worker_says_of_its_own_troubles_is_not_what_the_participant_reads(run, caller):
    _, credentials = caller.claim(run)
    secret = "http://10.0.0.7:9000 did not answer: ConnectionError"
    body = {**credentials, "status": "failed", "reason": "infrastructure", "sentence": secret}
    caller.post(f"runs/{run.pk}/report", body)
    run.refresh_from_db()
    assert run.state == RunState.QUEUED
    assert "10.0.0.7" not in run.sentence
    assert secret in run.attempts.get().note


@pytest.mark.parametrize(
    "change",
    [
        lambda files, name: [*files, files[0]],
        lambda files, name: [{**files[0], "part": "test"}, files[1]],
        lambda files, name: [{**files[0], "number": 3}, files[1]],
        lambda files, name: [files[0], {**files[0], "name": f"{name}_valid.npy"}],
        lambda files, name: [{**files[0], "name": "other_valid.predict"}],
        lambda files, name: [{**files[0], "name": ".."}],
        lambda files, name: [{**files[0], "name": "log.txt"}],
    ],
    ids=["twice", "other part", "other number", "one place twice", "other dataset", "dots", "log"],
)
def test_a_report_that_contradicts_itself_is_refused_and_keeps_no_file(run, caller, change):
    _, credentials = caller.claim(run)
    files = []
    for part, rows in (("valid", 4), ("test", 6)):
        name = f"{run.dataset_name}_{part}.predict"
        files.append({**caller.upload(run, credentials, name, b"0.5\n" * rows), "part": part})
    before = [path for path in stored_files() if "runs" in path.parts]
    body = {**credentials, "status": "ok", "predictions": change(files, run.dataset_name)}
    assert caller.post(f"runs/{run.pk}/report", body).status_code == 409
    assert Prediction.objects.count() == 0
    assert [path for path in stored_files() if "runs" in path.parts] == before
    assert (
        caller.post(f"runs/{run.pk}/report", {**credentials, "status": "ok", "predictions": files}).status_code
        == 200
    )
    score_run(run.pk)
    run.refresh_from_db()
    assert run.state == RunState.FINISHED


def test_a_prediction_for_a_part_without_rows_is_refused(phase, caller):
    version = phase.tasks.get().dataset.current
    version.valid_num, version.has_valid_solution = 0, False
    version.save()
    run = make.submission(phase, make.user("alice")).runs.get()
    _, credentials = caller.claim(run)
    asked = {**credentials, "name": f"{run.dataset_name}_valid.predict", "size": 4}
    assert caller.post(f"runs/{run.pk}/uploads", asked).status_code == 409


@pytest.mark.parametrize("name", ["x.predict", "../../a", "log.txt.gz", "\x00", "other_valid.predict"])
def test_a_link_is_given_only_for_files_that_the_run_leaves(run, caller, name):
    _, credentials = caller.claim(run)
    assert caller.post(f"runs/{run.pk}/uploads", {**credentials, "name": name, "size": 4}).status_code == 409


def test_a_worker_cannot_fill_the_disk_with_uploads(run, caller):
    _, credentials = caller.claim(run)
    answers = []
    for number in range(60):
        name = f"{run.dataset_name}_valid_{number}.predict"
        link = caller.post(f"runs/{run.pk}/uploads", {**credentials, "name": name, "size": 4})
        answers.append(link.status_code)
        if link.status_code == 200:
            caller.client.put(path_of(link.json()["url"]), b"0.5\n", content_type="application/octet-stream")
    assert answers[0] == 200
    assert answers[-1] == 409
    assert len(incoming_names(run.pk, 1)) <= 51


def test_a_link_to_write_ends_with_its_attempt(run, caller):
    _, credentials = caller.claim(run)
    asked = {**credentials, "name": "log.txt", "size": 3}
    url = path_of(caller.post(f"runs/{run.pk}/uploads", asked).json()["url"])
    assert report_predictions(caller, run, credentials).status_code == 200
    assert caller.client.put(url, b"abc", content_type="application/octet-stream").status_code == 410
    assert not default_storage.exists(f"incoming/{run.pk}")


def test_the_same_report_twice_is_refused_and_changes_nothing(run, caller):
    _, credentials = caller.claim(run)
    assert report_predictions(caller, run, credentials).status_code == 200
    before = stored_files()
    again = caller.post(f"runs/{run.pk}/report", {**credentials, "status": "failed", "reason": "crashed"})
    assert again.status_code == 410
    run.refresh_from_db()
    assert (run.state, run.predictions.count()) == (RunState.COLLECTED, 2)
    assert stored_files() == before


def test_one_token_holds_one_run_so_a_stolen_one_cannot_empty_the_queue(phase, run, caller):
    other = make.submission(phase, make.user("bob")).runs.get()
    _, credentials = caller.claim(run)
    refused = caller.post(f"runs/{other.pk}/claim")
    assert (refused.status_code, refused.json()["detail"]) == (409, "This worker holds a run already.")
    caller.post(f"runs/{run.pk}/report", {**credentials, "status": "failed", "reason": "crashed"})
    caller.claim(other)


def test_a_worker_that_starts_again_gives_up_what_it_held_at_once(run, caller):
    _, old = caller.claim(run)
    hello = {"starting": True, "sandbox": "docker", "cores": 2, "memory_bytes": 2**33}
    assert caller.post("announce", hello).status_code == 200
    run.refresh_from_db()
    assert run.state == RunState.QUEUED
    assert run.attempts.get().outcome == Attempt.Outcome.LOST
    assert caller.post(f"runs/{run.pk}/report", {**old, "status": "ok"}).status_code == 410
    caller.claim(run)


def test_announcing_in_the_middle_of_a_run_takes_nothing_away(run, caller):
    caller.claim(run)
    caller.post("announce", {"sandbox": "docker", "cores": 2, "memory_bytes": 2**33})
    run.refresh_from_db()
    assert run.state == RunState.CLAIMED


@pytest.mark.parametrize("kind", ["automl", "final"])
def test_a_blind_phase_needs_a_trusted_worker_whatever_its_box_says(phase, run, client, kind):
    phase.kind = kind
    phase.save()
    assert not phase.trusted_workers_only
    _, token = make.worker(is_trusted=False)
    stranger = Caller(client, token)
    assert stranger.post("next", {"wait_seconds": 0}).json() == {"run": None}
    assert stranger.post(f"runs/{run.pk}/claim").status_code == 409


def test_a_worker_cannot_cancel_a_run_that_nobody_cancelled(run, caller):
    _, credentials = caller.claim(run)
    caller.post(f"runs/{run.pk}/report", {**credentials, "status": "cancelled"})
    run.refresh_from_db()
    assert run.state == RunState.QUEUED


def test_a_run_that_workers_give_back_without_end_is_given_up_as_our_fault(run, caller):
    for _ in range(20):
        _, credentials = caller.claim(run)
        caller.post(f"runs/{run.pk}/report", {**credentials, "status": "released"})
        run.refresh_from_db()
        if run.state != RunState.QUEUED:
            break
    assert (run.state, run.reason) == (RunState.FAILED, "infrastructure")
    assert not Submission.objects.get().uses_quota


def test_a_worker_that_prepares_for_ever_loses_the_run(run, caller):
    _, credentials = caller.claim(run)
    assert caller.post(f"runs/{run.pk}/heartbeat", credentials).status_code == 200
    Attempt.objects.update(claimed_at=timezone.now() - dt.timedelta(hours=1))
    assert caller.post(f"runs/{run.pk}/heartbeat", credentials).status_code == 410


def test_cancelling_while_a_worker_prepares_keeps_the_sentence_that_says_so(run, caller):
    _, credentials = caller.claim(run)
    Run.objects.update(cancel_asked=True, sentence="Is being stopped because it was cancelled.")
    answer = caller.post(f"runs/{run.pk}/heartbeat", {**credentials, "started": True})
    assert answer.json() == {"cancel": True}
    run.refresh_from_db()
    assert run.sentence == "Is being stopped because it was cancelled."


def test_an_upload_that_breaks_off_leaves_no_file(run, caller, rf):
    _, credentials = caller.claim(run)
    link = caller.post(f"runs/{run.pk}/uploads", {**credentials, "name": "log.txt", "size": 10})
    request = rf.put(path_of(link.json()["url"]), b"abc", content_type="application/octet-stream")
    request.META["CONTENT_LENGTH"] = "10"
    answer = worker_api.transfers(request, link.json()["url"].rsplit("/", 1)[1])
    assert answer.status_code == 400
    assert incoming_names(run.pk, 1) == []


def test_workers_that_wait_cannot_hold_every_thread_of_the_site(caller, monkeypatch):
    monkeypatch.setattr(worker_api, "_waiting_calls", threading.BoundedSemaphore(1))
    worker_api._waiting_calls.acquire()
    began = timezone.now()
    assert caller.post("next", {"wait_seconds": 20}).json() == {"run": None}
    assert timezone.now() - began < dt.timedelta(seconds=5)


def test_bodies_that_are_no_json_are_refused(caller, client):
    for body in (b"\xff\xfe", b"[", b"[" * 100_000, b"null", b"[]", b'{"sandbox": NaN}'):
        answer = client.post("/worker/announce", body, content_type="application/json", headers=caller.headers)
        assert answer.status_code in (400, 422), body[:10]


@pytest.mark.parametrize("token", ["", "\xff\xfe", "a" * 5000, "x y"])
def test_tokens_that_are_none_are_refused(client, token):
    make.worker()
    answer = client.post(
        "/worker/announce", b"{}", content_type="application/json", headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.status_code == 401


def test_a_revoked_worker_loses_its_run_to_another(run, caller, client):
    _, credentials = caller.claim(run)
    Worker.objects.update(revoked_at=timezone.now())
    assert caller.post(f"runs/{run.pk}/heartbeat", credentials).status_code == 401
    assert caller.post(f"runs/{run.pk}/report", {**credentials, "status": "ok"}).status_code == 401
    Run.objects.update(deadline=timezone.now() - settings.LEASE)
    from submissions.reconciler import reconcile

    reconcile()
    Caller(client, make.worker("two")[1]).claim(run)


def test_an_unknown_file_that_was_reported_is_refused(run, caller):
    _, credentials = caller.claim(run)
    file = {**reported(f"{run.dataset_name}_valid.predict", b"0.5\n"), "part": "valid"}
    answer = caller.post(f"runs/{run.pk}/report", {**credentials, "status": "ok", "predictions": [file]})
    assert answer.status_code == 409
    assert "not uploaded" in answer.json()["detail"]


def test_a_worker_that_fails_by_itself_does_not_spoil_one_run_after_the_other(phase, run, caller, client):
    other = make.submission(phase, make.user("bob")).runs.get()
    _, credentials = caller.claim(run)
    caller.post(f"runs/{run.pk}/report", {**credentials, "status": "failed", "reason": "infrastructure"})
    assert caller.post("next", {"wait_seconds": 0}).json() == {"run": None}
    assert caller.post(f"runs/{other.pk}/claim").status_code == 409
    Caller(client, make.worker("healthy")[1]).claim(run)
    Attempt.objects.filter(outcome="lost").update(ended_at=timezone.now() - settings.REST_OF_A_FAILED_WORKER)
    caller.claim(other)
