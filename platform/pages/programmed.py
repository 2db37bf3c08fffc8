"""Runs that organizers' programs score, as one person may see them: values by column, and files."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from competitions.policy import Person
from submissions.models import ColumnScore, RunFile, Submission
from submissions.policy import readable_kinds
from submissions.public import PublicColumn, public_columns, visible_columns


@dataclass(frozen=True)
class RunFiles:
    """The files of a run that somebody may read, and what only organizers read of its programs."""

    files: tuple[RunFile, ...] = ()
    notes: tuple[str, ...] = ()
    ingestion_lines: str = ""
    scoring_lines: str = ""
    is_programmed: bool = False


def with_columns(
    submissions: Sequence[Submission], *, sees_hidden: bool, now: dt.datetime
) -> dict[int, tuple[PublicColumn, ...]]:
    """For each run that a program scored, what the viewer may know of its scores.

    No query where no program scores anything, else one and one more for each phase.
    """
    programmed = {
        run.pk: submission
        for submission in submissions
        for run in submission.runs.all()
        if run.task.scoring_program_id is not None
    }
    if not programmed:
        return {}
    scores: dict[int, list[ColumnScore]] = {}
    for score in ColumnScore.objects.filter(run__in=programmed):
        scores.setdefault(score.run_id, []).append(score)
    phases = {submission.phase_id: submission.phase for submission in programmed.values()}
    columns = {
        pk: visible_columns(phase.competition, phase, sees_hidden=sees_hidden) for pk, phase in phases.items()
    }
    return {
        pk: public_columns(
            scores.get(pk, []),
            columns[submission.phase_id],
            submission.phase,
            sees_hidden=sees_hidden,
            now=now,
        )
        for pk, submission in programmed.items()
    }


def with_files(user: Person, submission: Submission) -> dict[int, RunFiles]:
    """For each programmed run of a submission the files that the user may read; one query, or none."""
    runs = [run for run in submission.runs.all() if run.task.scoring_program_id is not None]
    if not runs:
        return {}
    stored: dict[int, list[RunFile]] = {}
    for file in RunFile.objects.filter(run__in=runs):
        stored.setdefault(file.run_id, []).append(file)
    found = {}
    for run in runs:
        kinds = readable_kinds(user, submission, run.task)
        said: dict[str, Any] = run.program_report if RunFile.Kind.SCORES in kinds else {}
        found[run.pk] = RunFiles(
            files=tuple(file for file in stored.get(run.pk, []) if file.kind in kinds),
            notes=(*said.get("notes", ()), *said.get("scoring_notes", ())),
            ingestion_lines=said.get("ingestion_lines", ""),
            scoring_lines=said.get("scoring_lines", ""),
            is_programmed=True,
        )
    return found
