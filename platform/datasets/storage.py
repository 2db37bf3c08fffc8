"""The storage of hidden solutions: plain files, or encrypted ones where the operator sets a key.

Whoever opens a solution through it reads its plain text, whichever key of the operator encrypted it. The text is
kept in memory: it never comes to lie on a disk.
"""

import os
import tempfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage

from datasets import encryption
from datasets.encryption import HEAD_BYTES, CannotDecrypt, Key

SCRATCH = ".replacing-"  # how files begin that are about to take the place of another


@lru_cache(maxsize=4)
def _keys_of(setting: str) -> tuple[Key, ...]:
    return tuple(encryption.read_keys(setting))


def keys() -> tuple[Key, ...]:
    """The operator's keys, the one that encrypts first; empty where solutions are kept as they are."""
    return _keys_of(settings.SOLUTIONS_KEY)


def in_memory(pieces: Iterable[bytes], name: str) -> IO[bytes]:
    """A file of these bytes that has no place on a disk, open at its beginning."""
    if not hasattr(os, "memfd_create"):
        file: IO[bytes] = tempfile.SpooledTemporaryFile()  # noqa: SIM115  # never rolls over
    else:
        file = os.fdopen(os.memfd_create(Path(name).name[:200]), "w+b")
    try:
        for piece in pieces:
            file.write(piece)
        file.flush()
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


class Unsealed(File):  # type: ignore[type-arg]
    """The plain text of an encrypted file."""

    @property
    def path(self) -> Path | None:
        """Where this process can read it by a path, which leads to memory; None where the system has none."""
        if not hasattr(os, "memfd_create"):
            return None  # and asking for a number of the file would move it to a disk
        path = Path(f"/proc/self/fd/{self.fileno()}")
        return path if path.exists() else None


class SealedFiles:
    """What a storage of solutions has in addition to one of Django's, to be mixed into it."""

    def _save(self, name: str, content: "File[bytes]") -> str:
        known = keys()
        if not known:
            return str(self._plain()._save(name, content))
        with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as sealed:
            sealed.writelines(encryption.encrypted(content.chunks(encryption.PIECE), known[0]))
            sealed.seek(0)
            return str(self._plain()._save(name, File(sealed, name=name)))

    def _open(self, name: str, mode: str = "rb") -> "File[bytes]":
        file: File[bytes] = self._plain()._open(name, mode)
        head = file.read(HEAD_BYTES)
        file.seek(0)
        if encryption.key_id(head) is None:
            return file
        with file:
            try:
                return Unsealed(in_memory(encryption.decrypted(file, keys()), name), name=name)
            except CannotDecrypt as problem:
                raise CannotDecrypt(f"The solution {name} cannot be read: {problem}.") from problem

    def key_id(self, name: str) -> bytes | None:
        """The id of the key that encrypted a file; None for a plain one."""
        with self._plain()._open(name, "rb") as file:
            return encryption.key_id(file.read(HEAD_BYTES))

    def replace(self, name: str, content: "File[bytes]") -> None:
        """Put content, as it is, in the place of a file; who reads meanwhile gets the one or the other."""
        raise NotImplementedError

    def _plain(self) -> Any:
        """Django's own storage beneath."""
        return super()


class SolutionFiles(SealedFiles, FileSystemStorage):
    """Solutions in a folder of the site."""

    def replace(self, name: str, content: "File[bytes]") -> None:
        """Write beside the file and rename, so that it is there at every moment."""
        target = Path(self.path(name))
        descriptor, scratch = tempfile.mkstemp(dir=target.parent, prefix=SCRATCH)
        try:
            with os.fdopen(descriptor, "wb") as file:
                for piece in content.chunks(2**20):
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            Path(scratch).replace(target)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise
