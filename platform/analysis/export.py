"""Figures and tables as files: numbers as CSV, specifications as JSON, pictures as SVG and PNG."""

import csv
import io
import json
import re
from dataclasses import dataclass
from typing import Any

from analysis.drawing import pictures
from analysis.results import VERSION, Figure, Table
from leaderboards.export import spreadsheet_text

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
}


@dataclass(frozen=True)
class File:
    """A file as it is sent: its name, type and content."""

    name: str
    content_type: str
    content: bytes


def file_of(block: Figure | Table, suffix: str, *, of: str) -> File | None:
    """A figure or table as a file; None where it has none of that kind. `of` begins the name of the file.

    The content types are those of `TYPES`.
    """
    if suffix == "csv":
        content = as_csv(block).encode()
    elif not isinstance(block, Figure) or suffix not in TYPES:
        return None
    elif suffix == "json":
        content = json.dumps(as_json(block), allow_nan=False).encode()
    else:
        content = pictures.svg(block.spec) if suffix == "svg" else pictures.png(block.spec)
    return File(f"{plain_name(of)}-{plain_name(block.key)}.{suffix}", TYPES[suffix], content)


def plain_name(text: str) -> str:
    """The text with what file systems and headers may read otherwise replaced."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", text).strip("-.") or "figure"


def as_csv(block: Figure | Table) -> str:
    """The numbers of a figure or table, all of them, to the last digit."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([column.key for column in block.columns])
    for row in block.rows:
        writer.writerow([spreadsheet_text(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def as_json(block: Figure) -> dict[str, Any]:
    """The specification with its data, and in `usermeta`, which Vega-Lite leaves alone, what goes with it."""
    about = {
        "title": block.title,
        "sentence": block.sentence,
        "n": block.n,
        "seed": block.seed,
        "method": block.method,
        "warnings": list(block.warnings),
        "version": VERSION,
        "software": "Podium",
    }
    return {**block.spec, "usermeta": about}
