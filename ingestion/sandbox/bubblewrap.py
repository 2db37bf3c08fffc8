"""Runs in namespaces made by bubblewrap: the sandbox where no Docker engine answers.

Two programs stand around the participant's. The first, `unshare` with a few lines of shell, makes a private mount
namespace and mounts the sized places in it, so that they vanish with the run however it ends. The second, `bwrap`,
builds the file tree from an allow-list and takes network, processes and system calls away.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from ingestion.budget import MIB, Budget
from ingestion.sandbox import cgroups, scratch
from ingestion.sandbox.base import (
    MACHINE_FULL,
    Folders,
    Looker,
    Measurement,
    Outcome,
    Places,
    Sandbox,
    SandboxError,
    SandboxSpec,
    SandboxStatus,
    Usage,
    watch_over,
)
from ingestion.sandbox.bubblewrap_tree import PYTHON, SEARCH_PATH, Tree, sandbox_user
from ingestion.sandbox.cpus import reserved
from ingestion.sandbox.log import BoundedLog
from ingestion.sandbox.output import is_any_full, open_folder, use_of
from ingestion.sandbox.processes import Family, PipeReader, Process, ends_within, memory_of, shared_out_memory_of
from ingestion.sandbox.seccomp import SeccompError, compiled_filter

OPEN_FILES = 4096
NOT_HELD = (
    "Programs can read the path of this Python's folder, and which packages and system programs are installed."
)
SETUP_PATIENCE = 20.0
# One program mounts all, by a table. "ready" goes out on bwrap's own status descriptor, the word to go on comes in
# as standard input.
_SETUP = (
    'set -e; mount --all --fstab "$1"; echo ready >"/proc/self/fd/$2"; shift 2; read -r go; exec "$@" </dev/null'
)
_NEEDED = (
    ("bwrap", "bubblewrap"),
    ("unshare", "util-linux"),
    ("prlimit", "util-linux"),
    ("setpriv", "util-linux"),
)


class BubblewrapSandbox(Sandbox):
    """Each run in fresh namespaces. As root it also gets another user and, where possible, control groups."""

    name = "bubblewrap"

    def places(self, folders: Folders) -> Places:
        """The fixed places under /app, and the Python of this process."""
        return Places(python=PYTHON)

    def check(self) -> SandboxStatus:
        """Run a program that writes one line, with everything that a real run has around it."""
        if not sys.platform.startswith("linux"):
            return SandboxStatus(self.name, False, "bubblewrap works on Linux only.")
        for program, package in _NEEDED:
            if shutil.which(program) is None:
                return SandboxStatus(
                    self.name, False, f"{program} is not installed.", f"apt-get install {package}"
                )
        try:
            compiled_filter()
            self._try_out()
        except SeccompError as error:
            return SandboxStatus(self.name, False, f"{error}.", error.mend)
        except SandboxError as error:
            return SandboxStatus(self.name, False, f"bubblewrap does not work here: {error}.", _mend(str(error)))
        return SandboxStatus(self.name, True, f"bubblewrap runs submissions{_bounds()}. {NOT_HELD}")

    def _try_out(self) -> None:
        budget = Budget(wall_seconds=10.0, cores=1, memory_bytes=64 * MIB, output_bytes=MIB)
        with scratch.Scratch("check") as folder:
            for name in ("input_data", "submission", "program"):
                (folder / name).mkdir()
            spec = SandboxSpec(
                command=("/bin/sh", "-c", "echo tried > /app/output/tried"),
                folders=Folders(folder / "input_data", folder / "submission", folder / "program", folder),
                budget=budget,
                environment={},
                log=BoundedLog(10_000),
                owner="check",
            )
            outcome = self.run(spec, stop=threading.Event())
            if outcome.exit_code != 0:
                raise SandboxError(f"a trial ended with {outcome.exit_code}: {spec.log.tail(3)}")

    def run(
        self,
        spec: SandboxSpec,
        *,
        stop: threading.Event,
        on_usage: Callable[[Usage], None] | None = None,
    ) -> Outcome:
        """Run a program in fresh namespaces. Raises SandboxError when they cannot be made."""
        with reserved(spec.cores, held=spec.cpus) as cpus:
            group = _make_group(spec, cpus)
            try:
                return self._run(spec, group, cpus, stop, on_usage)
            finally:
                if group is not None:
                    group.remove()

    def _run(
        self,
        spec: SandboxSpec,
        group: cgroups.Group | None,
        cpus: str | None,
        stop: threading.Event,
        on_usage: Callable[[Usage], None] | None,
    ) -> Outcome:
        launched = _launch(spec, group, cpus)
        program = _Program(launched, group, spec.memory_bytes)
        try:
            reader = PipeReader(launched.output, spec.log)
            started = time.monotonic()
            launched.go()
            looker = Looker(spec.watcher, launched.places[0], started)
            watched = watch_over(
                program,
                spec,
                started=started,
                stop=stop,
                on_usage=on_usage,
                memory_limit=spec.memory_bytes if group is None else None,
                relieve=program.relieve if group is None else None,
            )
            program.kill()
            reader.finish()
            final = program.last_measurement()
            if final.machine_full:
                raise SandboxError(MACHINE_FULL)
            memory_killed = watched.memory_killed or final.memory_killed
            if watched.stopped is None and not memory_killed and not launched.program_was_started():
                raise SandboxError(f"bwrap could not build the sandbox: {spec.log.tail(3)}")
            ended_early = watched.stopped is not None or launched.process.returncode != 0
            with contextlib.suppress(OSError):
                os.fchmod(launched.places[0], 0o777)  # without root the program owns the folder and may close it
            looker.finish(watched.usage.wall_seconds, ended_early=ended_early)
            output, *temporary = launched.places
            use = use_of(output, spec)
            return Outcome(
                exit_code=None if watched.stopped else _shell_code(launched.process.returncode),
                stopped=watched.stopped,
                usage=_with_last(watched.usage, final),
                memory_killed=memory_killed,
                output_full=use.is_full,
                output_bytes=use.bytes,
                output_files=use.files,
                temporary_full=is_any_full(temporary),
                processes_full=watched.processes_full or final.processes_full,
            )
        finally:
            program.kill()
            launched.close()

    def clean_stale(self, owner: str | None = None) -> list[str]:
        """Remove control groups and folders of runs whose worker is dead; their mounts went with them."""
        removed = []
        for folder in scratch.left_behind(owner):
            group = cgroups.existing_group(folder.name)
            if group is not None:
                group.kill()
                group.remove()
                removed.append(f"Removed the control group {folder.name} of a run whose worker is gone.")
        return [*removed, *super().clean_stale(owner)]


def _mend(error: str) -> str:
    if "unshare" in error or "namespace" in error.lower() or "permitted" in error.lower():
        return "sysctl -w kernel.unprivileged_userns_clone=1 (or kernel.apparmor_restrict_unprivileged_userns=0)"
    return ""


def _bounds() -> str:
    if os.geteuid() != 0:
        return (
            " as this user; memory is watched as a sum, because control groups need root, and a program can look "
            "into bwrap's own process beside it"
        )
    kind = cgroups.version()
    return f", bounded by control groups (version {kind})" if kind else "; memory is watched as a sum"


def _shell_code(code: int) -> int:
    return 128 - code if code < 0 else code


def _with_last(usage: Usage, final: Measurement) -> Usage:
    return Usage(
        usage.wall_seconds,
        max(usage.cpu_seconds, final.cpu_seconds),
        usage.memory_bytes,
        max(usage.peak_memory_bytes, final.memory_bytes, final.peak_bytes),
    )


def _make_group(spec: SandboxSpec, cpus: str | None) -> cgroups.Group | None:
    """The control group of a run, or None where this user cannot make one."""
    try:
        group = cgroups.make_group(spec.folders.scratch.name)
    except OSError:
        return None
    try:
        # The launcher and bwrap's two processes are in the group as well.
        group.limit(memory=spec.memory_bytes, processes=spec.budget.processes + 3, cores=spec.cores, cpus=cpus)
    except OSError:
        group.remove()
        return None
    return group


# Launching ------------------------------------------------------------------------------------------------


@dataclass
class _Launched:
    """The launcher, waiting for its word to start.

    places: descriptors of the output place, /tmp, /dev/shm and the workspaces, in this order; none at first.
    """

    process: subprocess.Popen[bytes]
    places: tuple[int, ...]
    status: IO[bytes]
    word: int

    @property
    def output(self) -> IO[bytes]:
        """What the program prints."""
        assert self.process.stdout is not None
        return self.process.stdout

    def go(self) -> None:
        """Let the program start."""
        os.write(self.word, b"go\n")
        os.close(self.word)
        self.word = -1

    def program_was_started(self) -> bool:
        """Whether bwrap reported an exit code, which it does only when the tree stood and the program ran."""
        lines = self.status.read().splitlines()
        return any("exit-code" in json.loads(line) for line in lines if line.strip())

    def close(self) -> None:
        """Let go of everything; the mounts vanish with the last descriptor."""
        self.process.wait()
        for descriptor in self.places:
            os.close(descriptor)
        if self.word >= 0:
            os.close(self.word)
        self.status.close()
        self.output.close()
        self.output.close()


def _launch(spec: SandboxSpec, group: cgroups.Group | None, cpus: str | None) -> _Launched:
    """Start the launcher and wait until the sized places are mounted. Raises SandboxError."""
    tree = Tree(spec)
    word_reading, word_writing = os.pipe()
    status_reading, status_writing = os.pipe()
    filter_descriptor = _memory_file("podium-seccomp", _filter(group is not None, spec.shown.makes_links))
    # By descriptor: /proc/1/cmdline inside shows the command line, and host paths are nobody's business there.
    options = [*_bwrap_options(spec, status=status_writing, seccomp=filter_descriptor), *tree.arguments()]
    arguments = _memory_file("podium-arguments", b"".join(option.encode() + b"\0" for option in options))
    command = _command(spec, tree, group, cpus, status=status_writing, arguments=arguments)
    try:
        process = subprocess.Popen(
            command,
            stdin=word_reading,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(status_writing, filter_descriptor, arguments),
            start_new_session=True,
            cwd="/",
            env={"PATH": SEARCH_PATH},
        )
    finally:
        for descriptor in (word_reading, status_writing, filter_descriptor, arguments):
            os.close(descriptor)
    launched = _Launched(process, (), os.fdopen(status_reading, "rb"), word_writing)
    try:
        _await_ready(process, launched.status)
        launched.places = _open_places(process.pid, tree)
        if group is not None:
            for file in group.join_files():
                file.write_text(f"{process.pid}\n")
    except BaseException:
        process.kill()
        launched.close()
        raise
    return launched


def _await_ready(process: subprocess.Popen[bytes], status: IO[bytes]) -> None:
    timer = threading.Timer(SETUP_PATIENCE, process.kill)
    timer.start()
    try:
        said = status.readline()
    finally:
        timer.cancel()
    if said.strip() != b"ready":
        process.kill()
        assert process.stdout is not None
        text = process.stdout.read(2000).decode(errors="replace").strip()
        raise SandboxError(f"the sized places could not be mounted: {' '.join(text.split())}")


def _open_places(pid: int, tree: Tree) -> tuple[int, ...]:
    """Descriptors of the mounts, which only the launcher's namespace has, by way of its root."""
    root = f"/proc/{pid}/root"
    try:
        return tuple(open_folder(f"{root}{path}") for path in tree.mounted)
    except OSError as error:
        raise SandboxError(f"the sized places cannot be seen from outside: {error}") from error


