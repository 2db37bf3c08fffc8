"""A compute worker's own behaviour: who holds its folder, and what it does when it is stopped or sent away."""

import time

import pytest

from ingestion import worker as worker_module
from ingestion.budget import Capacity
from ingestion.site import Gone, SiteError
from ingestion.worker import ComputeWorker, FolderInUse


class FakeSite:
    """A site that answers by a table of paths; every call is kept."""

    def __init__(self, **answers):
        self.answers, self.calls = answers, []

    def call(self, path, body):
        self.calls.append((path, body))
        answer = self.answers.get(path.rsplit("/", 1)[-1], {})
        if callable(answer):
            answer = answer()
        if isinstance(answer, Exception):
            raise answer
        return answer


class FakeSandbox:
    name = "docker"
    default_image = "podium-sandbox:latest"

    def images(self, names):
        return ()

    def clean_stale(self, owner):
        return []


class FakeJob:
    """Stands for a claimed run; knows whether it was released before it was done."""

    made = []

    def __init__(self, claimed, **kwargs):
        self.released, self.released_when_done = False, None
        FakeJob.made.append(self)

    def release(self):
        self.released = True

    def do(self, folder, datasets):
        self.released_when_done = self.released


@pytest.fixture
def make_worker(tmp_path, monkeypatch):
    FakeJob.made.clear()
    monkeypatch.setattr(worker_module, "Job", FakeJob)
    made = []

    def make(site):
        worker = ComputeWorker(
            site=site,
            sandbox=FakeSandbox(),
            capacity=Capacity(cores=1, memory_bytes=2**30),
            folder=tmp_path / "local",
        )
        made.append(worker)
        return worker

    yield make
    for worker in made:
        if worker.lock is not None:
            worker.lock.close()


def test_it_tells_the_site_that_it_starts_once_and_not_when_it_only_lives(make_worker):
    site = FakeSite()
    worker = make_worker(site)
    worker.prepare()
    worker.announce()
    assert [body["starting"] for _, body in site.calls] == [True, False]


def test_a_second_worker_in_the_same_folder_is_refused_and_removes_nothing(make_worker):
    first, second = make_worker(FakeSite()), make_worker(FakeSite())
    first.prepare()
    (first.runs / "run-1").mkdir()
    with pytest.raises(FolderInUse, match="--name"):
        second.prepare()
    assert (first.runs / "run-1").exists()


def test_preparing_again_while_the_site_does_not_answer_yet_is_no_second_worker(make_worker):
    worker = make_worker(FakeSite(announce=SiteError("not yet")))
    for _ in range(2):
        with pytest.raises(SiteError):
            worker.prepare()


def test_a_worker_that_is_stopped_while_it_claims_gives_the_run_back(make_worker):
    site = FakeSite()
    worker = make_worker(site)
    worker.prepare()

    def claimed():
        worker.stop()
        return {"run": 1, "attempt": 1, "secret": "x"}

    site.answers["claim"] = claimed
    assert worker.take(1)
    (job,) = FakeJob.made
    assert job.released_when_done


def test_a_run_that_another_worker_got_leaves_no_folder(make_worker):
    worker = make_worker(FakeSite(claim=Gone("Another worker was faster.")))
    worker.prepare()
    assert not worker.take(1)
    assert list(worker.runs.iterdir()) == []
    assert FakeJob.made == []


def test_a_worker_without_room_claims_nothing_and_lives_on(make_worker):
    site = FakeSite()
    worker = make_worker(site)
    worker.prepare()
    worker.runs.rmdir()
    assert not worker.take(1)
    assert not [path for path, _ in site.calls if path.endswith("claim")]


def test_it_does_not_hammer_a_site_that_lets_nobody_wait(make_worker, monkeypatch):
    monkeypatch.setattr(worker_module, "PAUSE_SECONDS", 0.2)
    site = FakeSite(next={"run": None})
    worker = make_worker(site)
    worker.prepare()
    calls = []

    def answer():
        calls.append(time.monotonic())
        if len(calls) == 3:
            worker.stopping.set()
        return {"run": None}

    site.answers["next"] = answer
    worker.keep_asking()
    assert calls[2] - calls[0] >= 0.35


def test_a_token_that_the_site_does_not_know_is_told_in_one_sentence(monkeypatch, tmp_path, capsys):
    refusal = SiteError("The site does not know this worker's token, or it was revoked.")
    monkeypatch.setattr(worker_module, "Site", lambda url, token: FakeSite(announce=refusal))
    monkeypatch.setattr(worker_module, "choose_sandbox", lambda image: FakeSandbox())
    monkeypatch.setenv("PODIUM_WORKER_TOKEN", "wrong")
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path))
    assert worker_module.main() == 1
    assert capsys.readouterr().err.strip().splitlines()[-1] == str(refusal)
