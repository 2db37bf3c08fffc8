"""A copy of a competition's configuration, for a clone and for a rehearsal.

What organizers wrote and set goes along: pages with their pictures, rounds, phases with their files, tasks with
their programs, boards of columns, prizes, the questions of the fact sheet. What happened does not: nobody takes
part in the copy, nothing is released, and only its owner holds a role.
"""

import datetime as dt
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.core.files import File
from django.db import models, transaction

from accounts.models import User
from accounts.refusals import Refused
from competitions.models import (
    Column,
    ColumnBoard,
    Competition,
    Organizer,
    Page,
    PageImage,
    Phase,
    PhaseFile,
    Prize,
    Program,
    Question,
    Round,
    Task,
)
from datasets.models import Dataset

Row = TypeVar("Row", bound=models.Model)
DatasetOf = Callable[[Task], Dataset | None]

# What belongs to one competition and to what happened in it. Everything else is copied, a new field too.
NOT_COPIED: dict[type[models.Model], frozenset[str]] = {
    Competition: frozenset(
        {
            "id",
            "slug",
            "title",
            "state",
            "allowed_emails",
            "published_at",
            "queue_paused_at",
            "rehearses",
            "clock_offset",
            "created_by",
            "created_at",
            "logo",
        }
    ),
    Program: frozenset({"id", "competition", "file", "created_at"}),
    ColumnBoard: frozenset({"id", "competition"}),
    Column: frozenset({"id", "board"}),
    PhaseFile: frozenset({"id", "phase", "file"}),
    Page: frozenset({"id", "competition"}),
    PageImage: frozenset({"id", "competition", "file", "uploaded_by", "uploaded_at"}),
    Question: frozenset({"id", "competition"}),
    Round: frozenset({"id", "competition"}),
    Phase: frozenset({"id", "round", "parent", "fans_out_from", "released_at", "board"}),
    Task: frozenset(
        {
            "id",
            "phase",
            "dataset",
            "revealed_at",
            "quarantined_at",
            "quarantine_reason",
            "scoring_program",
            "ingestion_program",
        }
    ),
    Prize: frozenset({"id", "phase"}),
}
TEXTS = ("overview", "evaluation", "rules")


def same_dataset(task: Task) -> Dataset | None:
    """The dataset that the task has now."""
    return task.dataset


def copied(
    competition: Competition,
    *,
    slug: str,
    title: str,
    owner: User,
    shift: dt.timedelta = dt.timedelta(0),
    dataset_of: DatasetOf = same_dataset,
    **changes: Any,
) -> Competition:
    """Make a draft with the configuration of `competition`, owned by `owner`, all its dates later by `shift`.

    `dataset_of` says which dataset a task of the copy has; None leaves the task out. `changes` are fields of the
    new competition. Permissions are the caller's, and so is the entry of the audit log. Raises Refused where the
    slug is taken or not one.
    """
    values = {**_values(competition, shift), "slug": slug, "title": title[:120], "created_by": owner, **changes}
    copy = Competition(**values)
    try:
        copy.full_clean()
    except ValidationError as problem:
        raise Refused(" ".join(problem.messages)) from problem
    with transaction.atomic():
        copy.save()
        Organizer.objects.create(competition=copy, user=owner, role=Organizer.Role.OWNER)
        _copy_pages(competition, copy, owner)
        _copy_all(Question.objects.filter(competition=competition), shift, competition=copy)
        _copy_boards(competition, copy)
        _copy_phases(competition, copy, shift, dataset_of)
    return copy


def free_slug(wanted: str) -> str:
    """The slug, or with the first number behind it that makes it free."""
    length = Competition._meta.get_field("slug").max_length or 80
    slug, number = wanted[:length], 1
    while Competition.objects.filter(slug=slug).exists():
        number += 1
        slug = f"{wanted[: length - len(str(number)) - 1]}-{number}"
    return slug


def _values(row: models.Model, shift: dt.timedelta) -> dict[str, Any]:
    """The values of a row that its copy has, moments later by `shift`."""
    left_out = NOT_COPIED[type(row)]
    values = {}
    for field in row._meta.concrete_fields:
        if field.name not in left_out:
            value = getattr(row, field.attname)
            values[field.attname] = value + shift if isinstance(value, dt.datetime) else value
    return values


def _copy_all(rows: Iterable[Row], shift: dt.timedelta, **changes: Any) -> None:
    for row in rows:
        type(row)._default_manager.create(**{**_values(row, shift), **changes})


def _copy_pages(competition: Competition, copy: Competition, owner: User) -> None:
    """The pages and their pictures; addresses of this competition in the texts become those of the copy."""
    for image in competition.images.all():
        made = PageImage(competition=copy, uploaded_by=owner, **_values(image, dt.timedelta(0)))
        _save_with_file(made, image)
        if image.pk == competition.logo_id:
            copy.logo = made

    def rewritten(text: str) -> str:
        return text.replace(competition.get_absolute_url(), copy.get_absolute_url())

    for name in TEXTS:
        setattr(copy, name, rewritten(getattr(copy, name)))
    copy.save(update_fields=(*TEXTS, "logo"))
    for page in competition.pages.all():
        values = _values(page, dt.timedelta(0))
        Page.objects.create(competition=copy, **{**values, "body": rewritten(page.body)})


def _save_with_file(made: Any, of: Any) -> None:
    """Save a row with a file of its own, the same as that of another row."""
    with of.file.storage.open(str(of.file.name), "rb") as file:
        made.file.save(str(of.file.name), File(file), save=True)


def _copy_boards(competition: Competition, copy: Competition) -> None:
    for board in competition.column_boards.all():
        made = ColumnBoard.objects.create(competition=copy, **_values(board, dt.timedelta(0)))
        _copy_all(board.columns.all(), dt.timedelta(0), board=made)


def _copy_programs(competition: Competition, copy: Competition) -> dict[int | None, Program | None]:
    """The programs of the copy by the ids of those that they are copies of; None for none."""
    made: dict[int | None, Program | None] = {None: None}
    for program in competition.programs.all():
        twin = Program(competition=copy, **_values(program, dt.timedelta(0)))
        _save_with_file(twin, program)
        made[program.pk] = twin
    return made


def _copy_phases(competition: Competition, copy: Competition, shift: dt.timedelta, dataset_of: DatasetOf) -> None:
    rounds = {
        one.pk: Round.objects.create(competition=copy, **_values(one, shift)) for one in competition.rounds.all()
    }
    programs = _copy_programs(competition, copy)
    made: dict[int, Phase] = {}
    phases = list(competition.phases())
    for phase in phases:
        made[phase.pk] = Phase.objects.create(round=rounds[phase.round_id], **_values(phase, shift))
        _copy_all(phase.prizes.all(), shift, phase=made[phase.pk])
        for file in phase.files.all():
            _save_with_file(PhaseFile(phase=made[phase.pk], **_values(file, shift)), file)
        for task in phase.tasks.select_related("dataset"):
            dataset = dataset_of(task)
            if dataset is not None:
                Task.objects.create(
                    phase=made[phase.pk],
                    dataset=dataset,
                    scoring_program=programs[task.scoring_program_id],
                    ingestion_program=programs[task.ingestion_program_id],
                    **_values(task, shift),
                )
    for phase in phases:  # a parent may have a higher number than its child
        if (phase.parent_id, phase.fans_out_from_id) != (None, None):
            twin = made[phase.pk]
            twin.parent = None if phase.parent_id is None else made[phase.parent_id]
            twin.fans_out_from = None if phase.fans_out_from_id is None else made[phase.fans_out_from_id]
            twin.save(update_fields=["parent", "fans_out_from"])
