"""The only place besides /tmp into which a program may write, bounded in bytes and in files."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ingestion.sandbox.base import SandboxError, SandboxSpec

OUTPUT_FOLDER = "output"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_WAITING = 256  # open folders at a time
_NEARLY_FULL = 64 * 1024  # bytes: a write of one block did not fit any more


def tmpfs_options(spec: SandboxSpec) -> str:
    """Mount options of the output place: bounded bytes and inodes, nothing that runs or has power."""
    # One inode is the folder itself.
    return f"size={spec.output_bytes},nr_inodes={spec.budget.output_files + 1},mode=0777,nosuid,nodev,noexec"


def mount_output(spec: SandboxSpec) -> Path:
    """Mount the output place in the run's scratch folder; needs root. Raises SandboxError."""
    folder = spec.folders.scratch / OUTPUT_FOLDER
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", tmpfs_options(spec), "podium-output", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        folder.rmdir()
        raise SandboxError(f"the output place could not be mounted: {done.stderr.strip()}")
    return folder


def open_folder(path: Path | str) -> int:
    """A descriptor of a folder, through which files are opened without following links."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


@dataclass(frozen=True)
class OutputUse:
    """What an output place holds: bytes on disk, entries; and whether it, or a file in it, had no room left."""

    bytes: int
    files: int
    is_full: bool


def use_of(output: int, spec: SandboxSpec, *, bounded_by_mount: bool = True) -> OutputUse:
    """How much of the output place is taken. Its folder, and a file as large as one may be, make it full."""
    used, files, largest = measured(output, spec.budget.output_files + 1)
    too_large = largest >= min(spec.budget.file_bytes, spec.output_bytes)
    if not bounded_by_mount:
        is_over = used > spec.output_bytes - _NEARLY_FULL or files >= spec.budget.output_files
        return OutputUse(used, files, too_large or is_over)
    space = os.fstatvfs(output)
    used = (space.f_blocks - space.f_bfree) * space.f_frsize  # what was removed while it is open counts too
    return OutputUse(used, files, too_large or not _has_room(output))


def is_any_full(places: Iterable[int]) -> bool:
    """Whether one of these sized places, by descriptor, has no room left for a block or a file."""
    return not all(_has_room(place) for place in places)


def _has_room(place: int) -> bool:
    space = os.fstatvfs(place)
    return space.f_bavail * space.f_frsize >= _NEARLY_FULL and space.f_favail > 0


def measured(output: int, most_files: int) -> tuple[int, int, int]:
    """(bytes on disk, number of entries, apparent size of the largest file) at the top and below.

    Stops counting past `most_files` entries. Folders may be nested deeper than a path or a call can go: each is
    opened from the one above it, and what cannot be opened counts as one entry.
    """
    used = files = largest = 0
    waiting = [os.dup(output)]  # a program may have taken all rights from its folder; this one is open
    try:
        while waiting and files <= most_files:
            folder = waiting.pop()
            try:
                for entry in os.scandir(folder):
                    files += 1
                    if files > most_files:
                        break
                    with contextlib.suppress(OSError):  # gone in between, closed to us, or too many at a time
                        status = os.stat(entry.name, dir_fd=folder, follow_symlinks=False)
                        used += status.st_blocks * 512
                        largest = max(largest, status.st_size)
                        if stat.S_ISDIR(status.st_mode) and len(waiting) < _MOST_WAITING:
                            waiting.append(os.open(entry.name, _FOLDER, dir_fd=folder))
            finally:
                os.close(folder)
    finally:
        for folder in waiting:
            os.close(folder)
    return used, files, largest
