"""The door: size, kind and content of an archive, before anything is stored.

A refused archive costs no quota and leaves nothing behind. What is accepted here is opened again by the worker,
with the same code, from the same bytes.
"""

import hashlib
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from accounts.refusals import Refused
from competitions.models import Phase, Task
from datasets.models import DatasetVersion
from ingestion.archive import Contents, Recognised, RefusedArchive, open_archive, recognise
from scoring import BadPredictionError
from scoring.reading import read_table
from submissions.programs import door, kinds


@dataclass(frozen=True)
class ResultFile:
    """A well-formed prediction file of a results archive."""

    name: str
    part: str
    path: Path
    sha256: str
    size: int


@dataclass
class AtTheDoor:
    """What an archive is. `results` maps a task's id to its prediction files; valid inside `examined`."""

    kind: str
    interface: str
    sha256: str
    size: int
    notes: list[str] = field(default_factory=list)
    results: dict[int, list[ResultFile]] = field(default_factory=dict)


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class examined:
    """Context manager: opens an archive in a folder of its own and tells what it is; raises Refused.

    The unpacked files are gone when the context ends, however it ends.
    """

    def __init__(self, archive: Path, phase: Phase, tasks: list[Task]) -> None:
        self.archive, self.phase, self.tasks = archive, phase, tasks
        self.folder: Path | None = None

    def __enter__(self) -> AtTheDoor:
        self.folder = Path(tempfile.mkdtemp(prefix="door-", dir=settings.FILE_UPLOAD_TEMP_DIR))
        try:
            return self._examine(self.folder / "contents")
        except BaseException:
            self._clean()
            raise

    def __exit__(self, *exc_info: object) -> None:
        self._clean()

    def _clean(self) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _examine(self, destination: Path) -> AtTheDoor:
        size = self.archive.stat().st_size
        if size == 0:
            raise Refused("The uploaded file is empty.", mend="Upload the zip that `kit.py pack` made.")
        if size > settings.MAX_ARCHIVE_BYTES:
            limit = settings.MAX_ARCHIVE_BYTES // 2**20
            raise Refused(f"The archive is larger than the limit of {limit} MiB.", status=413)
        if kinds.is_programmed(self.tasks):
            return self._examine_for_programs(destination, size)
        try:
            contents = open_archive(self.archive, destination)
            found = recognise(contents, [task.name for task in self.tasks])
        except RefusedArchive as refusal:
            raise Refused(str(refusal)) from refusal
        self._check_kind(found)
        door = AtTheDoor(
            kind=found.kind,
            interface=found.interface or "",
            sha256=file_sha256(self.archive),
            size=size,
            notes=[*contents.notes, *found.notes],
        )
        self._read_results(contents, found, door)
        return door

    def _examine_for_programs(self, destination: Path, size: int) -> AtTheDoor:
        """Any zip is right that can be opened; what it is worth, the organizers' programs say."""
        try:
            contents = open_archive(self.archive, destination)
        except RefusedArchive as refusal:
            raise Refused(str(refusal)) from refusal
        found = door.look(self.archive, self.phase, self.tasks)
        return AtTheDoor(
            kind=found.kind,
            interface=found.interface,
            sha256=file_sha256(self.archive),
            size=size,
            notes=[*contents.notes, *found.notes],
        )

    def _check_kind(self, found: Recognised) -> None:
        if found.kind == "json_model":
            raise Refused(
                "This phase does not take a model.json.",
                mend="Put a model.py, or a metadata file with a command, at the root of the zip.",
            )
        accepts = self.phase.accepts
        if accepts == Phase.Accepts.CODE and found.kind == "results":
            raise Refused(f"{self.phase.title} takes code only, and this archive holds prediction files only.")
        if accepts == Phase.Accepts.RESULTS and found.kind == "code":
            raise Refused(f"{self.phase.title} takes prediction files only, and this archive holds none.")

    def _read_results(self, contents: Contents, found: Recognised, door: AtTheDoor) -> None:
        """Check every prediction file against its dataset, each dataset by itself."""
        for task in self.tasks:
            files = found.predictions.get(task.name, {})
            version = task.dataset.current
            if not files or version is None:
                continue
            try:
                door.results[task.pk] = self._well_formed(contents.root, task.name, files, version)
            except (BadPredictionError, Refused) as problem:
                if found.kind == "results":
                    raise Refused(
                        str(problem), mend="Nothing was counted; mend the file and submit again."
                    ) from problem
                door.notes.append(f"{problem} The code is run on {task.name} instead.")
        if found.kind == "results" and not door.results:
            names = ", ".join(f"{task.name}_valid.predict" for task in self.tasks[:3])
            raise Refused(
                "The archive holds no prediction file of this phase's datasets.",
                mend=f"Files are named like {names}.",
            )

    def _well_formed(
        self, root: Path, name: str, files: dict[str, str], version: DatasetVersion
    ) -> list[ResultFile]:
        """The files of a task; `name` is the one that entrants know, which may be an alias."""
        feedback = self.phase.feedback_part
        if feedback not in files and version.rows(feedback):
            raise Refused(f"{name} has no file for the {feedback} part.")
        results = []
        for part, relative in files.items():
            if not version.rows(part):
                continue
            path = root / relative
            read_table(path, what="prediction", shape=version.prediction_shape(part))
            results.append(ResultFile(path.name, part, path, file_sha256(path), path.stat().st_size))
        return results
