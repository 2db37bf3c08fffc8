"""Readiness checks at workers: one claims, rows arrive one by one, runs of the contest come first."""

import datetime as dt

import pytest
from django.utils import timezone

from submissions import readiness
from submissions.models import ReadinessCheck, RunState, Submission, Worker
from submissions.models.readiness import CheckState
from submissions.readiness_attempts import NAMES
from submissions.reconciler import reconcile
from tests.platform import factories as make
from tests.platform.api.test_worker_protocol import Caller, path_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return make.phase(make.competition(), tasks=1)


@pytest.fixture
def check(phase):
    alice = make.user("alice")
    make.participant(phase.competition, alice)
    submission = make.submission(phase, alice, state=Submission.State.FINISHED)
    submission.runs.update(state=RunState.FINISHED)
    return readiness.ask(submission, by=alice)


class CheckCaller(Caller):
    """A worker that does checks."""

    def claim(self, check):
        answer = self.post(f"checks/{check.pk}/claim")
        assert answer.status_code == 200, answer.content
        claimed = answer.json()
        return claimed, {"attempt": claimed["attempt"], "secret": claimed["secret"]}

    def row(self, check, credentials, trait, **fields):
        parts = {"test": {"predicted": True, "shape": True, "finite": True}}
        body = {**credentials, "trait": trait, "ok": True, "ran": True, "parts": parts, "log": "hello", **fields}
        return self.post(f"checks/{check.pk}/rows", body)

    def beat(self, check, credentials, **fields):
        return self.post(f"checks/{check.pk}/heartbeat", {**credentials, **fields})

    def report(self, check, credentials, status, **fields):
        return self.post(f"checks/{check.pk}/report", {**credentials, "status": status, **fields})


@pytest.fixture
def caller(client):
    return CheckCaller(client, make.worker("one")[1])


@pytest.fixture
def other(client):
    return CheckCaller(client, make.worker("two")[1])


def test_a_worker_that_asks_hears_of_a_check_only_when_no_run_waits_for_it(check, caller, phase):
    assert caller.post("next", {"wait_seconds": 0}).json() == {"run": None, "check": check.pk}
    run = make.submission(phase, make.user("bob")).runs.get()
    assert caller.post("next", {"wait_seconds": 0}).json() == {"run": run.pk}
    refused = caller.post(f"checks/{check.pk}/claim")
    assert refused.status_code == 409 and "run of the contest" in refused.json()["detail"]


def test_exactly_one_worker_gets_a_check_and_holds_nothing_else_meanwhile(check, caller, other, phase):
    claimed, _ = caller.claim(check)
    assert other.post(f"checks/{check.pk}/claim").status_code == 409
    assert claimed["traits"] == list(NAMES)
    assert claimed["budget"]["wall_seconds"] == 20
    run = make.submission(phase, make.user("bob")).runs.get()
    assert caller.post(f"runs/{run.pk}/claim").status_code == 409
    assert other.post(f"runs/{run.pk}/claim").status_code == 200


def test_a_claim_holds_the_archive_alone(check, caller, client):
    claimed, _ = caller.claim(check)
    got = client.get(path_of(claimed["archive"]["url"]))
    assert b"".join(got.streaming_content) == b"PK"
    assert "dataset" not in claimed


@pytest.mark.parametrize(
    "fields", [{"sandbox": "unconfined"}, {"resource_class": "gpu"}], ids=["no sandbox", "class"]
)
def test_a_worker_that_may_not_take_it_is_refused(check, client, fields):
    caller = CheckCaller(client, make.worker(**fields)[1])
    assert caller.post("next", {"wait_seconds": 0}).json() == {"run": None}
    assert caller.post(f"checks/{check.pk}/claim").status_code == 409


def test_an_unconfined_worker_takes_the_kits_own_code(check, client):
    Submission.objects.update(is_kit_code=True)
    CheckCaller(client, make.worker(sandbox="unconfined")[1]).claim(check)


def test_rows_are_kept_as_they_come_and_the_last_report_ends_it(check, caller):
    _, credentials = caller.claim(check)
    beat = caller.beat(check, credentials, trait="dense", wall_seconds=1.5)
    assert beat.json() == {"cancel": False, "give_way": False}
    check.refresh_from_db()
    assert (check.state, check.current_trait, check.sentence) == (CheckState.RUNNING, "dense", "Is running.")
    for name in NAMES:
        fields = (
            {"ok": False, "ran": False, "reason": "crashed", "sentence": "It failed."} if name == "wide" else {}
        )
        assert caller.row(check, credentials, name, **fields).status_code == 200
    assert caller.report(check, credentials, "finished").json() == {"state": "finished"}
    check.refresh_from_db()
    assert check.sentence == f"Not ready: 1 of {len(NAMES)} traits failed."
    assert [row.trait for row in check.rows.all()] == list(NAMES)
    assert check.rows.get(trait="wide").reason == "crashed"
    assert check.rows.get(trait="dense").log.read() == b"hello"
    assert caller.beat(check, credentials).status_code == 410
    assert check.secret_hash == "" and check.deadline is None


def test_a_row_that_is_reported_twice_is_kept_once(check, caller):
    _, credentials = caller.claim(check)
    assert caller.row(check, credentials, "dense").status_code == 200
    assert caller.row(check, credentials, "dense", sentence="again").status_code == 200
    assert check.rows.get().sentence == ""


