"""The parts that sandboxes are made of: the log, control groups, processors, folders, the profile."""

import json
import os
import subprocess
import sys
import threading
import time

import pytest

from ingestion.budget import MIB
from ingestion.sandbox import NoSandbox, available_sandboxes, cgroups, choose_sandbox, scratch
from ingestion.sandbox.cpus import UnsafeFolder, reserved, take_share
from ingestion.sandbox.log import BoundedLog, plain_text
from ingestion.sandbox.seccomp import PROFILE, SeccompError, compiled_filter


def test_a_log_keeps_its_beginning_and_its_end():
    log = BoundedLog(1000)
    log.feed(b"start ")
    for _ in range(1000):
        log.feed(b"." * 997)
    log.feed(b" end")
    raw = log.raw()
    assert raw.startswith(b"start ") and raw.endswith(b" end")
    assert b"bytes left out" in raw and len(raw) < 1100
    assert log.dropped == 6 + 997_000 + 4 - 1000


def test_a_short_log_is_kept_whole():
    log = BoundedLog(1000)
    log.feed(b"one\n")
    log.feed(b"two\n")
    assert log.raw() == b"one\ntwo\n" and log.dropped == 0
    assert log.tail() == "one\ntwo"


def test_a_log_is_shown_as_inert_text():
    raw = b"\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07 \x1b]0;title\x07 bell\x07 a\rb \xff"
    assert plain_text(raw) == "red link  bell a\nb �"
    assert len(plain_text(b"x" * 100_000)) < 5_000


