"""What a run may use (Budget) and what a machine has (Capacity)."""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

KIB = 1024
MIB = 1024**2
GIB = 1024**3

# Runs leave the worker, the log reader and the page cache some room.
SHARE_OF_MEMORY_FOR_RUNS = 0.8

_UNITS = {
    "": 1,
    "b": 1,
    **{f"{letter}ib": 1024**power for power, letter in enumerate("kmgt", start=1)},
    **{f"{letter}b": 1000**power for power, letter in enumerate("kmgt", start=1)},
    # One letter alone means what Docker and the kernel mean by it: powers of 1024.
    **{letter: 1024**power for power, letter in enumerate("kmgt", start=1)},
}


def parse_size(text: str | int) -> int:
    """Bytes meant by `8GiB`, `8 GB`, `512M` or `1024`.

    `KiB`, `MiB`, `GiB`, `TiB` and single letters are powers of 1024; `kB`, `MB`, `GB`, `TB` powers of 1000.
    Raises ValueError with one sentence for anything else, including zero and negative sizes.
    """
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*", str(text))
    if match is None or match[2].lower() not in _UNITS:
        raise ValueError(f"{str(text)!r} is not a size; write it like 8GiB, 512MiB or 2000000")
    size = int(Fraction(match[1]) * _UNITS[match[2].lower()])
    if size <= 0:
        raise ValueError(f"{str(text)!r} is not a size above zero")
    return size


