"""Bringing what lies in the storage of solutions under the operator's key, and telling what is not."""

import hashlib
import posixpath
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import IO, Any

from django.conf import settings
from django.core.files import File

from datasets import encryption
from datasets.models import solution_storage
from datasets.storage import SCRATCH, keys

PIECE = 2**20


class Seal(StrEnum):
    """How a stored file is kept."""

    PLAIN = "plain"
    CURRENT = "current"  # by the key that encrypts
    OLDER = "older"  # by another of the operator's keys
    UNKNOWN = "unknown"  # by a key that is not there


class NothingToDo(Exception):
    """The operator's keys cannot do what is asked."""


def inventory() -> Counter[Seal]:
    """How many files of the storage of solutions are kept how; reads their heads."""
    return Counter(seal for _, seal in _sealed())


def reseal(*, decrypt: bool = False, tell: Callable[[str], None] = lambda name: None) -> Counter[str]:
    """Encrypt every file by the first key, or decrypt all with `decrypt`; returns how many were `changed`, `left`.

    Each file is read back before it takes the place of the old one, at one stroke; a second call goes on where one
    was stopped. Files that no key opens are `unknown` and stay. Raises NothingToDo without a key.
    """
    if not keys():
        raise NothingToDo("PODIUM_SOLUTIONS_KEY is not set.")
    storage, done = solution_storage(), Counter[str]()
    wanted = Seal.PLAIN if decrypt else Seal.CURRENT
    for name, seal in _sealed(clean=True):
        if seal == Seal.UNKNOWN:
            done["unknown"] += 1
        elif seal == wanted:
            done["left"] += 1
        else:
            tell(name)
            _rewrite(storage, name, decrypt=decrypt)
            done["changed"] += 1
    return done


def _rewrite(storage: Any, name: str, *, decrypt: bool) -> None:
    with storage.open(name, "rb") as plain:
        if decrypt:
            storage.replace(name, plain)
            return
        known = _sha256(_pieces(plain))
        plain.seek(0)
        with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as sealed:
            sealed.writelines(encryption.encrypted(_pieces(plain), keys()[0]))
            sealed.seek(0)
            if _sha256(encryption.decrypted(sealed, keys())) != known:
                raise encryption.CannotDecrypt(f"{name} did not come back as it was; it stays as it is.")
            sealed.seek(0)
            storage.replace(name, File(sealed, name=name))


def _sealed(*, clean: bool = False) -> Iterator[tuple[str, Seal]]:
    known: list[bytes | None] = [key.id for key in keys()]
    current, *older = known or [None]
    storage: Any = solution_storage()
    for name in _names(storage, ""):
        if posixpath.basename(name).startswith(SCRATCH):  # left by one that was killed
            if clean:
                storage.delete(name)
            continue
        try:
            found = storage.key_id(name)
        except FileNotFoundError:  # removed meanwhile
            continue
        if found is None:
            yield name, Seal.PLAIN
        else:
            yield name, Seal.CURRENT if found == current else Seal.OLDER if found in older else Seal.UNKNOWN


def _names(storage: Any, folder: str) -> Iterator[str]:
    try:
        folders, files = storage.listdir(folder)
    except FileNotFoundError:
        return
    for name in sorted(files):
        yield posixpath.join(folder, name)
    for inner in sorted(folders):
        yield from _names(storage, posixpath.join(folder, inner))


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(PIECE):
        yield piece


def _sha256(pieces: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()