def fake_version_2(mount):
    (mount / "cgroup.controllers").parent.mkdir(parents=True, exist_ok=True)
    (mount / "cgroup.controllers").write_text("cpuset cpu memory pids\n")
    group = mount / "podium" / "run"
    group.mkdir(parents=True)
    (group / "cgroup.events").write_text("populated 1\n")
    (group / "memory.stat").write_text("anon 1000\nfile 5000\nshmem 24\n")
    (group / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    (group / "memory.events").write_text("low 0\noom 2\noom_kill 1\n")
    (group / "pids.events").write_text("max 3\n")
    return group


def test_usage_and_events_are_read_on_version_2(tmp_path):
    folder = fake_version_2(tmp_path)
    assert cgroups.version(tmp_path) == 2
    group = cgroups.existing_group("run", tmp_path)
    reading = group.measure()
    assert group.is_version_2
    assert (reading.cpu_seconds, reading.memory_bytes) == (2.5, 1024)
    assert reading.memory_killed and reading.processes_full
    (folder / "cpuset.cpus").write_text("")
    (folder / "memory.swap.max").write_text("max")
    group.limit(memory=64 * MIB, processes=10, cores=1, cpus="1")
    assert (folder / "memory.max").read_text() == f"{64 * MIB}\n"
    assert (folder / "memory.swap.max").read_text() == "0\n"
    assert (folder / "pids.max").read_text() == "10\n"
    assert (folder / "cpuset.cpus").read_text() == "1\n"


def test_usage_and_events_are_read_on_version_1(tmp_path):
    folders = {}
    for name in ("memory", "pids", "cpu", "cpuacct"):
        folders[name] = tmp_path / name / "podium" / "run"
        folders[name].mkdir(parents=True)
    (folders["memory"] / "memory.stat").write_text("rss 1\ntotal_rss 1000\ntotal_shmem 24\n")
    (folders["memory"] / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 0\n")
    (folders["cpuacct"] / "cpuacct.usage").write_text("1500000000\n")
    (folders["pids"] / "pids.events").write_text("max 0\n")
    assert cgroups.version(tmp_path) == 1
    reading = cgroups.existing_group("run", tmp_path).measure()
    assert (reading.cpu_seconds, reading.memory_bytes) == (1.5, 1024)
    assert not reading.memory_killed and not reading.processes_full


def test_a_process_ended_although_the_run_was_within_its_limit_is_the_machines_fault_on_version_2(tmp_path):
    folder = fake_version_2(tmp_path)
    (folder / "memory.events").write_text("low 0\nmax 0\noom 0\noom_kill 1\n")
    reading = cgroups.existing_group("run", tmp_path).measure()
    assert reading.machine_full and not reading.memory_killed


def test_the_kernels_own_peak_is_taken_without_cached_files_and_not_after_pressure(tmp_path):
    folder = fake_version_2(tmp_path)
    (folder / "memory.events").write_text("low 0\nmax 0\noom 0\noom_kill 0\n")
    (folder / "memory.peak").write_text("9000\n")
    group = cgroups.existing_group("run", tmp_path)
    assert group.measure().peak_bytes == 9000 - (5000 - 24)
    (folder / "memory.events").write_text("low 0\nmax 3\noom 0\noom_kill 0\n")
    assert group.measure().peak_bytes == 0


def fake_version_1(mount, *, killed, peak):
    folder = mount / "memory" / "podium" / "run"
    folder.mkdir(parents=True)
    (folder / "memory.stat").write_text("total_rss 1000\ntotal_cache 524\ntotal_shmem 24\n")
    (folder / "memory.oom_control").write_text(f"oom_kill_disable 0\noom_kill {killed}\n")
    (folder / "memory.limit_in_bytes").write_text(f"{64 * MIB}\n")
    (folder / "memory.max_usage_in_bytes").write_text(f"{peak}\n")
    return cgroups.existing_group("run", mount)


@pytest.mark.parametrize(("peak", "whose"), [(62 * MIB, "memory_killed"), (40 * MIB, "machine_full")])
def test_who_had_no_memory_left_is_told_apart_on_version_1(tmp_path, peak, whose):
    reading = fake_version_1(tmp_path, killed=1, peak=peak).measure()
    assert [name for name in ("memory_killed", "machine_full") if getattr(reading, name)] == [whose]


def test_the_peak_is_read_on_version_1(tmp_path):
    assert fake_version_1(tmp_path, killed=0, peak=9000).measure().peak_bytes == 8500


class Delegated:
    """A fake version 2 whose top refuses, with a group of this process that its user may divide."""

    def __init__(self, folder):
        self.mount, self.proc = folder / "mount", folder / "proc"
        self.own = self.mount / "user.slice" / "podium.service"
        self.own.mkdir(parents=True)
        for place in (self.mount, self.own):
            (place / "cgroup.controllers").write_text("cpu memory pids\n")
            (place / "cgroup.subtree_control").write_text("")
        (self.mount / "podium").write_text("stands for a folder that nobody may make")
        (self.own / "cgroup.procs").write_text(f"{os.getpid()}\n")
        (self.proc / str(os.getpid())).mkdir(parents=True)
        self.belongs_to("/user.slice/podium.service")

    def belongs_to(self, path):
        (self.proc / str(os.getpid()) / "cgroup").write_text(f"0::{path}\n")


def test_a_worker_in_a_delegated_group_moves_into_a_leaf_and_divides_the_rest(tmp_path):
    fake = Delegated(tmp_path)
    group = cgroups.make_group("run", fake.mount, fake.proc)
    assert group.folders[""] == fake.own / "podium" / "run"
    assert (fake.own / cgroups.LEAF / "cgroup.procs").read_text() == f"{os.getpid()}\n"
    assert (fake.own / "cgroup.subtree_control").read_text()
    fake.belongs_to(f"/user.slice/podium.service/{cgroups.LEAF}")
    assert cgroups.make_group("again", fake.mount, fake.proc).folders[""] == fake.own / "podium" / "again"
    assert cgroups.existing_group("run", fake.mount, fake.proc).folders[""] == group.folders[""]


def test_a_group_that_was_not_given_the_memory_controller_bounds_nothing(tmp_path):
    fake = Delegated(tmp_path)
    (fake.own / "cgroup.controllers").write_text("cpu pids\n")
    with pytest.raises(OSError, match="memory and pids"):
        cgroups.make_group("run", fake.mount, fake.proc)


def test_a_worker_whose_group_was_not_delegated_makes_none(tmp_path):
    fake = Delegated(tmp_path)
    (fake.own / "cgroup.procs").unlink()
    with pytest.raises(OSError):
        cgroups.make_group("run", fake.mount, fake.proc)


def test_the_groups_of_a_process_are_found_on_both_versions(tmp_path):
    proc = tmp_path / "proc"
    (proc / "7").mkdir(parents=True)
    (proc / "7" / "cgroup").write_text("4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/scope\n")
    mount = tmp_path / "mount"
    for name in ("memory/docker/abc", "cpu/docker/abc", "scope"):
        (mount / name).mkdir(parents=True)
    found = cgroups.folders_of(7, mount, proc)
    assert set(found) == {"memory", "cpu", ""}


def test_two_runs_never_share_a_processor(tmp_path):
    cores = len(os.sched_getaffinity(0))
    with reserved(cores, tmp_path) as first:
        assert len(first.split(",")) == cores
        with reserved(1, tmp_path) as second:
            assert second is None
    with reserved(1, tmp_path) as again:
        assert again is not None


def test_two_shares_of_a_machine_have_no_processor_in_common(tmp_path):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine has one processor")
    options = {"cores": 1, "memory": 40, "of_memory": 100, "folder": tmp_path}
    first, second = take_share(**options), take_share(**options)
    assert {first.cpus} & {second.cpus} == set()
    assert take_share(**options) is None, "80 of 100 are taken"
    first.release()
    third = take_share(**options)
    assert third.cpus == first.cpus
    second.release()
    third.release()
    assert list(tmp_path.glob("memory-*")) == []


def test_processors_are_free_again_when_there_was_no_memory_for_the_run(tmp_path):
    assert take_share(cores=1, memory=101, of_memory=100, folder=tmp_path) is None
    everything = take_share(cores=len(os.sched_getaffinity(0)), memory=100, of_memory=100, folder=tmp_path)
    assert everything is not None
    everything.release()


def test_who_waits_for_several_processors_keeps_those_that_become_free(tmp_path):
    cores = len(os.sched_getaffinity(0))
    small = take_share(cores=1, memory=1, of_memory=100, folder=tmp_path)
    waiting = threading.Thread(
        target=lambda: got.append(take_share(cores=cores, memory=9, of_memory=100, folder=tmp_path, patience=60.0))
    )
    got = []
    waiting.start()
    while (tmp_path / "turn").exists() is False:
        time.sleep(0.01)
    small.release()
    waiting.join()
    assert got[0].cpus == ",".join(map(str, sorted(os.sched_getaffinity(0))))
    got[0].release()


def test_who_waits_gives_up_when_it_is_stopped_and_holds_nothing_then(tmp_path):
    small = take_share(cores=1, memory=100, of_memory=100, folder=tmp_path)
    stop = threading.Event()
    stop.set()
    options = {"cores": 1, "memory": 1, "of_memory": 100, "folder": tmp_path}
    assert take_share(**options, patience=600.0, stop=stop) is None
    small.release()
    again = take_share(**options)
    assert again is not None
    again.release()


def test_what_a_killed_worker_had_is_free_again(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from ingestion.sandbox.cpus import take_share;"
        "s = take_share(cores=1, memory=90, of_memory=100, folder=Path(sys.argv[1]));"
        "print(s.cpus, flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    cpu = process.stdout.readline().strip()
    assert take_share(cores=1, memory=90, of_memory=100, folder=tmp_path) is None
    process.kill()
    process.communicate()
    again = take_share(cores=1, memory=90, of_memory=100, folder=tmp_path)
    assert again.cpus == cpu and len(list(tmp_path.glob("memory-*"))) == 1
    again.release()


@pytest.mark.parametrize("make", [lambda path: path.mkdir(mode=0o777), lambda path: path.symlink_to("/")])
def test_a_folder_of_locks_that_others_could_have_laid_out_is_not_used(tmp_path, make):
    make(tmp_path / "locks")
    if not (tmp_path / "locks").is_symlink():
        (tmp_path / "locks").chmod(0o777)
    with pytest.raises(UnsafeFolder):
        take_share(cores=1, memory=1, of_memory=1, folder=tmp_path / "locks")
    with reserved(1, tmp_path / "locks") as cpus:
        assert cpus is None, "a quota bounds the run instead"


def test_a_run_keeps_to_the_processors_that_its_worker_holds():
    with reserved(1, held="2,5") as cpus:
        assert cpus == "2"


def test_a_scratch_folder_tells_whether_its_run_is_alive(tmp_path):
    with scratch.Scratch("alice", tmp_path) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        assert list(scratch.left_behind("alice", tmp_path)) == []
    assert not folder.exists()


def test_what_a_killed_worker_left_is_found_and_removed(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from ingestion.sandbox.scratch import Scratch;"
        "s = Scratch('alice', Path(sys.argv[1])); print(s.path, flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    folder = process.stdout.readline().strip()
    assert list(scratch.left_behind("alice", tmp_path)) == []
    process.kill()
    process.communicate()
    assert [str(path) for path in scratch.left_behind("alice", tmp_path)] == [folder]
    assert list(scratch.left_behind("bob", tmp_path)) == []
    for path in scratch.left_behind(None, tmp_path):
        scratch.remove(path)
    assert list(tmp_path.iterdir()) == []


def test_every_line_of_the_profile_says_why():
    profile = json.loads(PROFILE.read_text())
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert all(not one["subArchitectures"] for one in profile["archMap"])
    assert all(len(rule["comment"]) > 10 for rule in profile["syscalls"])
    denied = {name for rule in profile["syscalls"] for name in rule["names"]}
    assert {"keyctl", "io_uring_setup", "bpf", "ptrace", "mount", "unshare", "clone3", "userfaultfd"} <= denied


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="seccomp is Linux's")
def test_the_profile_compiles_for_bubblewrap(tmp_path):
    try:
        compiled = compiled_filter()
    except SeccompError as error:
        pytest.skip(f"{error}")
    assert len(compiled) > 500 and len(compiled) % 8 == 0
    strange = tmp_path / "profile.json"
    strange.write_text(json.dumps({"defaultAction": "SCMP_ACT_KILL", "syscalls": []}))
    with pytest.raises(SeccompError):
        compiled_filter(strange)


def test_unconfined_is_only_taken_by_name(monkeypatch):
    monkeypatch.delenv("PODIUM_SANDBOX", raising=False)
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoSandbox) as error:
        choose_sandbox()
    assert error.value.mend
    monkeypatch.setenv("PODIUM_SANDBOX", "unconfined")
    assert choose_sandbox().name == "unconfined"
    with pytest.raises(NoSandbox):
        choose_sandbox("gondola")


def test_each_sandbox_says_in_a_sentence_whether_it_works():
    statuses = available_sandboxes()
    assert [status.name for status in statuses] == ["docker", "bubblewrap", "unconfined"]
    assert all(status.sentence.endswith(".") for status in statuses)


def test_a_missing_image_is_named_before_the_run(monkeypatch):
    monkeypatch.delenv("PODIUM_SANDBOX", raising=False)
    docker = available_sandboxes()[0]
    if not docker.usable:
        pytest.skip(docker.sentence)
    with pytest.raises(NoSandbox, match="no image podium-absent:1"):
        choose_sandbox("docker", image="podium-absent:1")


def test_a_stop_before_the_start_is_a_stop(tmp_path):
    from tests.ingestion.runs import Runner, usable_sandbox

    stop = threading.Event()
    stop.set()
    began = time.monotonic()
    result = Runner(usable_sandbox("unconfined"), tmp_path).program("time.sleep(60)", stop=stop)
    assert result.reason == "cancelled" and time.monotonic() - began < 5
