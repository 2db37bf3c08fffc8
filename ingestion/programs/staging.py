"""Laying out what a program expects around it, and the sandbox's spec of it."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ingestion.archive import Limits, RefusedArchive, open_archive
from ingestion.budget import GIB, MIB, Budget
from ingestion.image_names import BUNDLES_IMAGE
from ingestion.programs import places
from ingestion.programs.requests import CODALAB
from ingestion.recognition import METADATA_NAMES, BadMetadata, load_small_yaml
from ingestion.runner import copied_folder, make_readable
from ingestion.sandbox.base import Folders, Layout, Mount, OutputWatcher, Sandbox, SandboxError, SandboxSpec
from ingestion.sandbox.log import BoundedLog

OURS = "/podium/ours"
SOURCES = "/podium/sources"
ELDER = f"{OURS}/elder"
_PACKAGE = Path(__file__).resolve().parents[1]
_FIRST_PROCESSES = ("init.py", "private.py")
_FORMER_NAMES = "sitecustomize.py"
# An organizer's archives were judged when they came; these bounds only keep a machine from filling.
_ORGANIZERS = Limits(entries=500_000, expanded_bytes=200 * GIB, ratio=100_000)
# Larger programs (those that carry models or data) are shown as they are, read-only: a copy costs memory.
_LARGEST_COPY = 256 * MIB
_MOST_FOLDERS_ON_PATH = 50


class BadProgram(Exception):
    """A program of organizers that cannot be laid out or started; the text is the end of a sentence about it."""


def own_image(sandbox: Sandbox) -> str | None:
    """The image for programs that name none: our own for them where it is here, else None, the sandbox's."""
    return next((found.name for found in sandbox.images((BUNDLES_IMAGE,)) if not found.problem), None)


def opened_data(source: Path, target: Path) -> Path:
    """The folder with the files of data: the source itself where it is a folder, else the zip's files as they are.

    Raises BadProgram for an archive that cannot be opened.
    """
    if source.is_dir():
        return source
    target.mkdir(parents=True, exist_ok=True)
    if not _is_empty(source):
        try:
            open_archive(source, target, limits=_ORGANIZERS)
        except RefusedArchive as error:
            raise BadProgram(f"cannot be unpacked: {error}") from error
    make_readable(target)
    return target


def opened_program(source: Path, target: Path) -> Path:
    """The folder of a program: that of its metadata file, where one folder stands around everything."""
    return _program_folder(opened_data(source, target))


def opened_submission(source: Path, target: Path) -> Path:
    """The folder of a submission, as `opened_program`. Raises RefusedArchive."""
    if source.is_dir():
        copied_folder(source, target)
    else:
        open_archive(source, target)
    make_readable(target)
    return _program_folder(target)


