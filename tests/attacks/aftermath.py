"""What must be gone, or as before, when a hostile run is over."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ingestion.budget import GIB, MIB, format_size
from ingestion.sandbox import Sandbox, cgroups

# Others work on the machine too, and write to its disks. An attack that is not held takes gigabytes in seconds.
DISK_TOLERANCE = 2 * GIB
MEMORY_TOLERANCE = GIB
SHARED_MEMORY_TOLERANCE = 256 * MIB
PATIENCE = 10.0


@dataclass(frozen=True)
class Levels:
    """Free bytes on the disks, memory that is available or in a living process, memory in tmpfs."""

    disk: int
    memory: int
    shared: int

    @classmethod
    def now(cls) -> Levels:
        """What the machine has at this moment."""
        table = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        disks = {os.stat(path).st_dev: path for path in (tempfile.gettempdir(), "/var", "/")}
        free = sum(shutil.disk_usage(path).free for path in disks.values())
        available, shared = (int(table[name].split()[0]) * 1024 for name in ("MemAvailable", "Shmem"))
        return cls(free, available + _in_processes(), shared)

    def complaints(self, later: Levels) -> list[str]:
        """What is worse than before by more than the tolerance."""
        told = []
        for name, lost, tolerance in (
            ("disk", self.disk - later.disk, DISK_TOLERANCE),
            ("memory", self.memory - later.memory, MEMORY_TOLERANCE),
            ("shared memory", later.shared - self.shared, SHARED_MEMORY_TOLERANCE),
        ):
            if lost > tolerance:
                told.append(f"{format_size(lost)} of {name} are gone")
        return told


def _in_processes() -> int:
    """Bytes of the machine's living processes: whose they are is another check, what they take no loss."""
    total = 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            found = re.search(r"RssAnon:\s+(\d+)", status.read_text())
        except OSError:
            continue
        total += int(found[1]) * 1024 if found else 0
    return total


def left_of(sandbox: Sandbox | None, owner: str, seed: int) -> list[str]:
    """Everything of this owner's runs that is still there, as sentences."""
    prefix = f"podium-run-{owner}-"
    left = [f"the folder {path}" for path in Path(tempfile.gettempdir()).glob(f"{prefix}*")]
    mounts = Path("/proc/self/mounts").read_text(errors="replace").splitlines()
    left += [f"the mount {line}" for line in mounts if prefix in line]
    left += [f"the control group {path}" for path in cgroups.MOUNT.glob(f"**/podium/{prefix}*")]
    left += [f"the process {told}" for told in _processes_of(seed)]
    if sandbox is not None and sandbox.name == "docker":
        wanted = {"label": f"podium.owner={owner}"}
        client = sandbox.client  # type: ignore[attr-defined]
        left += [f"the container {one.name}" for one in client.containers.list(all=True, filters=wanted)]
        left += [f"the volume {one.name}" for one in client.volumes.list(filters=wanted)]
        left += [f"the network {one.name}" for one in client.networks.list(filters=wanted)]
    return left


def _processes_of(seed: int) -> list[str]:
    """Processes that inherited the run's seed, and those of the user that only this process's sandboxes have."""
    from ingestion.sandbox.bubblewrap_tree import sandbox_user

    mark, own = f"PODIUM_SEED={seed}".encode(), sandbox_user() if os.geteuid() == 0 else -1
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            if mark in (folder / "environ").read_bytes() or folder.stat().st_uid == own:
                found.append(f"{folder.name} {(folder / 'cmdline').read_bytes()[:100]!r}")
        except OSError:
            continue
    return found


def eventually_empty(look: Callable[[], list[str]]) -> list[str]:
    """What `look` still finds when patience is over; the kernel and the engine take a moment to let go."""
    end = time.monotonic() + PATIENCE
    while True:
        found = look()
        if not found or time.monotonic() > end:
            return found
        time.sleep(0.2)
