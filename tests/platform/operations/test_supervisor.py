"""The supervisor with real child processes."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from operations.ports import NoFreePort, listen
from operations.processes import Child, Part, rotate
from operations.supervisor import AlreadyRunning, Failing, HomeLock, Supervisor
from tests.shared import CHECKOUT


def part(tmp_path: Path, source: str, name: str = "child", grace: float = 5.0) -> Part:
    """A Python child that runs `source`."""
    command = (sys.executable, "-c", textwrap.dedent(source))
    return Part(name, command, dict(os.environ), tmp_path / "logs" / f"{name}.log", grace=grace)


def is_alive(pid: int) -> bool:
    """Whether the process exists and is not a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def eventually(condition, seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


SLEEPER = "import time\nprint('ready', flush=True)\ntime.sleep(600)"
# A server that has a child of its own and dies without looking after it.
PARENT_OF_ORPHAN = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
print(child.pid, flush=True)
time.sleep({seconds})
"""


def test_leaving_it_ends_every_child_and_nothing_else(tmp_path):
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        with Supervisor(print) as supervisor:
            pids = [supervisor.start(part(tmp_path, SLEEPER, name)).process.pid for name in ("one", "two")]
            assert all(is_alive(pid) for pid in pids)
        assert not any(is_alive(pid) for pid in pids)
        assert is_alive(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()


def test_an_error_inside_ends_the_children_too(tmp_path):
    with pytest.raises(ValueError, match="ours"), Supervisor(print) as supervisor:
        pid = supervisor.start(part(tmp_path, SLEEPER)).process.pid
        raise ValueError("ours")
    assert not is_alive(pid)


def test_grandchildren_end_with_their_parent(tmp_path):
    with Supervisor(print) as supervisor:
        child = supervisor.start(part(tmp_path, PARENT_OF_ORPHAN.format(seconds=600)))
        assert eventually(lambda: child.part.log.read_text().strip())
        orphan = int(child.part.log.read_text().split()[-1])
        assert is_alive(orphan)
    assert eventually(lambda: not is_alive(orphan))


def test_what_a_dead_child_left_running_is_ended_before_it_is_started_again(tmp_path):
    said: list[str] = []
    with Supervisor(said.append) as supervisor:
        child = supervisor.start(part(tmp_path, PARENT_OF_ORPHAN.format(seconds=0.2)))
        first = child.process.pid
        supervisor.wait(2.5)
        orphan = int(child.part.log.read_text().split()[0])
        assert child.process is None or child.process.pid != first
    assert not is_alive(orphan)
    assert any("ended with code 0; starting it again in 1 s" in line for line in said)


def test_a_child_that_ignores_term_is_killed_after_its_grace(tmp_path):
    stubborn = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('ready', flush=True)\n"
    with Supervisor(print) as supervisor:
        child = supervisor.start(part(tmp_path, stubborn + "time.sleep(600)", grace=0.5))
        pid = child.process.pid
        assert eventually(lambda: "ready" in child.part.log.read_text())
        began = time.monotonic()
    assert not is_alive(pid)
    assert 0.4 < time.monotonic() - began < 5


def test_a_child_that_dies_again_and_again_is_reported_with_the_end_of_its_log(tmp_path):
    said: list[str] = []
    with Supervisor(said.append) as supervisor:
        supervisor.start(part(tmp_path, "import sys; sys.exit('the disk is on fire')", "site"))
        with pytest.raises(Failing, match="site does not stay alive"):
            for _ in range(100):
                supervisor.wait(0.2)
                supervisor.check()
    assert [line for line in said if line.startswith("The site has died 3 times in a row")]
    assert "the disk is on fire" in said[-1]


def test_the_pause_before_a_restart_grows_up_to_half_a_minute(tmp_path):
    child = Child(part(tmp_path, ""))
    child.started_at = time.monotonic()
    assert [child.plan_restart() for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    child.started_at = time.monotonic() - 120
    assert child.plan_restart() == 1


SUPERVISING = """
import os, sys
from pathlib import Path
from operations.processes import Part
from operations.supervisor import StopAsked, Supervisor

log = Path(sys.argv[1]) / "child.log"
sleeper = (sys.executable, "-c", "import time; time.sleep(600)")
try:
    with Supervisor(print) as supervisor:
        child = supervisor.start(Part("child", sleeper, dict(os.environ), log))
        print(child.process.pid, flush=True)
        supervisor.serve()
except StopAsked as asked:
    print(f"asked by {asked}", flush=True)
"""


@contextlib.contextmanager
def supervisor_process(tmp_path, before=()):
    """A supervisor in a process of its own, and its child's number. `before`: a command that starts it."""
    environ = {**os.environ, "PYTHONPATH": f"{CHECKOUT}:{CHECKOUT / 'platform'}"}
    command = [*before, sys.executable, "-c", SUPERVISING, str(tmp_path)]
    process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
    pid = int(process.stdout.readline())
    try:
        yield process, pid
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


@pytest.fixture
def supervising(tmp_path):
    with supervisor_process(tmp_path) as both:
        yield both


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_children_in_good_order(supervising, number):
    process, pid = supervising
    process.send_signal(number)
    assert process.communicate(timeout=15)[0].strip() == f"asked by {number.name}"
    assert process.returncode == 0
    assert not is_alive(pid)


def test_a_script_that_started_it_in_the_background_can_interrupt_it(tmp_path):
    # A shell without job control lets its background processes ignore SIGINT.
    with supervisor_process(tmp_path, ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]) as (process, pid):
        process.send_signal(signal.SIGINT)
        assert "SIGINT" in process.communicate(timeout=15)[0]
        assert not is_alive(pid)


