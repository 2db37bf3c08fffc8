"""`python -m ingestion run`: its fields, its exit codes, and its last line."""

import json
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from ingestion.command import main
from ingestion.runner import split_command
from ingestion.sandbox.base import Places
from tests.ingestion.runs import write_program, write_tiny_dataset

FIELDS = {
    "status",
    "reason",
    "sentence",
    "wall_seconds",
    "cpu_seconds",
    "peak_memory_bytes",
    "log_tail",
    "predictions",
}


@pytest.fixture
def dataset(tmp_path):
    return write_tiny_dataset(tmp_path / "tiny")


def run(tmp_path, dataset, submission, *more):
    command = [sys.executable, "-m", "ingestion", "run", "--dataset", dataset, "--submission", submission]
    command += ["--output", tmp_path / "output", "--sandbox", "unconfined", "--json", *more]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)


def test_a_good_run_ends_with_0_and_its_fields(tmp_path, dataset):
    done = run(tmp_path, dataset, write_program(tmp_path / "code", "print('hello'); predict(1)"))
    assert done.returncode == 0, done.stderr
    fields = json.loads(done.stdout.splitlines()[-1])
    assert fields.keys() >= FIELDS
    assert (fields["status"], fields["reason"], fields["log_tail"]) == ("ok", None, "hello")
    assert [file["name"] for file in fields["predictions"]] == ["tiny_valid_001.predict", "tiny_test_001.predict"]
    assert (tmp_path / "output" / "tiny_test_001.predict").read_text() == "0.5\n" * 4
    assert len(done.stdout.splitlines()) == 1


def test_a_failure_of_the_submission_ends_with_1(tmp_path, dataset):
    done = run(tmp_path, dataset, write_program(tmp_path / "code", "sys.exit(7)"))
    assert done.returncode == 1
    assert json.loads(done.stdout)["reason"] == "crashed"
    assert "exit code 7" in done.stderr


def test_a_stopped_run_with_predictions_ends_with_0(tmp_path, dataset):
    code = write_program(tmp_path / "code", "predict(0); time.sleep(60)")
    done = run(tmp_path, dataset, code, "--wall-seconds", "8")
    assert done.returncode == 0
    assert json.loads(done.stdout)["reason"] == "timed_out"
    strict = run(tmp_path, dataset, code, "--wall-seconds", "8", "--no-any-time")
    assert strict.returncode == 1


def test_a_zip_with_a_wrapping_folder_is_opened(tmp_path, dataset):
    code = write_program(tmp_path / "code", "predict()")
    archive = tmp_path / "code.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in code.iterdir():
            file.write(path, f"inner/{path.name}")
    assert run(tmp_path, dataset, archive).returncode == 0


def test_results_without_code_are_taken_as_they_are(tmp_path, dataset):
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "tiny_valid.predict").write_text("1\n" * 3)
    (folder / "tiny_test.predict").write_text("1\n" * 4)
    done = run(tmp_path, dataset, folder)
    assert done.returncode == 0, done.stderr
    (folder / "tiny_valid.predict").unlink()
    assert run(tmp_path, dataset, folder).returncode == 1


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda path: path.write_text("this is no zip"), "zip"),
        (lambda path: zipfile.ZipFile(path, "w").close(), "empty"),
        (lambda path: zipfile.ZipFile(path, "w").writestr("../out.txt", "x"), "../out.txt"),
    ],
)
def test_a_bad_archive_is_refused_in_one_sentence(tmp_path, dataset, write, words):
    archive = tmp_path / "bad.zip"
    write(archive)
    done = run(tmp_path, dataset, archive)
    fields = json.loads(done.stdout)
    assert (done.returncode, fields["status"], fields["reason"]) == (1, "failed", "refused"), fields
    assert words in fields["sentence"]


@pytest.mark.bubblewrap
def test_a_private_umask_does_not_close_the_sandbox_to_its_user(tmp_path, dataset):
    if shutil.which("bwrap") is None:
        pytest.skip("bwrap is not installed (apt-get install bubblewrap)")
    code = write_program(tmp_path / "code", "predict(1)")
    before = os.umask(0o077)
    try:
        done = run(tmp_path, dataset, code, "--sandbox", "bubblewrap")
    finally:
        os.umask(before)
    assert done.returncode == 0, done.stderr


def test_a_folder_without_a_dataset_is_the_input_at_fault(tmp_path):
    (tmp_path / "empty").mkdir()
    done = run(tmp_path, tmp_path / "empty", tmp_path / "empty")
    assert done.returncode == 1
    assert "public.info" in json.loads(done.stdout)["sentence"]


def test_usage_ends_with_2(tmp_path, dataset):
    for wrong in (["--memory", "lots"], ["--cores", "0"], ["--wall-seconds", "-1"], ["--sandbox", "jail"]):
        assert run(tmp_path, dataset, dataset, *wrong).returncode == 2


def test_no_sandbox_is_our_fault(tmp_path, dataset, monkeypatch, capsys):
    monkeypatch.delenv("PODIUM_SANDBOX", raising=False)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    code = write_program(tmp_path / "code", "predict()")
    words = ["run", "--dataset", dataset, "--submission", code, "--output", tmp_path / "output"]
    assert main([*map(str, words), "--sandbox", "docker", "--json"]) == 3
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["reason"] == "infrastructure"


def test_a_command_is_split_like_a_shell_would_without_one():
    places = Places()
    line = "python3 $program/run.py '$input' \"a b\" $submission_program/x $ingestion_program $output/$tmp ; ls"
    assert split_command(line, places) == (
        "python3",
        "/app/submission/run.py",
        "/app/input_data",
        "a b",
        "/app/submission/x",
        "/app/program",
        "/app/output//tmp",
        ";",
        "ls",
    )
