"""Reading and making control groups, version 1 and version 2."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from ingestion.sandbox.base import Measurement, SandboxError

MOUNT = Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "pids", "cpu", "cpuacct", "cpuset")


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
        memory = _table(folder / "memory.stat")
        return Measurement(
            cpu_seconds=_table(folder / "cpu.stat").get("usage_usec", 0) / 1e6,
            memory_bytes=memory.get("anon", 0) + memory.get("shmem", 0),
            memory_killed=_table(folder / "memory.events").get("oom_kill", 0) > 0,
            processes_full=_table(folder / "pids.events").get("max", 0) > 0,
        )

    def _measure_1(self) -> Measurement:
        memory = _table(self.folders["memory"] / "memory.stat")
        processor = self.folders.get("cpuacct")
        processes = self.folders.get("pids")
        return Measurement(
            cpu_seconds=int((processor / "cpuacct.usage").read_text()) / 1e9 if processor else 0.0,
            memory_bytes=memory.get("total_rss", 0) + memory.get("total_shmem", 0),
            memory_killed=_table(self.folders["memory"] / "memory.oom_control").get("oom_kill", 0) > 0,
            processes_full=bool(processes) and _table(processes / "pids.events").get("max", 0) > 0,  # type: ignore[operator]
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
                    time.sleep(0.02)


def make_group(name: str, mount: Path = MOUNT) -> Group:
    """A new control group `podium/<name>`. Raises OSError where this user may not make one."""
    kind = version(mount)
    if kind == 2:
        return Group({"": _make_2(name, mount)})
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


def existing_group(name: str, mount: Path = MOUNT) -> Group | None:
    """The control group `podium/<name>` that an earlier process made, or None."""
    kind = version(mount)
    if kind == 2:
        folders = {"": mount / "podium" / name}
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


def _make_2(name: str, mount: Path) -> Path:
    parent = mount / "podium"
    parent.mkdir(exist_ok=True)
    wanted = [c for c in ("memory", "pids", "cpu", "cpuset") if c in (mount / "cgroup.controllers").read_text()]
    for folder in (mount, parent):
        for controller in wanted:
            _write(folder / "cgroup.subtree_control", f"+{controller}")
    child = parent / name
    child.mkdir()
    return child


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
