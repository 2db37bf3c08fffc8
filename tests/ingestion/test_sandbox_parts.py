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
from ingestion.sandbox.cpus import reserved
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
