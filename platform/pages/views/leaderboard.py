"""The leaderboard of a phase: as a page, as CSV and JSON, and how it came about."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice

from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from competitions.models import Phase
from leaderboards import export, reading, rules
from leaderboards.columns import is_programmed
from leaderboards.history import has_history, history_of
from leaderboards.reading import SORTS, Look, Order
from pages import boards, frame, rank_plot
from pages.boards import Column
from pages.views import column_boards, standings
from pages.views.submissions import is_part

LIVE_SECONDS = 5
AT_ONCE = 200  # pieces of an export
# Key, heading, class, what it means; the datasets stand after the mean score.
HEADS = (
    ("place", "#", "stick rank", "place; the smallest mean rank leads"),
    ("entrant", "Entrant", "stick entrant", ""),
    ("mean_rank", "⟨R⟩", "num", "mean rank over the datasets; the smallest leads"),
    ("mean_score", "⟨S⟩", "num", "mean score over the datasets, missing counted 0"),
    ("time", "Time", "num", "wall time of all runs of the entry together"),
    ("entries", "Entries", "num", "accepted submissions in this phase"),
    ("received", "Entry of", "", "when the submission that counts was received"),
)
# A second thing that a column says below the first: its key, heading and meaning.
SECONDS = {
    "mean_score": ("scored", "scored", "datasets with a score"),
    "received": ("last", "latest", "when the latest submission was received"),
}
LEADING = 4  # heads before the datasets


@dataclass(frozen=True)
class Head:
    """The head of a column: what a click sorts by, and how it is sorted now."""

    key: str
    label: str
    css: str
    title: str
    metric: str
    wish: str
    aria: str
    second: "Head | None" = None


def shown_phase(request: HttpRequest, shown: frame.Frame) -> Phase | None:
    """The phase that the address names, else the one whose board is of most interest now."""
    named = shown.phase_by_number(request.GET.get("phase"))
    if named is not None:
        return named
    if shown.current is not None and shown.current.public_part(shown.now):
        return shown.current
    released = [phase for phase in shown.phases if phase.public_part(shown.now)]
    return released[-1] if released else shown.current


def heads_of(columns: list[Column], order: Order, view: Look) -> list[Head]:
    """The heads of all columns that the viewer gets, in their order."""
    datasets = [(column.key, column.name, "", "", column.metric) for column in columns]
    plain = [(*head, "") for head in HEADS if view.shows(head[0])]
    heads = []
    for key, label, css, title, metric in (*plain[:LEADING], *datasets, *plain[LEADING:]):
        second = None
        if key in SECONDS:
            second = Head(*SECONDS[key][:2], "", SECONDS[key][2], "", _wish(SECONDS[key][0], order), "")
        is_sorted = order.key == key or (second is not None and order.key == second.key)
        falls = SORTS.get(order.key, ("", True))[1] != order.is_reversed
        aria = ("descending" if falls else "ascending") if is_sorted else ""
        heads.append(Head(key, label, css, title, metric, _wish(key, order), aria, second))
    return heads


def _wish(key: str, order: Order) -> str:
    """What a click on a head sorts by: the other way round where it is sorted so already."""
    return f"-{key}" if key == order.key and not order.is_reversed else key


@never_cache
@vary_on_headers("HX-Request")
@require_safe
def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    """The board of a phase; for htmx its live part alone, or nothing (204) when nothing has changed."""
    shown = frame.load(request, slug)
    scope = standings.scope_of(request, shown)
    if scope is not None:
        return standings.page(request, shown, scope)
    phase = shown_phase(request, shown)
    if phase is not None and is_programmed(phase):
        return column_boards.page(request, shown, phase, is_part=is_part(request))
    context = _board(request, shown, phase) if phase else {"digest": ""}
    if is_part(request) and request.GET.get("seen") == context["digest"]:
        return HttpResponse(status=204)
    template = "leaderboards/board_part.html" if is_part(request) else "leaderboards/board.html"
    more = {"phase": phase, "rounds": boards.rounds_of(shown.phases), **context}
    return render(request, template, shown.context("leaderboard", **more))


def _board(request: HttpRequest, shown: frame.Frame, phase: Phase) -> dict[str, object]:
    """What the board of a phase shows to this person."""
    view = boards.look(shown, phase, request.GET.get("part", ""))
    columns, aside = boards.columns_and_aside(view, shown.now, sees_hidden=shown.sees_hidden)
    task_ids = [column.task_id for column in columns]
    order = reading.order_of(request.GET.get("sort", ""), view, task_ids)
    search = request.GET.get("q", "")[: reading.LONGEST_SEARCH]
    page = _page(view, order, task_ids, _number(request), search)
    notes = boards.told_notes(page.board, view, columns)
    outstanding = reading.outstanding(phase, shown.now) if view.part else 0
    states = [boards.state_of(row) for row in (*page.rows, *page.elsewhere)]
    names = [column.name for column in columns]
    released = phase.is_released(shown.now)
    return {
        "view": view,
        "heads": heads_of(columns, order, view),
        "columns": columns,
        "aside": aside,
        "page": page,
        "rows": [boards.shown_row(row, view) for row in page.rows],
        "elsewhere": [boards.shown_row(row, view) for row in page.elsewhere],
        "order": order,
        "search": search,
        "notes": notes,
        "rules": rules.sentences(phase),
        "outstanding": outstanding,
        "without_code": reading.without_code(view),
        "is_released": released,
        "is_live": phase.is_open(shown.now) or outstanding > 0,
        "live_seconds": LIVE_SECONDS,
        "has_history": has_history(view),
        "digest": boards.digest(
            view.part, names, aside, states, page.total, notes, outstanding, released, phase.board
        ),
    }


def _page(view: Look, order: Order, task_ids: list[int], number: int, search: str) -> reading.Slice:
    found = reading.page_of(view, order=order, task_ids=task_ids, number=number, search=search)
    if found.rows or found.number == 1:
        return found
    return reading.page_of(view, order=order, task_ids=task_ids, search=search)


def _number(request: HttpRequest) -> int:
    wish = request.GET.get("page", "")
    return int(wish) if wish.isdecimal() and len(wish) < 9 else 1


@never_cache
@require_safe
def leaderboard_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The board as CSV: the same numbers as the page, all columns, both parts where both may be seen."""
    shown = frame.load(request, slug)
    scope = standings.scope_of(request, shown)
    if scope is not None:
        return _download(standings.as_csv(shown, scope), f"{slug}-{scope.key}-leaderboard.csv", "text/csv")
    phase = shown_phase(request, shown)
    if phase is None:
        return _download(iter(["place,entrant\r\n"]), f"{slug}-leaderboard.csv", "text/csv")
    if is_programmed(phase):
        lines = column_boards.as_csv(request, shown, phase)
        return _download(lines, f"{slug}-phase-{phase.number}-leaderboard.csv", "text/csv")
    view = boards.look(shown, phase, request.GET.get("part", ""))
    columns = boards.columns_of(view, shown.now, sees_hidden=shown.sees_hidden)
    lines = export.as_csv(view, [column.name for column in columns])
    return _download(lines, f"{slug}-phase-{phase.number}-leaderboard.csv", "text/csv")


@never_cache
@require_safe
def leaderboard_json(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The board as JSON: what the CSV has, with the rules in force."""
    shown = frame.load(request, slug)
    kind = "application/json"
    about: dict[str, object] = {"competition": slug, "made_at": shown.now.isoformat(timespec="seconds")}
    scope = standings.scope_of(request, shown)
    if scope is not None:
        pieces = standings.as_json(shown, scope, about)
        return _download(pieces, f"{slug}-{scope.key}-leaderboard.json", kind)
    phase = shown_phase(request, shown)
    if phase is None:
        return _download(iter(["{}\n"]), f"{slug}-leaderboard.json", kind)
    if is_programmed(phase):
        pieces = column_boards.as_json(request, shown, phase, about)
        return _download(pieces, f"{slug}-phase-{phase.number}-leaderboard.json", kind)
    view = boards.look(shown, phase, request.GET.get("part", ""))
    columns, aside = boards.columns_and_aside(view, shown.now, sees_hidden=shown.sees_hidden)
    about |= {
        "set_aside": [{"name": one.name, "reason": one.reason} for one in aside],
        "phase": phase.number,
        "title": phase.title,
        "kind": phase.kind,
        "board": phase.board,
        "is_frozen": view.is_frozen,
        "is_anonymous": view.is_anonymous,
        "is_released": phase.is_released(shown.now),
        "runs_outstanding": reading.outstanding(phase, shown.now) if view.part else None,
    }
    datasets = [{"name": column.name, "metric": column.metric} for column in columns]
    return _download(export.as_json(view, datasets, about), f"{slug}-phase-{phase.number}-leaderboard.json", kind)


def _download(pieces: Iterator[str], filename: str, kind: str) -> HttpResponseBase:
    """A file to be saved: at once where it is short, else in pieces while the rows are read."""
    first = list(islice(pieces, AT_ONCE))
    content_type = f"{kind}; charset=utf-8"
    response: HttpResponseBase
    if len(first) < AT_ONCE:
        response = HttpResponse("".join(first), content_type=content_type)
    else:
        response = StreamingHttpResponse(_joined(chain(first, pieces)), content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def _joined(pieces: Iterator[str]) -> Iterator[str]:
    """The same text in fewer pieces, each of which costs a write."""
    while some := "".join(islice(pieces, AT_ONCE)):
        yield some


@never_cache
@require_safe
def leaderboard_history(request: HttpRequest, slug: str) -> HttpResponse:
    """Places over time: a plot of the first ten and of one's own, with the numbers beside it."""
    shown = frame.load(request, slug)
    phase = shown_phase(request, shown)
    context: dict[str, object] = {"phase": phase}
    if phase is not None and not is_programmed(phase):
        view = boards.look(shown, phase)
        if has_history(view):
            history = history_of(view, view.own)
            known = view.rows.filter(entrant__in=[path.entrant_id for path in history.paths])
            names = {row.entrant_id: view.name(row) for row in known}
            context |= rank_plot.context(history, names, view.own, shown.now)
    return render(request, "leaderboards/history.html", shown.context("leaderboard", **context))
