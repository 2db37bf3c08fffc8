"""Opening a zip that a stranger made: every entry is judged before and while it is unpacked.

Only regular files come out, below the destination, and nothing at all when the archive is refused. Sizes are
counted in real bytes; what the zip's headers say is believed only where it leads to a refusal.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ingestion.archive_refusal import RefusedArchive
from ingestion.budget import GIB, MIB, format_size
from ingestion.recognition import Recognised, check_python_syntax, recognise

__all__ = [
    "Contents",
    "Limits",
    "Recognised",
    "RefusedArchive",
    "check_python_syntax",
    "open_archive",
    "recognise",
]

JUNK = frozenset({"__MACOSX", ".DS_Store", ".git", "__pycache__"})

_CHUNK = 256 * 1024
# An entry of the central directory takes 46 bytes and its name; a directory far above this is a bomb of names.
_DIRECTORY_BYTES_PER_ENTRY = 1024
_END_OF_DIRECTORY = struct.Struct("<4s4H2LH")
_END_OF_DIRECTORY_64 = struct.Struct("<4sQ2H2L4Q")
_METHODS = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "LZMA", 9: "Deflate64", 93: "Zstandard", 99: "AES"}
_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_OTHER_ARCHIVES = (
    (b"\x1f\x8b", "a gzip file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
)
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    struct.error,
    ValueError,
    OverflowError,
)


@dataclass(frozen=True)
class Limits:
    """What an archive may hold. The ratio of real to packed bytes counts only past `ratio_floor_bytes`."""

    entries: int = 10_000
    expanded_bytes: int = 2 * GIB
    ratio: int = 200
    ratio_floor_bytes: int = 10 * MIB
    path_characters: int = 512
    name_bytes: int = 255


@dataclass(frozen=True)
class Contents:
    """An opened archive: the folder its files are in, their paths relative to it, and notes for the author."""

    root: Path
    files: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass
class _Plan:
    """Which entries are unpacked, and where to, relative to the destination."""

    entries: list[tuple[zipfile.ZipInfo, PurePosixPath]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def open_archive(archive: Path, destination: Path, *, limits: Limits | None = None) -> Contents:
    """Unpack a zip into `destination`, which must be absent or empty; return what came out.

    Raises RefusedArchive, naming the entry, and leaves nothing behind. Executable bits are kept; a program at
    the root (`#!` or ELF) becomes executable; one folder around everything is stepped into; junk is dropped.
    """
    limits = limits or Limits()
    existed = destination.exists()
    if existed and any(destination.iterdir()):
        raise FileExistsError(f"{destination} is not empty")
    _check_is_zip(archive, limits)
    try:
        destination.mkdir(parents=True, exist_ok=True)
        with _refusing(None), zipfile.ZipFile(archive) as opened:
            plan = _plan(opened.infolist(), limits)
            _unpack(opened, plan, destination, limits, packed=archive.stat().st_size)
        return _contents(destination, plan)
    except BaseException:
        shutil.rmtree(destination, ignore_errors=True)
        if existed:
            destination.mkdir(exist_ok=True)
        raise


@contextmanager
def _refusing(entry: str | None) -> Iterator[None]:
    """Turn what zipfile and zlib raise on a broken archive into a refusal."""
    try:
        yield
    except RefusedArchive:
        raise
    except _ZIP_ERRORS as error:
        where = "the archive" if entry is None else _shown(entry)
        raise RefusedArchive(f"{where} is damaged and cannot be unpacked", entry, "Pack it again.") from error
    except OSError as error:
        # Positions before the start of the file come from lying headers; a full disk is ours to tell.
        if error.errno != errno.EINVAL:
            raise
        raise RefusedArchive("the archive is damaged and cannot be read", entry, "Pack it again.") from error


def _check_is_zip(archive: Path, limits: Limits) -> None:
    """Refuse what is no zip, and one whose directory alone is too large to read."""
    if not archive.is_file():
        raise RefusedArchive("there is no file to open")
    size = archive.stat().st_size
    with archive.open("rb") as file:
        head = file.read(262)
        file.seek(max(0, size - 66_000))
        tail = file.read()
    if size == 0:
        raise RefusedArchive("the file is empty; a zip is expected")
    found = tail.rfind(b"PK\x05\x06")
    if found < 0 or found + _END_OF_DIRECTORY.size > len(tail):
        if head.startswith(b"PK\x03\x04"):
            raise RefusedArchive("the zip is cut off: its end is missing", mend="Pack or upload it again.")
        kind = next((name for magic, name in _OTHER_ARCHIVES if head.startswith(magic)), None)
        kind = "a tar archive" if head[257:262] == b"ustar" else kind
        raise RefusedArchive(f"the file is {kind}, not a zip" if kind else "the file is not a zip")
    _, _, _, _, entries, directory_bytes, _, _ = _END_OF_DIRECTORY.unpack_from(tail, found)
    found_64 = tail.rfind(b"PK\x06\x06", 0, found)
    if found_64 >= 0 and found_64 + _END_OF_DIRECTORY_64.size <= len(tail):
        values = _END_OF_DIRECTORY_64.unpack_from(tail, found_64)
        entries, directory_bytes = max(entries % 0xFFFF, values[7]), max(directory_bytes % 0xFFFFFFFF, values[8])
    if entries > limits.entries or directory_bytes > limits.entries * _DIRECTORY_BYTES_PER_ENTRY:
        raise _too_many(limits)


def _too_many(limits: Limits) -> RefusedArchive:
    return RefusedArchive(f"the archive holds more than {limits.entries} entries")


def _shown(name: str) -> str:
    """An entry's name for a sentence: printable, in quotes, and not endless."""
    plain = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)
    return repr(plain if len(plain) <= 100 else plain[:60] + "..." + plain[-30:]).replace("\\\\", "\\")


