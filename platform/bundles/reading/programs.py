"""Files that a bundle names: data, programs with their metadata, and ids of another server."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from bundles.reading.contest import FileSource, ProgramSource
from bundles.reading.files import BundleFiles, is_key
from bundles.reading.nodes import Value
from bundles.reading.report import Question
from ingestion.programs.metadata import read_metadata
from ingestion.programs.python2 import find_installs, looks_like_python2
from ingestion.recognition import METADATA_NAMES

_IN_BUNDLE = "bundle:"


@dataclass
class Sources:
    """Reads every file once, however many phases name it, and asks once for every id."""

    files: BundleFiles
    answers: Mapping[str, str]
    packed: Path
    _programs: dict[Path, ProgramSource | None] = field(default_factory=dict)

    def data(self, value: Value | None, what: str) -> FileSource | None:
        """The data or kit that a value names; None when there is none, or an id that nobody answered."""
        if value is None or not (written := self._written(value)):
            return None
        if is_key(written):
            answer = self._answer(written, value.place, what, is_program=False)
            if answer and not answer.startswith(_IN_BUNDLE):
                return FileSource(place=value.place, name=written, stored=answer)
            written = answer.removeprefix(_IN_BUNDLE)
        path = self._find(written, value.place, what) if written else None
        return None if path is None else FileSource(place=value.place, name=path.name, path=path)

    def program(self, value: Value | None, what: str) -> ProgramSource | None:
        """The program that a value names, with its command; None with an error noted when it cannot run."""
        if value is None or not (written := self._written(value)):
            return None
        if is_key(written):
            answer = self._answer(written, value.place, what, is_program=True)
            if answer and not answer.startswith(_IN_BUNDLE):
                return ProgramSource(place=value.place, name=written, stored=answer)
            written = answer.removeprefix(_IN_BUNDLE)
        path = self._find(written, value.place, what) if written else None
        if path is None:
            return None
        if path not in self._programs:
            self._programs[path] = self._read_program(path, value.place, what)
        return self._programs[path]

    def _written(self, value: Value) -> str:
        if value.text:
            return value.text
        self.files.notes.error(
            value.place, "A file must be named by one text.", "Write the path of a zip or folder."
        )
        return ""

    def _find(self, written: str, place: str, what: str) -> Path | None:
        path = self.files.find(written, place)
        if path is None:
            message = f"The {what} {written} is not in the bundle."
            self.files.notes.error(place, message, self.files.similar(written))
        elif path.is_dir() and not any(one.is_file() for one in path.rglob("*")):
            self.files.notes.error(
                place, f"The folder {written} of the {what} is empty.", "Put its files into it."
            )
            return None
        elif path.suffix.lower() == ".zip" and not zipfile.is_zipfile(path):
            self.files.notes.error(place, f"The {what} {written} is no zip that can be read.", "Pack it again.")
            return None
        return path

    def _answer(self, key: str, place: str, what: str, *, is_program: bool) -> str:
        """What the organizer answered for an id of another server: "bundle:PATH" or something of the site.

        Without an answer data is left out, with a warning; a program cannot be, so that is an error.
        """
        notes = self.files.notes
        text = f"The bundle names its {what} by the id {key}, which is unknown here. What shall stand for it?"
        notes.ask(Question(key=f"file:{key}", text=text, kind="program" if is_program else "file"))
        answer = self.answers.get(f"file:{key}", "")
        if not answer:
            message = f"The {what} is named by the id {key} of another server, which is unknown here."
            mend = "Put the file into the bundle and name it here, or say on the page of the import what it is."
            if is_program:
                notes.error(place, message, mend)
            else:
                notes.warn(place, f"{message} It was left out.", mend)
        return answer

    def _read_program(self, path: Path, place: str, what: str) -> ProgramSource | None:
        notes = self.files.notes
        source = FileSource(place=place, name=path.name, path=path)
        packed = source.as_zip(self.packed)
        metadata = read_metadata(packed)
        for problem in metadata.problems:
            notes.warn(place, f"{path.name}: {problem}")
        if not metadata.command:
            message = f"The {what} {path.name} has no command: its metadata is missing, or says none."
            notes.error(place, message, _where_metadata_belongs(packed))
            return None
        signs = looks_like_python2(packed)
        if signs:
            notes.warn(
                place,
                f"The {what} {path.name} needs Python 2 ({signs[0]}), which the built-in image does not have.",
                "Map its image to an installed one that has Python 2, or bring the program to Python 3.",
            )
        for install in find_installs(packed):
            notes.warn(
                place,
                f"The {what} {path.name} installs packages while it runs ({install}); it has no network here.",
                "Choose an image that holds these packages.",
            )
        return ProgramSource(
            place=place,
            name=path.name,
            path=packed,
            command=metadata.command,
            description=metadata.description,
            is_python2=bool(signs),
        )


def _where_metadata_belongs(packed: Path) -> str:
    """What mends a program without a command; a metadata file that lies elsewhere is named."""
    names = zipfile.ZipFile(packed).namelist() if zipfile.is_zipfile(packed) else []
    strays = [name for name in names if PurePosixPath(name).stem.lower() == "metadata" and not name.endswith("/")]
    line = "with a line like `command: python3 score.py $input $output`"
    if not strays or PurePosixPath(strays[0]).parts[0] in METADATA_NAMES:
        return f"Put a file metadata.yaml {line} at the root of the program."
    return f"Its {strays[0][:100]} is not read: call it metadata.yaml, {line}, at the root of the program."
