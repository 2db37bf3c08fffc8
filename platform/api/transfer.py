"""Links for one object each, that live for minutes: the only way a worker reads or writes a file.

They carry a signature instead of a password, so that they can be handed to a process which knows no token, and
they are never shown, logged or given to a sandbox.
"""

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core import signing
from django.core.files import File
from django.core.files.storage import default_storage
from django.http import HttpRequest

from submissions.files import incoming_folder

SALT = "podium.transfer"


def download_link(field_file: Any) -> str:
    """A link to read one stored file of the default storage."""
    return _link("get", {"o": field_file.name})


def upload_link(run_id: int, attempt: int, name: str, size: int) -> str:
    """A link to write one file of an attempt, of exactly `size` bytes."""
    content = {"o": incoming_path(run_id, attempt, name), "s": size, "r": run_id, "a": attempt}
    return _link("put", content)


def program_link(program_id: int) -> str:
    """A link to read the files of an ingestion program, which lie where no other link leads."""
    return _link("program", {"o": str(program_id)})


def _link(verb: str, content: dict[str, Any]) -> str:
    token = signing.dumps({"v": verb, **content}, salt=SALT, compress=True)
    # Without a host: the worker reached the site by some address, and that one is right for it.
    return f"/worker/files/{token}"


@dataclass(frozen=True)
class Ticket:
    """What a link allows."""

    name: str
    size: int | None
    run_id: int | None = None
    attempt: int | None = None


def read_ticket(token: str, verb: str) -> Ticket | None:
    """What the link allows, or None when it is forged, too old or for another verb."""
    try:
        content = signing.loads(token, salt=SALT, max_age=settings.TRANSFER_SECONDS)
    except signing.BadSignature:
        return None
    if content.get("v") != verb:
        return None
    return Ticket(content["o"], content.get("s"), content.get("r"), content.get("a"))


def incoming_path(run_id: int, attempt: int, name: str) -> str:
    """Where an attempt's upload waits for its report. The name is hashed: it comes from a worker."""
    return f"{incoming_folder(run_id, attempt)}/{hashlib.sha256(name.encode()).hexdigest()}"


class Mismatch(Exception):
    """An uploaded file is not what the report says it is."""


def keep(run_id: int, attempt: int, name: str, *, sha256: str, size: int) -> str:
    """Copy an upload to its write-once place if it is what the report says; returns the place.

    The copy is hashed while it is made, so what is scored is what was checked.
    """
    source_name = incoming_path(run_id, attempt, name)
    if not default_storage.exists(source_name):
        raise Mismatch(f"{name} was reported but not uploaded")
    digest, count = hashlib.sha256(), 0
    kept = f"runs/{uuid4().hex}"
    with default_storage.open(source_name, "rb") as source:

        def chunks() -> Iterator[bytes]:
            nonlocal count
            for chunk in source.chunks(2**20):
                digest.update(chunk)
                count += len(chunk)
                yield chunk

        kept = default_storage.save(kept, pieces_file(chunks()))
    # The sizes are compared, too: a link is made for one size, and a report may name another.
    if digest.hexdigest() != sha256 or count != size:
        default_storage.delete(kept)
        raise Mismatch(f"{name} is not the file that was reported: its size or its SHA-256 differs")
    return kept


class _Pieces(io.RawIOBase):
    """A readable file over an iterator of bytes, as every storage accepts it."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.pieces, self.rest = pieces, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.rest:
            self.rest = next(self.pieces, b"")
        count = min(len(buffer), len(self.rest))
        buffer[:count], self.rest = self.rest[:count], self.rest[count:]
        return count


def pieces_file(pieces: Iterator[bytes]) -> "File[bytes]":
    """A Django file over pieces of bytes, none of them empty."""
    return File(io.BufferedReader(_Pieces(pieces)), name="pieces")


def body_file(request: HttpRequest, length: int) -> "File[bytes]":
    """The body of a request of known length, read in pieces."""

    def pieces() -> Iterator[bytes]:
        left = length
        while left > 0:
            piece = request.read(min(2**20, left))
            if not piece:
                raise Mismatch(f"the body ended {left} bytes early")
            left -= len(piece)
            yield piece

    return pieces_file(pieces())
