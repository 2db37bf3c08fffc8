"""What programs of every kind come to, in Docker and in bubblewrap alike."""

import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import pytest

from ingestion.budget import GIB, MIB
from ingestion.sandbox import cgroups
from tests.ingestion.runs import OWNER, Runner, usable_sandbox

SANDBOXES = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]


@pytest.fixture(scope="module", params=SANDBOXES)
def sandbox(request):
    return usable_sandbox(request.param)


@pytest.fixture
def runner(sandbox, tmp_path):
    return Runner(sandbox, tmp_path)


@pytest.fixture(autouse=True)
def nothing_is_left(sandbox):
    """After each run: no container, volume, mount, folder or control group of it."""
    yield
    left = [str(path) for path in Path(tempfile.gettempdir()).glob(f"podium-run-{OWNER}-*")]
    left += [line for line in Path("/proc/self/mounts").read_text().splitlines() if f"podium-run-{OWNER}" in line]
    left += [str(path) for path in cgroups.MOUNT.glob(f"**/podium/podium-run-{OWNER}-*")]
    if sandbox.name == "docker":
        wanted = {"label": f"podium.owner={OWNER}"}
        left += [one.name for one in sandbox.client.containers.list(all=True, filters=wanted)]
        left += [one.name for one in sandbox.client.volumes.list(filters=wanted)]
    assert left == []


def names(result):
    return sorted(file.name for file in result.predictions)


def test_a_program_that_predicts_is_ok(runner):
    result = runner.program("predict()")
    assert (result.status, result.reason) == ("ok", None), result
    assert names(result) == ["tiny_test.predict", "tiny_valid.predict"]
    assert all(file.path.read_text().startswith("0.5\n") for file in result.predictions)
    assert 0 < result.wall_seconds < 10


def test_a_generator_model_yields_a_learning_curve(runner):
    result = runner.model(
        """
        import time
        class Model:
            def __init__(self, info):
                assert info["metric"] == "auc_metric" and info["train_num"] == 6 and info["time_budget"] == 60
            def fit(self, X, y):
                assert X.shape == (6, 2) and y.shape == (6,)
                for _ in range(2):
                    time.sleep(0.8)
                    yield
            def predict(self, X):
                return X[:, 1]
        """,
        seconds=60,
        memory=512 * MIB,
    )
    assert result.status == "ok", result
    curve = [(file.number, file.seconds) for file in result.predictions if file.part == "test"]
    # 1 falls into the same interval of the curve as 0 where the machine is slow.
    assert [number for number, _ in curve] in ([0, 1, 2], [0, 2])
    assert curve[0][1] < curve[-1][1]


def test_a_sleeper_is_stopped_at_its_deadline(runner):
    result = runner.program("time.sleep(60)", seconds=1.0)
    assert (result.status, result.reason, result.stopped) == ("failed", "timed_out", "time"), result
    assert 1.0 <= result.wall_seconds < 2.0
    assert "1 second" in result.sentence


def test_a_program_that_traps_signals_is_stopped_too(runner):
    result = runner.program(
        """
        import signal
        for number in range(1, 64):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True:
            pass
        """,
        seconds=1.5,
    )
    assert result.reason == "timed_out"
    assert result.wall_seconds < 2.5
    assert 0 < result.cpu_seconds <= result.wall_seconds + 0.1


def test_what_was_complete_before_the_deadline_counts(runner):
    result = runner.program(
        """
        predict(0)
        time.sleep(1)
        predict(1)
        with open(f"{OUT}/tiny_valid_002.predict", "w") as file:
            file.write("0.5\\n" * 3)
        with open(f"{OUT}/tiny_test_002.predict", "w") as file:
            file.write("0.5\\n0.5\\n0.")
            file.flush()
            time.sleep(60)
        """,
        seconds=2.5,
    )
    assert (result.status, result.reason, result.stopped) == ("ok", "timed_out", "time"), result
    assert {file.number for file in result.predictions} == {0, 1}
    assert "stopped" in result.sentence
    first, last = (next(file.seconds for file in result.predictions if file.number == n) for n in (0, 1))
    assert last - first > 0.6


