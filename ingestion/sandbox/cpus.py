"""Which processors a run has to itself."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


@contextmanager
def reserved(cores: int, folder: Path | None = None) -> Iterator[str | None]:
    """Processors for one run, as `0,3`, kept from other runs of this user until the block ends.

    None where so many are not free, or cannot be told on this system: then a quota must bound the run. The
    locks are the kernel's, so that a killed worker gives its processors back.
    """
    if not hasattr(os, "sched_getaffinity"):
        yield None
        return
    place = folder or Path(tempfile.gettempdir()) / f"podium-cpus-{os.geteuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    with ExitStack() as locks:
        taken: list[int] = []
        for cpu in sorted(os.sched_getaffinity(0)):
            if len(taken) == cores:
                break
            if _lock(place / str(cpu), locks):
                taken.append(cpu)
        if len(taken) < cores:
            locks.close()
            yield None
        else:
            yield ",".join(map(str, taken))


def _lock(path: Path, locks: ExitStack) -> bool:
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return False
    locks.callback(os.close, descriptor)
    return True
