"""Makes the starting kit's zip: everything a participant needs, and nothing that needs the site."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "podium_starting_kit"
EARLIEST = (1980, 1, 1, 0, 0, 0)
# What the kit needs of the checkout; the packages come whole, since they are the server's own code.
PACKAGES = ("ingestion", "scoring")
KIT = "starting_kit"
LEFT_OUT = frozenset({"__init__.py", "bundle.py"})
LICENCE = "LICENSE"
KINDS = frozenset({".py", ".json", ".md", ".txt", ".data", ".solution", ".info", ".type", ".name"})


def build_kit(destination: Path) -> Path:
    """Write the kit's zip to `destination`, or into it where it is a folder, and return the zip's path.

    All lies in one folder. The same sources give the same bytes.
    """
    target = destination / f"{NAME}.zip" if destination.is_dir() else destination
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(_members()):
            entry = zipfile.ZipInfo(f"{NAME}/{name}", EARLIEST)
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    return target


def _members() -> Iterator[tuple[str, Path]]:
    """Pairs (name in the zip, file)."""
    for path in _sources(ROOT / KIT):
        name = path.relative_to(ROOT / KIT).as_posix()
        if name not in LEFT_OUT:
            yield name, path
    for package in PACKAGES:
        for path in _sources(ROOT / package):
            yield path.relative_to(ROOT).as_posix(), path
    if (ROOT / LICENCE).is_file():
        yield LICENCE, ROOT / LICENCE


def _sources(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        hidden = any(piece.startswith(".") or piece == "__pycache__" for piece in path.relative_to(folder).parts)
        if path.is_file() and not path.is_symlink() and not hidden and path.suffix in KINDS:
            yield path
