"""Taking what programs left in an output folder: regular files only, bounded, read from outside."""

from __future__ import annotations

import os
import stat
import unicodedata
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ingestion.archive import JUNK
from ingestion.budget import format_size
from ingestion.quick_zip import FIXED_DATE

_PIECE = 2**20
_DEEPEST = 32
_LONGEST_PATH = 500  # characters
_MOST_NOTES = 5
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})  # kinds of characters that nobody sees in a name
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class TooMuchOutput(Exception):
    """The files together are larger than may be taken; the text is a sentence."""


@dataclass
class Packed:
    """What was packed: how many files, their bytes, and notes about what was left out."""

    files: int = 0
    bytes: int = 0
    notes: list[str] = field(default_factory=list)
    left_out: int = 0

    def leave_out(self, name: str, why: str) -> None:
        """Note that something was not taken; after the first few they are only counted."""
        self.left_out += 1
        if self.left_out <= _MOST_NOTES:
            shown = "".join(c if c.isprintable() else "?" for c in name)[:120]
            self.notes.append(f"{shown} was left out: {why}.")
        elif self.left_out == _MOST_NOTES + 1:
            self.notes.append("Other things in the output folder were left out too.")


@contextmanager
def opened_file(folder: int, name: str) -> Iterator[int | None]:
    """A descriptor of a regular file in a folder, or None where there is none of this name."""
    try:
        descriptor = os.open(name, _OPEN, dir_fd=folder)
    except OSError:
        yield None
        return
    try:
        yield descriptor if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    finally:
        os.close(descriptor)


def read_small(folder: int, name: str, most: int) -> bytes | None:
    """The content of a regular file of at most so many bytes; None where it is no such file."""
    with opened_file(folder, name) as descriptor:
        if descriptor is None or os.fstat(descriptor).st_size > most:
            return None
        content = b""
        while len(content) <= most and (piece := os.read(descriptor, _PIECE)):
            content += piece
        return content if len(content) <= most else None


def pack(folder: int, target: Path, *, most_files: int, most_bytes: int) -> Packed:
    """Pack the regular files at and below a folder (by descriptor) into a zip, with executable bits.

    No link is followed, and nothing that writes may be alive. Raises TooMuchOutput; sparse files may be far larger
    than the place that they lie in.
    """
    packed = Packed()
    spelled: dict[str, str] = {}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, descriptor in _files(folder, packed, prefix="", depth=0):
            if _is_other_spelling(name, spelled):
                packed.leave_out(name, "its name differs from another one only by upper and lower case")
                continue
            if packed.files >= most_files:
                raise TooMuchOutput(f"The output folder holds more than {most_files} files.")
            packed.files += 1
            _add(archive, name, descriptor, packed, most_bytes)
    return packed


def _is_other_spelling(name: str, spelled: dict[str, str]) -> bool:
    """Whether the file, or a folder above it, differs from one before only by case: not every system tells those
    apart, and no archive with them is opened again. `spelled` maps paths without case to how they were spelled.
    """
    pieces = name.split("/")
    for depth in range(1, len(pieces) + 1):
        path = "/".join(pieces[:depth])
        key = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
        if spelled.setdefault(key, path) != path:
            return True
    return False


def _files(folder: int, packed: Packed, *, prefix: str, depth: int) -> Iterator[tuple[str, int]]:
    """Names and descriptors of the regular files at and below a folder, in order."""
    for entry in sorted(os.listdir(folder)):
        name = f"{prefix}{entry}"
        if entry in JUNK:
            continue
        if not _is_plain(entry) or len(name) > _LONGEST_PATH:
            packed.leave_out(name, "its name is not one that every system can hold")
            continue
        try:
            descriptor = os.open(entry, _OPEN, dir_fd=folder)
        except OSError:
            packed.leave_out(name, "it is no regular file, or cannot be read")
            continue
        try:
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISREG(mode):
                yield name, descriptor
            elif not stat.S_ISDIR(mode):
                packed.leave_out(name, "it is no regular file")
            elif depth >= _DEEPEST:
                packed.leave_out(name, f"it lies more than {_DEEPEST} folders deep")
            else:
                yield from _files(descriptor, packed, prefix=f"{name}/", depth=depth + 1)
        finally:
            os.close(descriptor)


def _is_plain(name: str) -> bool:
    """Whether a name can be an entry of a zip that we open again."""
    if "\\" in name or len(name) > 240:
        return False
    is_drive = name[1:2] == ":"
    return not is_drive and all(unicodedata.category(c) not in _HIDDEN for c in name)


def _add(archive: zipfile.ZipFile, name: str, descriptor: int, packed: Packed, most_bytes: int) -> None:
    entry = zipfile.ZipInfo(name, FIXED_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED
    is_program = os.fstat(descriptor).st_mode & 0o100
    entry.external_attr = (stat.S_IFREG | (0o755 if is_program else 0o644)) << 16
    with archive.open(entry, "w", force_zip64=True) as sink:
        while piece := os.read(descriptor, _PIECE):
            packed.bytes += len(piece)
            if packed.bytes > most_bytes:
                raise TooMuchOutput(f"The files in the output folder are larger than {format_size(most_bytes)}.")
            sink.write(piece)
