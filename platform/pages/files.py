"""Tables and lists as files that a browser saves."""

import csv
from collections.abc import Iterable, Iterator, Sequence

from django.http import HttpResponseBase, StreamingHttpResponse

from leaderboards.export import Echo
from pages.answers import as_stranger_file


def as_csv(rows: Iterable[Sequence[object]], name: str) -> HttpResponseBase:
    """Rows as CSV, sent line after line. Whoever makes them guards their texts with `spreadsheet_text`."""
    writer = csv.writer(Echo())
    return attachment((writer.writerow(row) for row in rows), name, "text/csv; charset=utf-8")


def attachment(pieces: Iterator[str], name: str, content_type: str) -> HttpResponseBase:
    """Pieces of text as a file of this name, which holds letters, digits, dots and dashes."""
    answer = StreamingHttpResponse(pieces, content_type=content_type)
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return as_stranger_file(answer)
