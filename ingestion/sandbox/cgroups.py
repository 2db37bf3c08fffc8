"""Reading and making control groups, version 1 and version 2."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from ingestion.budget import MIB
from ingestion.sandbox.base import Measurement, SandboxError

MOUNT = Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "pids", "cpu", "cpuacct", "cpuset")
_ONE_CHARGE = 4 * MIB  # the most by which a refused page, a huge one among them, stays below the limit
LEAF = "podium-worker"  # where a worker's own processes go when it divides the group that was delegated to it


def version(mount: Path = MOUNT) -> int | None:
    """1, 2, or None where there are no control groups."""
    if (mount / "cgroup.controllers").is_file():
        return 2
    return 1 if (mount / "memory").is_dir() else None


def folders_of(pid: int, mount: Path = MOUNT, proc: Path = Path("/proc")) -> dict[str, Path]:
    """The folders that count for a process: by controller on version 1, under the key "" on version 2."""
    found: dict[str, Path] = {}
    for line in (proc / str(pid) / "cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        for name in controllers.split(",") if controllers else [""]:
            folder = mount / name / path.lstrip("/")
            if name in (*CONTROLLERS, "") and folder.is_dir():
                found[name] = folder
    return found


@dataclass
class Group:
    """The control group of one sandbox. `folders` as `folders_of` gives them."""

    folders: dict[str, Path]

    @property
    def is_version_2(self) -> bool:
        """Whether one folder holds all controllers."""
        return "memory" not in self.folders and (self.folders.get("", Path()) / "cgroup.events").is_file()

    def measure(self) -> Measurement | None:
        """Usage and events now, or None once the group is gone."""
        try:
            return self._measure_2() if self.is_version_2 else self._measure_1()
        except (OSError, KeyError, ValueError):
            return None

    def _measure_2(self) -> Measurement:
        folder = self.folders[""]
        memory, events = _table(folder / "memory.stat"), _table(folder / "memory.events")
        killed, reached = events.get("oom_kill", 0) > 0, events.get("oom", 1) > 0
        cached = memory.get("file", 0) - memory.get("shmem", 0)
        return Measurement(
            cpu_seconds=_table(folder / "cpu.stat").get("usage_usec", 0) / 1e6,
            memory_bytes=memory.get("anon", 0) + memory.get("shmem", 0),
            memory_killed=killed and reached,
            machine_full=killed and not reached,
            processes_full=_table(folder / "pids.events").get("max", 0) > 0,
            peak_bytes=_peak(folder / "memory.peak", cached, was_pressed=events.get("max", 1) > 0),
        )

    def _measure_1(self) -> Measurement:
        folder = self.folders["memory"]
        memory = _table(folder / "memory.stat")
        killed = _table(folder / "memory.oom_control").get("oom_kill", 0) > 0
        # How often the limit was reached (memory.failcnt) stays 0 on newer kernels; how high it came does not.
        most, limit = _number(folder / "memory.max_usage_in_bytes"), _number(folder / "memory.limit_in_bytes")
        reached = most is None or limit is None or most + _ONE_CHARGE >= limit
        processor, processes = self.folders.get("cpuacct"), self.folders.get("pids")
        cached = memory.get("total_cache", 0) - memory.get("total_shmem", 0)
        return Measurement(
            cpu_seconds=int((processor / "cpuacct.usage").read_text()) / 1e9 if processor else 0.0,
            memory_bytes=memory.get("total_rss", 0) + memory.get("total_shmem", 0),
            memory_killed=killed and reached,
            machine_full=killed and not reached,
            processes_full=processes is not None and _table(processes / "pids.events").get("max", 0) > 0,
            peak_bytes=_peak(folder / "memory.max_usage_in_bytes", cached, was_pressed=reached),
        )

    def limit(self, *, memory: int, processes: int, cores: int, cpus: str | None) -> None:
        """Set the bounds. Raises OSError where the group cannot hold one of them."""
        if self.is_version_2:
            folder = self.folders[""]
            _write(folder / "memory.max", memory)
            _write_if_there(folder / "memory.swap.max", 0)
            _write_if_there(folder / "memory.oom.group", 0)
            _write(folder / "pids.max", processes)
            if cpus is not None and (folder / "cpuset.cpus").is_file():
                _write(folder / "cpuset.cpus", cpus)
            else:
                _write_if_there(folder / "cpu.max", f"{cores * 100_000} 100000")
            return
        _write(self.folders["memory"] / "memory.limit_in_bytes", memory)
        _write_if_there(self.folders["memory"] / "memory.memsw.limit_in_bytes", memory)
        _write(self.folders["pids"] / "pids.max", processes)
        if cpus is not None and "cpuset" in self.folders:
            _write(self.folders["cpuset"] / "cpuset.cpus", cpus)
        elif "cpu" in self.folders:
            _write(self.folders["cpu"] / "cpu.cfs_period_us", 100_000)
            _write(self.folders["cpu"] / "cpu.cfs_quota_us", cores * 100_000)

    def join_files(self) -> list[Path]:
        """The files into which a process writes its number to belong to the group."""
        return [folder / "cgroup.procs" for folder in self.folders.values()]

    def kill(self) -> None:
        """Send SIGKILL to every process in the group."""
        if self.is_version_2 and (self.folders[""] / "cgroup.kill").is_file():
            _write(self.folders[""] / "cgroup.kill", 1)
            return
        for file in self.join_files()[:1]:
            for pid in _numbers(file):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)

    def end(self, patience: float = 5.0) -> bool:
        """Kill until no process is left in the group; False where that cannot be told, or takes too long."""
        file, end = self.join_files()[0], time.monotonic() + patience
        while time.monotonic() < end:
            try:
                if not file.read_text().split():
                    return True
            except OSError:
                return False
            self.kill()
            time.sleep(0.001)
        return False

    def remove(self, patience: float = 5.0) -> None:
        """Remove the folders once the processes are gone. Raises SandboxError when they stay."""
        end = time.monotonic() + patience
        for folder in self.folders.values():
            while folder.is_dir():
                try:
                    folder.rmdir()
                except OSError as error:
                    if time.monotonic() > end:
                        raise SandboxError(f"a control group could not be removed: {error}") from error
                    self.kill()
                    time.sleep(0.002)


def make_group(name: str, mount: Path = MOUNT, proc: Path = Path("/proc")) -> Group:
    """A new control group `podium/<name>`. Raises OSError where this user may not make one."""
    kind = version(mount)
    if kind == 2:
        return Group({"": _make_2(name, mount, proc)})
    if kind != 1:
        raise OSError("there are no control groups on this machine")
    folders: dict[str, Path] = {}
    try:
        for controller in CONTROLLERS:
            if (mount / controller).is_dir():
                folders[controller] = _make_1(mount / controller, name)
    except OSError:
        for folder in folders.values():
            folder.rmdir()
        raise
    if not {"memory", "pids"} <= folders.keys():
        Group(folders).remove()
        raise OSError("the memory and pids controllers are not mounted")
    return Group(folders)


def existing_group(name: str, mount: Path = MOUNT, proc: Path = Path("/proc")) -> Group | None:
    """The control group `podium/<name>` that an earlier process made, or None."""
    if version(mount) == 2:
        bases = (mount, _delegated(mount, proc))
        found = [base / "podium" / name for base in bases if base and (base / "podium" / name).is_dir()]
        folders = {"": found[0]} if found else {}
    else:
        folders = {controller: mount / controller / "podium" / name for controller in CONTROLLERS}
    there = {key: folder for key, folder in folders.items() if folder.is_dir()}
    return Group(there) if there else None


def _make_1(mount: Path, name: str) -> Path:
    parent = mount / "podium"
    parent.mkdir(exist_ok=True)
    if mount.name == "cpuset":
        _inherit_cpuset(mount, parent)
    folder = parent / name
    folder.mkdir()
    if mount.name == "cpuset":
        _inherit_cpuset(parent, folder)
    return folder


def _inherit_cpuset(parent: Path, child: Path) -> None:
    for file in ("cpuset.cpus", "cpuset.mems"):
        if not (child / file).read_text().strip():
            _write(child / file, (parent / file).read_text().strip())


def _make_2(name: str, mount: Path, proc: Path) -> Path:
    """The folder of a run, below the top where this user may, else below the worker's own delegated group."""
    try:
        return _make_below(mount, name)
    except OSError:
        own = _delegated(mount, proc)
        if own is None:
            raise
        _move_into_leaf(own)
        return _make_below(own, name)


