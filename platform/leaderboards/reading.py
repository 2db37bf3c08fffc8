"""Boards as one viewer may see them: which part, whose names, live or frozen; sorted, searched, a page at a time.

Pages, exports and histories read here, so that they cannot differ in what they show.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OrderBy, OuterRef, Q, QuerySet, Subquery
from django.db.models.expressions import Combinable

from competitions.models import Phase
from leaderboards.entries import board_part, name_key
from leaderboards.lines import score_key
from leaderboards.models import Board, LeaderboardRow
from leaderboards.numbers import neutral_name
from submissions.models import Handover, Run, Submission
from submissions.models.runs import ENDED, HELD
from submissions.public import visible_parts

PER_PAGE = 50
MOST_PAGES = 100_000
LONGEST_SEARCH = 80
# What pages and exports read.
OF_ROW = (
    "position", "rank", "rank_above", "mean_rank", "mean_score", "task_ranks", "stored_cells", "scored", "entries",
    "wall_seconds", "received_at", "last_received_at", "neutral_number",
)  # fmt: skip
OF_OTHERS = (
    "entrant__name", "entrant__is_baseline", "entrant__held_a_role", "entrant__owes_answers",
    "submission__number", "submission__arrival", "board__part", "board__ranked", "board__listed", "board__notes",
    "board__made_at",
)  # fmt: skip
# Keys of columns, with the field they sort by and whether the largest comes first.
SORTS: dict[str, tuple[str, bool]] = {
    "place": ("position", False),
    "entrant": ("name_key", False),
    "mean_rank": ("mean_rank", False),
    "mean_score": ("mean_score", True),
    "scored": ("scored", True),
    "time": ("wall_seconds", False),
    "entries": ("entries", True),
    "received": ("received_at", True),
    "last": ("last_received_at", True),
}
# What would tell whose row it is: the same moments and counts stand beside the name on other boards.
NAMES_ITS_ENTRANT = ("time", "entries", "received", "last")


@dataclass(frozen=True)
class Look:
    """One board of a phase as one viewer may see it.

    `parts` are those the viewer may choose from; `part` is None where there is none to be seen. `own` are the
    entrants for whom the viewer speaks.
    """

    phase: Phase
    part: str | None
    parts: tuple[str, ...]
    is_frozen: bool
    is_anonymous: bool
    is_public: bool
    own: frozenset[int]

    @property
    def rows(self) -> QuerySet[LeaderboardRow]:
        """All rows by place."""
        found = LeaderboardRow.objects.filter(
            board__phase=self.phase, board__part=self.part or "", board__is_frozen=self.is_frozen
        )
        return found.select_related("entrant", "submission", "board").only(*OF_ROW, *OF_OTHERS)

    def is_own(self, row: LeaderboardRow) -> bool:
        """Whether the viewer speaks for its entrant."""
        return row.entrant_id in self.own

    def name(self, row: LeaderboardRow) -> str:
        """The entrant's name, or the neutral one where names are not shown."""
        if self.is_anonymous and not self.is_own(row):
            return neutral_name(row.neutral_number)
        return row.entrant.name

    def naming(self, person: dict[str, Any]) -> str:
        """The name of a person of a note (`leaderboards.notes`)."""
        return neutral_name(person["number"]) if self.is_anonymous else str(person["name"])

    def shows(self, column: str) -> bool:
        """Whether a column is shown and sorted by: on an anonymous board those that give a name away are not."""
        return not (self.is_anonymous and column in NAMES_ITS_ENTRANT)


def look_at(phase: Phase, now: dt.datetime, *, sees_hidden: bool, own: Iterable[int] = (), part: str = "") -> Look:
    """The board of a phase for one viewer; `part` is the wished one, else what everybody sees, or what decides."""
    public = phase.public_part(now)
    parts = visible_parts(phase, sees_hidden=sees_hidden, now=now)
    if phase.board == Phase.Board.HIDDEN and not sees_hidden:
        parts = ()
    usual = public or board_part(phase)
    chosen = part if part in parts else usual if usual in parts else next(iter(parts), None)
    return Look(
        phase=phase,
        part=chosen,
        parts=parts,
        is_frozen=phase.board == Phase.Board.FROZEN and not sees_hidden,
        is_anonymous=phase.is_anonymous and not sees_hidden and not phase.is_released(now),
        is_public=chosen is not None
        and phase.board == Phase.Board.SHOWN
        and chosen in visible_parts(phase, sees_hidden=False, now=now),
        own=frozenset(own),
    )


@dataclass(frozen=True)
class Order:
    """How rows are sorted; only keys of the allow-list get here."""

    key: str = "place"
    is_reversed: bool = False

    @property
    def text(self) -> str:
        """As an address has it."""
        return f"-{self.key}" if self.is_reversed else self.key


