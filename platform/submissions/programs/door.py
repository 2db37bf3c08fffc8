"""The door of phases whose submissions organizers' programs read: any zip is right, if it can be opened."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from accounts.refusals import Refused
from competitions.models import Phase, Task
from ingestion.programs.metadata import read_metadata
from submissions.models import Submission
from submissions.programs.kinds import COMMAND, FILES, ingestion_of


@dataclass(frozen=True)
class Found:
    """What a submission is for the programs of its phase."""

    kind: str
    interface: str
    notes: tuple[str, ...] = ()


def look(archive: Path, phase: Phase, tasks: Sequence[Task]) -> Found:
    """What an archive is that could be opened. Raises Refused where a phase for code cannot run it."""
    if phase.accepts == Phase.Accepts.RESULTS:
        return Found(Submission.Kind.RESULTS, "")
    metadata = read_metadata(archive)
    notes = tuple(metadata.problems)
    if metadata.command:
        return Found(Submission.Kind.CODE, COMMAND, notes)
    if any(ingestion_of(task, phase) for task in tasks):
        return Found(Submission.Kind.CODE, FILES, notes)
    if phase.accepts == Phase.Accepts.CODE:
        raise Refused(
            f"{phase.title} takes code only, and this archive has no metadata file with a command.",
            mend="Put a file named metadata at the root of the zip, with a line like: command: python3 run.py",
        )
    return Found(Submission.Kind.RESULTS, "", notes)
