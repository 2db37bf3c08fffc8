"""Private folders of runs, which tell by a lock whether their run is still alive."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

PREFIX = "podium-run-"
ALIVE = ".alive"


class Scratch:
    """A new private folder (0700), removed at the end of the `with` block.

    The kernel drops the lock on its file when the process dies, however it dies: that is how a later worker
    knows which folders were left behind.
    """

    def __init__(self, owner: str, root: Path | None = None) -> None:
        # Resolved: what is compared with the kernel's list of mounts must have no links in it.
        parent = (root or Path(tempfile.gettempdir())).resolve()
        name = re.sub(r"[^A-Za-z0-9_.]", "_", owner)
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{name}-", dir=parent))
        self._lock = os.open(self.path / ALIVE, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        remove(self.path)
        os.close(self._lock)


def is_alive(folder: Path) -> bool:
    """Whether the process that made this folder still runs."""
    try:
        descriptor = os.open(folder / ALIVE, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def remove(folder: Path) -> None:
    """Remove a run's folder with whatever is still mounted in it."""
    for mounted in mounts_below(folder):
        unmount(mounted)
    shutil.rmtree(folder, onerror=_make_writable_and_retry)


def _make_writable_and_retry(function: object, path: str, info: object) -> None:
    """A program without root may have closed its own folders to us; we own them and open them again."""
    with contextlib.suppress(OSError):
        Path(path).parent.chmod(0o700)
        Path(path).chmod(0o700)
        if Path(path).is_dir() and not Path(path).is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            Path(path).unlink()


def mounts_below(folder: Path) -> list[Path]:
    """Mount points below a folder, innermost first."""
    try:
        lines = Path("/proc/self/mounts").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    points = (Path(line.split(" ")[1].replace("\\040", " ")) for line in lines)
    return sorted((point for point in points if point.is_relative_to(folder)), reverse=True)


def unmount(point: Path) -> None:
    """Unmount, lazily: somebody may still have a file open there, and the last one to close it frees it."""
    subprocess.run(["umount", "--lazy", str(point)], capture_output=True, check=False)


def left_behind(owner: str | None = None, root: Path | None = None) -> Iterator[Path]:
    """Folders whose run is dead; those of one owner where one is given."""
    name = "" if owner is None else re.sub(r"[^A-Za-z0-9_.]", "_", owner) + "-"
    parent = (root or Path(tempfile.gettempdir())).resolve()
    for folder in parent.glob(f"{PREFIX}{name}*"):
        if folder.is_dir() and not folder.is_symlink() and _is_ours(folder) and not is_alive(folder):
            yield folder


def _is_ours(folder: Path) -> bool:
    return folder.stat().st_uid == os.geteuid()
