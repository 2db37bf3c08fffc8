"""The one interface of all sandboxes, and the watch that each of them stands under."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ingestion.budget import Budget
from ingestion.sandbox import scratch
from ingestion.sandbox.log import BoundedLog

Stopped = Literal["time", "memory", "cancelled"]

WATCH_INTERVAL = 0.1  # seconds between two looks at usage; the end of a program is noticed at once
LOOK_INTERVAL = 0.25  # seconds between two looks at the output folder
KILL_PATIENCE = 20.0  # seconds until a killed sandbox that does not end is called a fault of ours


MACHINE_FULL = "the machine had no memory left, although the run was within its own limit"


class SandboxError(Exception):
    """The sandbox itself failed: our fault or the machine's, never the participant's."""


class OutputChanging(SandboxError):
    """The output place changed while it was copied; while a program writes, that says nothing about anybody."""


@dataclass(frozen=True)
class SandboxStatus:
    """Whether a sandbox can be used here: one sentence, and the line that mends it where it cannot."""

    name: str
    usable: bool
    sentence: str
    mend: str = ""


@dataclass(frozen=True)
class KnownImage:
    """An image on this machine. `id` pins it: a name like podium-sandbox:latest moves, an id does not.

    packages: what its label lists, as name==version. problem: why no run can start in it, as the end of a sentence
    about it; empty where one can. runs_models: whether it has what the model interface needs.
    """

    name: str
    id: str
    packages: tuple[str, ...] = ()
    problem: str = ""
    runs_models: bool = True


@dataclass(frozen=True)
class Folders:
    """Folders on the host that one run uses; all but `scratch` are only read by the sandbox.

    `scratch` is private to the run (scratch.py); the sandbox puts there what it needs on the host.
    """

    input_data: Path
    submission: Path
    program: Path
    scratch: Path


@dataclass(frozen=True)
class Places:
    """Where the program in the sandbox finds the folders, and which Python runs the supervisor."""

    input_data: str = "/app/input_data"
    submission: str = "/app/submission"
    program: str = "/app/program"
    output: str = "/app/output"
    temporary: str = "/tmp"  # noqa: S108  # a place inside the sandbox
    python: str = "python3"


@dataclass(frozen=True)
class Mount:
    """A folder of the host at a place inside. is_writable: what is written there stays after the sandbox."""

    source: Path
    target: str
    is_writable: bool = False


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What a program finds inside besides the system: where each folder is, and where it starts.

    workspaces: places that are empty at first, sized, writable, and gone with the sandbox. ours: where the spec's
    folder `program` is, which holds our own first processes; it must be among the mounts. has_output: whether the
    output place is at /app/output; without, a mount may be there. makes_links: whether the program may make
    symbolic links.
    """

    mounts: tuple[Mount, ...]
    working_directory: str
    ours: str
    workspaces: tuple[str, ...] = ()
    has_output: bool = True
    makes_links: bool = True


