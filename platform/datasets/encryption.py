"""Hidden solutions encrypted at rest: AES-256-GCM in pieces, by keys that only the site has.

`PODIUM_SOLUTIONS_KEY` holds one key, or several separated by commas: the first encrypts, all of them decrypt, so
that a key can be replaced. Each file has a key of its own, derived (HKDF, RFC 5869) from the operator's key and a
random salt in the file's head; its pieces are numbered and the last one is marked, as in the STREAM construction
(Hoang, Reyhanitabar, Rogaway and Vizár, CRYPTO 2015), so that none can be changed, moved, repeated or cut off.
"""

import base64
import binascii
import hashlib
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

MAGIC = b"podium-sealed-1\n"
KEY_BYTES, SALT_BYTES, ID_BYTES, TAG_BYTES = 32, 32, 8, 16
HEAD_BYTES = len(MAGIC) + ID_BYTES + SALT_BYTES
PIECE = 2**20
PURPOSE = b"podium solutions 1"


class BadKey(ValueError):
    """The operator's setting is no list of keys. The text never shows what was set."""


class CannotDecrypt(Exception):
    """A file that no key opens, or that is not what was encrypted."""


@dataclass(frozen=True, repr=False)
class Key:
    """One of the operator's keys; `id` names it in the heads of files and tells nothing about it."""

    secret: bytes

    @property
    def id(self) -> bytes:
        """The first bytes of a hash of the key."""
        return hashlib.sha256(b"podium key id\0" + self.secret).digest()[:ID_BYTES]

    def cipher(self, salt: bytes) -> AESGCM:
        """The cipher of the one file that has this salt."""
        return AESGCM(HKDF(SHA256(), KEY_BYTES, salt=salt, info=PURPOSE).derive(self.secret))


def new_key() -> str:
    """A fresh key, as the setting wants it."""
    return base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def read_keys(setting: str) -> list[Key]:
    """The keys of the setting, the one that encrypts first; none where it is empty. Raises BadKey."""
    keys = []
    for number, word in enumerate(filter(None, (part.strip() for part in setting.split(","))), start=1):
        try:
            secret = base64.b64decode(word.encode(), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            secret = b""
        if len(secret) != KEY_BYTES:
            raise BadKey(f"key {number} of PODIUM_SOLUTIONS_KEY is not {KEY_BYTES} bytes in base64")
        keys.append(Key(secret))
    return keys


def key_id(head: bytes) -> bytes | None:
    """The id of the key that a file with this beginning was encrypted by; None for a plain file."""
    return head[len(MAGIC) : len(MAGIC) + ID_BYTES] if head.startswith(MAGIC) else None


def encrypted(pieces: Iterable[bytes], key: Key) -> Iterator[bytes]:
    """The bytes of the encrypted file: its head, then one sealed piece after the other."""
    salt = secrets.token_bytes(SALT_BYTES)
    head = MAGIC + key.id + salt
    cipher = key.cipher(salt)
    yield head
    number = 0
    waiting = b""  # what comes next is sealed when it is known whether more follows
    for piece in _of_equal_size(pieces):
        if waiting:
            yield cipher.encrypt(_nonce(number, last=False), waiting, head)
            number += 1
        waiting = piece
    yield cipher.encrypt(_nonce(number, last=True), waiting, head)


def decrypted(file: IO[bytes], keys: Sequence[Key]) -> Iterator[bytes]:
    """The plain bytes of an encrypted file that stands at its beginning. Raises CannotDecrypt."""
    head = file.read(HEAD_BYTES)
    wanted = key_id(head)
    if wanted is None or len(head) != HEAD_BYTES:
        raise CannotDecrypt("it has no head")
    key = next((key for key in keys if key.id == wanted), None)
    if key is None:
        raise CannotDecrypt(f"the key {wanted.hex()} is not among those of PODIUM_SOLUTIONS_KEY")
    cipher = key.cipher(head[-SALT_BYTES:])
    number, piece = 0, file.read(PIECE + TAG_BYTES)
    while True:
        following = file.read(PIECE + TAG_BYTES)
        try:
            yield cipher.decrypt(_nonce(number, last=not following), piece, head)
        except InvalidTag as problem:
            raise CannotDecrypt("it was changed or cut off") from problem
        if not following:
            return
        number, piece = number + 1, following


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([last])


def _of_equal_size(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of PIECE, the last one as long as is left; nothing for no bytes."""
    rest = bytearray()
    for piece in pieces:
        rest += piece
        while len(rest) >= PIECE:
            yield bytes(rest[:PIECE])
            del rest[:PIECE]
    if rest:
        yield bytes(rest)
