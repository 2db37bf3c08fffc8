"""Boards of columns as one viewer may see them: which boards and columns, whose names, live or frozen; sorted,
searched, a page at a time. Pages and exports read here, so that they cannot differ in what they show.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Count, F, OrderBy, Q, QuerySet, Window
from django.db.models.expressions import Combinable

from competitions.columns import deciding, is_ascending
from competitions.models import Answer, Column, ColumnBoard, Competition, Phase, Question
from leaderboards.columns.keeping import cell_key, is_shown
from leaderboards.entries import name_key
from leaderboards.models import ColumnRow
from leaderboards.numbers import neutral_name
from leaderboards.reading import LONGEST_SEARCH, MOST_PAGES, PER_PAGE, Order
from submissions.public import PublicColumn, public_column, shows_columns

PLACE, ENTRANT, RECEIVED = "place", "entrant", "received"
# Keys that every board can be sorted by, with the field and whether the largest comes first.
SORTS = {PLACE: ("position", False), ENTRANT: ("name_key", False), RECEIVED: ("received_at", True)}
MOST_OWN = 5  # of one's own rows that are shown beside a page
LONGEST_ANSWER = 60


@dataclass(frozen=True)
class TaskName:
    """A task as the viewer may call it."""

    task_id: int
    name: str


@dataclass(frozen=True)
class Place:
    """One column of one task: where its values are, and how an address sorts by it."""

    column: Column
    task: TaskName
    number: int  # of the task

    @property
    def cell(self) -> str:
        """The key of its values in a row."""
        return cell_key(self.task.task_id, self.column)

    @property
    def sort(self) -> str:
        """The key by which an address sorts by it."""
        return f"c{self.column.pk}t{self.number}"


@dataclass(frozen=True)
class ColumnLook:
    """The boards of a phase as one viewer may see them, and the one of them that is looked at.

    `board` is None where there is none to be seen. `own` are the entrants for whom the viewer speaks.
    """

    phase: Phase
    board: ColumnBoard | None
    boards: tuple[ColumnBoard, ...]
    columns: tuple[Column, ...]
    tasks: tuple[TaskName, ...]
    questions: tuple[Question, ...]
    is_frozen: bool
    is_anonymous: bool
    is_public: bool
    own: frozenset[int]

    @property
    def places(self) -> list[Place]:
        """All columns that are shown, task after task."""
        return [Place(column, task, number) for number, task in enumerate(self.tasks) for column in self.columns]

    @property
    def deciding(self) -> Column | None:
        """The column that gives the places, if the viewer sees it."""
        return shown_deciding(self.board, self.columns) if self.board else None

    @property
    def rows(self) -> QuerySet[ColumnRow]:
        """All rows by place."""
        found = ColumnRow.objects.filter(board=self.board, phase=self.phase, is_frozen=self.is_frozen)
        return found.select_related("entrant", "submission").defer("submission__notes")

    def is_own(self, row: ColumnRow) -> bool:
        """Whether the viewer speaks for its entrant."""
        return row.entrant_id in self.own

    def is_named(self, row: ColumnRow) -> bool:
        """Whether the viewer learns whose row it is, and with it when it was sent."""
        return not self.is_anonymous or self.is_own(row)

    def name(self, row: ColumnRow) -> str:
        """The entrant's name, or the neutral one where names are not shown."""
        return row.entrant.name if self.is_named(row) else neutral_name(row.neutral_number)

    def cells(self, row: ColumnRow) -> list[PublicColumn | None]:
        """What the row shows in each of the places; None where it has no value."""
        return [
            public_column(row.values[place.cell], place.column) if place.cell in row.values else None
            for place in self.places
        ]

    def mean(self, row: ColumnRow) -> PublicColumn | None:
        """The mean of the deciding column over the tasks, which gives the places; None where a task misses it."""
        column = self.deciding
        if column is None:
            return None
        values = [row.values.get(cell_key(task.task_id, column)) for task in self.tasks]
        present = [value for value in values if value is not None]
        if not present or len(present) < len(values):
            return None
        return public_column(sum(present) / len(present), column)


def boards_of(competition: Competition, *, sees_hidden: bool) -> list[ColumnBoard]:
    """The boards of a competition that the viewer may know, with their columns."""
    boards = ColumnBoard.objects.filter(competition=competition).prefetch_related("columns")
    return [board for board in boards if sees_hidden or not board.is_hidden]


def shown_deciding(board: ColumnBoard, columns: Sequence[Column]) -> Column | None:
    """The column that gives the places of a board; None where it is not among those that are shown."""
    found = deciding(list(board.columns.all()), board.primary)
    return found if found in columns else None


def is_open_to_all(phase: Phase, now: dt.datetime) -> bool:
    """Whether everybody may see boards of the phase now, live or frozen."""
    shown = shows_columns(phase, sees_hidden=False, now=now)
    return shown and phase.has_begun(now) and phase.board != Phase.Board.HIDDEN