def format_size(size: int) -> str:
    """A size for people: `8 GiB`, `1.5 MiB`, `17 bytes`."""
    for unit, name in ((1024**4, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f}".removesuffix(".0") + f" {name}"
    return f"{size} byte" if size == 1 else f"{size} bytes"


def format_duration(seconds: float) -> str:
    """A duration for people: `1 second`, `2.5 seconds`, `20 minutes`, `3 hours`."""
    for unit, name in ((3600, "hour"), (60, "minute")):
        if seconds >= 2 * unit and seconds % unit == 0:
            return f"{seconds / unit:,.0f} {name}s"
    return "1 second" if seconds == 1 else f"{seconds:,.3f}".rstrip("0").rstrip(".") + " seconds"


@dataclass(frozen=True)
class Capacity:
    """What a machine has, or what one run gets of it: whole cores and bytes of memory."""

    cores: int
    memory_bytes: int

    @classmethod
    def of_this_machine(cls) -> Capacity:
        """Cores and memory that this process may use, seen through cgroup limits and CPU affinity."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
        folders = _cgroup_folders(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
        quota = _cpu_quota(folders)
        if quota is not None:
            cores = min(cores, max(1, math.floor(quota)))
        memory = _physical_memory()
        limit = _memory_limit(folders)
        if limit is not None:
            memory = min(memory, limit)
        return cls(cores=max(1, cores), memory_bytes=memory)

    def for_a_run(self, slots: int = 1) -> Capacity:
        """What one run gets of this machine where `slots` run at once. Raises ValueError for more than cores."""
        if not 1 <= slots <= self.cores:
            cores = "1 core" if self.cores == 1 else f"{self.cores} cores"
            raise ValueError(f"{slots} slots cannot share {cores}: each run needs one of its own")
        memory = int(self.memory_bytes * SHARE_OF_MEMORY_FOR_RUNS) // slots
        return Capacity(cores=self.cores // slots, memory_bytes=max(1, memory))

    def fits(self, budget: Budget) -> bool:
        """Whether a run with this budget can be held; an empty cores or memory always fits."""
        return (budget.cores or 0) <= self.cores and (budget.memory_bytes or 0) <= self.memory_bytes

    def to_json(self) -> dict[str, int]:
        """The capacity as plain numbers, for a worker's announcement."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Capacity:
        """The capacity that `to_json` wrote. Raises ValueError where a field is missing or not above zero."""
        try:
            capacity = cls(cores=int(values["cores"]), memory_bytes=int(values["memory_bytes"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError("a capacity needs whole numbers for cores and memory_bytes") from error
        if capacity.cores < 1 or capacity.memory_bytes < 1:
            raise ValueError("a capacity needs at least one core and some memory")
        return capacity


# What nobody means: longer, wider and larger than this is a slip of the pen, and no machine has it.
LONGEST_WALL_SECONDS = 30 * 86_400.0
MOST_CORES = 4_096
MOST_MEMORY = 2**50


@dataclass(frozen=True)
class Budget:
    """What one run may use. Seconds of wall clock, whole cores, bytes, counts.

    `cores` and `memory_bytes` may be None, which means all that the worker has (`filled` puts in numbers).
    `file_bytes` bounds a single file and is never more than `output_bytes`. `log_bytes` bounds what is kept
    of the program's output.
    """

    wall_seconds: float
    cores: int | None = None
    memory_bytes: int | None = None
    processes: int = 512
    output_bytes: int = GIB
    output_files: int = 10_000
    log_bytes: int = MIB
    file_bytes: int = GIB
    temporary_bytes: int = GIB

    def __post_init__(self) -> None:
        if not (math.isfinite(self.wall_seconds) and self.wall_seconds > 0):
            raise ValueError(f"a budget needs a number of seconds above zero, not {self.wall_seconds}")
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name != "wall_seconds" and value is not None and value < 1:
                raise ValueError(f"{field.name} of a budget must be at least 1, not {value}")
        if self.file_bytes > self.output_bytes:
            object.__setattr__(self, "file_bytes", self.output_bytes)

    def filled(self, capacity: Capacity) -> Budget:
        """The same budget with empty cores and memory replaced by the capacity that one run gets."""
        return dataclasses.replace(
            self, cores=self.cores or capacity.cores, memory_bytes=self.memory_bytes or capacity.memory_bytes
        )

    def to_json(self) -> dict[str, float | int | None]:
        """All fields as plain numbers."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Budget:
        """The budget that `to_json` wrote; absent fields take their defaults, unknown ones are refused."""
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(values) - known)
        if unknown or "wall_seconds" not in values:
            wrong = f"does not know {', '.join(unknown)}" if unknown else "needs wall_seconds"
            raise ValueError(f"a budget {wrong}")
        whole = {
            name: None if value is None else int(value) for name, value in values.items() if name != "wall_seconds"
        }
        return cls(wall_seconds=float(values["wall_seconds"]), **whole)  # type: ignore[arg-type]


def _physical_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _cgroup_folders(membership: Path, mount: Path) -> list[Path]:
    """Folders whose limits bind this process, its own first; both cgroup versions, whatever is mounted."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return []
    folders: list[Path] = []
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        names = [controllers, *controllers.split(",")] if controllers else [""]
        for base in (mount / name for name in names):
            if not base.is_dir():
                continue
            own = base / path.lstrip("/")
            # Inside a container the path may be the host's and absent here: the mount itself still counts.
            folders.extend(p for p in (own, *own.parents) if p.is_relative_to(base) and p.is_dir())
    return folders


def _read_number(path: Path) -> float | None:
    try:
        return float(path.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return None


def _cpu_quota(folders: list[Path]) -> float | None:
    quotas = []
    for folder in folders:
        quota, period = _read_number(folder / "cpu.cfs_quota_us"), _read_number(folder / "cpu.cfs_period_us")
        if quota is None:
            try:
                words = (folder / "cpu.max").read_text().split()
                quota, period = float(words[0]), float(words[1])
            except (OSError, ValueError, IndexError):
                continue
        if quota > 0 and period:
            quotas.append(quota / period)
    return min(quotas, default=None)


def _memory_limit(folders: list[Path]) -> int | None:
    limits = [
        limit
        for folder in folders
        for name in ("memory.max", "memory.limit_in_bytes")
        if (limit := _read_number(folder / name)) is not None and 0 < limit < 2**60
    ]
    return int(min(limits)) if limits else None
