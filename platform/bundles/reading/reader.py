"""The way from an uploaded bundle to its report: unpack, find the YAML and its version, read all of it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from django.conf import settings

from bundles.reading.contest import BundleContest
from bundles.reading.context import Context
from bundles.reading.files import BundleFiles, unpack
from bundles.reading.nodes import Notebook, Section, UnreadableYaml, parse
from bundles.reading.programs import Sources
from bundles.reading.report import BundleReport, Problem
from bundles.reading.version1 import Version1
from bundles.reading.version2 import Version2

_VERSIONS = {"1": "1.5", "1.0": "1.5", "1.5": "1.5", "1.8": "1.5", "2": "2", "2.0": "2"}
_ONLY_IN_2 = ("tasks", "leaderboards", "pages")
_ONLY_IN_1 = ("html", "leaderboard")


def read_bundle(
    path: Path,
    *,
    answers: Mapping[str, str] | None = None,
    date_order: Literal["mdy", "dmy"] | None = None,
) -> BundleReport:
    """All that a bundle says, and every problem of it at once; use the report in a `with` statement.

    `answers` are the organizer's, by the keys of the questions; for an id of another server ("file:ID") the
    answer is "bundle:PATH" or something of the site, which comes back in `FileSource.stored`. The bundle is
    unpacked into a new folder among the uploads. Raises only what is not the bundle's fault, as when the disk is
    full; then nothing is left behind.
    """
    report = BundleReport(workspace=Path(tempfile.mkdtemp(prefix="bundle-", dir=settings.FILE_UPLOAD_TEMP_DIR)))
    try:
        report.contest = _read(path, report, answers or {}, date_order)
        if report.errors:
            report.contest = None  # the last keys are read after the readers looked for errors
    except BaseException:
        report.close()
        raise
    for problems in (report.errors, report.warnings):
        problems.sort(key=_line)
    if report.contest is not None:
        report.found.extend(_found(report.contest))
    return report


def _line(problem: Problem) -> int:
    """The line of a problem, so that a report reads as the file does."""
    found = re.search(r", line (\d+)", problem.place)
    return int(found[1]) if found else 0


def _read(path: Path, report: BundleReport, answers: Mapping[str, str], order: str | None) -> BundleContest | None:
    notes = Notebook(report)
    files = unpack(path, report.workspace, notes)
    if files is None:
        return None
    try:
        return _contest(files, answers, order)
    except UnreadableYaml as error:
        notes.error(
            notes.place(error.line, ""), str(error), "Correct this line; mind the indentation and the quotes."
        )
        return None


def _contest(files: BundleFiles, answers: Mapping[str, str], order: str | None) -> BundleContest | None:
    """The contest of an unpacked bundle, or None with its errors noted. Raises UnreadableYaml."""
    report = files.notes.report
    top = parse(files.yaml.read_bytes(), files.notes)
    report.version = _version(top, files.notes)
    packed = report.workspace / "packed"
    packed.mkdir()
    context = Context(files, Sources(files, answers, packed), answers, order)
    if report.version == "2":
        return Version2(top, context).read()
    if report.version == "1.5":
        return Version1(top, context).read()
    return None


def _version(top: Section, notes: Notebook) -> str:
    """ "2" or "1.5"; what the keys are decides where the line is missing or plainly wrong; "" with an error."""
    written = top.text("version")
    keys_of_2 = sum(key in top.values for key in _ONLY_IN_2)
    keys_of_1 = sum(key in top.values for key in _ONLY_IN_1)
    by_keys = "2" if keys_of_2 > keys_of_1 else "1.5"
    if not written:
        if by_keys == "2":
            notes.warn(top.place_of("version"), "There is no version; by its keys it is 2.", "Write version: 2.")
        return by_keys
    version = _VERSIONS.get(written)
    if version is None:
        message = f"The version {written} of bundles is unknown."
        notes.error(top.place_of("version"), message, "Write version: 2 for Codabench, 1.5 for CodaLab.")
        return ""
    if version != by_keys and not (keys_of_2 if version == "2" else keys_of_1) and keys_of_1 + keys_of_2:
        message = f"The version is {written}, but the keys are those of version {by_keys}, as which it was read."
        notes.warn(top.place_of("version"), message, f"Write version: {by_keys}.")
        return by_keys
    return version


def _found(contest: BundleContest) -> list[str]:
    """What the bundle holds, a line each."""
    maker = "Codabench" if contest.version == "2" else "CodaLab"
    lines = [f"{maker} bundle of version {contest.version}: {contest.title}"]
    for phase in contest.phases:
        end = f"{phase.ends_at.utc:%Y-%m-%d %H:%M}" if phase.ends_at else "no end"
        lines.append(f"Phase {phase.name}: {phase.starts_at.utc:%Y-%m-%d %H:%M} to {end}, UTC")
    for task in contest.tasks:
        parts = [f"scoring program {task.scoring_program.name}"]
        if task.ingestion_program:
            parts.append(f"ingestion program {task.ingestion_program.name}")
        parts += [
            what for what, file in (("input data", task.input_data), ("labels", task.reference_data)) if file
        ]
        lines.append(f"Task {task.name}: {', '.join(parts)}")
    for board in contest.boards:
        keys = ", ".join(column.key for column in board.columns)
        lines.append(f"Leaderboard {board.title}, rule {board.rule}: {keys}")
    counted = (
        (len(contest.pages), "page", "pages"),
        (len(contest.solutions), "solution", "solutions"),
        (len(contest.questions), "question of the fact sheet", "questions of the fact sheet"),
    )
    lines += [f"{number} {one if number == 1 else many}" for number, one, many in counted if number]
    lines += [f"Container image {image}" for image in contest.images]
    lines += [f"Not taken over: {sentence}" for sentence in contest.unsayable]
    return lines