def look_at(
    phase: Phase,
    now: dt.datetime,
    *,
    sees_hidden: bool,
    tasks: Sequence[TaskName],
    own: Iterable[int] = (),
    board_key: str = "",
) -> ColumnLook:
    """A board of a phase for one viewer: the one of this key, else the first that has a column to be seen."""
    is_visible = sees_hidden or is_open_to_all(phase, now)
    shown: dict[ColumnBoard, tuple[Column, ...]] = {}
    for board in boards_of(phase.competition, sees_hidden=sees_hidden) if is_visible else ():
        columns = tuple(one for one in board.columns.all() if sees_hidden or is_shown(one, phase))
        if columns:
            shown[board] = columns
    chosen = next((board for board in shown if board.key == board_key), next(iter(shown), None))
    is_anonymous = phase.is_anonymous and not sees_hidden and not phase.is_released(now)
    asked = (
        ()
        if is_anonymous or chosen is None
        else Question.objects.filter(competition=phase.competition, is_on_board=True)
    )
    return ColumnLook(
        phase=phase,
        board=chosen,
        boards=tuple(shown),
        columns=shown[chosen] if chosen else (),
        tasks=tuple(tasks),
        questions=tuple(asked),
        is_frozen=phase.board == Phase.Board.FROZEN and not sees_hidden,
        is_anonymous=is_anonymous,
        is_public=chosen is not None and not chosen.is_hidden and is_open_to_all(phase, now),
        own=frozenset(own),
    )


def order_of(wish: str, look: ColumnLook) -> Order:
    """The wished order; anything that is not in the allow-list is the order of places."""
    key = wish.removeprefix("-")
    plain = key in SORTS and (key == PLACE or not look.is_anonymous)
    known = plain or key in {place.sort for place in look.places}
    return Order(key, wish.startswith("-")) if known else Order()


def leads_greatest(key: str, look: ColumnLook) -> bool:
    """Whether the greatest value comes first in the usual order of a key."""
    if key in SORTS:
        return SORTS[key][1]
    return not next(is_ascending(place.column) for place in look.places if place.sort == key)


def ordering(order: Order, look: ColumnLook) -> list[OrderBy | str]:
    """The order for the database; equal rows keep the order of their places, missing values come last."""
    field: Combinable
    if order.key in SORTS:
        field = F(SORTS[order.key][0])
    else:
        field = F(f"values__{next(place.cell for place in look.places if place.sort == order.key)}")
    falls = leads_greatest(order.key, look) != order.is_reversed
    return [OrderBy(field, descending=falls, nulls_last=True), "position"]


@dataclass(frozen=True)
class Slice:
    """A page of rows: those of the page, and the viewer's own that stand elsewhere."""

    rows: list[ColumnRow]
    elsewhere: list[ColumnRow]
    number: int
    pages: int
    total: int

    @property
    def previous(self) -> int:
        """The number of the page before."""
        return self.number - 1

    @property
    def next(self) -> int:
        """The number of the page after."""
        return self.number + 1

    @property
    def first(self) -> int:
        """Which of all rows the first of the page is."""
        return (self.number - 1) * PER_PAGE + 1

    @property
    def last(self) -> int:
        """Which of all rows the last of the page is."""
        return self.first + len(self.rows) - 1


def page_of(look: ColumnLook, *, order: Order, number: int = 1, search: str = "") -> Slice:
    """One page of a board: one query, and one for the viewer's own rows."""
    if look.board is None:
        return Slice([], [], 1, 1, 0)
    number = min(max(number, 1), MOST_PAGES)
    start = (number - 1) * PER_PAGE
    by = ordering(order, look)
    wanted = searched(look.rows, look, search)
    counted = wanted.annotate(found=Window(Count("pk")))
    found: list[ColumnRow] = list(counted.order_by(*by)[start : start + PER_PAGE])
    if not found and number > 1:
        return page_of(look, order=order, search=search)
    on_page = {row.pk for row in found}
    own = look.rows.filter(entrant__in=look.own).order_by(*by)[: PER_PAGE + MOST_OWN] if look.own else ()
    elsewhere = [row for row in own if row.pk not in on_page][:MOST_OWN]
    total = getattr(found[0], "found", 0) if found else 0
    return Slice(found, elsewhere, number, max(1, -(-total // PER_PAGE)), total)


def searched(rows: QuerySet[ColumnRow], look: ColumnLook, text: str) -> QuerySet[ColumnRow]:
    """The rows whose shown name holds the text, in any case."""
    wish = name_key(text.replace("\0", "").strip()[:LONGEST_SEARCH])
    if not wish:
        return rows
    if not look.is_anonymous:
        return rows.filter(name_key__contains=wish)
    number = wish.removeprefix("entrant").strip()
    own = Q(entrant__in=look.own, name_key__contains=wish)
    is_number = number.isdecimal() and len(number) < 9
    return rows.filter(Q(neutral_number=int(number)) | own) if is_number else rows.filter(own)


def answers_of(look: ColumnLook, rows: Iterable[ColumnRow]) -> dict[int, list[str]]:
    """What the entrants of these rows answered to the questions that are shown on boards, by entrant."""
    if not look.questions:
        return {}
    entrants = {row.entrant_id for row in rows}
    given = {
        (answer.entrant_id, answer.question_id): answer.value
        for answer in Answer.objects.filter(question__in=look.questions, entrant__in=entrants)
    }
    return {
        entrant: [as_text(given.get((entrant, question.pk))) for question in look.questions]
        for entrant in entrants
    }


def as_text(value: object) -> str:
    """An answer in a cell: choices with commas, yes or no, the beginning of a text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    text = "" if value is None else " ".join(str(value).split())
    return text if len(text) <= LONGEST_ANSWER else f"{text[: LONGEST_ANSWER - 1]}…"