def test_without_the_any_time_rule_a_stopped_program_has_nothing(runner):
    result = runner.program("predict(0); time.sleep(60)", seconds=1.5, any_time=False)
    assert (result.status, result.reason, result.predictions) == ("failed", "timed_out", ()), result


HOG = """
block = []
while True:
    block.append(bytearray(os.urandom(1024)) * 4096)
"""


def test_a_program_past_its_memory_is_named(runner):
    result = runner.program(HOG, memory=96 * MIB)
    assert (result.status, result.reason) == ("failed", "out_of_memory"), result
    assert "96 MiB" in result.sentence


def test_complete_predictions_survive_the_end_of_memory(runner):
    result = runner.program("predict(0)\ntime.sleep(1)\n" + HOG, memory=96 * MIB)
    assert (result.status, result.reason) == ("ok", "out_of_memory"), result
    assert names(result) == ["tiny_test_000.predict", "tiny_valid_000.predict"]


CHILD_HOG = """
import subprocess
subprocess.run([sys.executable, "-c", "b=[]\\nwhile True: b.append(bytearray(b'x'*1000) * 4096)"])
"""


def test_memory_that_ended_a_child_alone_is_a_note_when_predictions_are_complete(runner):
    result = runner.program(CHILD_HOG + "predict()\n", memory=96 * MIB)
    assert (result.status, result.reason, result.stopped) == ("ok", "out_of_memory", None), result


def test_memory_that_ended_a_child_is_the_reason_when_nothing_was_predicted(runner):
    result = runner.program(CHILD_HOG, memory=96 * MIB)
    assert (result.status, result.reason) == ("failed", "out_of_memory"), result


def test_many_processes_share_one_memory_limit(runner):
    result = runner.program(
        """
        for _ in range(8):
            if os.fork() == 0:
                block = bytearray(os.urandom(1024)) * (1024 * 40)
                time.sleep(2)
                os._exit(0)
        time.sleep(2)
        """,
        memory=128 * MIB,
    )
    assert (result.status, result.reason) == ("failed", "out_of_memory"), result
    if runner.sandbox.name == "docker" or os.geteuid() == 0:
        assert result.peak_memory_bytes < 160 * MIB


def test_a_fork_bomb_reaches_its_limit(runner):
    result = runner.program(
        """
        import threading
        def bomb():
            while True:
                try:
                    os.fork()
                except OSError:
                    time.sleep(0.05)
        bomb()
        """,
        seconds=2,
    )
    assert (result.status, result.reason) == ("failed", "timed_out"), result
    assert result.wall_seconds < 4


def test_a_program_that_may_not_start_threads_is_told_the_limit(runner):
    result = runner.program(
        """
        import threading
        for _ in range(200):
            threading.Thread(target=time.sleep, args=(5,), daemon=True).start()
        """
    )
    assert (result.status, result.reason) == ("failed", "crashed"), result
    assert "can't start new thread" in result.error_lines


def test_a_flood_of_output_is_named(runner):
    result = runner.program(
        """
        with open(f"{OUT}/big", "wb") as file:
            while True:
                file.write(b"x" * 65536)
                file.flush()
        """
    )
    assert (result.status, result.reason) == ("failed", "output_too_large"), result
    assert "8 MiB" in result.sentence


def test_what_a_program_wrote_is_told_in_bytes(runner):
    result = runner.program("predict()\nopen(f'{OUT}/notes', 'wb').write(b'x' * 3_000_000)")
    assert result.status == "ok", result
    assert 3_000_000 <= result.output_bytes < 3_200_000
    assert result.prediction_bytes == sum(file.path.stat().st_size for file in result.predictions) > 0


