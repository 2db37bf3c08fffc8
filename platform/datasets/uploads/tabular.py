"""What the page shows of a table that was sent, and the dataset that is made of it."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from datasets.actions import ImportReport
from datasets.prepare import Recipe, prepare_dataset
from datasets.tables import read_table
from datasets.uploads.models import Upload
from datasets.uploads.telling import PartTeller, note_version

MOST_SHOWN = 300  # columns; of a wider table the first so many


@dataclass
class Summary:
    """What reading a table found: the report, and the columns unless it was refused."""

    report: dict[str, Any]
    table: dict[str, Any] = field(default_factory=dict)


def summary(source: Path, tell: PartTeller) -> Summary:
    """Read a table and say what its columns hold."""
    read = read_table(source, progress=tell).to_json(most_columns=MOST_SHOWN)
    report = {"errors": read["errors"], "warnings": read["warnings"]}
    return Summary(report, read["table"] if read["ok"] else {})


def prepare(upload: Upload, source: Path, tell: PartTeller) -> ImportReport:
    """Make the dataset that the recipe asks for, or only say what it would be."""
    owner = upload.dataset.owner if upload.dataset else upload.owner
    return prepare_dataset(
        source,
        Recipe.from_json(upload.recipe),
        owner=owner,
        title=upload.title or None,
        description=upload.description,
        check_only=upload.job == Upload.Job.TRY,
        progress=tell,
        on_kept=partial(note_version, upload),
    )
