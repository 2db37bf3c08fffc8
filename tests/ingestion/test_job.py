"""One attempt at a worker while its site comes and goes, and while its inputs go bad."""

import contextlib
import hashlib
import shutil
import threading

import pytest

from ingestion import job as job_module
from ingestion.budget import Capacity
from ingestion.dataset_cache import DatasetCache
from ingestion.job import Job
from ingestion.sandbox import choose_sandbox
from ingestion.site import Gone, SiteError, Unreachable, WrongToken
from tests.ingestion.runs import HELPERS, write_tiny_dataset

AWAY = Unreachable("nobody answers")


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class FakeSite:
    """A site that answers by the last word of a path; what it takes is kept."""

    def __init__(self, folder):
        self.folder = folder
        self.troubles = {}
        self.calls, self.reports, self.uploads = [], [], []

    def call(self, path, body):
        word = path.rsplit("/", 1)[-1]
        self.calls.append(word)
        waiting = self.troubles.get(word, [])
        if waiting:
            raise waiting.pop(0)
        if word == "report":
            self.reports.append(body)
        return {"cancel": False, "url": "/up"}

    def download(self, url, target, *, sha256):
        waiting = self.troubles.get("download", [])
        if waiting:
            raise waiting.pop(0)
        return shutil.copyfile(self.folder / url, target)

    def upload(self, url, path):
        waiting = self.troubles.get("upload", [])
        if waiting:
            raise waiting.pop(0)
        self.uploads.append(path.name)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def site(tmp_path):
    made = tmp_path / "site"
    write_tiny_dataset(made / "zipped" / "tiny")
    shutil.make_archive(str(made / "dataset"), "zip", made / "zipped")
    return FakeSite(made)


@pytest.fixture
def datasets(tmp_path):
    cache = DatasetCache(tmp_path / "datasets")
    cache.open()
    return cache


@pytest.fixture
def make_job(site, tmp_path, clock, monkeypatch):
    """A job for a program, whose waits take no time but are seen by its clock."""

    def make(source="predict()", **claimed):
        code = tmp_path / "code"
        code.mkdir()
        (code / "metadata").write_text("command: python3 $program/main.py $output $input\n")
        (code / "main.py").write_text(HELPERS + source)
        shutil.make_archive(str(site.folder / "archive"), "zip", code)

        def hash_of(name):
            return hashlib.sha256((site.folder / name).read_bytes()).hexdigest()

        told = {
            "run": 7,
            "attempt": 1,
            "secret": "s",
            "lease_grace_seconds": 600,
            "dataset": {
                "url": "dataset.zip",
                "sha256": hash_of("dataset.zip"),
                "name": "tiny",
                "alias": "tiny",
                "metric": "AUC",
            },
            "archive": {"url": "archive.zip", "sha256": hash_of("archive.zip")},
            "budget": {"wall_seconds": 30, "cores": 1, "memory_bytes": 2**28},
            "image": "",
            "seed": 0,
            "any_time": True,
            "load_models": False,
            **claimed,
        }
        job = Job(
            told,
            site=site,
            sandbox=choose_sandbox("unconfined"),
            capacity=Capacity(cores=1, memory_bytes=2**28),
            owner="jobs",
            clock=clock,
        )
        job.waited = []

        def wait(seconds):
            job.waited.append(seconds)
            clock.now += seconds

        job._wait = wait
        return job

    return make


@pytest.fixture
def no_heartbeats(monkeypatch):
    monkeypatch.setattr(Job, "_heartbeats", lambda job: contextlib.nullcontext())


@pytest.fixture
def do(tmp_path, datasets, no_heartbeats):
    """Do a whole job without the thread of its heartbeats; returns what it reported."""

    def do(job):
        folder = tmp_path / "run"
        folder.mkdir()
        job.do(folder, datasets)
        return job.site.reports

    return do


def test_a_run_is_reported_with_its_usage_and_the_programs_last_lines(make_job, do):
    (report,) = do(make_job("print('the last word', flush=True); sys.exit(3)"))
    assert (report["status"], report["reason"]) == ("failed", "crashed")
    assert report["sentence"] == "The program ended with exit code 3."
    assert report["error_lines"] == "the last word"
    assert report["output_bytes"] == 0 and report["wall_seconds"] > 0


