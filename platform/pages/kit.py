"""The starting kit's zip, built once for each state of its sources and kept in the data folder."""

import hashlib
import os
import tempfile
from pathlib import Path

from django.conf import settings

from starting_kit.bundle import build_kit

SOURCES = ("starting_kit", "ingestion", "scoring")


def kit_archive() -> Path:
    """The path of the zip; it is built when the kit's sources changed since it was last asked for."""
    folder = settings.PODIUM_HOME / "starting_kit"
    folder.mkdir(mode=0o700, exist_ok=True)
    archive = folder / f"podium_starting_kit-{_fingerprint()}.zip"
    if not archive.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            # Built beside its place and renamed, so that a reader never sees half of it.
            fresh = Path(scratch) / "kit.zip"
            build_kit(fresh)
            fresh.replace(archive)
    return archive


def _fingerprint() -> str:
    """A hash of the names, sizes and times of the kit's sources."""
    digest = hashlib.sha256()
    for source in SOURCES:
        for folder, inner, files in os.walk(settings.ROOT / source):
            inner[:] = sorted(name for name in inner if name != "__pycache__")
            for name in sorted(files):
                status = (Path(folder) / name).stat()
                digest.update(f"{folder}/{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]
