"""Files of programmed runs: copied out of the storages to be used, and kept in their write-once places."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction

from submissions.models import Run, RunFile
from submissions.models.runs import run_path

PIECE = 2**20


class Damaged(Exception):
    """A stored file is not what was stored."""


@dataclass(frozen=True)
class Kept:
    """A file in its write-once place, not yet named by a row."""

    kind: str
    name: str
    stored: str
    sha256: str
    size: int


def fetched(field: Any, target: Path, *, sha256: str) -> Path:
    """A private copy of a stored file, whatever the storage is. Raises Damaged where its bytes are others."""
    digest = hashlib.sha256()
    with field.storage.open(str(field.name), "rb") as source, target.open("xb") as copy:
        while piece := source.read(PIECE):
            digest.update(piece)
            copy.write(piece)
    if sha256 and digest.hexdigest() != sha256:
        raise Damaged(f"{target.name} is not the file that was stored: its SHA-256 differs.")
    return target


def keep(run: Run, kind: str, path: Path, name: str) -> Kept:
    """Store a file of a run; `write_rows` names it, `drop` removes it again."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        stored = default_storage.save(run_path(run, name), File(file))
    return Kept(kind, name, stored, digest, path.stat().st_size)


def write_rows(run: Run, files: Iterable[Kept]) -> None:
    """Name the files as the run's, inside a transaction; what they replace is removed after it."""
    for kept in files:
        old = run.files.filter(kind=kept.kind).first()
        RunFile.objects.update_or_create(
            run=run,
            kind=kept.kind,
            defaults={"name": kept.name, "file": kept.stored, "sha256": kept.sha256, "size": kept.size},
        )
        if old is not None and old.file.name != kept.stored and not _is_shared(str(old.file.name)):
            transaction.on_commit(partial(default_storage.delete, str(old.file.name)), robust=True)


def _is_shared(stored: str) -> bool:
    return RunFile.objects.filter(file=stored).exists()


def drop(files: Iterable[Kept]) -> None:
    """Remove files that no row names."""
    for kept in files:
        default_storage.delete(kept.stored)
