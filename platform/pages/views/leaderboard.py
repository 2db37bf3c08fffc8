"""The leaderboard of a phase, as a page and as CSV."""

import csv
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from competitions.models import Phase
from leaderboards import board
from leaderboards.models import LeaderboardRow
from pages import facts, frame
from pages.views.submissions import is_part

LAST = float("inf")
SORTS: dict[str, Callable[[LeaderboardRow], Any]] = {
    "place": lambda row: (row.rank if row.rank is not None else LAST, row.mean_rank),
    "entrant": lambda row: row.entrant.name.casefold(),
    "mean_rank": lambda row: row.mean_rank,
    "mean_score": lambda row: -row.mean_score,
    "entries": lambda row: -row.entries,
    "received": lambda row: -row.submission.received_at.timestamp(),
}


@dataclass(frozen=True)
class Column:
    """A dataset's column: its name, metric and sort key."""

    name: str
    metric: str
    key: str


@dataclass(frozen=True)
class Order:
    """How the rows are sorted; only keys of the allow-list get here."""

    key: str
    is_reversed: bool


def shown_phase(request: HttpRequest, shown: frame.Frame) -> Phase | None:
    """The phase that the address names, else the one whose board is of most interest now."""
    named = shown.phase_by_number(request.GET.get("phase"))
    if named is not None:
        return named
    if shown.current is not None and shown.current.public_part(shown.now):
        return shown.current
    released = [phase for phase in shown.phases if phase.public_part(shown.now)]
    return released[-1] if released else shown.current


def columns_of(phase: Phase, shown: frame.Frame) -> list[Column]:
    """The datasets of a phase in the order of the cells."""
    tasks = facts.tasks_of([phase], shown.now, sees_hidden=shown.sees_hidden)
    return [
        Column(task.shown_name, task.metric if task.is_revealed else "", f"task{index}")
        for index, task in enumerate(tasks)
    ]


def _cell_key(index: int) -> Callable[[LeaderboardRow], Any]:
    def key(row: LeaderboardRow) -> float:
        value = row.cells[index]["value"] if index < len(row.cells) else None
        return LAST if value is None else -value

    return key


def order_of(request: HttpRequest, columns: list[Column]) -> Order:
    """The wished order; anything that is not in the allow-list is the order of places."""
    wish = request.GET.get("sort", "")
    key = wish.removeprefix("-")
    if key not in SORTS and key not in {column.key for column in columns}:
        return Order("place", False)
    return Order(key, wish.startswith("-"))


def sorted_rows(rows: list[LeaderboardRow], order: Order) -> list[LeaderboardRow]:
    """The rows in the wished order; equal ones keep the order of their places."""
    key = SORTS.get(order.key) or _cell_key(int(order.key.removeprefix("task")))
    return sorted(rows, key=key, reverse=order.is_reversed)


def _digest(rows: list[LeaderboardRow], phase: Phase) -> str:
    """Changes when something that the board shows has changed."""
    shown = [[row.pk, row.rank, row.mean_rank, row.mean_score, row.cells, row.entries] for row in rows]
    return hashlib.sha256(json.dumps([phase.pk, shown], sort_keys=True).encode()).hexdigest()[:16]


@never_cache
@vary_on_headers("HX-Request")
@require_safe
def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    """The board of a phase; for htmx its live part alone, or nothing (204) when nothing has changed."""
    shown = frame.load(request, slug)
    phase = shown_phase(request, shown)
    rows = list(board.rows(phase, shown.now)) if phase else []
    digest = _digest(rows, phase) if phase else ""
    if is_part(request) and request.GET.get("seen") == digest:
        return HttpResponse(status=204)
    columns = columns_of(phase, shown) if phase else []
    order = order_of(request, columns)
    context = shown.context(
        "leaderboard",
        phase=phase,
        part=phase.public_part(shown.now) if phase else None,
        columns=columns,
        rows=sorted_rows(rows, order),
        order=order,
        digest=digest,
        is_live=phase is not None and phase.is_open(shown.now),
        mine=[row for row in rows if row.entrant == shown.viewer.entrant],
    )
    template = "leaderboards/board_part.html" if is_part(request) else "leaderboards/board.html"
    return render(request, template, context)


@never_cache
@require_safe
def leaderboard_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The board of a phase as CSV: the same numbers as the page."""
    shown = frame.load(request, slug)
    phase = shown_phase(request, shown)
    columns = columns_of(phase, shown) if phase else []
    number = phase.number if phase else 0
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{slug}-phase-{number}-leaderboard.csv"'
    writer = csv.writer(response)
    per_task = [f"{column.name} {what}" for column in columns for what in ("score", "standard error", "rank")]
    writer.writerow(["place", "entrant", "mean rank", "mean score", "entries", *map(spreadsheet_text, per_task)])
    for row in board.rows(phase, shown.now) if phase else []:
        cells = [_csv_cell(row, index) for index in range(len(columns))]
        head = [
            row.rank or "",
            spreadsheet_text(row.entrant.name),
            f"{row.mean_rank:.4f}",
            f"{row.mean_score:.6f}",
        ]
        writer.writerow([*head, row.entries, *(value for cell in cells for value in cell)])
    return response


def _csv_cell(row: LeaderboardRow, index: int) -> tuple[object, object, object]:
    cell = row.cells[index] if index < len(row.cells) else {}
    has_value = cell.get("value") is not None
    stderr = cell.get("stderr")
    return (cell.get("text", "") if has_value else "", "" if stderr is None else stderr, cell.get("rank", ""))


def spreadsheet_text(text: str) -> str:
    """A name that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
