"""The boards of columns of a phase that organizers' programs score: as a page, as CSV and as JSON."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from competitions.models import Column, Phase
from leaderboards.columns import choosing, export, reading, telling
from leaderboards.columns.reading import ColumnLook, Place
from leaderboards.models import ColumnPicture, ColumnRow
from leaderboards.reading import LONGEST_SEARCH, Order, outstanding
from pages import boards, frame
from pages.answers import tells_refusals
from pages.views.submissions import found_submission
from submissions.programs.board_rules import ENTRANTS_ADD
from submissions.public import PublicColumn

LIVE_SECONDS = 5


@dataclass(frozen=True)
class Head:
    """The head of a column: what a click sorts by, how it is sorted now, and why others do not see it."""

    label: str
    css: str
    title: str
    wish: str
    aria: str
    is_hidden: bool = False


@dataclass(frozen=True)
class Group:
    """The head above neighbouring columns: a task, or what organizers call a group."""

    label: str
    span: int


@dataclass(frozen=True)
class ShownRow:
    """One line of a board as the viewer sees it."""

    row: ColumnRow
    name: str
    is_own: bool
    is_named: bool
    tags: tuple[str, ...]
    cells: list[PublicColumn | None]
    mean: PublicColumn | None
    answers: list[str]


def look(shown: frame.Frame, phase: Phase, board_key: str) -> ColumnLook:
    """The board for the person who asks."""
    own = [shown.viewer.entrant_id] if shown.viewer.entrant_id is not None else []
    facts = boards.tasks_of(phase, shown.now, sees_hidden=shown.sees_hidden)
    tasks = [reading.TaskName(one.task.pk, one.shown_name) for one in facts if one.task.quarantined_at is None]
    return reading.look_at(
        phase, shown.now, sees_hidden=shown.sees_hidden, tasks=tasks, own=own, board_key=board_key
    )


def context_of(request: HttpRequest, shown: frame.Frame, phase: Phase) -> dict[str, Any]:
    """What the page of a board shows to this person, with the digest by which it tells that nothing changed."""
    view = look(shown, phase, request.GET.get("board", ""))
    order = reading.order_of(request.GET.get("sort", ""), view)
    search = request.GET.get("q", "")[:LONGEST_SEARCH]
    wish = request.GET.get("page", "")
    number = int(wish) if wish.isdecimal() and len(wish) < 9 else 1
    page = reading.page_of(view, order=order, number=number, search=search)
    answers = reading.answers_of(view, (*page.rows, *page.elsewhere))
    rows = [_shown(row, view, answers) for row in page.rows]
    elsewhere = [_shown(row, view, answers) for row in page.elsewhere]
    waits = outstanding(phase, shown.now) if view.board else 0
    places = view.places
    means = len(view.tasks) > 1 and view.deciding is not None
    return {
        "view": view,
        "first_heads": _plain_heads(view, order, reading.PLACE, reading.ENTRANT),
        "mean_title": view.deciding.title if means and view.deciding else "",
        "heads": [_head(place, view, order) for place in places],
        "groups": _groups(view, places),
        "received_heads": _plain_heads(view, order, reading.RECEIVED),
        "page": page,
        "rows": rows,
        "elsewhere": elsewhere,
        "order": order,
        "search": search,
        "rules": telling.sentences(view),
        "outstanding": waits,
        "frozen_at": ColumnPicture.objects.filter(phase=phase).values_list("made_at", flat=True).first()
        if view.is_frozen
        else None,
        "entrants_add": view.board is not None and view.board.rule in ENTRANTS_ADD,
        "is_live": phase.is_open(shown.now) or waits > 0,
        "live_seconds": LIVE_SECONDS,
        "digest": boards.digest(
            view.board and view.board.pk,
            [(place.sort, place.column.title) for place in places],
            [(line.row.pk, line.row.rank, line.name, line.row.values, line.answers) for line in rows + elsewhere],
            page.total,
            waits,
            phase.board,
        ),
    }


def page(request: HttpRequest, shown: frame.Frame, phase: Phase, *, is_part: bool) -> HttpResponse:
    """The page of a board; for htmx its live part alone, or nothing (204) when nothing has changed."""
    context = context_of(request, shown, phase)
    if is_part and request.GET.get("seen") == context["digest"]:
        return HttpResponse(status=204)
    template = "leaderboards/columns/part.html" if is_part else "leaderboards/columns/board.html"
    more = {"phase": phase, "rounds": boards.rounds_of(shown.phases), "only_phases": True, **context}
    return render(request, template, shown.context("leaderboard", **more))


@dataclass(frozen=True)
class ToldBoard:
    """A board as the evaluation page tells of it: its rules, and what each column means."""

    title: str
    rules: list[str]
    columns: list[tuple[Column, str]]


def told_boards(shown: frame.Frame) -> list[ToldBoard]:
    """The boards that the person may know, whether or not scores are shown now."""
    told = []
    for board in reading.boards_of(shown.competition, sees_hidden=shown.sees_hidden):
        columns = [one for one in board.columns.all() if shown.sees_hidden or not one.is_hidden]
        if columns:
            meanings = [(one, telling.meaning(one, columns)) for one in columns]
            told.append(ToldBoard(board.title, telling.rules_of(board, columns), meanings))
    return told


def _shown(row: ColumnRow, view: ColumnLook, answers: dict[int, list[str]]) -> ShownRow:
    is_own = view.is_own(row)
    return ShownRow(
        row=row,
        name=view.name(row),
        is_own=is_own,
        is_named=view.is_named(row),
        tags=tuple(boards.tags_of(row.entrant, row.submission, is_own=is_own)),
        cells=view.cells(row),
        mean=view.mean(row) if len(view.tasks) > 1 else None,
        answers=answers.get(row.entrant_id, []),
    )


def _wish(key: str, order: Order) -> str:
    """What a click on a head sorts by: the other way round where it is sorted so already."""
    return f"-{key}" if key == order.key and not order.is_reversed else key


def _aria(key: str, view: ColumnLook, order: Order) -> str:
    if key != order.key:
        return ""
    return "descending" if reading.leads_greatest(key, view) != order.is_reversed else "ascending"


def _plain_heads(view: ColumnLook, order: Order, *keys: str) -> list[Head]:
    known = {
        reading.PLACE: ("#", "stick rank", "place"),
        reading.ENTRANT: ("Entrant", "stick entrant", ""),
        reading.RECEIVED: ("Received", "", "when the submission was received"),
    }
    heads = []
    for key in keys:
        label, css, title = known[key]
        sorts = key == reading.PLACE or not view.is_anonymous
        if sorts or key == reading.ENTRANT:
            wish, aria = (_wish(key, order), _aria(key, view, order)) if sorts else ("", "")
            heads.append(Head(label, css, title, wish, aria))
    return heads


def _head(place: Place, view: ColumnLook, order: Order) -> Head:
    column = place.column
    is_hidden = column.is_hidden or column.key in view.phase.hidden_columns
    title = telling.meaning(column, view.columns)
    return Head(column.title, "num", title, _wish(place.sort, order), _aria(place.sort, view, order), is_hidden)


def _groups(view: ColumnLook, places: list[Place]) -> list[Group]:
    """What stands above the columns; nothing where there is one task and no group."""
    many = len(view.tasks) > 1

    def label(place: Place) -> str:
        return " · ".join(filter(None, [place.task.name if many else "", place.column.group]))

    found = [
        Group(text, len(list(own))) for (_, text), own in groupby(places, lambda one: (one.number, label(one)))
    ]
    return found if any(group.label for group in found) else []


def as_csv(request: HttpRequest, shown: frame.Frame, phase: Phase) -> Iterator[str]:
    """Lines of CSV of the board that the address names."""
    return export.as_csv(look(shown, phase, request.GET.get("board", "")))


def as_json(request: HttpRequest, shown: frame.Frame, phase: Phase, about: dict[str, Any]) -> Iterator[str]:
    """Pieces of JSON of the board that the address names."""
    view = look(shown, phase, request.GET.get("board", ""))
    about = {
        **about,
        "phase": phase.number,
        "title": phase.title,
        "is_frozen": view.is_frozen,
        "is_anonymous": view.is_anonymous,
    }
    return export.as_json(view, about)


@login_required
@require_POST
@tells_refusals
def put(request: HttpRequest, slug: str, submission_id: int) -> HttpResponseBase:
    """Put a submission of one's own on the leaderboard, or with `take` take it away."""
    shown = frame.load(request, slug)
    assert request.user.is_authenticated
    submission = found_submission(request, shown, submission_id)
    if request.POST.get("take") == "yes":
        choosing.take_away(submission, by=request.user)
    else:
        choosing.add(submission, by=request.user)
    return redirect("submission", slug=slug, submission_id=submission_id)