def _plan(entries: list[zipfile.ZipInfo], limits: Limits) -> _Plan:
    """Judge every entry by its name, kind and declared size before a byte is written."""
    if len(entries) > limits.entries:
        raise _too_many(limits)
    plan = _Plan()
    kinds: dict[PurePosixPath, str] = {}
    spelled: dict[str, PurePosixPath] = {}
    junk: set[str] = set()
    declared = 0
    for entry in entries:
        name = entry.orig_filename
        path = _safe_path(name, limits)
        _check_kind(entry, name)
        dropped = next((piece for piece in path.parts if piece in JUNK), None)
        if dropped is not None:
            junk.add(dropped)
            continue
        is_folder = name.endswith("/") or not path.parts
        _check_collisions(name, path, is_folder, kinds, spelled)
        if is_folder:
            continue
        declared += entry.file_size
        if declared > limits.expanded_bytes:
            raise _too_large(name, limits)
        plan.entries.append((entry, path))
    if not plan.entries:
        raise RefusedArchive("the archive is empty: it holds no files")
    if junk:
        plan.notes.append(f"{', '.join(sorted(junk))} in the archive was dropped.")
    return plan


def _safe_path(name: str, limits: Limits) -> PurePosixPath:
    """The entry's path below the root, or a refusal that says what is wrong with it."""

    def refuse(what: str, mend: str = "") -> RefusedArchive:
        return RefusedArchive(f"the entry {_shown(name)} {what}", name, mend)

    if not name:
        raise refuse("has no name")
    for character in name:
        category = unicodedata.category(character)
        if category in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(character) in _DIRECTIONS:
            raise refuse("has a control character in its name")
    if "\\" in name:
        raise refuse("has a backslash in its name", "Pack with a program that writes / between folders.")
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        raise refuse("is an absolute path")
    pieces = [piece for piece in name.split("/") if piece not in ("", ".")]
    if ".." in pieces:
        raise refuse("leads outside the archive")
    if len(name) > limits.path_characters or any(len(p.encode()) > limits.name_bytes for p in pieces):
        raise refuse("has a name that is too long")
    return PurePosixPath(*pieces)


