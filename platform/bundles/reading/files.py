"""The unpacked bundle: finding its YAML, and the files that the YAML names, inside the bundle only."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bundles.reading.nodes import Notebook
from ingestion.archive import Limits, RefusedArchive, open_archive
from ingestion.budget import GIB, MIB

MOST_BYTES = 20 * GIB
MOST_ENTRIES = 200_000
LONGEST_FILE_NAME = 255  # bytes, as file systems have it
# Data compresses far better than code: a column of equal values, or an image of zeros.
_RATIO = 1_000
_NAMES = ("competition.yaml", "competition.yml")
_UUID = re.compile(r"^[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}$")
_JUNK = frozenset({".ds_store", "thumbs.db", "desktop.ini"})


def is_key(text: str) -> bool:
    """Whether a value is the id of something on the server that the bundle was written for."""
    return bool(_UUID.match(text.strip()))


@dataclass(frozen=True)
class BundleFiles:
    """The files of a bundle below `root`, the folder its YAML is in."""

    root: Path
    yaml: Path
    notes: Notebook

    def find(self, written: str, place: str) -> Path | None:
        """The file or folder that the YAML means, or None. What is not quite as written is warned of.

        A zip stands for a folder of its name and the other way round; upper and lower case count only where
        both are there; a path that exists nowhere finds the only file of its name.
        """
        pieces = [piece for piece in written.strip().replace("\\", "/").split("/") if piece not in ("", ".")]
        if not pieces or ".." in pieces:
            return None
        exact = self._walk(pieces)
        if exact is not None:
            return exact
        name = pieces[-1]
        other = name[:-4] if name.lower().endswith(".zip") else f"{name}.zip"
        found = self._walk([*pieces[:-1], other]) if other else None
        if found is None:
            found = self._only_one_named(name)
        if found is not None:
            shown = found.relative_to(self.root).as_posix()
            self.notes.warn(place, f"{written} is not in the bundle; {shown} was taken.", f"Write {shown}.")
        return found

    def _walk(self, pieces: list[str]) -> Path | None:
        here = self.root
        for piece in pieces:
            if len(piece.encode(errors="replace")) > LONGEST_FILE_NAME:
                return None  # a text where a path should be
            step = here / piece
            if not step.exists():
                near = [one for one in _listing(here) if one.name.casefold() == piece.casefold()]
                if len(near) != 1:
                    return None
                step = near[0]
            here = step
        return None if here.is_symlink() else here

    def _only_one_named(self, name: str) -> Path | None:
        found = [path for path in self.root.rglob("*") if path.name == name and not path.is_symlink()]
        return found[0] if len(found) == 1 else None

    def similar(self, written: str) -> str:
        """A sentence that names what is there instead, or what to do."""
        name = PurePosixPath(written.replace("\\", "/")).name
        folder = self._walk(
            [p for p in PurePosixPath(written.replace("\\", "/")).parent.parts if p not in ("/", "..")]
        )
        there = sorted(p.name for p in _listing(folder or self.root))[:8]
        shown = f" In its place there are: {', '.join(there)}." if there else ""
        return f"Put {name} into the bundle, or correct the path.{shown}"


def _listing(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return [path for path in folder.iterdir() if path.name.lower() not in _JUNK]


def unpack(archive: Path, workspace: Path, notes: Notebook) -> BundleFiles | None:
    """Unpack a bundle below `workspace` and find its YAML; None when that fails, with the error noted."""
    room = shutil.disk_usage(workspace).free // 2
    limits = Limits(
        entries=MOST_ENTRIES, expanded_bytes=min(MOST_BYTES, room), ratio=_RATIO, ratio_floor_bytes=100 * MIB
    )
    try:
        contents = open_archive(archive, workspace / "files", limits=limits)
    except RefusedArchive as refused:
        place = f"the archive, entry {refused.entry}" if refused.entry else "the archive"
        notes.error(place, str(refused), refused.mend or "Pack the bundle again as a plain zip.")
        return None
    yaml = _find_yaml(contents.root, contents.files, notes)
    if yaml is None:
        return None
    notes.filename = yaml.name
    return BundleFiles(root=yaml.parent, yaml=yaml, notes=notes)


def _find_yaml(root: Path, names: tuple[str, ...], notes: Notebook) -> Path | None:
    """competition.yaml at the root; else in the folder nearest to it; else the only YAML that could be it."""
    paths = sorted((PurePosixPath(name) for name in names), key=lambda path: (len(path.parts), str(path)))
    usual = [path for path in paths if path.name.lower() in _NAMES]
    if usual:
        path = min(usual, key=lambda path: (len(path.parts), path.suffix.lower() != ".yaml"))
        if len(path.parts) > 1:
            notes.warn("the archive", f"{path.name} is in the folder {path.parent}; it was read from there.")
        return root / path
    shallow = [
        path
        for path in paths
        if path.suffix.lower() in (".yaml", ".yml") and len(path.parts) == 1 and path.stem.lower() != "metadata"
    ]
    named = [path for path in shallow if "competition" in path.name.lower()] or shallow
    if len(named) == 1:
        notes.warn(
            "the archive", f"There is no competition.yaml; {named[0]} was read.", "Call it competition.yaml."
        )
        return root / named[0]
    notes.error(
        "the archive",
        "There is no competition.yaml in the bundle.",
        "Put competition.yaml at the root of the zip; pack the content of the folder, not a folder of folders.",
    )
    return None
