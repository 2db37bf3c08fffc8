"""A competition as the files of a bundle of version 2."""

from __future__ import annotations

import datetime as dt
import io
import re
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from django.utils.text import slugify
from PIL import Image

from accounts.refusals import Refused
from bundles.exporting.unsayable import COMPUTATIONS, takes_over, unsayable
from bundles.reading.pages import role_of
from competitions.models import ColumnBoard, Competition, Phase, PhaseFile, Program, Question, Task
from datasets.models import DatasetVersion
from submissions.models import Submission

EMPTY = "<!-- empty -->\n"  # for a page without a text: Codabench refuses files without a byte
_KINDS = {Question.Kind.YES_NO: "checkbox", Question.Kind.CHOICE: "select"}


def write_bundle(contest: Competition, path: Path, *, with_solutions: bool = False) -> list[str]:
    """Write a competition as a bundle of version 2; returns what it does not say, a sentence each.

    With solutions the reference data are in it, and the archives of its reference entries: whoever has the bundle
    has the labels. Raises Refused for a competition that no bundle can say.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        writer = Writer(contest, target, with_solutions)
        writer.write()
    return writer.unsayable


def is_sayable(contest: Competition) -> bool:
    """Whether a bundle can say it: every task has a scoring program, and there is one."""
    tasks = Task.objects.filter(phase__round__competition=contest)
    return tasks.exists() and not tasks.filter(scoring_program=None).exists()


def not_sayable() -> Refused:
    """The refusal of a competition that no bundle can say."""
    return Refused(
        "Only competitions whose tasks have scoring programs of their own can be said in a bundle.",
        status=409,
        mend="Datasets in AutoML format and the metrics of this platform have no place in one.",
    )


@dataclass
class Writer:
    """Writes one competition into a zip; `unsayable` is what the bundle leaves out, a sentence each."""

    contest: Competition
    target: zipfile.ZipFile
    with_solutions: bool = False
    unsayable: list[str] = field(default_factory=list)
    _names: dict[tuple[str, int], str] = field(default_factory=dict)

    def write(self) -> None:
        """Write everything. Raises Refused for a competition that no bundle can say."""
        if not is_sayable(self.contest):
            raise not_sayable()
        every = list(self.contest.phases())
        tasks = list(_tasks_of(every))
        phases = [phase for phase in every if any(task.phase_id == phase.pk for task in tasks)]
        boards = list(self.contest.column_boards.prefetch_related("columns"))
        questions = list(self.contest.questions.all())
        indexes = self._indexes(tasks)
        self.unsayable = [f"The phase {one.title}, which has no tasks." for one in every if one not in phases]
        if not self.with_solutions and any(one.dataset.current and one.dataset.current.reference for one in tasks):
            self.unsayable.append("The reference data, which are the labels: they go along with the solutions.")
        self.unsayable += unsayable(self.contest, phases, tasks, boards, questions)
        said = {
            "version": 2,
            **self._top(phases, tasks),
            "image": self._logo(),
            "terms": self._text("pages/terms.md", self.contest.rules),
            "pages": self._pages(),
            **({"fact_sheet": _fact_sheet(questions)} if questions else {}),
            "tasks": [self._task(task, index) for task, index in _firsts(tasks, indexes)],
            **self._solutions(phases, tasks, indexes),
            "phases": [self._phase(phase, place, phases, tasks, indexes) for place, phase in enumerate(phases)],
            "leaderboards": [_board(board, place) for place, board in enumerate(boards)],
        }
        self._pictures()
        text = yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=100)
        self.target.writestr("competition.yaml", text)

    def _top(self, phases: Sequence[Phase], tasks: Sequence[Task]) -> dict[str, Any]:
        contest = self.contest
        said: dict[str, Any] = {
            "title": contest.title,
            "description": contest.summary,
            "registration_auto_approve": contest.registration == Competition.Registration.OPEN,
            "enable_detailed_results": phases[0].shows_details,
            "make_programs_available": contest.programs_are_public,
            "make_input_data_available": all(task.shows_input for task in tasks),
        }
        optional = (
            ("docker_image", phases[0].image),
            ("reward", contest.reward),
            ("contact_email", contest.contact_email),
        )
        return said | {key: value for key, value in optional if value}

    def _indexes(self, tasks: Sequence[Task]) -> dict[tuple[int, ...], int]:
        """An index for everything that is one task, in however many phases it stands."""
        indexes: dict[tuple[int, ...], int] = {}
        for task in tasks:
            indexes.setdefault(_same(task), len(indexes))
        return indexes

    def _task(self, task: Task, index: int) -> dict[str, Any]:
        version = task.dataset.current
        said: dict[str, Any] = {"index": index, "name": task.dataset.title}
        if task.dataset.description:
            said["description"] = task.dataset.description
        assert task.scoring_program is not None
        said["scoring_program"] = self._program(task.scoring_program)
        if task.ingestion_program is not None:
            said["ingestion_program"] = self._program(task.ingestion_program)
        if task.overlaps:
            said["ingestion_only_during_scoring"] = True
        if version is not None:
            said |= self._data(version, index)
        return said

    def _data(self, version: DatasetVersion, index: int) -> dict[str, str]:
        said = {}
        if version.public_zip:
            said["input_data"] = self._file(f"input_data_{index}.zip", version.public_zip)
        if version.reference and self.with_solutions:
            said["reference_data"] = self._file(f"reference_data_{index}.zip", version.reference)
        return said

    def _program(self, program: Program) -> str:
        return self._once("program", program.pk, f"{slugify(program.name) or program.kind}.zip", program.file)

    def _once(self, what: str, pk: int, name: str, source: Any) -> str:
        """The name of a file in the bundle, written when it is asked for first."""
        if (what, pk) not in self._names:
            self._names[what, pk] = self._file(name, source)
        return self._names[what, pk]

    def _file(self, wanted: str, source: Any) -> str:
        """Copy a stored file into the bundle under that name, or the next free one."""
        taken = set(self.target.namelist())
        path, number = PurePosixPath(wanted), 1
        name = wanted
        while name in taken:
            number += 1
            name = str(path.with_stem(f"{path.stem}-{number}"))
        entry = zipfile.ZipInfo(name)
        with source.open("rb") as file, self.target.open(entry, "w", force_zip64=True) as sink:
            shutil.copyfileobj(file, sink, 2**20)
        return name

    def _phase(
        self,
        phase: Phase,
        place: int,
        phases: Sequence[Phase],
        tasks: Sequence[Task],
        indexes: dict[tuple[int, ...], int],
    ) -> dict[str, Any]:
        none = 0 in (phase.daily_quota, phase.total_quota)
        wall = phase.wall_seconds or 600
        said: dict[str, Any] = {
            "index": place,
            "name": phase.title,
            "description": phase.description,
            "start": _moment(phase.opens_at),
            "end": _moment(phase.closes_at) if phase.closes_at else None,
            "tasks": [indexes[_same(task)] for task in tasks if task.phase_id == phase.pk],
            "max_submissions_per_day": 0 if none else phase.daily_quota,
            "max_submissions": 0 if none else phase.total_quota,
            "execution_time_limit": int(wall) if float(wall).is_integer() else wall,
            "auto_migrate_to_this_phase": takes_over(phase, phases),
            "hide_output": phase.hides_output,
        }
        keys = {PhaseFile.Kind.PUBLIC_DATA: "public_data", PhaseFile.Kind.STARTING_KIT: "starting_kit"}
        for file in phase.files.all():
            said[keys[PhaseFile.Kind(file.kind)]] = self._once("phase file", file.pk, _plain(file.name), file.file)
        return said

    def _solutions(
        self, phases: Sequence[Phase], tasks: Sequence[Task], indexes: dict[tuple[int, ...], int]
    ) -> dict[str, Any]:
        """The reference entries with their tasks, where they are asked for; one that was carried over once."""
        if not self.with_solutions:
            return {}
        by_pk = {task.pk: indexes[_same(task)] for task in tasks}
        entries = Submission.objects.filter(phase__in=phases, entrant__is_baseline=True, origin=None)
        said: list[dict[str, Any]] = []
        for entry in entries.filter(fanned_from=None).select_related("entrant").order_by("pk"):
            ran = sorted({by_pk[pk] for pk in entry.runs.values_list("task", flat=True) if pk in by_pk})
            if entry.archive and ran:
                path = self._file(f"{slugify(entry.entrant.name) or 'solution'}.zip", entry.archive)
                said.append({"index": len(said), "name": entry.entrant.name, "tasks": ran, "path": path})
        return {"solutions": said} if said else {}

    def _pages(self) -> list[dict[str, str]]:
        said: list[dict[str, str]] = []
        added = list(self.contest.pages.all())
        roles = {role_of(page.title) for page in added}
        for role, text in (("overview", self.contest.overview), ("evaluation", self.contest.evaluation)):
            # An empty one is said where a page of that title would else be taken for it.
            if text or role in roles:
                said.append({"title": role.capitalize(), "file": self._text(f"pages/{role}.md", text)})
        for page in added:
            said.append({"title": page.title, "file": self._text(f"pages/{page.slug}.md", page.body)})
        return said

    def _text(self, name: str, text: str) -> str:
        path, number = PurePosixPath(name), 1
        while name in self.target.namelist():
            number += 1
            name = str(path.with_stem(f"{path.stem}-{number}"))
        self.target.writestr(name, text or EMPTY)
        return name

    def _pictures(self) -> None:
        """The pictures, beside the pages that show them."""
        contest = self.contest
        bodies = contest.pages.values_list("body", flat=True)
        shown = "\n".join([contest.overview, contest.evaluation, contest.rules, *bodies])
        for image in contest.images.all():
            if image.pk == contest.logo_id and image.name not in shown:
                continue
            self._file(f"pages/{image.name}", image.file)

    def _logo(self) -> str:
        logo = self.contest.logo
        if logo is not None:
            return self._file(f"logo{PurePosixPath(logo.name).suffix}", logo.file)
        buffer = io.BytesIO()
        Image.new("RGBA", (1, 1), (0, 0, 0, 0)).save(buffer, "PNG")
        self.target.writestr("logo.png", buffer.getvalue())
        return "logo.png"


def _tasks_of(phases: Sequence[Phase]) -> Any:
    tasks = Task.objects.filter(phase__in=phases).select_related(
        "phase", "dataset", "scoring_program", "ingestion_program"
    )
    return tasks.prefetch_related("dataset__versions").order_by("phase__number", "order", "pk")


def _same(task: Task) -> tuple[int, ...]:
    """What makes two tasks of different phases one task of the bundle."""
    return (task.dataset_id, task.scoring_program_id or 0, task.ingestion_program_id or 0, int(task.overlaps))


def _firsts(tasks: Sequence[Task], indexes: dict[tuple[int, ...], int]) -> list[tuple[Task, int]]:
    """The first task of every index."""
    found: dict[int, Task] = {}
    for task in tasks:
        found.setdefault(indexes[_same(task)], task)
    return [(task, index) for index, task in found.items()]


def _moment(moment: dt.datetime) -> str:
    """A time as text with its offset: an unquoted one loses its clock in Codabench."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M:%S+00:00")