def test_a_full_place_for_temporary_files_is_named(runner):
    flood = "with open('/tmp/big', 'wb') as file:\n    while True:\n        file.write(b'x' * 65536)"
    result = runner.program(flood, memory=128 * MIB, temporary_bytes=8 * MIB)
    if runner.sandbox.name == "docker" and os.geteuid() != 0:
        assert result.reason == "crashed"  # nobody but root may look into a container
    else:
        assert (result.reason, "/tmp or /dev/shm was full" in result.sentence) == ("crashed", True), result


def test_a_short_peak_of_memory_is_not_missed(runner):
    result = runner.program("bytearray(100_000_000)\npredict()", memory=192 * MIB)
    assert result.status == "ok", result
    if runner.sandbox.name == "bubblewrap" and os.geteuid() == 0:
        assert 95_000_000 < result.peak_memory_bytes < 160_000_000


def test_a_flood_of_files_is_named(runner):
    result = runner.program(
        """
        for number in range(100_000):
            open(f"{OUT}/{number}", "w").close()
        """
    )
    assert (result.status, result.reason) == ("failed", "output_too_large"), result


def test_a_sparse_file_does_not_pass_for_a_small_one(runner):
    result = runner.program(
        """
        predict()
        with open(f"{OUT}/tiny_test.predict", "r+b") as file:
            file.truncate(10 * 1024**4)
        """
    )
    assert result.status == "failed"
    assert result.reason in ("crashed", "output_too_large")


def test_a_flood_of_log_is_cut_and_marked(runner):
    result = runner.program(
        """
        print("the beginning")
        for _ in range(3000):
            sys.stdout.write("x" * 9999 + "\\n")
        print("the end")
        predict()
        """,
        seconds=20,
    )
    assert result.status == "ok", result
    text = result.log_path.read_text()
    assert len(text) < 80 * 1024
    assert text.startswith("the beginning") and "bytes left out" in text and text.rstrip().endswith("the end")


@pytest.mark.parametrize(
    "make",
    [
        "os.symlink('/etc/passwd', f'{OUT}/tiny_test.predict')",
        "os.mkfifo(f'{OUT}/tiny_test.predict')",
        "os.mkdir(f'{OUT}/tiny_test.predict')",
        "import socket; socket.socket(socket.AF_UNIX).bind(f'{OUT}/tiny_test.predict')",
    ],
)
def test_only_regular_files_are_collected(runner, make):
    result = runner.program(f"predict()\nos.remove(f'{{OUT}}/tiny_test.predict')\n{make}")
    assert (result.status, result.reason) == ("failed", "no_predictions"), result
    # The engine's archive of a volume, which a worker without root reads, leaves sockets out.
    assert "not a regular file" in result.sentence or ("socket" in make and os.geteuid() != 0)


def test_a_prediction_file_far_too_large_is_refused(runner):
    result = runner.program("predict()\nopen(f'{OUT}/tiny_test.predict', 'w').write('0.5\\n' * 100_000)")
    assert (result.status, result.reason) == ("failed", "bad_predictions"), result
    assert "tiny_test.predict" in result.sentence


def test_the_network_is_out_of_reach(runner):
    result = runner.program(
        """
        import socket
        def reaches(family, kind, address):
            try:
                with socket.socket(family, kind) as tried:
                    tried.settimeout(1)
                    tried.connect(address)
                    tried.send(b"x")
                    return True
            except OSError:
                return False
        assert not reaches(socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80))
        assert not reaches(socket.AF_INET, socket.SOCK_DGRAM, ("8.8.8.8", 53))
        assert not reaches(socket.AF_INET, socket.SOCK_STREAM, ("172.17.0.1", 22))
        assert not reaches(socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::1", 80))
        for family in (16, 17, 38, 40):
            try:
                socket.socket(family, socket.SOCK_RAW if family != 38 else socket.SOCK_SEQPACKET)
            except OSError as error:
                assert error.errno == 1, (family, error)
            else:
                raise AssertionError(family)
        predict()
        """
    )
    assert result.status == "ok", result


