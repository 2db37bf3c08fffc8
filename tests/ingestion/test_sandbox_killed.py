"""A worker that is killed with -9 in the middle of a run leaves nothing that the next one does not remove."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ingestion.sandbox import cgroups, scratch
from ingestion.sandbox.docker import GRACE_WITHOUT_WORKER, TIME_IS_OVER
from tests.ingestion.runs import usable_sandbox, write_program, write_tiny_dataset

OWNER = "command"


def start(tmp_path, sandbox, *, seconds=600, source="print('sleeping', flush=True); time.sleep(600)"):
    dataset = write_tiny_dataset(tmp_path / "tiny")
    code = write_program(tmp_path / "code", source)
    command = [sys.executable, "-m", "ingestion", "run", "--dataset", dataset, "--submission", code]
    command += [
        "--output",
        tmp_path / "output",
        "--sandbox",
        sandbox,
        "--wall-seconds",
        str(seconds),
        "--memory",
        "128MiB",
    ]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [str(word) for word in command],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment,
        text=True,
    )
    # The second line of progress comes ten seconds later; the first says that the program runs.
    lines = [process.stderr.readline() for _ in range(2)]
    assert "memory" in lines[1], lines
    return process


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.docker
def test_containers_of_a_killed_worker_are_removed_by_the_next(here):
    sandbox = usable_sandbox("docker")
    process = start(here, "docker")
    folders = list(here.glob("podium-run-command-*"))
    wanted = {"label": [f"podium.run={folders[0]}"]}
    try:
        assert sandbox.client.containers.list(filters=wanted)
        assert not [line for line in sandbox.clean_stale(OWNER) if str(folders[0]) in line]
        assert sandbox.client.containers.list(filters=wanted), "a living worker's container is left alone"
    finally:
        process.kill()
        process.communicate()
    assert any("container" in line for line in sandbox.clean_stale(OWNER))
    assert sandbox.client.containers.list(all=True, filters=wanted) == []
    assert sandbox.client.volumes.list(filters=wanted) == []
    assert list(here.glob("podium-run-*")) == [] and scratch.mounts_below(here) == []


STUBBORN = """
import signal
for number in range(1, signal.NSIG):
    try:
        signal.signal(number, signal.SIG_IGN)
        os.kill(os.getppid(), number)
    except (OSError, ValueError):
        pass
os.fork()
print("sleeping", flush=True)
time.sleep(600)
"""


@pytest.mark.docker
def test_a_container_ends_by_itself_when_its_worker_is_killed(here):
    sandbox = usable_sandbox("docker")
    process = start(here, "docker", seconds=3, source=STUBBORN)
    began = time.monotonic()
    wanted = {"label": [f"podium.run={next(here.glob('podium-run-command-*'))}"]}
    process.kill()
    process.communicate()
    try:
        while sandbox.client.containers.list(filters=wanted) and time.monotonic() < began + 120:
            time.sleep(0.1)
        assert sandbox.client.containers.list(filters=wanted) == []
        # The engine of a busy machine takes its time to start and to end one.
        assert time.monotonic() - began < 3 + GRACE_WITHOUT_WORKER + 60
        ended = sandbox.client.containers.list(all=True, filters=wanted)
        assert [one.attrs["State"]["ExitCode"] for one in ended] == [TIME_IS_OVER]
    finally:
        sandbox.clean_stale(OWNER)
    assert sandbox.client.containers.list(all=True, filters=wanted) == []


@pytest.mark.bubblewrap
def test_processes_of_a_killed_worker_end_with_it(here):
    sandbox = usable_sandbox("bubblewrap")
    process = start(here, "bubblewrap")
    main = str(here / "podium-run-command-")
    process.kill()
    process.communicate()
    end = time.monotonic() + 5
    while _mentioning(main) and time.monotonic() < end:
        time.sleep(0.05)
    assert _mentioning(main) == []
    sandbox.clean_stale(OWNER)
    assert list(here.glob("podium-run-*")) == [] and scratch.mounts_below(here) == []
    assert list(cgroups.MOUNT.glob("**/podium/podium-run-command-*")) == []


@pytest.mark.bubblewrap
def test_a_terminated_command_cleans_up_by_itself(here):
    usable_sandbox("bubblewrap")
    process = start(here, "bubblewrap")
    process.send_signal(signal.SIGTERM)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 1 and "cancelled" in told
    assert list(here.glob("podium-run-*")) == []


def _mentioning(text):
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and text in (folder / "cmdline").read_text(errors="replace"):
                found.append(folder.name)
        except OSError:
            continue
    return found