# Characters that turn the direction of what follows: a name could be shown as another one.
_DIRECTIONS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def _check_kind(entry: zipfile.ZipInfo, name: str) -> None:
    """Refuse links and other special files, encryption, and packing methods that are not bounded by size."""
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        what = _KINDS.get(kind, "not a regular file")
        raise RefusedArchive(f"the entry {_shown(name)} is {what}; only regular files are taken", name)
    if kind == stat.S_IFDIR and not name.endswith("/"):
        raise RefusedArchive(f"the entry {_shown(name)} is a folder without a / at its end", name)
    if name.endswith("/") and entry.file_size > 0:
        raise RefusedArchive(f"the entry {_shown(name)} is a folder with content", name)
    if entry.flag_bits & 0x2041:
        raise RefusedArchive(f"the entry {_shown(name)} is encrypted", name, "Pack without a password.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        method = _METHODS.get(entry.compress_type, f"method {entry.compress_type}")
        raise RefusedArchive(
            f"the entry {_shown(name)} is packed by {method}", name, "Pack with the ordinary zip method, deflate."
        )


def _check_collisions(
    name: str,
    path: PurePosixPath,
    is_folder: bool,
    kinds: dict[PurePosixPath, str],
    spelled: dict[str, PurePosixPath],
) -> None:
    """Refuse a path given twice, one that is file and folder, and two that differ by case alone.

    `kinds` says what each path so far is; `spelled` maps it, without case and in one Unicode form, to how it
    was spelled.
    """
    for one in [*path.parents, path]:
        if not one.parts:
            continue
        kind = "folder" if one != path or is_folder else "file"
        if kinds.get(one) == "file" == kind:
            raise RefusedArchive(f"the entry {_shown(name)} is there twice", name)
        if kinds.setdefault(one, kind) != kind:
            raise RefusedArchive(f"the entry {_shown(str(one))} is both a file and a folder", name)
        key = unicodedata.normalize("NFC", unicodedata.normalize("NFC", str(one)).casefold())
        other = spelled.setdefault(key, one)
        if other != one:
            raise RefusedArchive(
                f"the entries {_shown(str(other))} and {_shown(str(one))} differ only by upper and lower case",
                name,
                "Rename one of them; not every system can tell them apart.",
            )


def _too_large(name: str, limits: Limits) -> RefusedArchive:
    return RefusedArchive(
        f"unpacked, the archive is larger than {format_size(limits.expanded_bytes)} at the entry {_shown(name)}",
        name,
    )


def _unpack(opened: zipfile.ZipFile, plan: _Plan, destination: Path, limits: Limits, packed: int) -> None:
    """Write the planned entries, counting real bytes against the limits."""
    total = 0
    for entry, path in plan.entries:
        name = entry.orig_filename
        target = destination / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with _refusing(name):
            source = opened.open(entry)
        written = 0
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with source, os.fdopen(os.open(target, flags, 0o600), "wb") as sink:
            while True:
                with _refusing(name):
                    chunk = source.read(_CHUNK)
                if not chunk:
                    break
                written, total = written + len(chunk), total + len(chunk)
                if total > limits.expanded_bytes:
                    raise _too_large(name, limits)
                honest = max(limits.ratio_floor_bytes, limits.ratio * packed)
                honest_entry = max(limits.ratio_floor_bytes, limits.ratio * entry.compress_size)
                if total > honest or written > honest_entry:
                    raise RefusedArchive(
                        f"the entry {_shown(name)} unpacks to more than {limits.ratio} times its packed size",
                        name,
                    )
                sink.write(chunk)
        target.chmod(0o755 if (entry.external_attr >> 16) & 0o111 else 0o644)


def _contents(destination: Path, plan: _Plan) -> Contents:
    """Step into a folder around everything, and make programs at the root executable."""
    paths = [path for _, path in plan.entries]
    depth = 0
    while len({path.parts[depth] for path in paths}) == 1 and all(len(p.parts) > depth + 1 for p in paths):
        depth += 1
    root = destination.joinpath(*paths[0].parts[:depth])
    notes = list(plan.notes)
    if depth:
        notes.append(f"The archive was opened inside its folder {'/'.join(paths[0].parts[:depth])}.")
    relative = sorted("/".join(path.parts[depth:]) for path in paths)
    for name in relative:
        if "/" not in name:
            with (root / name).open("rb") as file:
                start = file.read(4)
            if start[:2] == b"#!" or start == b"\x7fELF":
                (root / name).chmod(0o755)
    return Contents(root=root, files=tuple(relative), notes=tuple(notes))