def _is_empty(archive: Path) -> bool:
    """Whether a zip holds no file at all, as a place that was kept for one."""
    try:
        with zipfile.ZipFile(archive) as opened:
            return all(name.endswith("/") for name in opened.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


def _program_folder(folder: Path) -> Path:
    inner = folder
    while not any((inner / name).is_file() for name in METADATA_NAMES):
        entries = list(inner.iterdir())
        if len(entries) != 1 or not entries[0].is_dir():
            return folder
        inner = entries[0]
    return inner


def has_metadata(folder: Path) -> bool:
    """Whether a metadata file lies at the root."""
    return any((folder / name).is_file() for name in METADATA_NAMES)


def own_command(folder: Path) -> str:
    """The command of a program's metadata, one line for each of a list; empty where there is none."""
    name = next((name for name in METADATA_NAMES if (folder / name).is_file()), None)
    if name is None:
        return ""
    try:
        values = load_small_yaml(folder / name)
    except BadMetadata:
        return ""
    command = values.get("command") if isinstance(values, dict) else None
    lines = command if isinstance(command, list) else [command]
    return "\n".join(" ".join(str(line).split("\n")).strip() for line in lines if line)


def is_code(folder: Path, layout: int) -> bool:
    """Whether an ingestion program takes this submission up.

    With Codabench it takes up all; with CodaLab only what has a metadata file or a Python file, and the rest are
    results.
    """
    return layout != CODALAB or has_metadata(folder) or any(folder.glob("*.py"))


@dataclass
class Stage:
    """What one program finds inside, put together piece by piece. run: a scratch folder of its own (`Scratch`)."""

    run: Path
    sandbox: Sandbox
    layout: int
    kind: places.Kind
    budget: Budget
    beside_scoring: bool = False
    mounts: list[Mount] = field(default_factory=list)
    workspaces: list[str] = field(default_factory=list)
    copies: list[tuple[str, str]] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    has_output: bool = True
    has_submission: bool = False

    def __post_init__(self) -> None:
        if self.sandbox.name == "unconfined":
            raise SandboxError(
                "the sandbox unconfined cannot run the programs of a competition, which need their own places; "
                "use Docker or bubblewrap"
            )
        if self.layout == CODALAB:
            self.workspaces.append(places.APP)
            self.folders += [places.INPUT, places.TEMPORARY]

    def show(self, source: Path, target: str, *, is_writable: bool = False) -> None:
        """Show a folder of the host at a place."""
        self.mounts.append(Mount(source, target, is_writable))

    def add_program(self, source: Path, target: str) -> None:
        """Put a private, writable copy of a program at a place."""
        size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
        memory = self.budget.memory_bytes or _LARGEST_COPY
        if size > min(_LARGEST_COPY, self.budget.temporary_bytes // 2, memory // 8):
            self.show(source, target)
            return
        if self.layout != CODALAB:
            self.workspaces.append(target)
        self.copy(source, target)

    def add_submission(self, source: Path) -> None:
        """Put the files of the submission where an ingestion program finds them."""
        self.add_program(source, places.submission_place(self.layout))
        self.has_submission = True

    def copy(self, source: Path, target: str) -> None:
        """Have files copied to a writable place before the program starts."""
        at = f"{SOURCES}/{len(self.copies)}"
        self.show(source, at)
        self.copies.append((at, target))

    def share_output(self, folder: Path) -> None:
        """Let the program write its output into a folder that others see."""
        self.show(folder, places.OUTPUT, is_writable=True)
        self.has_output = False

    def spec(
        self,
        command: str,
        *,
        log: BoundedLog,
        environment: Mapping[str, str],
        watcher: OutputWatcher | None,
        image: str | None,
        owner: str,
        cpus: str | None,
    ) -> SandboxSpec:
        """The spec of the sandbox. Raises BadCommand."""
        values = places.variables(self.layout, self.kind, beside_scoring=self.beside_scoring)
        commands = places.split_commands(command, values)
        run = self.run
        _write_first_processes(run / "ours")
        self.show(run / "ours", OURS)
        start = self._start(commands)
        plan = {"copies": self.copies, "folders": self.folders, "start": start, "commands": commands}
        folders = Folders(run, run, run / "ours", run)
        python = self.sandbox.places(folders).python
        return SandboxSpec(
            command=(python, "-I", "-S", f"{OURS}/ingestion/program/private.py", json.dumps(plan)),
            folders=folders,
            budget=self.budget,
            environment={**environment, **self._search_path(commands)},
            log=log,
            owner=owner,
            watcher=watcher,
            image=image or own_image(self.sandbox),
            cpus=cpus,
            layout=Layout(
                mounts=tuple(self.mounts),
                working_directory="/",
                ours=OURS,
                workspaces=tuple(self.workspaces),
                has_output=self.has_output,
            ),
        )

    def _start(self, commands: list[list[str]]) -> str:
        """The working directory: the program's own where its command names a file of it by its bare path.

        CodaLab started programs in the run's folder, where such a command found nothing; Codabench, which takes
        CodaLab's bundles too, starts them among their files.
        """
        place = places.program_place(self.layout, self.kind)
        named = [word for words in commands for word in words if not word.startswith(("/", "-"))]
        if any((source / word).is_file() for source in self._sources(place) for word in named):
            return place
        return places.start_place(self.layout)

    def _sources(self, place: str) -> list[Path]:
        """The folders of the host with the files that a program finds at a place."""
        shown = {place, *(at for at, target in self.copies if target == place)}
        return [one.source for one in self.mounts if one.target in shown]

    def _search_path(self, commands: list[list[str]]) -> dict[str, str]:
        """Where Python looks for modules.

        A scorer finds those beside its script and in its own folders, and never one that lies in the working
        directory or among predictions. CodaLab showed the submission's modules to ingestion programs. Last come
        the former names of packages, for programs that are older than those.
        """
        found: list[str] = []
        if self.kind == "scoring":
            place = places.program_place(self.layout, self.kind)
            found = [*places.script_folders(commands, place), place, *self._inner_folders(place)]
        elif self.has_submission and self.layout == CODALAB:
            found = [places.submission_place(self.layout)]
        path = ":".join(dict.fromkeys([*found, ELDER]))
        return {"PYTHONPATH": path, **({"PYTHONSAFEPATH": "1"} if self.kind == "scoring" else {})}

    def _inner_folders(self, place: str) -> list[str]:
        """Folders of the program with Python files, but no packages: a script in one expects its neighbours."""
        sources = self._sources(place)
        folders = {path.parent for source in sources for path in source.rglob("*.py") if path.parent != source}
        found = sorted(folder for folder in folders if not (folder / "__init__.py").exists())
        return [f"{place}/{folder.relative_to(sources[0]).as_posix()}" for folder in found[:_MOST_FOLDERS_ON_PATH]]


def _write_first_processes(folder: Path) -> None:
    target = folder / "ingestion" / "program"
    target.mkdir(parents=True)
    for name in _FIRST_PROCESSES:
        shutil.copyfile(_PACKAGE / "program" / name, target / name)
    (folder / "elder").mkdir()
    shutil.copyfile(_PACKAGE / "program" / "elder" / _FORMER_NAMES, folder / "elder" / _FORMER_NAMES)
    make_readable(folder)


def program_environment(budget: Budget, *, seed: int = 0) -> dict[str, str]:
    """What programs find in their environment besides PATH."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {
        "HOME": "/tmp",  # noqa: S108  # a place inside the sandbox
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PODIUM_TIME_BUDGET": repr(budget.wall_seconds).removesuffix(".0"),
        "PODIUM_SEED": str(seed),
        **dict.fromkeys(names, str(budget.cores)),
    }
