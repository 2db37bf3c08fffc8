"""A readiness check at a worker: rows as they come, and what ends it before its end."""

import threading

import pytest

from ingestion.budget import Capacity
from ingestion.check_job import CheckJob
from ingestion.readiness import trial_budget
from ingestion.sandbox.unconfined import UnconfinedSandbox
from ingestion.site import Gone
from ingestion.verdict import RunResult
from tests.ingestion.runs import write_model

SOURCE = """
import numpy as np
class Model:
    def __init__(self, info): self.columns = int(info["target_num"])
    def fit(self, X, y): print("learning")
    def predict(self, X): return np.full((X.shape[0], self.columns), 0.5)
"""


class FakeSite:
    """A site that hands out one submission and keeps what is said about it."""

    def __init__(self, submission, *, beat=None, row=None):
        self.submission, self.rows, self.reports = submission, [], []
        self.beat = beat or (lambda body: {"cancel": False, "give_way": False})
        self.row = row or (lambda body: {"kept": True})

    def download(self, url, destination, *, sha256):
        return self.submission

    def call(self, path, body):
        kind = path.rsplit("/", 1)[-1]
        assert path == f"checks/7/{kind}" and (body["attempt"], body["secret"]) == (1, "secret")
        if kind == "heartbeat":
            return self.beat(body)
        if kind == "rows":
            self.rows.append(body)
            return self.row(body)
        self.reports.append(body)
        return {"state": "finished"}


@pytest.fixture
def submission(tmp_path):
    return write_model(tmp_path / "submission", SOURCE)


def do(site, folder, traits):
    claimed = {
        "check": 7,
        "attempt": 1,
        "secret": "secret",
        "archive": {"url": "/worker/files/x", "sha256": "0" * 64},
        "budget": trial_budget(120).to_json(),
        "image": "",
        "seed": 0,
        "traits": traits,
    }
    job = CheckJob(
        claimed,
        site=site,
        sandbox=UnconfinedSandbox(),
        capacity=Capacity(cores=1, memory_bytes=2**31),
        owner="tests",
    )
    job.do(folder, None)
    return job


def test_each_row_is_reported_with_its_log_and_then_the_end(submission, tmp_path):
    site = FakeSite(submission)
    do(site, tmp_path / "work", ["dense", "no_valid"])
    assert [row["trait"] for row in site.rows] == ["dense", "no_valid"]
    assert all(row["ok"] and "learning" in row["log"] for row in site.rows)
    assert list(site.rows[1]["parts"]) == ["test"]
    assert [report["status"] for report in site.reports] == ["finished"]


def test_it_is_given_back_when_a_run_of_the_contest_waits(submission, tmp_path):
    site = FakeSite(submission, beat=lambda body: {"cancel": False, "give_way": bool(body["trait"])})
    job = do(site, tmp_path / "work", ["dense"] * 200)
    assert job.gives_way
    assert [report["status"] for report in site.reports] == ["released"]
    assert len(site.rows) < 200


def test_a_cancelled_one_stops(submission, tmp_path):
    site = FakeSite(submission, beat=lambda body: {"cancel": True, "give_way": False})
    do(site, tmp_path / "work", ["dense"] * 200)
    assert [report["status"] for report in site.reports] == ["cancelled"]


def test_one_that_was_given_to_somebody_else_says_nothing_more(submission, tmp_path):
    def gone(body):
        raise Gone("This attempt has ended.")

    site = FakeSite(submission, beat=gone)
    job = do(site, tmp_path / "work", ["dense"] * 200)
    assert job.lost and site.reports == []


def test_a_failure_of_this_machine_is_no_row(submission, tmp_path, monkeypatch):
    failed = RunResult("failed", "infrastructure", "The sandbox failed: no room.")
    monkeypatch.setattr("ingestion.readiness.run", lambda *_, **__: failed)
    site = FakeSite(submission)
    do(site, tmp_path / "work", ["dense", "sparse"])
    assert site.rows == []
    assert [(one["status"], one["reason"]) for one in site.reports] == [("failed", "infrastructure")]


def test_a_worker_that_is_stopped_gives_it_back(submission, tmp_path):
    jobs, original = [], CheckJob._begin

    class Stopped(CheckJob):
        def _begin(self, trait):
            original(self, trait)
            jobs.append(self)
            threading.Thread(target=self.release).start()

    site = FakeSite(submission)
    claimed = {
        **{"check": 7, "attempt": 1, "secret": "secret", "archive": {"url": "", "sha256": ""}},
        **{"budget": trial_budget(120).to_json(), "image": "", "seed": 0, "traits": ["dense"] * 200},
    }
    capacity = Capacity(cores=1, memory_bytes=2**31)
    job = Stopped(claimed, site=site, sandbox=UnconfinedSandbox(), capacity=capacity, owner="tests")
    job.do(tmp_path / "work", None)
    assert jobs and [report["status"] for report in site.reports] == ["released"]
