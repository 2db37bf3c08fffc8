"""A compute worker's own behaviour: who holds its folder, and what it does when it is stopped or sent away."""

import time

import pytest

from ingestion import worker as worker_module
from ingestion.budget import Capacity
from ingestion.sandbox import SandboxError, cpus
from ingestion.sandbox.base import KnownImage
from ingestion.site import Gone, SiteError, Unreachable, WrongToken
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
        self.cpus = kwargs["cpus"]
        FakeJob.made.append(self)

    def release(self):
        self.released = True

    def do(self, folder, datasets):
        self.released_when_done = self.released


@pytest.fixture
def make_worker(tmp_path, monkeypatch):
    FakeJob.made.clear()
    monkeypatch.setattr(worker_module, "Job", FakeJob)
    monkeypatch.setattr(cpus, "LOCKS", tmp_path)
    monkeypatch.setattr(worker_module, "SHARE_SECONDS", 0.0)
    made = []

    def make(site):
        worker = ComputeWorker(
            site=site,
            sandbox=FakeSandbox(),
            machine=Capacity(cores=1, memory_bytes=2**30),
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


def test_it_announces_the_images_it_has_of_those_that_the_site_allows(make_worker):
    site = FakeSite(announce={"images": ["podium-sandbox:latest", "rocker/r-ver:4"]})
    worker = make_worker(site)
    asked = []

    def images(names):
        asked.append(tuple(names))
        return (KnownImage("podium-sandbox:latest", "sha256:" + "1" * 64, ("numpy==2.4.6",)),)

    worker.sandbox.images = images
    worker.prepare()
    assert [body["starting"] for _, body in site.calls] == [True, False], (
        "told again, once it knew what to look for"
    )
    assert "rocker/r-ver:4" not in asked[0] and "rocker/r-ver:4" in asked[1]
    (found,) = site.calls[-1][1]["images"]
    assert (found["name"], found["packages"]) == ("podium-sandbox:latest", ("numpy==2.4.6",))
    assert site.calls[-1][1]["default_image"] == "podium-sandbox:latest"


def test_while_its_engine_does_not_answer_it_has_no_images(make_worker):
    site = FakeSite()
    worker = make_worker(site)

    def images(names):
        raise SandboxError("the Docker engine does not answer")

    worker.sandbox.images = images
    worker.prepare()
    assert site.calls[-1][1]["images"] == []


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


def test_a_doorbell_wakes_it_and_the_site_says_which_run_is_next(make_worker):
    site = FakeSite(next={"run": 7}, claim={"run": 7, "attempt": 1, "secret": "x"})
    worker = make_worker(site)
    worker.prepare()
    worker.answer_doorbell()
    assert [path for path, _ in site.calls] == ["announce", "next", "runs/7/claim"]
    assert site.calls[1][1] == {"wait_seconds": 0}


def test_a_doorbell_that_is_late_does_nothing(make_worker):
    site = FakeSite(next={"run": None})
    worker = make_worker(site)
    worker.prepare()
    worker.answer_doorbell()
    assert [path for path, _ in site.calls] == ["announce", "next"]


def test_a_worker_that_was_slower_asks_for_the_run_after(make_worker):
    waiting = [7, 8]
    site = FakeSite(next=lambda: {"run": waiting.pop(0)})
    site.answers["claim"] = lambda: Gone("Another worker was faster.") if waiting else {"attempt": 1}
    worker = make_worker(site)
    worker.prepare()
    worker.answer_doorbell()
    assert [path for path, _ in site.calls[1:]] == ["next", "runs/7/claim", "next", "runs/8/claim"]
    assert len(FakeJob.made) == 1


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
    refusal = WrongToken("The site does not know this worker's token, or it was revoked.")
    monkeypatch.setattr(worker_module, "Site", lambda url, token: FakeSite(announce=refusal))
    monkeypatch.setattr(worker_module, "choose_sandbox", lambda image: FakeSandbox())
    monkeypatch.setattr(worker_module.signal, "signal", lambda *arguments: None)
    monkeypatch.setenv("PODIUM_WORKER_TOKEN", "wrong")
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path))
    assert worker_module.main() == worker_module.NOT_AGAIN
    assert capsys.readouterr().err.strip().splitlines()[-1] == str(refusal)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PODIUM_WORKER_TOKEN", "", "worker_token NAME"),
        ("PODIUM_SOLUTIONS_KEY", "key", "must not have it"),
        ("PODIUM_URL", "podium.example.org", "no address of a site"),
        ("PODIUM_WORKER_SLOTS", "two", "how many runs share this machine"),
        ("PODIUM_WORKER_SLOTS", "100000", "cannot share"),
        ("PODIUM_CACHE_SIZE", "much", "is not a size"),
    ],
)
def test_a_setting_that_cannot_be_is_told_in_one_sentence(monkeypatch, tmp_path, capsys, name, value, told):
    monkeypatch.setattr(worker_module, "choose_sandbox", lambda image: FakeSandbox())
    monkeypatch.setenv("PODIUM_WORKER_TOKEN", "token")
    monkeypatch.setenv("PODIUM_HOME", str(tmp_path))
    monkeypatch.setenv(name, value)
    assert worker_module.main() == worker_module.NOT_AGAIN
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert told in line


def test_it_announces_what_a_run_gets_and_what_the_machine_has(make_worker):
    site = FakeSite()
    make_worker(site).announce()
    body = site.calls[0][1]
    assert (body["cores"], body["memory_bytes"]) == (1, int(0.8 * 2**30))
    assert (body["machine_cores"], body["machine_memory_bytes"]) == (1, 2**30)


def test_it_claims_nothing_while_another_worker_of_the_machine_has_the_cores(make_worker):
    site = FakeSite()
    worker = make_worker(site)
    worker.prepare()
    memory = worker.machine.for_a_run().memory_bytes
    other = cpus.take_share(cores=1, memory=memory, of_memory=memory)
    assert not worker.take(1)
    assert not [path for path, _ in site.calls if path.endswith("claim")]
    other.release()
    site.answers["claim"] = {"run": 1, "attempt": 1, "secret": "x"}
    assert worker.take(1)
    assert FakeJob.made[0].cpus is not None
    assert cpus.take_share(cores=1, memory=memory, of_memory=memory), "after the run they are free again"


def test_a_worker_whose_token_is_revoked_stops_for_good(make_worker, monkeypatch):
    ended = []
    monkeypatch.setattr(worker_module.os, "kill", lambda pid, number: ended.append(number))
    worker = make_worker(FakeSite(next=WrongToken("revoked")))
    worker.prepare()
    worker.keep_asking()
    assert worker.dismissed and worker.stopping.is_set() and len(ended) == 1


def test_it_waits_for_a_site_that_is_not_there_yet_with_growing_pauses(make_worker, monkeypatch):
    answers = iter([Unreachable("nobody answers")] * 4 + [{"worker": "one"}])
    worker = make_worker(FakeSite(announce=lambda: next(answers)))
    waited = []
    monkeypatch.setattr(worker.stopping, "wait", waited.append)
    assert worker_module.wait_for_site(worker) == {"worker": "one"}
    assert waited == [1, 2, 4, 8]