@pytest.mark.parametrize(
    "fields", [{"trait": "round"}, {"reason": "infrastructure"}, {"reason": "unheard"}, {"parts": {"train": {}}}]
)
def test_a_row_that_is_none_is_refused(check, caller, fields):
    _, credentials = caller.claim(check)
    answer = caller.row(check, credentials, **{"trait": "dense", "ok": False, **fields})
    assert answer.status_code in (409, 422)
    assert not check.rows.exists()


def test_another_worker_or_another_secret_cannot_speak_for_it(check, caller, other):
    _, credentials = caller.claim(check)
    for who, changed in [(other, {}), (caller, {"secret": "guess"}), (caller, {"attempt": 2})]:
        body = {**credentials, **changed}
        assert who.beat(check, body).status_code == 404
        assert who.row(check, body, "dense").status_code == 404
        assert who.report(check, body, "finished").status_code == 404


def test_it_gives_way_to_a_run_that_no_idle_worker_can_take_and_goes_on_later(check, caller, other, phase):
    _, credentials = caller.claim(check)
    caller.row(check, credentials, "dense")
    run = make.submission(phase, make.user("bob")).runs.get()
    assert caller.beat(check, credentials, trait="sparse").json()["give_way"] is False, "worker two is idle"
    Worker.objects.filter(name="two").update(seen_at=None)
    assert caller.beat(check, credentials, trait="sparse").json()["give_way"] is True
    assert caller.report(check, credentials, "released").json() == {"state": "queued"}
    assert caller.post("next", {"wait_seconds": 0}).json()["run"] == run.pk
    check.refresh_from_db()
    assert "came first" in check.sentence and check.losses == 0
    run.submission.runs.update(state=RunState.FINISHED)
    claimed, _ = caller.claim(check)
    assert (claimed["attempt"], claimed["traits"]) == (2, list(NAMES[1:]))


def test_it_gives_way_to_a_run_that_an_idle_worker_has_left_waiting_for_too_long(check, caller, other, phase):
    _, credentials = caller.claim(check)
    run = make.submission(phase, make.user("bob")).runs.get()
    assert caller.beat(check, credentials, trait="dense").json()["give_way"] is False
    type(run).objects.filter(pk=run.pk).update(queued_at=timezone.now() - dt.timedelta(minutes=1))
    assert caller.beat(check, credentials, trait="dense").json()["give_way"] is True


def test_a_late_word_of_an_old_attempt_is_refused(check, caller, other):
    _, old = caller.claim(check)
    reconcile(timezone.now() + dt.timedelta(minutes=5))
    check.refresh_from_db()
    assert check.state == CheckState.QUEUED and check.worker is None
    other.claim(check)
    assert caller.row(check, old, "dense").status_code == 410
    assert caller.report(check, old, "finished").status_code == 410


def test_it_gives_up_after_three_losses_with_a_sentence_and_counts_for_nothing(check, caller):
    for _ in range(3):
        _, credentials = caller.claim(check)
        caller.report(check, credentials, "failed", sentence="no room at /mnt/secret")
        check.refresh_from_db()
        assert "/mnt/secret" not in check.sentence
    assert check.state == CheckState.FAILED
    assert "ask for it again" in check.sentence
    assert readiness.left_today(check.entrant, timezone.now()) == 10


def test_a_worker_that_says_finished_too_early_has_lost_it(check, caller):
    _, credentials = caller.claim(check)
    assert caller.report(check, credentials, "finished").json() == {"state": "queued"}
    check.refresh_from_db()
    assert check.losses == 1


def test_a_worker_that_starts_again_holds_no_check_any_more(check, caller):
    _, credentials = caller.claim(check)
    caller.post("announce", {"starting": True, "sandbox": "docker", "cores": 2, "memory_bytes": 2**33})
    assert caller.beat(check, credentials).status_code == 410
    check.refresh_from_db()
    assert check.state == CheckState.QUEUED


def test_cancelling_reaches_the_worker_with_the_next_heartbeat(check, caller):
    _, credentials = caller.claim(check)
    readiness.cancel(check, by=check.user)
    assert caller.beat(check, credentials, trait="dense").json()["cancel"] is True
    check.refresh_from_db()
    assert check.state == CheckState.RUNNING and "cancelled" in check.sentence
    assert caller.report(check, credentials, "cancelled").json() == {"state": "cancelled"}


def test_a_cancelled_check_whose_worker_is_lost_is_cancelled(check, caller):
    caller.claim(check)
    readiness.cancel(check, by=check.user)
    reconcile(timezone.now() + dt.timedelta(minutes=5))
    check.refresh_from_db()
    assert check.state == CheckState.CANCELLED


def test_leases_of_checks_begin_anew_after_the_site_was_away(check, caller):
    caller.claim(check)
    now = timezone.now()
    reconcile(now)
    reconcile(now + dt.timedelta(minutes=5))
    check.refresh_from_db()
    assert check.state == CheckState.CLAIMED, "nobody could have heard its worker"


def test_one_that_never_ends_is_stopped(check, caller):
    _, credentials = caller.claim(check)
    ReadinessCheck.objects.update(claimed_at=timezone.now() - dt.timedelta(hours=2))
    assert caller.beat(check, credentials, trait="dense").status_code == 410


def test_numbers_and_text_that_no_column_holds_change_nothing(check, caller):
    _, credentials = caller.claim(check)
    assert caller.beat(check, credentials, wall_seconds=1e30).status_code == 422
    assert caller.row(check, credentials, "dense", log="x" * 600_000).status_code == 422
    assert caller.row(check, credentials, "dense", log="nul \0", sentence="half \ud83d").status_code == 200
    assert check.rows.get().log.read() == "nul \N{SYMBOL FOR NULL}".encode()