@dataclass(frozen=True)
class Usage:
    """What a run has used so far. Seconds and bytes."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    peak_memory_bytes: int = 0


@dataclass(frozen=True)
class FileTimes:
    """When files of the output place were last changed, on the wall clock of the run.

    began_ns: the system's clock when the run began. by_kernel: whether the times of change are the kernel's own,
    which a program cannot set; a copy of the place has only the times that the program may have set.
    """

    began_ns: int
    by_kernel: bool = True

    @classmethod
    def since(cls, started: float, *, by_kernel: bool = True) -> FileTimes:
        """The times of a run that began at this moment of the monotonic clock."""
        return cls(time.time_ns() - int((time.monotonic() - started) * 1e9), by_kernel)

    def seconds(self, status: os.stat_result) -> float:
        """When a file was last written, renamed or linked."""
        return ((status.st_ctime_ns if self.by_kernel else status.st_mtime_ns) - self.began_ns) / 1e9


class OutputWatcher(Protocol):
    """Somebody who looks at the output folder from outside while the program runs."""

    def look(self, output: int, seconds: float) -> None:
        """Look now; `output` is a descriptor of the folder, `seconds` the wall clock of the run."""

    def last_look(self, output: int, seconds: float, *, ended_early: bool, times: FileTimes | None = None) -> None:
        """Look once more when every process is dead.

        ended_early: the program did not end well. times: tells what was written after the deadline, where it is
        known: ending a program takes a moment, in which it runs on.
        """


@dataclass(frozen=True, kw_only=True)
class SandboxSpec:
    """Everything that one sandbox is made from. `budget` has its cores and memory filled in.

    cpus: processors that are held for this run already, as `0,3`. layout: for programs that expect other places
    than those of `Places`.
    """

    command: tuple[str, ...]
    folders: Folders
    budget: Budget
    environment: Mapping[str, str]
    log: BoundedLog
    owner: str = "podium"
    watcher: OutputWatcher | None = None
    image: str | None = None
    cpus: str | None = None
    layout: Layout | None = None

    @property
    def shown(self) -> Layout:
        """The layout: its own, else that of a run of participants' code, where everything is only read."""
        if self.layout is not None:
            return self.layout
        places, folders = Places(), self.folders
        return Layout(
            mounts=(
                Mount(folders.input_data, places.input_data),
                Mount(folders.submission, places.submission),
                Mount(folders.program, places.program),
            ),
            working_directory=places.submission,
            ours=places.program,
        )

    @property
    def memory_bytes(self) -> int:
        """The memory limit of the whole sandbox."""
        assert self.budget.memory_bytes is not None, "a spec's budget is filled"
        return self.budget.memory_bytes

    @property
    def cores(self) -> int:
        """How many cores the program may keep busy."""
        assert self.budget.cores is not None, "a spec's budget is filled"
        return self.budget.cores

    @property
    def output_bytes(self) -> int:
        """The size of the output place. It lies in memory, so that it is never more than half of that."""
        return min(self.budget.output_bytes, max(self.memory_bytes // 2, 1))

    @property
    def temporary_bytes(self) -> int:
        """The size of /tmp and of /dev/shm, each; memory too, counted with the rest."""
        return min(self.budget.temporary_bytes, max(self.memory_bytes // 2, 1))


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a sandbox ended, seen from outside.

    exit_code: that of the program, 128 + n when signal n ended it; None when the platform ended it.
    stopped: why the platform ended it. memory_killed: the kernel (or the watch) ended a process for memory,
    perhaps only a child. output_full, temporary_full (/tmp, /dev/shm), processes_full: a limit was reached and
    said no. output_bytes, output_files: what the output place held in the end.
    """

    exit_code: int | None
    stopped: Stopped | None
    usage: Usage
    memory_killed: bool = False
    output_full: bool = False
    output_bytes: int = 0
    output_files: int = 0
    temporary_full: bool = False
    processes_full: bool = False


@dataclass(frozen=True)
class Measurement:
    """One reading: processor seconds so far, bytes now, and the events that the kernel counted.

    peak_bytes: the kernel's own high-water mark, where it keeps one that says something about the program.
    machine_full: the kernel ended a process although the run was within its limit; then the machine, or whatever
    holds the worker, had no memory left, and nobody may blame the program.
    """

    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    memory_killed: bool = False
    processes_full: bool = False
    peak_bytes: int = 0
    machine_full: bool = False


class RunningProgram(Protocol):
    """A program in its sandbox, as `watch_over` sees it."""

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; True once the program has ended."""

    def kill(self) -> None:
        """End every process of the sandbox at once; not an error when they have ended."""

    def measure(self) -> Measurement | None:
        """What it uses now, or None when that cannot be read at this moment."""


@dataclass
class Watched:
    """What `watch_over` saw."""

    stopped: Stopped | None
    usage: Usage
    memory_killed: bool
    processes_full: bool


def watch_over(
    program: RunningProgram,
    spec: SandboxSpec,
    *,
    started: float,
    stop: threading.Event,
    on_usage: Callable[[Usage], None] | None = None,
    memory_limit: int | None = None,
    relieve: Callable[[], bool] | None = None,
) -> Watched:
    """Wait for the end of a program, ending it at its deadline, when `stop` is set, or over `memory_limit`.

    started: the moment on the monotonic clock at which its time began. memory_limit: bytes, for sandboxes
    whose kernel does not enforce one; relieve: asked before a run is ended for it, True lets it go on.
    Raises SandboxError when a killed program does not end.
    """
    seen = Watched(None, Usage(), memory_killed=False, processes_full=False)
    deadline = started + spec.budget.wall_seconds
    next_measure = started
    while True:
        now = time.monotonic()
        if program.wait(max(0.0, min(WATCH_INTERVAL, deadline - now))):
            break
        now = time.monotonic()
        if now >= next_measure:
            _take(program.measure(), seen, now - started)
            cost = time.monotonic() - now
            next_measure = now + max(WATCH_INTERVAL, 10 * cost)
            if on_usage is not None:
                on_usage(seen.usage)
        is_over = memory_limit is not None and seen.usage.memory_bytes > memory_limit
        if is_over and relieve is not None:
            is_over = not relieve()
        seen.stopped = (
            "cancelled" if stop.is_set() else "memory" if is_over else "time" if now >= deadline else None
        )
        if seen.stopped is not None:
            _take(program.measure(), seen, now - started)
            program.kill()
            if not program.wait(KILL_PATIENCE):
                raise SandboxError("the sandbox did not end after it was killed")
            break
    wall = time.monotonic() - started
    seen.usage = Usage(wall, seen.usage.cpu_seconds, seen.usage.memory_bytes, seen.usage.peak_memory_bytes)
    seen.memory_killed |= seen.stopped == "memory"
    return seen


def _take(reading: Measurement | None, seen: Watched, wall: float) -> None:
    if reading is None:
        return
    if reading.machine_full:
        raise SandboxError(MACHINE_FULL)
    seen.memory_killed |= reading.memory_killed
    seen.processes_full |= reading.processes_full
    seen.usage = Usage(
        wall_seconds=wall,
        cpu_seconds=max(seen.usage.cpu_seconds, reading.cpu_seconds),
        memory_bytes=reading.memory_bytes,
        peak_memory_bytes=max(seen.usage.peak_memory_bytes, reading.memory_bytes, reading.peak_bytes),
    )


class Looker:
    """Lets a watcher look at the output every so often, in a thread of its own.

    Copying a large file may take longer than the watch over the deadline can wait.
    """

    def __init__(
        self,
        watcher: OutputWatcher | None,
        output: int,
        started: float,
        *,
        refresh: Callable[[], None] | None = None,
        is_copy: bool = False,
    ) -> None:
        self._watcher = watcher
        self._is_copy = is_copy
        self._refresh = refresh or (lambda: None)
        self._output = output
        self._started = started
        self._ended = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._loop, name="podium-looker", daemon=True)
        if watcher is not None:
            self._thread.start()

    def _loop(self) -> None:
        assert self._watcher is not None
        pause = LOOK_INTERVAL
        while not self._ended.wait(pause):
            begin = time.monotonic()
            try:
                # What cannot be copied now is there at a later look, at the latest when nobody writes any more.
                with contextlib.suppress(OutputChanging):
                    self._refresh()
                    self._watcher.look(self._output, begin - self._started)
            except BaseException as error:  # handed on by finish()
                self._error = error
                return
            pause = max(LOOK_INTERVAL, 4 * (time.monotonic() - begin))

    def finish(self, wall: float, *, ended_early: bool) -> None:
        """Look for the last time, after the program is dead. Raises what an earlier look raised."""
        self._ended.set()
        if self._watcher is None:
            return
        self._thread.join()
        if self._error is None:
            self._refresh()
        if self._error is not None:
            raise SandboxError(f"the output folder could not be read: {self._error}") from self._error
        times = FileTimes.since(self._started, by_kernel=not self._is_copy)
        self._watcher.last_look(self._output, wall, ended_early=ended_early, times=times)


class Sandbox(ABC):
    """Runs one program under a budget. Each implementation tries itself out before it is offered."""

    name: str
    protects_input = True  # whether a program cannot change the folders that it only reads, and their files
    default_image = ""  # that of runs which name none, where a sandbox has images

    @abstractmethod
    def places(self, folders: Folders) -> Places:
        """Where a program in this sandbox finds the folders."""

    @abstractmethod
    def run(
        self,
        spec: SandboxSpec,
        *,
        stop: threading.Event,
        on_usage: Callable[[Usage], None] | None = None,
    ) -> Outcome:
        """Run to the end, leaving no process, mount or container. Raises SandboxError for faults of ours."""

    @abstractmethod
    def check(self) -> SandboxStatus:
        """Try whether this sandbox can be used on this machine."""

    def images(self, names: Iterable[str]) -> tuple[KnownImage, ...]:
        """Those of these images that are here; none where a sandbox has no images. Raises SandboxError."""
        return ()

    def give_back(self, folder: Path, spec: SandboxSpec) -> None:
        """Let this user read and remove what programs wrote into a plain folder that they shared.

        Nothing to do where they were this user. Raises SandboxError.
        """
        return None

    def clean_stale(self, owner: str | None = None) -> list[str]:
        """Remove what a killed worker left behind; returns one sentence for each thing removed."""
        removed = []
        for folder in scratch.left_behind(owner):
            scratch.remove(folder)
            removed.append(f"Removed the folder {folder} of a run whose worker is gone.")
        return removed
