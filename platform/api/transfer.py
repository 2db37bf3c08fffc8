"""Links for one object each, that live for minutes: the only way a worker reads or writes a file.

They carry a signature instead of a password, so that they can be handed to a process which knows no token, and
they are never shown, logged or given to a sandbox.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.core import signing
from django.core.files.storage import default_storage

SALT = "podium.transfer"


def download_link(field_file: Any) -> str:
    """A link to read one stored file of the default storage."""
    return _link("get", {"o": field_file.name})


def upload_link(run_id: int, attempt: int, name: str, size: int) -> str:
    """A link to write one file of an attempt, of exactly `size` bytes."""
    return _link("put", {"o": incoming_path(run_id, attempt, name), "s": size})


def _link(verb: str, content: dict[str, Any]) -> str:
    token = signing.dumps({"v": verb, **content}, salt=SALT, compress=True)
    return f"{settings.PODIUM_URL}/worker/files/{token}"


@dataclass(frozen=True)
class Ticket:
    """What a link allows."""

    name: str
    size: int | None


def read_ticket(token: str, verb: str) -> Ticket | None:
    """What the link allows, or None when it is forged, too old or for another verb."""
    try:
        content = signing.loads(token, salt=SALT, max_age=settings.TRANSFER_SECONDS)
    except signing.BadSignature:
        return None
    if content.get("v") != verb:
        return None
    return Ticket(content["o"], content.get("s"))


def incoming_path(run_id: int, attempt: int, name: str) -> str:
    """Where an attempt's upload waits for its report. The name is hashed: it comes from a worker."""
    return f"incoming/{run_id}/{attempt}/{hashlib.sha256(name.encode()).hexdigest()}"


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

        kept = default_storage.save(kept, _Chunked(chunks(), size))
    if digest.hexdigest() != sha256 or count != size:
        default_storage.delete(kept)
        raise Mismatch(f"{name} is not the file that was reported: its size or its SHA-256 differs")
    return kept


class _Chunked:
    """A readable file over an iterator of bytes, as storages want it."""

    def __init__(self, parts: Any, size: int) -> None:
        self.parts, self.size, self.rest = parts, size, b""

    def chunks(self, chunk_size: int | None = None) -> Any:
        yield from self.parts

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self.rest) < size:
            part = next(self.parts, None)
            if part is None:
                break
            self.rest += part
        if size < 0:
            data, self.rest = self.rest, b""
        else:
            data, self.rest = self.rest[:size], self.rest[size:]
        return data


class Body(_Chunked):
    """The body of a request of known length, read in pieces."""

    def __init__(self, request: Any, length: int) -> None:
        super().__init__(self._pieces(request, length), length)

    @staticmethod
    def _pieces(request: Any, length: int) -> Iterator[bytes]:
        while length > 0:
            piece = request.read(min(2**20, length))
            if not piece:
                return
            length -= len(piece)
            yield piece


def discard_incoming(run_id: int, attempt: int) -> None:
    """Remove what an attempt uploaded and nobody keeps."""
    folder = f"incoming/{run_id}/{attempt}"
    try:
        _, files = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    for name in files:
        default_storage.delete(f"{folder}/{name}")
