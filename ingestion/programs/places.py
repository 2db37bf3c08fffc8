"""Where programs of Codabench and CodaLab find their folders, and what their commands' variables stand for.

CodaLab gave its programs one folder for a run, whatever its name; here that is /app, so that both layouts agree
wherever they can. Sources: compute_worker.py of Codabench, worker.py of CodaLab 1.5.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Literal

from ingestion.programs.requests import CODALAB

Kind = Literal["submission", "ingestion", "scoring"]

APP = "/app"
PROGRAM = "/app/program"
INGESTION_PROGRAM = "/app/ingestion_program"  # CodaLab's
INGESTED_PROGRAM = "/app/ingested_program"  # Codabench's
INPUT = "/app/input"
INPUT_DATA = "/app/input_data"
OUTPUT = "/app/output"
REFERENCE = "/app/input/ref"
PREDICTIONS = "/app/input/res"
HIDDEN = "/app/hidden_ref"  # CodaLab's
SHARED = "/app/shared"
TEMPORARY = "/app/temp"  # CodaLab's


class BadCommand(Exception):
    """A command that cannot be split into words; the text is the end of a sentence about it."""


def program_place(layout: int, kind: Kind) -> str:
    """Where a program lies in its own sandbox."""
    return INGESTION_PROGRAM if layout == CODALAB and kind == "ingestion" else PROGRAM


def submission_place(layout: int) -> str:
    """Where an ingestion program finds the submission."""
    return PROGRAM if layout == CODALAB else INGESTED_PROGRAM


def hidden_place(layout: int) -> str:
    """Where $hidden leads."""
    return HIDDEN if layout == CODALAB else REFERENCE


def start_place(layout: int) -> str:
    """The working directory: CodaLab started programs in the run's folder, Codabench in the program's."""
    return APP if layout == CODALAB else PROGRAM


def variables(layout: int, kind: Kind, *, beside_scoring: bool = False) -> Mapping[str, str]:
    """The place that each variable stands for in a command of this kind.

    beside_scoring: an ingestion program that runs together with the scoring program.
    """
    if layout == CODALAB:
        return {
            "$program": program_place(layout, kind),
            "$ingestion_program": INGESTION_PROGRAM,
            "$submission_program": PROGRAM,
            "$predictions": PREDICTIONS,
            "$input": INPUT,
            "$output": OUTPUT,
            "$tmp": TEMPORARY,
            "$shared": SHARED,
            "$hidden": HIDDEN,
        }
    return {
        "$program": PROGRAM,
        "$ingestion_program": PROGRAM,
        "$submission_program": INGESTED_PROGRAM,
        "$predictions": PREDICTIONS if kind == "scoring" or beside_scoring else OUTPUT,
        "$input": INPUT_DATA if kind == "ingestion" else INPUT,
        "$output": OUTPUT,
        "$tmp": OUTPUT,
        "$shared": SHARED,
        "$hidden": REFERENCE,
    }


def names_submission(command: str) -> bool:
    """Whether an ingestion program's command asks for the submission's files.

    `$program` is meant too: organizers took it for the submission's.
    """
    return "$submission_program" in command or "$program" in command


def split_commands(text: str, values: Mapping[str, str]) -> list[list[str]]:
    """The commands of a metadata file, a line each, as words with their variables replaced. No shell is involved.

    The replacement is blind, as it was: `$input_data` becomes what $input stands for, and `_data`. Raises
    BadCommand.
    """
    commands = []
    for line in text.splitlines():
        for name in sorted(values, key=len, reverse=True):
            line = line.replace(name, values[name])
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise BadCommand(f"cannot be split into words: {error}") from error
        if words:
            commands.append(words)
    if not commands:
        raise BadCommand("is empty")
    return commands


def script_folders(commands: list[list[str]], place: str) -> list[str]:
    """The folders of Python scripts below `place` that the commands name, in their order, each once."""
    found = [
        word.rpartition("/")[0] if word.startswith("/") else f"{place}/{word}".rpartition("/")[0]
        for words in commands
        for word in words
        if word.endswith(".py")
    ]
    return list(dict.fromkeys(folder for folder in found if f"{folder}/".startswith(f"{place}/")))
