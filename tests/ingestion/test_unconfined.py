"""Runs without a sandbox, as on a participant's own machine."""

import os
import subprocess
import time

import pytest

from ingestion.budget import MIB
from ingestion.sandbox.unconfined import UnconfinedSandbox
from tests.ingestion.runs import Runner


@pytest.fixture
def runner(tmp_path):
    return Runner(UnconfinedSandbox(), tmp_path)


def test_a_program_that_predicts_is_ok(runner):
    result = runner.program("predict()")
    assert (result.status, len(result.predictions)) == ("ok", 2), result


def test_a_sleeper_is_stopped_at_its_deadline(runner):
    result = runner.program("predict(0)\ntime.sleep(60)", seconds=1.5)
    assert (result.status, result.reason) == ("ok", "timed_out"), result
    assert result.wall_seconds < 3


def test_a_program_may_be_told_another_budget_than_it_has(runner):
    result = runner.program(
        """
        import pathlib
        info = next(pathlib.Path(sys.argv[2]).glob("*_public.info")).read_text()
        assert os.environ["PODIUM_TIME_BUDGET"] == "4" and "time_budget = 4" in info, info
        predict()
        """,
        seconds=20.0,
        told_seconds=4.0,
    )
    assert result.status == "ok", result


def test_memory_is_watched(runner):
    result = runner.program("block = bytearray(b'x' * 300_000_000)\ntime.sleep(60)", memory=100 * MIB)
    assert (result.status, result.reason) == ("failed", "out_of_memory"), result
    assert result.wall_seconds < 8


def test_a_daemon_ends_with_its_run(runner):
    marker = f"podium-daemon-{os.getpid()}-{time.monotonic_ns()}"
    result = runner.program(
        f"""
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sh", ["sh", "-c", "sleep 300; : {marker}"])
            os._exit(0)
        os.wait()
        predict()
        """
    )
    assert result.status == "ok", result
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert marker not in running


def test_a_signal_is_named(runner):
    result = runner.program("import signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert result.reason == "crashed" and "SIGSEGV" in result.sentence


def test_a_command_that_is_not_there_is_named(runner):
    def write(folder):
        folder.mkdir(parents=True)
        (folder / "metadata").write_text("command: no-such-program\n")
        return folder

    result = runner.submission(write)
    assert result.reason == "crashed" and "not found" in result.sentence