def test_system_calls_of_the_profile_are_refused(runner):
    result = runner.program(
        """
        import ctypes, platform
        libc = ctypes.CDLL(None, use_errno=True)
        calls = {"x86_64": {"keyctl": 250, "io_uring_setup": 425, "bpf": 321, "perf_event_open": 298,
                            "ptrace": 101, "userfaultfd": 323, "mount": 165, "unshare": 272, "setns": 308,
                            "syslog": 103, "kexec_load": 246}}.get(platform.machine(), {})
        for name, number in calls.items():
            ctypes.set_errno(0)
            result = libc.syscall(number, 0, 0, 0, 0, 0)
            assert result == -1 and ctypes.get_errno() in (1, 38), (name, result, ctypes.get_errno())
        CLONE_NEWUSER, SIGCHLD = 0x10000000, 17
        if calls:
            pid = libc.syscall(56, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)
            if pid == 0:
                os._exit(0)
            assert pid == -1 and ctypes.get_errno() == 1
        predict()
        """
    )
    assert result.status == "ok", result


def test_multiprocessing_and_threads_work(runner):
    result = runner.program(
        """
        import multiprocessing, threading
        def square(x):
            return x * x
        if __name__ == "__main__":
            with multiprocessing.Pool(2) as pool:
                assert pool.map(square, [1, 2, 3]) == [1, 4, 9]
            thread = threading.Thread(target=predict)
            thread.start()
            thread.join()
        """
    )
    assert result.status == "ok", result


def test_labels_and_the_host_are_not_there(runner, tmp_path):
    result = runner.program(
        f"""
        found = []
        for folder, folders, files in os.walk("/"):
            if folder == "/":
                # Programs and packages of the machine, which are many; a run's own places are elsewhere.
                folders[:] = [name for name in folders if name not in ("proc", "sys", "usr")]
            folders[:] = [name for name in folders if name != "site-packages"]
            found += [os.path.join(folder, name) for name in files
                      if name.endswith((".solution", "_private.info")) or "docker.sock" in name]
        assert found == ["/app/input_data/tiny_train.solution"], found
        for path in ({str(tmp_path)!r}, "/root/.bashrc", "/etc/shadow", "/var/run/docker.sock", "/home"):
            assert not os.access(path, os.R_OK) or not os.path.isdir(path) or not os.listdir(path), path
        assert "secret" not in open("/app/input_data/tiny_public.info").read()
        told = "".join(open(f"/proc/{{pid}}/cmdline").read() for pid in os.listdir("/proc") if pid.isdigit())
        assert "podium-run" not in told and "site-packages" not in told, told
        predict()
        """
    )
    assert result.status == "ok", result


def test_inputs_are_read_only_and_so_is_the_rest(runner):
    result = runner.program(
        """
        for folder in ("/app/input_data", "/app/submission", "/app/program", "/app", "", "/usr", "/etc", "/var",
                       "/dev", "/opt"):
            try:
                open(f"{folder}/x", "w")
            except OSError:
                continue
            raise AssertionError(folder)
        open("/tmp/x", "w").write("x")
        open("/dev/shm/x", "w").write("x")
        predict()
        """
    )
    assert result.status == "ok", result


def test_the_environment_holds_what_the_format_says_and_nothing_else(runner):
    result = runner.program(
        """
        known = {"PATH", "HOME", "LANG", "PODIUM_TIME_BUDGET", "PODIUM_SEED", "OMP_NUM_THREADS",
                 "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "HOSTNAME", "PWD", "LC_CTYPE"}
        assert set(os.environ) <= known, set(os.environ) - known
        assert os.environ["HOME"] == "/tmp" and os.environ["PODIUM_TIME_BUDGET"] == "10"
        assert os.environ["OMP_NUM_THREADS"] == "1" and os.getcwd() == "/app/submission"
        predict()
        """
    )
    assert result.status == "ok", result