def order_of(wish: str, look: Look, task_ids: Sequence[int]) -> Order:
    """The wished order; anything that is not in the allow-list is the order of places."""
    key = wish.removeprefix("-")
    known = (key in SORTS and look.shows(key)) or key in {f"task{index}" for index in range(len(task_ids))}
    return Order(key, wish.startswith("-")) if known else Order()


def ordering(order: Order, look: Look, task_ids: Sequence[int]) -> list[OrderBy | str]:
    """The order for the database; equal rows keep the order of their places, missing values come last."""
    field: Combinable
    if order.key in SORTS:
        name, largest_first = SORTS[order.key]
        field = F("neutral_number" if name == "name_key" and look.is_anonymous else name)
    else:
        largest_first = True
        task = task_ids[int(order.key.removeprefix("task"))]
        field = F(f"scores__{score_key(task)}")
    falls = largest_first != order.is_reversed
    last: dict[str, Any] = {"nulls_first": True} if order.is_reversed else {"nulls_last": True}
    by = OrderBy(field, descending=falls, **last)
    return [by, "position"]


@dataclass(frozen=True)
class Slice:
    """A page of rows: those of the page, and the viewer's own where they stand elsewhere.

    `total` counts the rows that were searched for.
    """

    rows: list[LeaderboardRow]
    elsewhere: list[LeaderboardRow]
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

    @property
    def board(self) -> Board | None:
        """The board that all rows belong to."""
        first = next(iter((*self.rows, *self.elsewhere)), None)
        return first.board if first else None


def page_of(look: Look, *, order: Order, task_ids: Sequence[int], number: int = 1, search: str = "") -> Slice:
    """One page of a board and the viewer's own rows: one query."""
    number = min(max(number, 1), MOST_PAGES)
    start = (number - 1) * PER_PAGE
    rows, by = look.rows, ordering(order, look, task_ids)
    wanted = searched(rows, look, search)
    if wanted is rows and order == Order():
        on_page = Q(position__gt=start, position__lte=start + PER_PAGE)
    else:
        on_page = Q(pk__in=wanted.order_by(*by).values("pk")[start : start + PER_PAGE])
    if wanted is not rows:
        counted = wanted.order_by().values("board").annotate(count=Count("pk")).values("count")
        rows = rows.annotate(found=Subquery(counted))
    found = list(rows.filter(on_page | Q(entrant__in=look.own)).order_by(*by))
    total = 0
    if found:
        total = getattr(found[0], "found", found[0].board.listed) or 0
    on, elsewhere = _parted(found, look, min(PER_PAGE, max(0, total - start)))
    return Slice(on, elsewhere, number, max(1, -(-total // PER_PAGE)), total)


def _parted(
    found: list[LeaderboardRow], look: Look, size: int
) -> tuple[list[LeaderboardRow], list[LeaderboardRow]]:
    """The rows of a page of so many, and the viewer's own beside it, which stand at the ends."""
    on, elsewhere = list(found), []
    while len(on) > size:
        at_end = 0 if look.is_own(on[0]) else -1
        elsewhere.append(on.pop(at_end))
    return on, elsewhere


def searched(rows: QuerySet[LeaderboardRow], look: Look, text: str) -> QuerySet[LeaderboardRow]:
    """The rows whose shown name holds the text, in any case."""
    wish = name_key(text.replace("\0", "").strip()[:LONGEST_SEARCH])
    if not wish:
        return rows
    if not look.is_anonymous:
        return rows.filter(name_key__contains=wish)
    number = wish.removeprefix("entrant").strip()
    own = Q(entrant__in=look.own, name_key__contains=wish)
    return (
        rows.filter(Q(neutral_number=int(number)) | own)
        if number.isdecimal() and len(number) < 9
        else rows.filter(own)
    )


def outstanding(phase: Phase, now: dt.datetime) -> int:
    """How many runs may still change a board that should be complete; 0 while people submit.

    Those of its own entries, and those of the parent phase that have not gone forward yet.
    """
    if phase.takes_submissions and not phase.has_ended(now):
        return 0
    of_parent = Q(submission__phase=phase.parent_id, submission__phase__closes_at__lte=now)
    begun = phase.takes_over and phase.has_begun(now)
    runs = Run.objects.filter(Q(submission__phase=phase) | of_parent if begun else Q(submission__phase=phase))
    runs = runs.exclude(state__in=ENDED).exclude(HELD)
    competing = Submission.objects.competing().filter(pk=OuterRef("submission"))
    return runs.filter(Exists(competing)).count()


def without_code(look: Look) -> list[str]:
    """The names of those whose results alone could not enter a blind phase; none where names are not shown."""
    if not look.phase.is_blind or look.part is None or look.is_anonymous:
        return []
    found = Handover.objects.filter(phase=look.phase, outcome=Handover.Outcome.NO_CODE)
    return list(found.order_by("entrant__name").values_list("entrant__name", flat=True))
