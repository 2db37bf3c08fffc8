"""A bounded folder that several sandboxes see at the same time."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ingestion.sandbox.base import SandboxError
from ingestion.sandbox.output import measured, open_folder
from ingestion.sandbox.scratch import unmount


@dataclass
class SharedFolder:
    """The folder on the host, a descriptor of it, and its bounds.

    is_sized: whether the kernel holds the bounds; where it does not, somebody must ask `is_over` every so often.
    """

    path: Path
    descriptor: int
    bytes: int
    files: int
    is_sized: bool

    def is_over(self) -> bool:
        """Whether more is in it than there may be."""
        if self.is_sized:
            return False
        used, files, _ = measured(self.descriptor, self.files)
        return used > self.bytes or files > self.files


@contextlib.contextmanager
def shared_folder(path: Path, *, size: int, files: int) -> Iterator[SharedFolder]:
    """A new folder at this path that every user may write into, of at most so many bytes and files.

    As root it is a tmpfs, whose bounds nothing can pass; else a plain folder, which is to be watched. Raises
    SandboxError.
    """
    path.mkdir()
    is_sized = os.geteuid() == 0 and _mount(path, size, files)
    if not is_sized:
        path.chmod(0o777)
    descriptor = open_folder(path)
    try:
        yield SharedFolder(path, descriptor, size, files, is_sized)
    finally:
        os.close(descriptor)
        if is_sized:
            unmount(path)


def _mount(path: Path, size: int, files: int) -> bool:
    """Mount a sized tmpfs; False for a root without that right, as in a container."""
    options = f"size={size},nr_inodes={files + 1},mode=0777,nosuid,nodev,noexec"
    try:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "podium-shared", str(path)], capture_output=True, check=False
        )
    except OSError as error:
        raise SandboxError(f"the shared folder could not be mounted: {error}") from error
    return done.returncode == 0
