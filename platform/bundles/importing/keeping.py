"""The files of a bundle on their way into the storages: programs, data, and what phases offer.

They are stored before the rows are made: nobody else can write while a transaction is open, and large files take a
while. Whoever does not come to the end calls `discard`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.files import File
from django.db.models import Q

from accounts.models import User
from accounts.refusals import Refused
from bundles.importing.images import ImageMap
from bundles.reading.contest import FileSource, ProgramSource, TaskSource
from competitions import policy
from competitions.models import Organizer, PhaseFile, Program
from datasets import policy as dataset_policy
from datasets.models import Dataset, DatasetVersion


@dataclass
class Keeper:
    """Stores every file of one import once; rows that it returns are not saved."""

    organizer: User
    scratch: Path
    layout: int
    images: ImageMap
    is_dry: bool = False  # then nothing is stored, and the rows are not meant to stay
    stored: list[tuple[Any, str]] = field(default_factory=list)
    _programs: dict[tuple[str, str, str], Program] = field(default_factory=dict)

    def discard(self) -> None:
        """Remove what was stored."""
        for storage, name in self.stored:
            storage.delete(name)
        self.stored.clear()

    def keep(self, target: Any, path: Path, name: str) -> tuple[str, int]:
        """Store a file in a field of a row that is not saved; returns its SHA-256 and its bytes."""
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            if self.is_dry:
                return digest, path.stat().st_size
            file.seek(0)
            target.save(name, File(file), save=False)
        self.stored.append((target.storage, str(target.name)))
        return digest, path.stat().st_size

    def copy(self, target: Any, source: Any) -> None:
        """Store a copy of a file that the site has already."""
        if self.is_dry:
            return
        with source.open("rb") as file:
            target.save(Path(str(source.name)).name, File(file), save=False)
        self.stored.append((target.storage, str(target.name)))

    def program(self, source: ProgramSource, kind: str, image: str) -> Program:
        """The program of a source; the same row for the same files, kind and image."""
        key = (source.stored or str(source.path), kind, image)
        if key not in self._programs:
            made = self._stored_program(source) if source.stored else self._new_program(source)
            made.kind, made.image = kind, image or made.image
            self._programs[key] = made
        return self._programs[key]

    def _new_program(self, source: ProgramSource) -> Program:
        made = Program(name=Path(source.name).stem[:120], command=source.command, layout=self.layout)
        made.sha256, made.size = self.keep(made.file, source.as_zip(self.scratch), "program.zip")
        return made

    def _stored_program(self, source: ProgramSource) -> Program:
        """A copy of a program of another competition that the organizer edits."""
        found = policy.resolved(usable_programs(self.organizer), _number(source.stored, "program"), "program")
        made = Program(name=found.name, command=found.command, layout=found.layout, image=found.image)
        made.sha256, made.size = found.sha256, found.size
        self.copy(made.file, found.file)
        return made

    def version(self, task: TaskSource, name: str) -> DatasetVersion:
        """The data of a task, as the version of a dataset."""
        made = DatasetVersion(name=name, layout=DatasetVersion.Layout.FILES)
        self._fill(made, "public_zip", "public_sha256", "public_bytes", task.input_data)
        self._fill(made, "reference", "reference_sha256", "reference_bytes", task.reference_data)
        return made

    def _fill(self, made: DatasetVersion, name: str, sha256: str, size: str, source: FileSource | None) -> None:
        if source is None:
            return
        if not source.stored:
            digest, count = self.keep(getattr(made, name), source.as_zip(self.scratch), "data.zip")
            setattr(made, sha256, digest)
            setattr(made, size, count)
            return
        found = policy.resolved(
            policy.usable_datasets(self.organizer), _number(source.stored, "dataset"), "dataset"
        ).current
        if found is None or not getattr(found, name):
            what = "input data" if name == "public_zip" else "reference data"
            raise Refused(f"The dataset chosen for {source.name} has no {what}.", mend="Choose another.")
        if name == "reference" and not dataset_policy.owns(self.organizer, found.dataset):
            # The scoring program is the organizer's own, and can print whatever it is given.
            raise Refused(
                f"The labels of {found.dataset} are its owner's alone.",
                mend=f"Put those for {source.name} into the bundle, or choose a dataset of your own.",
            )
        self.copy(getattr(made, name), getattr(found, name))
        setattr(made, sha256, getattr(found, sha256))
        setattr(made, size, getattr(found, size))

    def phase_file(self, source: FileSource, kind: str) -> PhaseFile:
        """Public data or a starting kit: the bundle's own file, a folder packed."""
        made = PhaseFile(kind=kind)
        if source.stored:
            found = policy.resolved(
                policy.usable_datasets(self.organizer), _number(source.stored, "dataset"), "dataset"
            ).current
            if found is None or not found.public_zip:
                raise Refused(f"The dataset chosen for {source.name} has no public files.", mend="Choose another.")
            made.name, made.sha256, made.size = f"{found.name}.zip", found.public_sha256, found.public_bytes
            self.copy(made.file, found.public_zip)
            return made
        assert source.path is not None
        is_file = source.path.is_file()
        path = source.path if is_file else source.as_zip(self.scratch)
        made.name = (source.path.name if is_file else f"{source.path.name}.zip")[-120:]
        made.sha256, made.size = self.keep(made.file, path, f"file{path.suffix.lower()[:10]}")
        return made


def usable_programs(user: User) -> Any:
    """The programs that a person may use in another competition: those of the competitions that they edit."""
    if user.is_superuser:
        return Program.objects.all()
    edited = Organizer.objects.filter(user=user, role__in=policy.EDITING).values("competition")
    return Program.objects.filter(Q(competition__in=edited))


def usable_data(user: User) -> Any:
    """The datasets of files that a person may use, those of programs alone."""
    layout = DatasetVersion.Layout.FILES
    of_files = DatasetVersion.objects.filter(layout=layout).values("dataset")
    return policy.usable_datasets(user).filter(pk__in=of_files)


def free_dataset_slug(wanted: str, taken: set[str]) -> str:
    """The slug, or with the first number behind it that no dataset has; noted in `taken`."""
    base, slug, number = wanted[:70], wanted[:70], 1
    while slug in taken or Dataset.objects.filter(slug=slug).exists():
        number += 1
        slug = f"{base}-{number}"
    taken.add(slug)
    return slug


def _number(stored: str, what: str) -> int:
    """The id of "dataset:12" or "program:3"; Refused where it is none of that kind."""
    kind, _, number = stored.partition(":")
    if kind != what or not number.isdecimal():
        raise Refused(f"There is no such {what}.", status=404)
    return int(number)