def _plain(name: str) -> str:
    """A name that is a path of one step and needs no quotes."""
    return re.sub(r"[^\w.-]+", "_", name).lstrip(".") or "file"


def _board(board: ColumnBoard, place: int) -> dict[str, Any]:
    columns = list(board.columns.all())
    keys = [column.key for column in columns]
    said: dict[str, Any] = {
        "index": place,
        "title": board.title,
        "key": board.key,
        "submission_rule": board.rule,
        "hidden": board.is_hidden,
        "columns": [],
    }
    if board.primary in keys:
        said["primary_index"] = keys.index(board.primary)
    for index, column in enumerate(columns):
        one: dict[str, Any] = {
            "index": index,
            "title": column.title,
            "key": column.key,
            "sorting": "asc" if column.is_ascending else "desc",
            "precision": column.precision,
            "hidden": column.is_hidden,
        }
        if column.computation in COMPUTATIONS:
            one["computation"] = COMPUTATIONS[column.computation]
            one["computation_indexes"] = [keys.index(key) for key in column.fields if key in keys]
        said["columns"].append(one)
    return said


def _fact_sheet(questions: Sequence[Question]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for number, question in enumerate(questions, start=1):
        key = question.key or f"question-{number}"
        while key in said:
            key += "-2"
        said[key] = {
            "key": key,
            "type": _KINDS.get(Question.Kind(question.kind), "text"),
            "title": question.text,
            "selection": list(question.choices) if question.kind == Question.Kind.CHOICE else "",
            "is_required": str(question.is_required).lower(),
            "is_on_leaderboard": str(question.is_on_board).lower(),
        }
    return said
