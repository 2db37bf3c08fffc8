"""Public files of datasets that a worker keeps between runs, by the hash of the zip they came in.

Kept within a bound: what was not used for longest goes first. What a blind phase runs on goes as soon as it was
idle for a while, and when the worker stops or starts again: nobody may find it on the machine afterwards.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ingestion.budget import GIB
from ingestion.dataset import prepare_input
from ingestion.dataset_pack import BadPack, unpack_cache
from ingestion.program.data import CACHE_FOLDER
from ingestion.site import SiteError

log = logging.getLogger(__name__)

DEFAULT_LIMIT = 20 * GIB
BLIND_IDLE_SECONDS = 600.0
SUMS, BLIND = ".sums.json", ".blind"


class DatasetCache:
    """One worker's datasets below `folder`, at most `limit` bytes. Safe to use from several threads.

    clock: seconds since the epoch, as the times of files are.
    """

    def __init__(
        self, folder: Path, *, limit: int = DEFAULT_LIMIT, clock: Callable[[], float] = time.time
    ) -> None:
        self.folder, self.limit = folder, limit
        self._clock = clock
        self._lock = threading.RLock()
        self._in_use: Counter[str] = Counter()

    def open(self) -> None:
        """Make the folder, and remove what a killed predecessor left: halves, and everything of blind phases."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)
        for path in self.folder.iterdir():
            if path.suffix in (".new", ".laid", ".zip", ".part"):
                _remove(path)
        self.close()

    def close(self) -> None:
        """Remove what blind phases ran on."""
        self.sweep(blind_idle=0.0)

    @contextlib.contextmanager
    def dataset(self, wanted: Mapping[str, Any], download: Callable[[str, Path], Path]) -> Iterator[Path]:
        """The folder of a dataset, which stays as it is until the block ends.

        wanted: the dataset's `sha256`, `name` and `url` as the site's claim has them, whether it is `blind`, and
        where the site has one the `url` of its `cache`, the arrays ready made.
        download: fetches a url into a file and checks its hash.
        """
        key = str(wanted["sha256"])
        with self._lock:
            self._in_use[key] += 1
        try:
            kept = self.folder / key
            if not (kept.exists() and (self.folder / f"{key}{SUMS}").exists()):
                self._forget(key)
                self._fetch(wanted, key, download)
            if wanted.get("blind"):
                (self.folder / f"{key}{BLIND}").touch(mode=0o600)
            self._touch(kept)
            yield kept / str(wanted["name"])
        finally:
            with self._lock:
                self._in_use[key] -= 1
                self._touch(self.folder / key)
            self.sweep()

    def _fetch(self, wanted: Mapping[str, Any], key: str, download: Callable[[str, Path], Path]) -> None:
        zipped = download(wanted["url"], self.folder / f"{key}.zip")
        scratch, name = self.folder / f"{key}.new", str(wanted["name"])
        for leftover in (scratch, self.folder / f"{key}.laid"):
            _remove(leftover)
        with zipfile.ZipFile(zipped) as archive:
            archive.extractall(scratch)
        zipped.unlink()
        self._take_arrays(wanted, key, scratch / name, download)
        # Without them the text is parsed here, once; every later run of this dataset starts from the binary cache.
        laid = prepare_input(scratch / name, self.folder / f"{key}.laid")
        _remove(scratch / name / CACHE_FOLDER)
        (laid / CACHE_FOLDER).rename(scratch / name / CACHE_FOLDER)
        shutil.rmtree(laid)
        for path in (scratch / name).iterdir():
            if path.is_file():
                path.chmod(0o444)  # as they are laid out: runs take links to them instead of copies
        (self.folder / f"{key}{SUMS}").write_text(json.dumps(_sums(scratch)))
        scratch.rename(self.folder / key)

    def _take_arrays(
        self, wanted: Mapping[str, Any], key: str, folder: Path, download: Callable[[str, Path], Path]
    ) -> None:
        """Lay the site's arrays beside the text. They save time; without them everything is the same."""
        offered = wanted.get("cache")
        if not offered:
            return
        packed = self.folder / f"{key}.cache.zip"
        try:
            unpack_cache(download(offered["url"], packed), folder)
        except (SiteError, BadPack, OSError) as problem:
            log.warning("the text of dataset %s is read here, its arrays cannot be used: %s", key[:12], problem)
        finally:
            packed.unlink(missing_ok=True)

    def is_intact(self, wanted: Mapping[str, Any]) -> bool:
        """Whether a kept dataset still is what was fetched; one that is not is forgotten."""
        key = str(wanted["sha256"])
        try:
            known = json.loads((self.folder / f"{key}{SUMS}").read_text())
            if known == _sums(self.folder / key):
                return True
        except (OSError, ValueError):
            pass
        log.error("the kept copy of dataset %s is damaged and was removed", wanted["name"])
        self._forget(key)
        return False

    def sweep(self, *, blind_idle: float = BLIND_IDLE_SECONDS) -> None:
        """Remove blind datasets that were idle for so many seconds, then the oldest until all fit."""
        with self._lock:
            idle = [path for path in self._kept() if not self._in_use[path.name]]
            for path in list(idle):
                is_blind = (self.folder / f"{path.name}{BLIND}").exists()
                if is_blind and self._clock() - path.stat().st_mtime >= blind_idle:
                    idle.remove(path)
                    self._forget(path.name)
            sizes = {path: _size(path) for path in self._kept()}
            for path in sorted(idle, key=lambda path: path.stat().st_mtime):
                if sum(sizes.values()) <= self.limit:
                    break
                del sizes[path]
                self._forget(path.name)

    def _kept(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if path.is_dir() and not path.suffix]

    def _touch(self, kept: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.utime(kept, (self._clock(), self._clock()))

    def _forget(self, key: str) -> None:
        for path in (self.folder / key, self.folder / f"{key}{SUMS}", self.folder / f"{key}{BLIND}"):
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
        if path.exists():
            log.error("%s could not be removed", path)
    else:
        path.unlink(missing_ok=True)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _sums(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below a folder, by its path there."""
    sums = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                sums[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return sums
