"""A board of columns as CSV and JSON, with everything that its page shows and nothing else, piece after piece."""

import csv
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from leaderboards.columns import telling
from leaderboards.columns.reading import ColumnLook, Place, answers_of
from leaderboards.export import Echo, joined, spreadsheet_text, status, utc
from leaderboards.models import ColumnRow

AT_ONCE = 200
HEAD = ("place", "entrant")
TAIL = ("status", "received", "submission number")


def _rows(look: ColumnLook) -> Iterator[tuple[ColumnRow, list[str]]]:
    """All rows by place, with the answers of their entrants."""
    if look.board is None:
        return
    rows = look.rows.iterator(chunk_size=AT_ONCE)
    while some := list(islice(rows, AT_ONCE)):
        answers = answers_of(look, some)
        yield from ((row, answers.get(row.entrant_id, [])) for row in some)


def title_of(look: ColumnLook, place: Place) -> str:
    """The name of a column, with its task where there are several."""
    return f"{place.task.name} {place.column.title}" if len(look.tasks) > 1 else place.column.title


def as_csv(look: ColumnLook) -> Iterator[str]:
    """Lines of CSV: the names of the columns, then a line for each row."""
    writer = csv.writer(Echo())
    titles = [title_of(look, place) for place in look.places] + [one.text for one in look.questions]
    yield writer.writerow([*HEAD, *map(spreadsheet_text, titles), *TAIL])
    for row, answers in _rows(look):
        cells = [cell.text if cell else "" for cell in look.cells(row)]
        of_row = _of_row(look, row)
        yield writer.writerow(
            [
                row.rank or "",
                spreadsheet_text(look.name(row)),
                *cells,
                *map(spreadsheet_text, answers),
                *("" if of_row[key] is None else of_row[key] for key in ("status", "received", "number")),
            ]
        )


def _of_row(look: ColumnLook, row: ColumnRow) -> dict[str, Any]:
    """What both forms say beside the values; None for what gives a name away on an anonymous board."""
    is_named = look.is_named(row)
    return {
        "status": status(row.entrant),
        "received": utc(row.received_at) if is_named else None,
        "number": row.submission.number if is_named else None,
    }


def as_json(look: ColumnLook, about: dict[str, Any]) -> Iterator[str]:
    """Pieces of one JSON object: `about`, the columns and tasks, the rules, and the rows."""
    board = look.board
    head = {
        **about,
        "board": {"key": board.key, "title": board.title, "rule": board.rule} if board else None,
        "boards": [{"key": one.key, "title": one.title} for one in look.boards],
        "columns": [
            {
                "key": column.key,
                "title": column.title,
                "group": column.group,
                "leads": telling.direction(column),
                "precision": column.precision,
                "computation": column.computation,
            }
            for column in look.columns
        ],
        "tasks": [task.name for task in look.tasks],
        "questions": [question.text for question in look.questions],
        "rules": telling.sentences(look),
    }
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "rows": ['
    yield from joined(_json_row(look, row, answers) for row, answers in _rows(look))
    yield "]}\n"


def _json_row(look: ColumnLook, row: ColumnRow, answers: list[str]) -> dict[str, Any]:
    scores: dict[str, dict[str, float]] = {task.name: {} for task in look.tasks}
    for place, cell in zip(look.places, look.cells(row), strict=True):
        if cell is not None:
            scores[place.task.name][place.column.key] = cell.value
    return {
        "place": row.rank,
        "entrant": look.name(row),
        **_of_row(look, row),
        "scores": scores,
        "answers": answers,
    }
