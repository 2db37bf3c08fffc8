"""Laying a Python of this machine onto a base, where no registry has an image with that version."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingestion.images.errors import ImageError, Say
from ingestion.images.steps import run_build

# What a run never reads, beneath lib/pythonX.Y.
LEFT_OUT = ("site-packages", "test", "idlelib", "turtledemo", "tkinter", "lib2to3", "__pycache__", "config-")
# Modules that need libraries of the system: a base that lacks one is found out now and not during a run.
TRIED = "bz2, ctypes, ensurepip, hashlib, lzma, readline, socket, sqlite3, ssl, uuid, venv, zlib"
_ASK = "import json, sys; print(json.dumps(['%d.%d' % sys.version_info[:2], sys.base_prefix]))"


@dataclass(frozen=True)
class MachinePython:
    """A Python of this machine: its version, like 3.9, and the folder that holds its bin and lib."""

    version: str
    prefix: Path


def find_python(version: str, named: Path | None = None) -> MachinePython:
    """The Python of this version on this machine: the interpreter `named`, else the first that can be found.

    Looked at are `pythonX.Y` on the PATH, and the trees beside it or beside the running Python, as tools that
    manage several versions lay them. Raises ImageError where there is none.
    """
    for path in [named] if named is not None else _candidates(version):
        found = _ask(path)
        if found is not None and found.version == version:
            return found
    where = f"{named} is not Python {version}" if named is not None else f"no Python {version} is on this machine"
    raise ImageError(
        f"The base needs Python {version}, which Debian's packages do not have, and {where}.",
        f"Give an image that has it with --base IMAGE, or an interpreter with --python PATH/TO/python{version}.",
    )


def _candidates(version: str) -> Iterator[Path]:
    name = f"python{version}"
    for folder in map(Path, os.environ.get("PATH", "").split(os.pathsep)):
        if (folder / name).is_file():
            yield folder / name
            # A stand-in that chooses among versions may refuse; the versions themselves lie near it.
            yield from sorted(folder.parent.glob(f"versions/*/bin/{name}"), reverse=True)
    yield from sorted(Path(sys.base_prefix).parent.glob(f"*/bin/{name}"), reverse=True)
    # Versions that lie in a home, for whoever has them without their stand-ins on the PATH.
    yield from sorted(Path.home().glob(f".*/versions/*/bin/{name}"), reverse=True)


def _ask(interpreter: Path) -> MachinePython | None:
    """What an interpreter says about itself; None where it does not run."""
    try:
        done = subprocess.run(
            [str(interpreter), "-I", "-c", _ASK], capture_output=True, text=True, timeout=30, check=True
        )
        version, prefix = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return MachinePython(str(version), Path(prefix))


def lay_python(client: Any, python: MachinePython, *, onto: str, tag: str, progress: Say) -> None:
    """Build `tag` from the image `onto` with this Python beneath /usr/local. Raises ImageError."""
    name = f"python{python.version}"
    dockerfile = (
        f"FROM {onto}\nLABEL podium.image=base\nCOPY python/ /usr/local/\n"
        f"RUN ln -s {name} /usr/local/bin/python3 && ln -s {name} /usr/local/bin/python && ldconfig"
        f" && {name} -m compileall -q -j 0 /usr/local/lib/{name} && {name} -I -c 'import {TRIED}'\n"
        'CMD ["python3"]\n'
    )
    with tempfile.TemporaryFile() as context:
        with tarfile.open(fileobj=context, mode="w") as archive:
            _add_text(archive, "Dockerfile", dockerfile.encode(), 0o644)
            _add_tree(archive, python)
        context.seek(0)
        try:
            run_build(client, context, progress, tag=tag)
        except ImageError as error:
            raise ImageError(
                f"Python {python.version} of {python.prefix} does not run on {onto}: {error}",
                "Give an image that has it with --base IMAGE.",
            ) from error


def _add_tree(archive: tarfile.TarFile, python: MachinePython) -> None:
    """The interpreter, its shared library and its standard library, as root's, without what a run never reads."""
    name = f"python{python.version}"
    archive.add(python.prefix / "bin" / name, f"python/bin/{name}", filter=_as_root)
    for library in sorted((python.prefix / "lib").glob(f"lib{name}*.so*")):
        archive.add(library, f"python/lib/{library.name}", filter=_as_root)
    root = python.prefix / "lib" / name
    for path in sorted(root.rglob("*")):
        inner = path.relative_to(root)
        if any(piece.startswith(LEFT_OUT) for piece in inner.parts) or path.is_dir():
            continue
        target = f"python/lib/{name}/{inner}"
        if inner.name.startswith("_sysconfigdata"):
            # The tree has a new place, and the old one is nobody's business.
            _add_text(
                archive, target, path.read_bytes().replace(str(python.prefix).encode(), b"/usr/local"), 0o644
            )
        else:
            archive.add(path, target, filter=_as_root)


def _as_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = "root"
    entry.mode |= 0o444
    return entry


def _add_text(archive: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))
