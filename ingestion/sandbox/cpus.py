"""Which processors, and how much memory, a run has to itself on this machine.

What is taken is told by locks of the kernel on files in one folder, so that a killed worker gives back what it
had, and so that workers which know nothing of each other still share a machine without meeting. Workers of
different users have different folders and do not see each other.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

# Not the folder of TMPDIR: two workers started from different terminals must find each other.
LOCKS = Path("/tmp")  # noqa: S108  # the folder in it is this user's alone, which is checked
_POLL = 0.2  # seconds between two looks for what became free
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class UnsafeFolder(OSError):
    """The folder of locks belongs to somebody else, or others may write into it."""


@dataclass
class Share:
    """Processors, as `0,3`, and memory that nobody else takes until `release`; None: it cannot be told here."""

    cpus: str | None
    _locks: ExitStack

    @classmethod
    def unknown(cls) -> Share:
        """A share of a machine on which it cannot be told what others take."""
        return cls(None, ExitStack())

    def release(self) -> None:
        """Give everything back."""
        self._locks.close()


def take_share(
    *,
    cores: int,
    memory: int,
    of_memory: int,
    folder: Path | None = None,
    patience: float = 0.0,
    stop: threading.Event | None = None,
) -> Share | None:
    """Take processors and bytes of memory for a run, or None while others have them.

    of_memory: how many bytes all runs of this machine may have together. patience: seconds to wait for them, until
    `stop` is set. One worker waits at a time and keeps what becomes free, so that a series of small runs cannot
    keep a large one waiting for ever. Raises UnsafeFolder.
    """
    if not hasattr(os, "sched_getaffinity"):
        return Share.unknown()
    place = _folder_of_locks(folder)
    end = time.monotonic() + patience
    with ExitStack() as turn, ExitStack() as locks:
        has_turn, taken = False, list[int]()
        while True:
            has_turn = has_turn or _lock(place / "turn", turn)
            if has_turn:
                _take_free_cpus(place, cores, taken, locks)
            if len(taken) == cores and _take_memory(place, memory, of_memory, locks):
                return Share(",".join(map(str, sorted(taken))), locks.pop_all())
            if time.monotonic() >= end or (stop is not None and stop.is_set()):
                return None
            time.sleep(_POLL)


@contextmanager
def reserved(cores: int, folder: Path | None = None, *, held: str | None = None) -> Iterator[str | None]:
    """Processors for one run, as `0,3`, kept from other runs of this user until the block ends.

    held: processors that the caller has taken already; then these are the ones. None where so many are not free,
    or cannot be told on this system: then a quota must bound the run.
    """
    if held is not None:
        yield ",".join(held.split(",")[:cores])
        return
    with ExitStack() as locks:
        cpus = None
        if hasattr(os, "sched_getaffinity"):
            with contextlib.suppress(OSError):
                taken: list[int] = []
                _take_free_cpus(_folder_of_locks(folder), cores, taken, locks)
                if len(taken) == cores:
                    cpus = ",".join(map(str, taken))
                else:
                    locks.close()
        yield cpus


def _folder_of_locks(folder: Path | None) -> Path:
    """The folder, made where it is missing. Raises UnsafeFolder where it is not this user's alone."""
    place = folder or LOCKS / f"podium-cpus-{os.geteuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    status = place.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise UnsafeFolder(f"{place} is not a folder of this user alone")
    return place


def _take_free_cpus(place: Path, cores: int, taken: list[int], locks: ExitStack) -> None:
    """Add free processors to `taken`, up to so many. Files of locks stay: removing one is how two get it."""
    for cpu in sorted(os.sched_getaffinity(0)):
        if len(taken) == cores:
            return
        if cpu not in taken and _lock(place / str(cpu), locks):
            taken.append(cpu)


def _take_memory(place: Path, wanted: int, total: int, locks: ExitStack) -> bool:
    """Write down that so much memory is taken, unless others have too much of it."""
    with ExitStack() as book:
        descriptor = os.open(place / "memory", _OPEN, 0o600)
        book.callback(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if sum(_held(path) for path in place.glob("memory-*")) + wanted > total:
            return False
        entry = place / f"memory-{uuid.uuid4().hex}"
        _lock(entry, locks)
        entry.write_text(str(wanted))
        locks.callback(entry.unlink, missing_ok=True)
        return True


def _held(path: Path) -> int:
    """Bytes of an entry whose taker lives; the entry of a dead one is removed."""
    with ExitStack() as lock:
        if _lock(path, lock):
            path.unlink()
            return 0
    return int(path.read_text() or 0)


def _lock(path: Path, locks: ExitStack) -> bool:
    descriptor = os.open(path, _OPEN, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return False
    os.utime(descriptor)  # what clears old files away must not take one that is in use
    locks.callback(os.close, descriptor)
    return True
