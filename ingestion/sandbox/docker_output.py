"""Where a container writes its predictions, and how they are seen from outside.

As root on the engine's machine: a tmpfs of ours, mounted on the host and bound into the container. Otherwise: a
tmpfs volume that the engine makes, held by a helper container and read through the engine's archive call.
"""

from __future__ import annotations

import contextlib
import filecmp
import io
import math
import os
import shutil
import tarfile
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from ingestion.sandbox.base import OutputChanging, Places, SandboxError, SandboxSpec
from ingestion.sandbox.output import mount_output, open_folder, tmpfs_options
from ingestion.sandbox.scratch import unmount

MIRROR_FOLDER = "mirror"
_DEEPEST = 32  # folders
_LATEST_TIME = 2**33  # seconds since 1970
HELD_AFTERWARDS = 600.0  # seconds for which a volume is held after the deadline, should the worker be dead


class OutputPlace(Protocol):
    """The output place of one container."""

    mount: Any  # docker.types.Mount
    descriptor: int  # of a folder on the host that shows the files
    is_mount: bool  # whether that folder is the place itself
    overflowed: bool  # whether it showed more than it can hold

    def refresh(self) -> None:
        """Bring the folder up to date."""


@contextlib.contextmanager
def output_place(client: Any, image: str, spec: SandboxSpec, labels: dict[str, str]) -> Iterator[OutputPlace]:
    """The output place for one run, taken down at the end of the block."""
    if os.geteuid() == 0:
        try:
            folder = mount_output(spec)
        except SandboxError:
            pass  # root without the right to mount, as in a container: the engine can
        else:
            with _mounted(folder) as mounted:
                yield mounted
            return
    with _volume(client, image, spec, labels) as volume:
        yield volume


class _Mounted:
    is_mount = True
    overflowed = False

    def __init__(self, folder: Path) -> None:
        from docker.types import Mount

        self.mount = Mount(Places().output, str(folder), type="bind", propagation="rprivate")
        self.descriptor = open_folder(folder)

    def refresh(self) -> None:
        pass


@contextlib.contextmanager
def _mounted(folder: Path) -> Iterator[OutputPlace]:
    place = _Mounted(folder)
    try:
        yield place
    finally:
        os.close(place.descriptor)
        unmount(folder)


