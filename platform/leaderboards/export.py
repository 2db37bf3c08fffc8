"""A board as CSV and JSON, with everything that its page shows and both parts where both may be seen.

Both are made in pieces, row after row, so that a board of any length needs no more memory than a short one.
"""

import csv
import datetime as dt
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from competitions.models import Entrant
from leaderboards import rules
from leaderboards.models import LeaderboardRow
from leaderboards.reading import Look, without_code
from leaderboards.series import SeriesPlace

AT_ONCE = 200
HEAD = ("place", "entrant", "mean rank", "mean score", "entries")
PER_TASK = ("score", "standard error", "rank")
TAIL = (
    "part", "status", "datasets with a score", "wall seconds", "entry received", "last submission",
    "submission number", "arrival", "rules",
)  # fmt: skip


class Echo:
    """A file that gives back what is written, for the csv module."""

    def write(self, text: str) -> str:
        return text


def spreadsheet_text(text: str) -> str:
    """A name that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def status(entrant: Entrant) -> str:
    """Why an entrant may take no place."""
    if entrant.is_baseline:
        return "baseline"
    if entrant.held_a_role:
        return "organizer"
    return "fact sheet missing" if entrant.owes_answers else "entrant"


def _boards(look: Look) -> list[Look]:
    """The board of each part that the viewer may see, the one that is shown first in front."""
    others = [part for part in look.parts if part != look.part]
    return [replace(look, part=part) for part in ([look.part] if look.part else []) + others]


def _rows(look: Look) -> Iterator[LeaderboardRow]:
    return look.rows.iterator(chunk_size=AT_ONCE)


def as_csv(look: Look, datasets: Sequence[str]) -> Iterator[str]:
    """Lines of CSV: the names of the columns, then a line for each entrant and part."""
    writer = csv.writer(Echo())
    per_task = [spreadsheet_text(f"{name} {what}") for name in datasets for what in PER_TASK]
    yield writer.writerow([*HEAD, *per_task, *TAIL])
    told = " ".join(rules.sentences(look.phase))
    for board in _boards(look):
        for row in _rows(board):
            yield writer.writerow(_csv_row(board, row, len(datasets), told))
    blank = [""] * (3 + len(per_task))
    for name in without_code(look):
        yield writer.writerow(["", spreadsheet_text(name), *blank, look.part, "no code", *[""] * 6, told])


def _csv_row(look: Look, row: LeaderboardRow, tasks: int, told: str) -> list[object]:
    fields = _fields(look, row)
    cells: list[object] = []
    for index in range(tasks):
        cell = row.cells[index] if index < len(row.stored_cells) else {}
        has_value = cell.get("value") is not None
        stderr = cell.get("stderr")
        cells += [cell["text"] if has_value else "", "" if stderr is None else stderr, cell.get("rank", "")]
    means = [f"{row.mean_rank:.4f}", f"{row.mean_score:.6f}"]
    tail = [fields[name] for name in ("wall_seconds", "entry_received", "last_submission", "number", "arrival")]
    return [
        row.rank or "",
        spreadsheet_text(look.name(row)),
        *means,
        _blank(fields["entries"]),
        *cells,
        look.part,
        fields["status"],
        row.scored,
        *map(_blank, tail),
        told,
    ]


def _blank(value: object) -> object:
    return "" if value is None else value


def _fields(look: Look, row: LeaderboardRow) -> dict[str, Any]:
    """What both forms say of a row beside its scores; None for what gives a name away on an anonymous board."""
    is_named = not look.is_anonymous or look.is_own(row)
    return {
        "status": status(row.entrant),
        "entries": row.entries if is_named else None,
        "wall_seconds": row.wall_seconds if is_named else None,
        "entry_received": utc(row.received_at) if is_named else None,
        "last_submission": utc(row.last_received_at) if is_named else None,
        "number": row.submission.number if is_named else None,
        "arrival": row.submission.arrival if is_named else None,
    }


def utc(moment: dt.datetime) -> str:
    return moment.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def as_json(look: Look, datasets: Sequence[dict[str, Any]], about: dict[str, Any]) -> Iterator[str]:
    """Pieces of one JSON object: `about` and the rules, the datasets, and the rows of each part."""
    head = {**about, "rules": rules.as_data(look.phase), "datasets": list(datasets)}
    yield json.dumps(head, ensure_ascii=False)[:-1]
    yield ', "without_code": ' + json.dumps(without_code(look), ensure_ascii=False)
    yield ', "boards": ['
    for number, board in enumerate(_boards(look)):
        yield ("" if number == 0 else ", ") + json.dumps({"part": board.part})[:-1] + ', "rows": ['
        yield from joined(_json_row(board, row, datasets) for row in _rows(board))
        yield "]}"
    yield "]}\n"


def joined(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield ("\n" if number == 0 else ",\n") + json.dumps(row, ensure_ascii=False)


def _json_row(look: Look, row: LeaderboardRow, datasets: Sequence[dict[str, Any]]) -> dict[str, Any]:
    names = [dataset["name"] for dataset in datasets]
    scores = [
        {"dataset": name, **{key: cell[key] for key in cell if key not in ("task", "text")}}
        for name, cell in zip(names, row.cells, strict=False)
    ]
    return {
        "place": row.rank,
        "stands_behind_place": row.rank_above if row.rank is None else None,
        "entrant": look.name(row),
        "mean_rank": row.mean_rank,
        "mean_score": row.mean_score,
        "datasets_with_a_score": row.scored,
        **_fields(look, row),
        "scores": scores,
    }


def series_as_csv(phases: Sequence[str], places: Iterable[SeriesPlace], names: dict[int, str]) -> Iterator[str]:
    """The board of a round or of the series: a line for each entrant, place and means of each phase."""
    writer = csv.writer(Echo())
    per_phase = [f"{title} {what}" for title in phases for what in ("place", "mean rank", "mean score")]
    head = ["place", "entrant", "mean place", "mean score", "phases"]
    yield writer.writerow([*head, *map(spreadsheet_text, per_phase)])
    for one in places:
        cells = [
            value
            for place in one.places
            for value in ((place.rank, place.mean_rank, place.mean_score) if place else ("", "", ""))
        ]
        name = spreadsheet_text(names.get(one.entrant_id, ""))
        yield writer.writerow([one.rank, name, f"{one.mean_rank:.4f}", f"{one.mean_score:.6f}", one.taken, *cells])


def series_as_json(
    phases: Sequence[str], places: Iterable[SeriesPlace], names: dict[int, str], about: dict[str, Any]
) -> Iterator[str]:
    """The same as pieces of one JSON object."""
    yield json.dumps({**about, "phases": list(phases)}, ensure_ascii=False)[:-1] + ', "rows": ['
    yield from joined(
        {
            "place": one.rank,
            "entrant": names.get(one.entrant_id, ""),
            "mean_place": one.mean_rank,
            "mean_score": one.mean_score,
            "phases": [
                {"place": place.rank, "mean_rank": place.mean_rank, "mean_score": place.mean_score}
                if place
                else None
                for place in one.places
            ],
        }
        for one in places
    )
    yield "]}\n"