@functools.cache
def _filter(has_control_group: bool, makes_links: bool) -> bytes:
    """The compiled filter, the same for all runs of a kind."""
    return compiled_filter(has_control_group=has_control_group, makes_links=makes_links)


def _memory_file(name: str, content: bytes) -> int:
    descriptor = os.memfd_create(name)
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _command(
    spec: SandboxSpec, tree: Tree, group: cgroups.Group | None, cpus: str | None, *, status: int, arguments: int
) -> list[str]:
    """The whole line: unshare, the shell that mounts, bwrap, the programs that drop rights, the program."""
    unshare = ["unshare", "--mount", "--propagation", "private"]
    drop: list[str] = []
    if os.geteuid() == 0:
        user = str(sandbox_user())
        drop = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs"]
        drop += ["--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--"]
    else:
        unshare += ["--user", "--map-root-user"]
    setup = ["sh", "-c", _SETUP, "sh", str(tree.mount_table)]
    bwrap = ["bwrap", "--args", str(arguments), "--"]
    file_bytes = max(spec.output_bytes, spec.temporary_bytes)
    limits = ["prlimit", "--core=0:0", f"--nofile={OPEN_FILES}:{OPEN_FILES}", f"--fsize={file_bytes}:{file_bytes}"]
    if group is None:
        limits.append(f"--nproc={spec.budget.processes}:{spec.budget.processes}")
    pinned = ["taskset", "--cpu-list", cpus] if group is None and cpus and shutil.which("taskset") else []
    return [*unshare, *setup, str(status), *bwrap, *drop, *limits, "--", *pinned, *spec.command]


