"""A worker that runs as an ordinary user: each limit in bubblewrap, as far as it can hold without root."""

from pathlib import Path

import pytest

from ingestion.budget import MIB
from tests.ingestion.other_user import OtherUser
from tests.ingestion.runs import usable_sandbox, write_program, write_tiny_dataset

ENGINE = Path("/var/run/docker.sock")
in_bubblewrap = pytest.mark.bubblewrap


@pytest.fixture(scope="module")
def other():
    user = OtherUser()
    yield user
    user.remove()


@pytest.fixture(scope="module")
def bubblewrap_works_for_it(other):
    code = "from ingestion.sandbox.bubblewrap import BubblewrapSandbox as B; s = B().check(); print(s.usable, s)"
    told = other.run("-c", code)
    if not told.stdout.startswith("True"):
        pytest.skip(f"bubblewrap does not work for an ordinary user here: {told.stdout or told.stderr}")
    assert "as this user" in told.stdout


@pytest.fixture
def run(other, bubblewrap_works_for_it, tmp_path):
    """The result of a program that an ordinary user runs in bubblewrap."""
    dataset = other.give(write_tiny_dataset(tmp_path / "tiny"))

    def run(source, *, seconds=20, memory="128MiB"):
        submission = other.give(write_program(tmp_path / "code", source))
        words = ("--wall-seconds", str(seconds), "--memory", memory, "--cores", "1")
        result = other.ingestion_run(dataset, submission, *words)
        assert not list(other.folder.glob("podium-run-*")), "nothing is left"
        return result

    return run


@in_bubblewrap
def test_an_honest_program_is_ok_and_measured(run):
    # Without control groups the processor time is looked up ten times a second: it must last for some looks.
    result = run("predict()\nsum(range(60_000_000))")
    assert (result["status"], result["reason"]) == ("ok", None), result
    assert len(result["predictions"]) == 2
    assert result["cpu_seconds"] > 0 and result["output_bytes"] >= result["prediction_bytes"] > 0


@in_bubblewrap
def test_it_is_another_user_inside_without_rights(run):
    result = run(
        """
        status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
        assert os.getuid() == 65534 and int(status["CapEff"], 16) == 0 and status["NoNewPrivs"].strip() == "1"
        assert not os.path.exists("/etc/shadow") and not os.path.exists("/home")
        predict()
        """
    )
    assert result["status"] == "ok", result


@in_bubblewrap
def test_time_is_held(run):
    result = run(
        "predict(0)\nsignal = __import__('signal')\nsignal.signal(15, signal.SIG_IGN)\ntime.sleep(600)", seconds=2
    )
    assert (result["status"], result["reason"]) == ("ok", "timed_out"), result
    assert 2 <= result["wall_seconds"] < 8


@in_bubblewrap
def test_the_memory_of_all_processes_together_is_held_and_told(run):
    result = run(
        """
        for _ in range(6):
            if os.fork() == 0:
                block = bytearray(os.urandom(1024)) * (1024 * 60)
                time.sleep(600)
        time.sleep(600)
        """,
        seconds=60,
    )
    assert (result["status"], result["reason"]) == ("failed", "out_of_memory"), result
    assert "needed at least" in result["sentence"] and "limit is 128 MiB" in result["sentence"]
    assert 128 * MIB < result["peak_memory_bytes"] < 6 * 70 * MIB


@in_bubblewrap
def test_processes_are_held(run):
    result = run(
        """
        started = 0
        try:
            for _ in range(2000):
                if os.fork() == 0:
                    time.sleep(600)
                started += 1
        except OSError:
            print("refused after", started, flush=True)
        predict()
        os.kill(0, 9)
        """,
        memory="1GiB",
    )
    assert "refused after" in result["log_tail"], result


@in_bubblewrap
def test_output_is_held(run):
    result = run("with open(f'{OUT}/big', 'wb') as file:\n    while True:\n        file.write(b'x' * 65536)")
    assert (result["status"], result["reason"]) == ("failed", "output_too_large"), result
    assert result["output_bytes"] <= 64 * MIB, "half of the memory at most"


@in_bubblewrap
def test_there_is_no_network(run):
    result = run(
        """
        import socket
        for family, kind, address in (
            (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 22)),
            (socket.AF_INET, socket.SOCK_DGRAM, ("8.8.8.8", 53)),
        ):
            try:
                with socket.socket(family, kind) as tried:
                    tried.settimeout(1)
                    tried.connect(address)
                    tried.send(b"x")
                    sys.exit("reached")
            except OSError:
                pass
        assert os.listdir("/sys/class/net") == ["lo"] if os.path.isdir("/sys/class/net") else True
        predict()
        """
    )
    assert result["status"] == "ok", result


@pytest.mark.docker
def test_a_user_in_the_group_of_the_engines_socket_runs_submissions_in_docker(tmp_path):
    usable_sandbox("docker")
    if not ENGINE.is_socket():
        pytest.skip(f"the engine does not listen at {ENGINE}")
    group = ENGINE.stat().st_gid
    member = OtherUser(group=group)
    try:
        dataset = member.give(write_tiny_dataset(tmp_path / "tiny"))
        source = "predict()\nopen(f'{OUT}/notes', 'wb').write(b'x' * 1_000_000)"
        submission = member.give(write_program(tmp_path / "code", source))
        words = ("--wall-seconds", "60", "--memory", "192MiB", "--cores", "1")
        result = member.ingestion_run(dataset, submission, *words, sandbox="docker")
        assert (result["status"], result["reason"]) == ("ok", None), result
        assert result["output_bytes"] >= 1_000_000
        stranger = OtherUser()
        try:
            stranger.give(dataset)
            refused = stranger.ingestion_run(stranger.folder / "tiny", stranger.give(submission), sandbox="docker")
            assert refused["reason"] == "infrastructure" and "may not speak" in refused["sentence"], refused
            assert "usermod -aG docker" in refused["sentence"]
        finally:
            stranger.remove()
    finally:
        member.remove()