class _Volume:
    """A tmpfs volume. The engine forgets its content when the last container that has it mounted ends."""

    is_mount = False
    is_deep = False  # whether folders are looked into

    def __init__(self, client: Any, name: str, spec: SandboxSpec) -> None:
        from docker.types import Mount

        self._client = client
        self._spec = spec
        self.is_deep = spec.layout is not None
        self._helper: Any = None
        self.overflowed = False
        # Without no_copy the engine gives the volume the rights of the image's own folder, which is root's.
        self.mount = Mount(Places().output, name, type="volume", no_copy=True)
        self._folder = spec.folders.scratch / MIRROR_FOLDER
        self._folder.mkdir()
        self.descriptor = open_folder(self._folder)

    def hold(self, image: str, labels: dict[str, str]) -> None:
        """Start the helper, which mounts the volume and sleeps."""
        self._helper = self._client.containers.create(
            image,
            entrypoint=["sleep", str(math.ceil(self._spec.budget.wall_seconds + HELD_AFTERWARDS))],
            command=[],
            init=True,
            network_mode="none",
            read_only=True,
            user="65534:65534",
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            mem_limit="64m",
            pids_limit=8,
            mounts=[self.mount],
            labels=labels,
        )
        self._helper.start()

    def release(self) -> None:
        if self._helper is not None:
            self._helper.remove(force=True)

    def refresh(self) -> None:
        """Copy what is at the top of the volume into the mirror: files with their times, others as their kind.

        Of programs with a layout of their own also what lies in folders. Raises OutputChanging where the archive
        breaks off, as it does when a file grows while it is packed.
        """
        import requests
        import urllib3

        stream, _ = self._client.api.get_archive(self._helper.id, Places().output)
        seen = set()
        # A sparse file is read as zeros: past twice the size of the place nothing honest can follow.
        chunks = _Chunks(stream, 2 * self._spec.output_bytes + 1024 * 1024)
        try:
            with tarfile.open(fileobj=io.BufferedReader(chunks, 1024 * 1024), mode="r|") as archive:
                for entry in archive:
                    name = entry.name.split("/", 1)[-1]
                    if self._is_wanted(name) and entry.name != name:
                        seen.add(name)
                        self._take(archive, entry, name)
        except _TooMuch:
            self.overflowed = True
            return
        except (tarfile.TarError, requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise OutputChanging(f"the engine's archive of it broke off ({error})") from error
        for path in sorted(self._folder.rglob("*"), reverse=True):
            if path.relative_to(self._folder).as_posix() not in seen:
                _remove(path)

    def _is_wanted(self, name: str) -> bool:
        pieces = name.split("/")
        return len(pieces) <= (_DEEPEST if self.is_deep else 1) and not {"", ".", ".."} & set(pieces)

    def _take(self, archive: tarfile.TarFile, entry: tarfile.TarInfo, name: str) -> None:
        target = self._folder / name
        if entry.isdir() and target.is_dir() and not target.is_symlink():
            return
        if not target.parent.is_dir():
            raise OutputChanging(f"the folder of {name} was taken away")
        if not entry.isreg():
            _remove(target)
            _make_same_kind(target, entry)
            return
        if target.is_symlink() or target.is_dir():
            _remove(target)
        source = archive.extractfile(entry)
        assert source is not None
        waiting = self._folder.parent / "mirrored"
        with waiting.open("wb") as file:
            while chunk := source.read(1024 * 1024):
                file.write(chunk)
        # The program sets these times as it likes, also to ones that no file here can bear.
        changed = int(min(max(entry.mtime, 0), _LATEST_TIME))
        os.utime(waiting, (changed, changed))
        # The engine tells times to a second: what was written twice in one is told by its content.
        is_known = target.exists() and target.stat().st_mtime == changed
        if not (is_known and filecmp.cmp(waiting, target, shallow=False)):
            waiting.replace(target)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _make_same_kind(target: Path, entry: tarfile.TarInfo) -> None:
    """An empty thing of the entry's kind, so that the collector can say what it found; links lead nowhere."""
    if entry.isdir():
        target.mkdir()
    elif entry.isfifo():
        os.mkfifo(target)
    else:
        target.symlink_to("nowhere")


class _TooMuch(Exception):
    """More came than the place can hold."""


class _Chunks(io.RawIOBase):
    """A file that reads from an iterator of bytes, up to a limit."""

    def __init__(self, chunks: Iterable[bytes], limit: int) -> None:
        self._chunks = iter(chunks)
        self._waiting = memoryview(b"")
        self._left = limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._waiting:
            self._waiting = memoryview(next(self._chunks, b""))
            self._left -= len(self._waiting)
            if self._left < 0:
                raise _TooMuch
        size = min(len(buffer), len(self._waiting))
        buffer[:size] = self._waiting[:size]
        self._waiting = self._waiting[size:]
        return size


@contextlib.contextmanager
def _volume(client: Any, image: str, spec: SandboxSpec, labels: dict[str, str]) -> Iterator[OutputPlace]:
    name = f"podium-output-{uuid.uuid4().hex}"
    options = {"type": "tmpfs", "device": "tmpfs", "o": tmpfs_options(spec)}
    volume = client.volumes.create(name, driver="local", driver_opts=options, labels=labels)
    try:
        place = _Volume(client, name, spec)
        try:
            place.hold(image, labels)
            yield place
        finally:
            place.release()
            os.close(place.descriptor)
    finally:
        volume.remove(force=True)