def _bwrap_options(spec: SandboxSpec, *, status: int, seccomp: int) -> list[str]:
    """bwrap's options apart from the tree: namespaces, rights, environment."""
    options = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    options += ["--die-with-parent", "--new-session", "--hostname", "podium", "--clearenv", "--cap-drop", "ALL"]
    options += ["--json-status-fd", str(status), "--seccomp", str(seccomp)]
    options += ["--chdir", spec.shown.working_directory]
    if os.geteuid() == 0:
        # setpriv needs these three to become another user, and drops them with the rest.
        for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            options += ["--cap-add", capability]
    else:
        user = str(sandbox_user())
        options += ["--unshare-user", "--uid", user, "--gid", user]
    for name, value in {**spec.environment, "PATH": SEARCH_PATH}.items():
        options += ["--setenv", name, value]
    return options


class _Program:
    """The launched program, as `watch_over` sees it."""

    def __init__(self, launched: _Launched, group: cgroups.Group | None, limit: int) -> None:
        self._launched = launched
        self._group = group
        self._family = Family(launched.process.pid)
        self._limit = limit
        self._relieved = False
        self._peak = 0
        self._ended, self._ended_until = 0, 0.0
        self._last = Measurement()

    def wait(self, seconds: float) -> bool:
        return ends_within(self._launched.process, seconds, self._family.note_end)

    def kill(self) -> None:
        """bwrap's death ends its child, which is the first process of its namespace, and so all others."""
        if self._group is None or not self._group.end():
            self._family.kill()

    def measure(self) -> Measurement | None:
        reading = self._group.measure() if self._group is not None else self._watched()
        self._last = reading or self._last
        return reading

    def last_measurement(self) -> Measurement:
        """The control group's final counts, which stay after its processes are gone."""
        if self._group is None:
            spent = self._family.cpu_seconds
            return dataclasses.replace(self._last, cpu_seconds=spent, memory_killed=self._relieved)
        return self._group.measure() or self._last

    def _watched(self) -> Measurement:
        pids = [member.pid for member in self._family.members()]
        in_places = sum(_used(place) for place in self._launched.places)
        memory = memory_of(pids) + in_places
        if memory > self._peak:
            # The quick sum counts shared pages for each process that has them; what is told must be exact.
            memory = shared_out_memory_of(pids) + in_places
            self._peak = max(self._peak, memory)
        return Measurement(self._family.cpu_seconds, memory, memory_killed=self._relieved)

    def relieve(self) -> bool:
        """Over the limit by the quick sum: look closely, and end the largest process as the kernel would.

        False where that is the program itself, or where one was ended before: then the run is over.
        """
        members = self._family.members()
        exact = {one.pid: shared_out_memory_of([one.pid]) for one in members}
        in_places = sum(_used(place) for place in self._launched.places)
        if sum(exact.values()) + in_places <= self._limit:
            return True
        largest = max(exact, key=lambda pid: exact[pid], default=0)
        if self._relieved:
            return largest == self._ended and time.monotonic() < self._ended_until
        if largest in _trunk(members) or in_places > self._limit // 2:
            return False
        self._relieved, self._ended, self._ended_until = True, largest, time.monotonic() + 1.0
        with contextlib.suppress(ProcessLookupError):
            os.kill(largest, signal.SIGKILL)
        return True


def _trunk(members: list[Process]) -> set[int]:
    """bwrap, the first process of its namespace, and the program: the eldest child of that one."""
    if not members:
        return set()
    root = members[0].pid
    first = {one.pid for one in members if one.parent == root}
    children = [one for one in members if one.parent in first]
    eldest = {one.pid for one in sorted(children, key=lambda one: (int(one.born), one.pid))[:1]}
    return {root} | first | eldest


def _used(place: int) -> int:
    space = os.fstatvfs(place)
    return (space.f_blocks - space.f_bfree) * space.f_frsize
