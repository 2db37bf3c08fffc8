"""Looking at, and ending, processes of this machine: /proc on Linux, `ps` elsewhere."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ingestion.sandbox.log import BoundedLog

PROC = Path("/proc")
LOG_BYTES_PER_SECOND = 100 * 1024 * 1024
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Process:
    """One process. Bytes and seconds; `born` tells two processes with the same number apart."""

    pid: int
    parent: int
    born: str
    cpu_seconds: float
    resident_bytes: int


def snapshot() -> dict[int, Process]:
    """All processes that can be seen, by number."""
    found = _from_proc() if (PROC / "self" / "stat").is_file() else _from_ps()
    return {process.pid: process for process in found}


def _from_proc() -> Iterable[Process]:
    for name in (path.name for path in PROC.iterdir()):
        process = _process(name) if name.isdigit() else None
        if process is not None:
            yield process


def _process(name: str) -> Process | None:
    """The process of this number, or None where it has ended in between."""
    try:
        descriptor = os.open(f"{PROC}/{name}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            words = os.read(descriptor, 4096).rpartition(b")")[2].split()
        finally:
            os.close(descriptor)
    except OSError:
        return None
    # After the name: state, parent, ... utime is field 14 of proc(5), stime 15, starttime 22, rss 24.
    cpu = (int(words[11]) + int(words[12])) / _TICKS
    return Process(int(name), int(words[1]), words[19].decode(), cpu, int(words[21]) * _PAGE)


def _with_children(pid: int) -> float:
    """Processor seconds of a process and of the children it waited for; 0 where nobody tells."""
    try:
        words = (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return 0.0
    # utime, stime, cutime and cstime are fields 14 to 17 of proc(5).
    return sum(int(word) for word in words[11:15]) / _TICKS


def _from_ps() -> Iterable[Process]:
    command = ["ps", "-A", "-o", "pid=,ppid=,rss=,time=,lstart="]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        words = line.split(None, 4)
        if len(words) == 5:
            yield Process(int(words[0]), int(words[1]), words[4].strip(), _clock(words[3]), int(words[2]) * 1024)


def _clock(text: str) -> float:
    """Seconds of `[days-]hours:minutes:seconds`."""
    days, _, rest = text.rpartition("-")
    seconds = 0.0
    for piece in rest.split(":"):
        seconds = seconds * 60 + float(piece.replace(",", "."))
    return seconds + 86_400 * int(days or 0)


class Family:
    """A process and everything that came from it, also what left its session or lost its parent.

    mark: a value in the environment that the whole family inherits; on Linux it finds those that were orphaned
    before they were seen.
    """

    def __init__(self, root: int, mark: str | None = None) -> None:
        self._mark = mark.encode() if mark else None
        self._born: dict[int, str] = {}
        self._spent: dict[tuple[int, str], float] = {}
        self._root = root
        self._is_over = False
        self._counted_by_kernel = 0.0
        first = _process(str(root)) if PROC.is_dir() else None
        self._oldest = int(first.born) if first is not None else 0

    def members(self) -> list[Process]:
        """Living members, the root first where it lives."""
        everyone = snapshot()
        if not self._born and self._root in everyone:
            self._born[self._root] = everyone[self._root].born
        known = {pid for pid, born in self._born.items() if pid in everyone and everyone[pid].born == born}
        children: dict[int, list[int]] = {}
        for process in everyone.values():
            children.setdefault(process.parent, []).append(process.pid)
        waiting = list(known)
        if self._mark:
            waiting += [pid for pid in everyone if pid not in known and self._is_marked(everyone[pid])]
        seen: set[int] = set()
        while waiting:
            pid = waiting.pop()
            if pid not in seen:
                seen.add(pid)
                waiting += children.get(pid, [])
        self._born = {pid: everyone[pid].born for pid in seen}
        for pid in seen:
            self._spent[(pid, everyone[pid].born)] = everyone[pid].cpu_seconds
        return [everyone[pid] for pid in sorted(seen, key=lambda pid: pid != self._root)]

    def _is_marked(self, process: Process) -> bool:
        """Whether a process has the mark. Nobody inherits it from one that is younger: that saves most looks."""
        try:
            if self._mark is None or int(process.born) < self._oldest:
                return False
            return self._mark in (PROC / str(process.pid) / "environ").read_bytes()
        except (OSError, ValueError):
            return False

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all members that were ever seen, or what the kernel counted until the root's end."""
        return max(sum(self._spent.values()), self._counted_by_kernel)

    def note_end(self) -> None:
        """Read the kernel's count of an ended root and its waited-for children, before the root is reaped.

        A short program may live and end between two looks, and would have cost nothing.
        """
        self._counted_by_kernel = _with_children(self._root)

    def kill(self, patience: float = 5.0) -> None:
        """Send SIGKILL to all members until none is left: a family may grow while it is being ended."""
        end = time.monotonic() + patience
        while not self._is_over and time.monotonic() < end:
            living = [one for one in self.members() if not _is_zombie(one.pid)]
            if not living:
                self._is_over = True
                return
            for one in living:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(one.pid, signal.SIGKILL)
            time.sleep(0.01)


def _is_zombie(pid: int) -> bool:
    try:
        return (PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    except OSError:
        return False


def memory_of(pids: Iterable[int]) -> int:
    """Bytes of anonymous and shared memory of these processes; pages shared between them count each time."""
    total = 0
    for pid in pids:
        try:
            lines = (PROC / str(pid) / "status").read_text().splitlines()
        except OSError:
            continue
        fields = dict(line.split(":", 1) for line in lines if line.startswith(("RssAnon", "RssShmem")))
        total += sum(int(value.split()[0]) * 1024 for value in fields.values())
    return total


def shared_out_memory_of(pids: Iterable[int]) -> int:
    """The same with each shared page divided among those that have it; slower, and never too much."""
    total = 0
    for pid in pids:
        try:
            lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
        except OSError:
            total += memory_of([pid])  # closed to us, or gone: then nothing
            continue
        fields = dict(line.split(":", 1) for line in lines if line.startswith(("Pss_Anon", "Pss_Shmem")))
        total += sum(int(value.split()[0]) * 1024 for value in fields.values())
    return total


def ends_within(
    process: subprocess.Popen[bytes], seconds: float, before_reaping: Callable[[], None] | None = None
) -> bool:
    """Wait at most so long; whether the process has ended. Its end is noticed at once where the kernel tells it.

    `Popen.wait` with a time looks every twentieth of a second: that long an end could wait to be seen.
    before_reaping: called once when it has ended, while its counts can still be read; only where the kernel tells.
    """
    if process.returncode is not None:
        return True
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        return process.returncode is not None
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if poll.poll(seconds * 1000) and before_reaping is not None:
            before_reaping()
    finally:
        os.close(descriptor)
    return process.poll() is not None


class PipeReader:
    """Feeds what comes out of a pipe to a log, in a thread, at a bounded pace."""

    def __init__(self, pipe: IO[bytes], log: BoundedLog) -> None:
        self._pipe = pipe
        self._log = log
        self._thread = threading.Thread(target=self._loop, name="podium-log", daemon=True)
        self._thread.start()

    def _loop(self) -> None:
        began, taken = time.monotonic(), 0
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._pipe.fileno(), 65_536):
                self._log.feed(chunk)
                taken += len(chunk)
                ahead = taken / LOG_BYTES_PER_SECOND - (time.monotonic() - began)
                if ahead > 0.02:
                    time.sleep(ahead)

    def finish(self) -> None:
        """Wait for the rest, then close the pipe."""
        self._thread.join(timeout=5)
        if not self._thread.is_alive():
            self._pipe.close()
