"""The metadata file of a program or a submission: its command, and what is wrong with it."""

from __future__ import annotations

import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ingestion.archive import JUNK
from ingestion.recognition import METADATA_NAMES, BadMetadata, load_small_yaml

# One more than a metadata file may have: what is longer is refused, not cut.
_MOST_BYTES = 16 * 1024 + 1


@dataclass(frozen=True)
class ProgramMetadata:
    """What a metadata file says.

    command: one line for each command, "" where there is none. problems: a sentence each, about the file.
    """

    command: str = ""
    description: str = ""
    problems: tuple[str, ...] = ()


def read_metadata(archive: Path) -> ProgramMetadata:
    """The metadata in a zip: at its root, or in the one folder around everything. Nothing is unpacked."""
    try:
        with zipfile.ZipFile(archive) as opened:
            names = opened.namelist()
            found = _metadata_name(names)
            if found is None:
                return ProgramMetadata(problems=_elsewhere(names))
            with opened.open(found) as file:
                data = file.read(_MOST_BYTES)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, OSError):
        return ProgramMetadata(problems=("It is no zip that can be read.",))
    return _read(PurePosixPath(found).name, data)


def _metadata_name(names: list[str]) -> str | None:
    """The entry that is the metadata file of a zip with these entries."""
    files = [name for name in names if not name.endswith("/") and not JUNK & set(PurePosixPath(name).parts)]
    paths = [PurePosixPath(name) for name in files]
    depth = 0
    while (
        paths and all(len(path.parts) > depth + 1 for path in paths) and len({p.parts[depth] for p in paths}) == 1
    ):
        depth += 1
    by_name = {path.name: name for name, path in zip(files, paths, strict=True) if len(path.parts) == depth + 1}
    return next((by_name[name] for name in METADATA_NAMES if name in by_name), None)


def _elsewhere(names: list[str]) -> tuple[str, ...]:
    """A sentence about a metadata file that lies too deep, or under a name that nobody reads."""
    for name in names:
        if PurePosixPath(name).name in (*METADATA_NAMES, "metadata.yml", "metadata.txt"):
            return (f"Its metadata is {name}; it is looked for at the root, as {' or '.join(METADATA_NAMES)}.",)
    return ()


def _read(name: str, data: bytes) -> ProgramMetadata:
    with tempfile.TemporaryDirectory(prefix="metadata-") as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            values = load_small_yaml(path)
        except BadMetadata as error:
            return ProgramMetadata(problems=(f"Its file {name} {error}.",))
    if not isinstance(values, dict):
        return ProgramMetadata(problems=(f"Its file {name} has no lines like `command: python3 run.py`.",))
    command = values.get("command")
    lines = command if isinstance(command, list) else [command]
    written = "\n".join(" ".join(str(line).split("\n")).strip() for line in lines if line)
    description = values.get("description")
    return ProgramMetadata(command=written, description="" if description is None else str(description))