def _make_below(base: Path, name: str) -> Path:
    parent = base / "podium"
    parent.mkdir(exist_ok=True)
    offered = (base / "cgroup.controllers").read_text().split()
    if not {"memory", "pids"} <= set(offered):
        raise OSError(f"{base} was not given the memory and pids controllers")
    for folder in (base, parent):
        for controller in (one for one in ("memory", "pids", "cpu", "cpuset") if one in offered):
            _write(folder / "cgroup.subtree_control", f"+{controller}")
    child = parent / name
    child.mkdir()
    return child


def _delegated(mount: Path, proc: Path) -> Path | None:
    """The group of this process where its user may divide it further, as under systemd's `Delegate=yes`.

    A process that was moved into the leaf before is in a folder of that name; its group is the one above.
    """
    try:
        own = folders_of(os.getpid(), mount, proc).get("")
    except OSError:
        return None
    if own is not None and own.name == LEAF:
        own = own.parent
    if own is None or own == mount or not os.access(own / "cgroup.procs", os.W_OK):
        return None
    return own


def is_delegated(mount: Path = MOUNT, proc: Path = Path("/proc")) -> bool:
    """Whether the user of this process may divide its group of version 2."""
    return version(mount) == 2 and _delegated(mount, proc) is not None


def _move_into_leaf(group: Path) -> None:
    """Move a group's processes into a leaf of it: a group that hands controllers on may hold none itself."""
    leaf = group / LEAF
    leaf.mkdir(exist_ok=True)
    for pid in _numbers(group / "cgroup.procs"):
        with contextlib.suppress(ProcessLookupError):
            _write(leaf / "cgroup.procs", pid)


def _peak(path: Path, cached: int, *, was_pressed: bool) -> int:
    """The kernel's high-water mark without the files it had cached; 0 where that cannot be told.

    The mark counts cached files too. They are subtracted as they are now, which is right only while nothing made
    the kernel drop some: a group that came to its limit is left out, and there the limit itself is the answer.
    """
    mark = _number(path)
    return 0 if mark is None or was_pressed else max(0, mark - cached)


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def _table(path: Path) -> dict[str, int]:
    if not path.is_file():
        return {}
    words = (line.split() for line in path.read_text().splitlines())
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].lstrip("-").isdigit()}


def _numbers(path: Path) -> list[int]:
    try:
        return [int(word) for word in path.read_text().split()]
    except OSError:
        return []


def _write(path: Path, value: int | str) -> None:
    path.write_text(f"{value}\n")


def _write_if_there(path: Path, value: int | str) -> None:
    if path.is_file():
        _write(path, value)