def test_the_program_has_no_power(runner):
    result = runner.program(
        """
        status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
        assert os.getuid() != 0 and os.getgid() != 0 and os.getgroups() in ([], [os.getgid()])
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(status[name], 16) == 0, (name, status[name])
        assert status["NoNewPrivs"].strip() == "1" and status["Seccomp"].strip() == "2"
        import resource
        assert resource.getrlimit(resource.RLIMIT_CORE) == (0, 0)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[1] <= 4096
        assert len([name for name in os.listdir("/proc") if name.isdigit()]) <= 4
        assert os.listdir("/proc/self/fd") == ["0", "1", "2", "3"]
        predict()
        """
    )
    assert result.status == "ok", result


def test_a_daemon_ends_with_its_run(runner):
    marker = f"podium-daemon-{os.getpid()}-{time.monotonic_ns()}"
    result = runner.program(
        f"""
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sh", ["sh", "-c", "sleep 300; : {marker}"])
            os._exit(0)
        predict()
        """
    )
    assert result.status == "ok", result
    assert result.wall_seconds < 5
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert marker not in running


def test_a_crash_gives_its_last_lines(runner):
    result = runner.program("print('working'); raise ValueError('the tree fell')")
    assert (result.status, result.reason) == ("failed", "crashed"), result
    assert "ValueError: the tree fell" in result.error_lines and "exit code 1" in result.sentence


def test_a_signal_of_its_own_is_not_called_memory(runner):
    result = runner.program("import signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert (result.status, result.reason) == ("failed", "crashed"), result
    assert "SIGKILL" in result.sentence


def test_a_command_that_is_not_there_is_named(runner):
    def write(folder):
        folder.mkdir(parents=True)
        (folder / "metadata").write_text("command: no-such-program $output\n")
        return folder

    result = runner.submission(write)
    assert (result.status, result.reason) == ("failed", "crashed"), result
    assert "not found" in result.told


def test_a_syntax_error_is_told_with_its_line(runner):
    result = runner.model("class Model:\n    def fit(self, X y):\n        pass\n", memory=512 * MIB)
    assert (result.status, result.reason) == ("failed", "crashed"), result
    assert "model.py line 2" in result.told


def test_no_predictions_names_the_expected_files(runner):
    result = runner.program("pass")
    assert (result.status, result.reason) == ("failed", "no_predictions"), result
    assert "tiny_valid.predict" in result.sentence


def test_one_part_alone_is_not_enough(runner):
    result = runner.program("predict()\nos.remove(f'{OUT}/tiny_valid.predict')")
    assert (result.status, result.reason) == ("failed", "no_predictions"), result
    assert "valid part" in result.sentence


def test_a_run_can_be_cancelled(runner):
    stop = threading.Event()
    seen = []

    def progress(now):
        seen.append(now)
        stop.set()

    result = runner.program("time.sleep(60)", stop=stop, progress=progress, seconds=30)
    assert (result.status, result.reason, result.stopped) == ("failed", "cancelled", "cancelled"), result
    assert result.wall_seconds < 5 and seen


def test_under_an_alias_the_name_is_nowhere(runner):
    result = runner.program(
        """
        os.chdir("/app/input_data")
        text = str(os.listdir()) + "".join(open(name).read() for name in os.listdir() if os.path.isfile(name))
        assert "tiny" not in text, text
        for part, rows in (("valid", 3), ("test", 4)):
            open(f"{OUT}/falcon_{part}.predict", "w").write("1\\n" * rows)
        """,
        alias="falcon",
    )
    assert result.status == "ok", result
    assert names(result) == ["falcon_test.predict", "falcon_valid.predict"]


def test_the_wall_clock_does_not_follow_a_program_that_sleeps_through_it(runner):
    result = runner.program("predict(7)\ntime.sleep(1)", seconds=10)
    assert result.status == "ok"
    assert result.cpu_seconds < result.wall_seconds + 0.1
    assert result.peak_memory_bytes < GIB
