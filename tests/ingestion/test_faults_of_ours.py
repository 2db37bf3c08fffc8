"""Whatever breaks on our side is told as ours: a full disk, an engine that dies, inputs that went bad."""

import contextlib
import errno
import os
import socket
import threading
import time
from pathlib import Path

import pytest

from ingestion import collect, runner
from ingestion.budget import MIB
from ingestion.sandbox import cgroups
from ingestion.sandbox.base import Measurement
from ingestion.sandbox.docker import DockerSandbox
from tests.ingestion.runs import OWNER, Runner, usable_sandbox

ENGINE = "/var/run/docker.sock"


@pytest.fixture(params=["unconfined", pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)])
def any_runner(request, tmp_path):
    return Runner(usable_sandbox(request.param), tmp_path)


def full_disk(*arguments, **options):
    raise OSError(errno.ENOSPC, "No space left on device")


def assert_ours(result):
    assert (result.status, result.reason, result.error_lines) == ("failed", "infrastructure", ""), result
    assert result.predictions == ()


@pytest.mark.parametrize("source", ["predict(); time.sleep(2)", "predict()"])
def test_a_full_disk_while_predictions_are_copied_out_is_ours(any_runner, monkeypatch, source):
    monkeypatch.setattr(collect, "_copy_bytes", full_disk)
    assert_ours(any_runner.program(source))


def test_a_full_disk_while_the_log_is_written_is_ours(any_runner, monkeypatch):
    real = Path.write_text

    def write_text(path, *arguments, **options):
        return full_disk() if path.name == runner.LOG_NAME else real(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", write_text)
    result = any_runner.program("raise ValueError('this is the program')")
    assert_ours(result)
    assert result.sentence == "The disk of the machine that handled the run is full."


def test_a_full_disk_while_the_archive_is_opened_is_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "copied_folder", full_disk)
    assert_ours(Runner(usable_sandbox("unconfined"), tmp_path).program("predict()"))


def test_a_dataset_that_went_bad_is_ours(any_runner):
    (any_runner.dataset / "tiny_train.data").write_text("0 1\nnot a number\n")
    assert_ours(any_runner.program("predict()"))


@pytest.mark.bubblewrap
@pytest.mark.skipif(os.geteuid() != 0, reason="without root there are no control groups to lose")
def test_without_control_groups_memory_is_watched_and_told_with_both_figures(tmp_path, monkeypatch):
    def refused(*arguments):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(cgroups, "make_group", refused)
    held = Runner(usable_sandbox("bubblewrap"), tmp_path)
    assert held.program("predict()").status == "ok"
    hog = "block = bytearray(400 * 1024 * 1024)\nfor i in range(0, len(block), 4096): block[i] = 1\ntime.sleep(9)"
    result = held.program(hog, memory=96 * MIB, seconds=60)
    assert result.reason == "out_of_memory", result
    assert "It needed at least" in result.sentence and result.sentence.endswith("the limit is 96 MiB.")


@pytest.mark.bubblewrap
def test_a_process_that_the_machine_ended_for_its_own_want_of_memory_is_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(cgroups.Group, "measure", lambda group: Measurement(machine_full=True))
    sandbox = usable_sandbox("bubblewrap") if os.geteuid() else None
    if sandbox is None:
        from ingestion.sandbox.bubblewrap import BubblewrapSandbox

        sandbox = BubblewrapSandbox()
    elif cgroups.version() is None:
        pytest.skip("there are no control groups")
    result = Runner(sandbox, tmp_path).program("predict()")
    assert_ours(result)
    assert "no memory left" in result.sentence


def running_container(sandbox):
    """The container of the run of these tests; waits until it runs."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = sandbox.client.containers.list(filters={"label": f"podium.owner={OWNER}", "status": "running"})
        if found:
            return found[0]
        time.sleep(0.05)
    raise AssertionError("no container was started")


@pytest.mark.docker
def test_a_container_that_somebody_ended_by_hand_is_ours(tmp_path):
    sandbox = usable_sandbox("docker")
    killer = threading.Thread(target=lambda: running_container(usable_sandbox("docker")).kill())
    killer.start()
    result = Runner(sandbox, tmp_path).program("time.sleep(60)", seconds=40)
    killer.join()
    assert_ours(result)
    assert "ended from outside" in result.sentence


@pytest.mark.docker
@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "os._exit(137)"])
def test_a_program_that_ends_as_if_it_were_killed_is_not_taken_for_a_fault_of_ours(tmp_path, end):
    result = Runner(usable_sandbox("docker"), tmp_path).program(end)
    assert (result.reason, "SIGKILL" in result.sentence) == ("crashed", True), result


class Wire:
    """A socket that passes everything on to the engine until it is cut."""

    def __init__(self, path):
        self.path = path
        self.is_cut = threading.Event()
        self.open = []
        self.door = socket.socket(socket.AF_UNIX)
        self.door.bind(str(path))
        self.door.listen(50)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while not self.is_cut.is_set():
            try:
                inner, _ = self.door.accept()
            except OSError:
                return
            outer = socket.socket(socket.AF_UNIX)
            outer.connect(ENGINE)
            self.open += [inner, outer]
            for source, target in ((inner, outer), (outer, inner)):
                threading.Thread(target=self._pass, args=(source, target), daemon=True).start()

    def _pass(self, source, target):
        with contextlib.suppress(OSError):
            while chunk := source.recv(65536):
                target.sendall(chunk)
            target.shutdown(socket.SHUT_WR)

    def cut(self):
        self.is_cut.set()
        self.path.unlink()
        for end in (self.door, *self.open):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.mark.docker
def test_an_engine_that_dies_in_the_middle_of_a_run_is_ours(tmp_path, monkeypatch):
    engine = usable_sandbox("docker")
    if not Path(ENGINE).exists():
        pytest.skip(f"the engine does not listen at {ENGINE}")
    assert engine.client.ping()  # its connection is made before the next one takes the wire
    wire = Wire(tmp_path / "engine.sock")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{wire.path}")

    def cut_when_started():
        running_container(engine)
        wire.cut()

    cutter = threading.Thread(target=cut_when_started)
    cutter.start()
    result = Runner(DockerSandbox(), tmp_path).program("time.sleep(60)", seconds=40)
    cutter.join()
    assert_ours(result)
    assert "engine" in result.sentence
    assert any("container" in line for line in engine.clean_stale(OWNER)), "the next worker removes what was left"
