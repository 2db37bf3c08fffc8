"""Packs the bundles of this folder, which lie here as organizers keep them: unpacked, a folder each.

A folder whose name ends with `.zip` is packed as a zip inside. What a bundle names and does not bring is taken
from `common`: pages, the logo, and a program that compares lines.
"""

import os
import struct
import zipfile
import zlib
from pathlib import Path

HERE = Path(__file__).parent
TRAITS, BROKEN, COMMON, SAMPLES = HERE / "traits", HERE / "broken", HERE / "common", HERE / "samples"


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


# A picture of eight by eight grey pixels.
LOGO = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress((b"\0" + b"\x80" * 8) * 8))
    + _chunk(b"IEND", b"")
)


def bundle(source: Path, target: Path) -> Path:
    """The bundle in a folder as a zip at `target`, with what it names of the common files."""
    said = "".join(path.read_text() for path in [*source.rglob("competition.y*ml"), *source.glob("*.html")])
    there = {path.name for path in source.iterdir()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, source, "")
        for path in sorted(COMMON.iterdir()):
            for name in (f"{path.name}.zip", path.name) if path.is_dir() else (path.name,):
                if name in said:
                    _add_one(archive, path, name)
                    break
        if "logo.png" in said:
            archive.writestr("logo.png", LOGO)
        if "curve.png" in said and "assets" in there:
            archive.writestr("assets/curve.png", LOGO)
    return target


def packed(source: Path, target: Path) -> Path:
    """The files of a folder as a zip at `target`: a program, data, a submission."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, source, "")
    return target


def written(files: dict[str, str], target: Path) -> Path:
    """A zip at `target` of the texts under their names."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return target


def _add(archive: zipfile.ZipFile, folder: Path, prefix: str) -> None:
    for path in sorted(folder.iterdir()):
        if path.name != "__pycache__":
            _add_one(archive, path, f"{prefix}{path.name}")


def _add_one(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    if path.is_file():
        archive.write(path, name)
    elif name.endswith(".zip"):
        inner = packed(path, Path(f"{archive.filename}-{os.path.basename(name)}"))
        archive.write(inner, name)
        inner.unlink()
    else:
        _add(archive, path, f"{name}/")
