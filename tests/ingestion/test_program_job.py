"""One programmed run at a worker: what it fetches, what it asks for, what it sends back."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from ingestion import program_job as module
from ingestion.budget import Capacity
from ingestion.program_job import ProgramJob
from ingestion.programs.requests import PredictResult
from tests.ingestion.test_job import FakeSite


class NoSandbox:
    name = "bubblewrap"


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    folder.mkdir()
    for name in ("archive", "ingestion", "input"):
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
            archive.writestr(f"{name}.txt", name)
    return FakeSite(folder)


@pytest.fixture
def predictions(tmp_path):
    """Stands for `ingestion.programs`: leaves files and answers with `fields`."""

    class Predictions:
        asked = None
        fields: dict = {}
        during = staticmethod(lambda request: None)

        def predict(self, request, *, stop, progress):
            self.asked = request
            self.stop = stop
            self.during(request)
            request.output.mkdir()
            found = {"log_path": "log.txt", "ingestion_log_path": "ingestion_log.txt", "predictions": "all.zip"}
            paths = {field: request.output / name for field, name in found.items()}
            for path in paths.values():
                path.write_text(path.name)
            answer = {"status": "ok", "reason": None, "sentence": "", "exit_code": 0, **paths, **self.fields}
            return PredictResult(**answer)

    return Predictions()


def offered(site, file, **fields):
    digest = hashlib.sha256((site.folder / file).read_bytes()).hexdigest()
    return {"url": file, "sha256": digest, **fields}


def done(site, predictions, folder, monkeypatch, **programs):
    """The job, done; its report is the site's last."""
    monkeypatch.setattr(module, "programs", predictions)
    claimed = {
        "run": 7,
        "attempt": 1,
        "secret": "s",
        "archive": offered(site, "archive.zip"),
        "budget": {"wall_seconds": 30},
        "image": "",
        "seed": 3,
        "programs": {"layout": 1, "ingestion": None, "input_data": None, **programs},
    }
    capacity = Capacity(cores=1, memory_bytes=2**28)
    job = ProgramJob(claimed, site=site, sandbox=NoSandbox(), capacity=capacity, owner="tests", cpus="0")
    work = folder / "work"
    work.mkdir()
    job.do(work, None)
    return job


def test_it_gives_the_program_and_its_data_to_the_step_that_predicts(site, predictions, tmp_path, monkeypatch):
    ingestion = offered(site, "ingestion.zip", name="Ingestion", command="python3 ingest.py")
    done(site, predictions, tmp_path, monkeypatch, ingestion=ingestion, input_data=offered(site, "input.zip"))
    asked = predictions.asked
    names = [zipfile.ZipFile(path).namelist() for path in (asked.submission, asked.ingestion, asked.input_data)]
    assert names == [["archive.txt"], ["ingestion.txt"], ["input.txt"]]
    assert (asked.ingestion_command, asked.ingestion_name) == ("python3 ingest.py", "Ingestion")
    assert (asked.layout, asked.seed, asked.cpus, asked.hidden) == (1, 3, "0", None)
    assert (asked.budget.cores, asked.budget.memory_bytes) == (1, 2**28)


def test_it_sends_logs_and_predictions_and_how_the_programs_ended(site, predictions, tmp_path, monkeypatch):
    predictions.fields = {"wall_seconds": 2.5, "notes": ("A link was left out.",), "ingestion_lines": "last"}
    done(site, predictions, tmp_path, monkeypatch)
    [report] = site.reports
    assert site.uploads == ["log.txt", "ingestion_log.txt", "all.zip"]
    assert report["output"]["name"] == "predictions.zip"
    assert report["output"]["sha256"] == hashlib.sha256(b"all.zip").hexdigest()
    assert report["exits"]["exitCode"] == 0
    assert report["exits"]["elapsedTime"] == 2.5
    assert (report["notes"], report["ingestion_lines"]) == (["A link was left out."], "last")


def test_a_failed_program_is_reported_with_its_reason(site, predictions, tmp_path, monkeypatch):
    predictions.fields = {"status": "failed", "reason": "ingestion_failed", "predictions": None}
    done(site, predictions, tmp_path, monkeypatch)
    [report] = site.reports
    assert (report["status"], report["reason"]) == ("failed", "ingestion_failed")
    assert "output" not in report


def test_an_input_that_went_bad_is_nobodys_fault(site, predictions, tmp_path, monkeypatch):
    def spoil(request):
        request.ingestion.chmod(0o600)
        Path(request.ingestion).write_bytes(b"bad")

    predictions.during = spoil
    predictions.fields = {"status": "failed", "reason": "ingestion_failed"}
    ingestion = offered(site, "ingestion.zip", name="Ingestion", command="python3 ingest.py")
    done(site, predictions, tmp_path, monkeypatch, ingestion=ingestion)
    [report] = site.reports
    assert (report["reason"], report["sentence"]) == ("infrastructure", "ingestion.zip was damaged at the worker.")


def test_a_worker_that_stops_gives_the_run_back(site, predictions, tmp_path, monkeypatch):
    monkeypatch.setattr(ProgramJob, "_archive", stopped_while_fetching)
    done(site, predictions, tmp_path, monkeypatch)
    assert predictions.stop.is_set()
    assert [report["status"] for report in site.reports] == ["released"]


def stopped_while_fetching(job, folder):
    job.release()
    return folder / "archive.zip"