def test_predictions_are_reported_with_their_size(make_job, do):
    (report,) = do(make_job())
    assert report["status"] == "ok"
    assert report["prediction_bytes"] == sum(file["size"] for file in report["predictions"]) > 0


@pytest.mark.parametrize("step", ["download", "uploads", "upload", "report"])
def test_a_site_that_is_away_for_minutes_costs_nothing(make_job, do, site, step):
    site.troubles[step] = [AWAY] * 8
    job = make_job()
    (report,) = do(job)
    assert report["status"] == "ok"
    assert job.waited[:8] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_after_the_grace_it_gives_up(make_job, do, site):
    site.troubles["report"] = [AWAY] * 1000
    job = make_job()
    assert do(job) == []
    assert sum(job.waited) <= 2 * job.grace


def test_a_run_that_went_to_somebody_else_is_not_reported(make_job, do, site):
    site.troubles["uploads"] = [Gone("This attempt has ended.")] * 100
    site.troubles["report"] = [Gone("This attempt has ended.")] * 100
    job = make_job()
    assert do(job) == [] and job.waited == []


def test_heartbeats_that_do_not_arrive_stop_nothing_within_the_grace(make_job, site, clock):
    job = make_job()
    site.troubles["heartbeat"] = [AWAY] * 3
    for _ in range(3):
        clock.now += 190
        job.beat_once()
    assert not job.stop.is_set()
    job.beat_once()
    clock.now += 500
    site.troubles["heartbeat"] = [AWAY]
    job.beat_once()
    assert not job.stop.is_set(), "the grace began anew with the heartbeat that arrived"


def test_after_the_grace_the_run_is_stopped(make_job, site, clock):
    job = make_job()
    site.troubles["heartbeat"] = [AWAY]
    clock.now += 601
    job.beat_once()
    assert job.lost and job.stop.is_set()


@pytest.mark.parametrize("answer", [Gone("ended"), WrongToken("revoked")])
def test_who_hears_that_the_attempt_has_ended_stops_at_once(make_job, site, answer):
    job = make_job()
    site.troubles["heartbeat"] = [answer]
    job.beat_once()
    assert job.lost and job.stop.is_set()


def test_a_heartbeat_that_the_site_cannot_read_stops_nothing(make_job, site):
    job = make_job()
    site.troubles["heartbeat"] = [SiteError("The site answered 422")]
    job.beat_once()
    assert not job.stop.is_set()


def test_a_worker_that_is_stopped_does_not_wait_long_for_its_site(make_job, do, site):
    site.troubles["report"] = [AWAY] * 1000
    job = make_job("time.sleep(30)")
    threading.Timer(0.5, job.release).start()
    do(job)
    assert sum(job.waited) <= 2 * job_module.RELEASE_SECONDS


def test_a_dataset_that_was_damaged_at_the_worker_is_not_the_programs_fault(make_job, do, datasets, site):
    job = make_job("sys.exit(1)")
    with datasets.dataset(job.claimed["dataset"], job._download_dataset) as folder:
        path = folder / "tiny_valid.data"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-2])
    (report,) = do(job)
    assert (report["status"], report["reason"]) == ("failed", "infrastructure")
    assert "dataset was damaged" in report["sentence"]
    assert not (datasets.folder / job.claimed["dataset"]["sha256"]).exists(), "the next run fetches it anew"


def test_an_archive_that_was_damaged_at_the_worker_is_not_refused_as_the_participants(make_job, do, site):
    job = make_job()
    job.site.download = lambda url, target, *, sha256: (
        target.write_bytes(b"PK damaged") and target
        if url == "archive.zip"
        else shutil.copyfile(site.folder / url, target)
    )
    (report,) = do(job)
    assert (report["status"], report["reason"]) == ("failed", "infrastructure")
    assert "archive was damaged" in report["sentence"]


def test_a_program_that_fails_on_sound_inputs_is_told_so(make_job, do):
    (report,) = do(make_job("raise KeyError('mine')"))
    assert report["reason"] == "crashed" and "KeyError" in report["error_lines"]
