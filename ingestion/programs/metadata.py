"""The metadata file of a program: its command, read from the zip without unpacking it."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import yaml

from ingestion.archive import JUNK
from ingestion.recognition import METADATA_NAMES, BadMetadata, checked_yaml

_LARGEST = 64 * 1024  # bytes
_LONGEST_COMMAND = 10_000  # characters
_SHELL_SIGNS = ("|", "&&", ";", ">", "<", "`", "$(")


@dataclass(frozen=True)
class ProgramMetadata:
    """What a metadata file says; empty where there is none.

    command: one line for each command, where the file has a list of them. problems: sentences about what will not
    work or is left out. is_there: whether there is such a file at all, also one without a command.
    """

    command: str = ""
    description: str = ""
    problems: tuple[str, ...] = ()
    is_there: bool = False


def read_metadata(archive: Path) -> ProgramMetadata:
    """The metadata of a program in a zip: at its root, or inside the one folder that stands around everything."""
    try:
        with zipfile.ZipFile(archive) as opened:
            names = opened.namelist()
            name = _metadata_name(names)
            if name is None:
                return ProgramMetadata(problems=_elsewhere(names))
            content = _read(opened, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError):
        return ProgramMetadata(problems=("The zip cannot be read.",))
    short = name.rpartition("/")[2]
    if content is None:
        return ProgramMetadata(problems=(f"The file {short} is larger than 64 KiB.",), is_there=True)
    try:
        values = checked_yaml(content.decode("utf-8-sig"))
    except (BadMetadata, yaml.YAMLError, ValueError, RecursionError):
        return ProgramMetadata(problems=(f"The file {short} is not YAML that can be read.",), is_there=True)
    if not isinstance(values, dict):
        return ProgramMetadata(problems=(f"The file {short} does not hold keys with values.",), is_there=True)
    return _read_values(values, short)


def _metadata_name(names: list[str]) -> str | None:
    """The file at the root, else the one inside the folders that stand around everything."""
    paths = [PurePosixPath(name) for name in names if not name.endswith("/")]
    paths = [path for path in paths if not JUNK.intersection(path.parts)]
    depth = 0
    while paths:
        for wanted in METADATA_NAMES:
            if any(len(path.parts) == depth + 1 and path.parts[depth] == wanted for path in paths):
                return next(
                    str(path) for path in paths if len(path.parts) == depth + 1 and path.parts[depth] == wanted
                )
        if len({path.parts[depth] for path in paths}) != 1 or any(len(p.parts) <= depth + 1 for p in paths):
            return None
        depth += 1
    return None


def _elsewhere(names: list[str]) -> tuple[str, ...]:
    """A sentence about a metadata file that lies too deep, or under a name that nobody reads."""
    for name in names:
        if PurePosixPath(name).name in (*METADATA_NAMES, "metadata.yml", "metadata.txt"):
            return (f"Its metadata is {name}; it is looked for at the root, as {' or '.join(METADATA_NAMES)}.",)
    return ()


def _read(opened: zipfile.ZipFile, name: str) -> bytes | None:
    with opened.open(name) as file:
        content = file.read(_LARGEST + 1)
    return content if len(content) <= _LARGEST else None


def _read_values(values: dict[object, object], name: str) -> ProgramMetadata:
    problems = []
    written = values.get("command")
    lines = written if isinstance(written, list) else [written]
    texts = [line for line in lines if isinstance(line, str) and line.strip()]
    if len(texts) < len(lines) and written is not None:
        problems.append(f"A command in {name} is not text and is left out.")
    command = "\n".join(" ".join(text.split()) for text in texts)
    if len(command) > _LONGEST_COMMAND:
        return ProgramMetadata(
            problems=(f"The command in {name} is longer than 10,000 characters.",), is_there=True
        )
    sign = next((sign for sign in _SHELL_SIGNS if sign in command.split("bash -c")[0].split("sh -c")[0]), None)
    if sign is not None:
        problems.append(
            f"The command in {name} contains {sign}, but commands run without a shell: "
            "put them into a script, like `bash run.sh`."
        )
    if len(texts) > 1:
        problems.append(f"The {len(texts)} commands in {name} run one after the other, until one fails.")
    description = values.get("description")
    return ProgramMetadata(command, description if isinstance(description, str) else "", tuple(problems), True)