def test_under_nohup_it_survives_the_end_of_its_terminal(tmp_path):
    with supervisor_process(tmp_path, ["sh", "-c", 'trap "" HUP; exec "$@"', "sh"]) as (process, pid):
        process.send_signal(signal.SIGHUP)
        time.sleep(0.5)
        assert process.poll() is None
        assert is_alive(pid)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends a child with its parent")
def test_killing_the_supervisor_leaves_no_child_behind(supervising):
    process, pid = supervising
    process.kill()
    assert eventually(lambda: not is_alive(pid))


def test_a_second_instance_on_a_data_folder_is_refused_and_told_who_runs(tmp_path):
    first = HomeLock(tmp_path / "supervisor.lock", "A Podium")
    first.take()
    first.describe("process 7, serving http://127.0.0.1:8000")
    with pytest.raises(AlreadyRunning, match=r"process 7, serving http://127.0.0.1:8000.*PODIUM_HOME"):
        HomeLock(tmp_path / "supervisor.lock", "A Podium").take()
    first.release()
    second = HomeLock(tmp_path / "supervisor.lock", "A Podium")
    second.take()
    second.release()


def test_a_log_past_its_limit_is_moved_aside_while_its_writer_goes_on(tmp_path):
    log = tmp_path / "site.log"
    with log.open("ab", buffering=0) as writer:
        for round_number in range(5):
            writer.write(b"x" * 100 + str(round_number).encode())
            rotate(log, limit=100)
        writer.write(b"after")
    assert log.read_bytes() == b"after"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "site.log",
        "site.log.1",
        "site.log.2",
        "site.log.3",
    ]
    assert (tmp_path / "site.log.1").read_bytes().endswith(b"4")


def test_a_busy_port_takes_the_next_free_one():
    first, taken = listen("127.0.0.1", 18321)
    second, got = listen("127.0.0.1", taken)
    with first, second:
        assert got > taken


def test_an_address_of_another_machine_is_refused_in_a_sentence():
    with pytest.raises(NoFreePort, match=r"192\.0\.2\.1"):
        listen("192.0.2.1", 18321)
