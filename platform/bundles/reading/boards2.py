"""Leaderboards of version 2, with their columns."""

from __future__ import annotations

from bundles.reading import keys
from bundles.reading.contest import BoardSource, ColumnSource, Computation, Rule
from bundles.reading.context import LONGEST_KEY, LONGEST_NAME, LONGEST_TITLE, Context
from bundles.reading.nodes import Section, whole_number

_COMPUTATIONS = {
    **{one.value: one for one in (Computation.AVG, Computation.SUM, Computation.MIN, Computation.MAX)},
    "avg_rank": Computation.MEAN_RANK,
}
_RULES = {rule.value.lower().replace("_", ""): rule for rule in Rule}
MOST_DIGITS = 10


def read_boards(top: Section, context: Context) -> tuple[BoardSource, ...]:
    """All leaderboards, in their order. Codabench shows only the first; here each has its place."""
    boards: list[BoardSource] = []
    sections = top.sections("leaderboards", required=True)
    for section in sections:
        section.check_keys(keys.BOARD_2)
        board = _board(section, context, {one.key for one in boards})
        if board is not None:
            boards.append(board)
    if len(sections) > 1:
        context.notes.warn(
            top.place_of("leaderboards"),
            f"Codabench shows the first of the {len(sections)} leaderboards alone; here all of them are shown.",
        )
    return tuple(boards)


def _board(section: Section, context: Context, taken: set[str]) -> BoardSource | None:
    notes = context.notes
    title = section.text("title", required=True, longest=LONGEST_TITLE)
    key = section.text("key", required=True, longest=LONGEST_KEY)
    if key in taken:
        notes.warn(
            section.place_of("key"), f"The key {key} is that of another leaderboard too; a number was added."
        )
        key = next(f"{key[:58]}-{number}" for number in range(2, 1000) if f"{key[:58]}-{number}" not in taken)
    by_index = _columns(section, context)
    if not by_index:
        return None
    columns = [column for _, column in sorted(by_index.items())]
    return BoardSource(
        key=key,
        title=title,
        rule=_rule(section, context),
        primary=_primary(section, context, by_index),
        columns=tuple(columns),
        is_hidden=section.boolean("hidden", False),
    )


def _rule(section: Section, context: Context) -> Rule:
    written = section.text("submission_rule", Rule.ADD)
    rule = _RULES.get(written.lower().replace("_", "").replace(" ", ""))
    if rule is None:
        context.notes.warn(
            section.place_of("submission_rule"),
            f"The submission_rule {written} is unknown; Add was taken.",
            f"Write one of {', '.join(Rule)}.",
        )
    return rule or Rule.ADD


def _primary(section: Section, context: Context, by_index: dict[int, ColumnSource]) -> str:
    """The key of the column that decides: that of primary_index, else the first."""
    first = by_index[min(by_index)].key
    value = section.get("primary_index")
    if value is None:
        return first
    index = whole_number(value.text)
    if index is None or index not in by_index:
        there = ", ".join(str(one) for one in sorted(by_index))
        context.notes.error(
            value.place, f"There is no column with the index {value.text}.", f"There are: {there}."
        )
        return first
    return by_index[index].key


def _columns(section: Section, context: Context) -> dict[int, ColumnSource]:
    """The columns by their index; of two with one key the first counts, of two with one index the second moves."""
    notes = context.notes
    found: dict[int, tuple[Section, ColumnSource]] = {}
    for column in section.sections("columns", required=True):
        column.check_keys(keys.COLUMN_2)
        key = column.text("key", required=True, longest=LONGEST_KEY)
        title = column.text("title", required=True, longest=LONGEST_NAME)
        if any(key == other.key for _, other in found.values()):
            notes.warn(column.place_of("key"), f"The key {key} is that of two columns; the first one counts.")
            continue
        index = _index(column, context, set(found))
        found[index] = (column, _column(column, context, key=key, title=title))
    return {index: _computed(column, read, context, found) for index, (column, read) in found.items()}


def _index(column: Section, context: Context, taken: set[int]) -> int:
    value = column.get("index")
    free = max(taken, default=-1) + 1
    if value is None:
        column.missing("index")
        return free
    index = whole_number(value.text)
    if index is None:
        context.notes.error(value.place, "index is no whole number.", "Count from 0.")
        return free
    if index in taken:
        context.notes.warn(value.place, f"The index {index} is that of two columns; the second comes last.")
        return free
    return index


def _column(column: Section, context: Context, *, key: str, title: str) -> ColumnSource:
    sorting = column.text("sorting", "desc").lower()
    if sorting not in ("asc", "desc", "ascending", "descending"):
        place = column.place_of("sorting")
        context.notes.warn(place, f"The sorting {sorting} is unknown; desc was taken.", "Write asc or desc.")
    precision = column.integer("precision", 2)
    return ColumnSource(
        key=key,
        title=title,
        is_ascending=sorting in ("asc", "ascending"),
        precision=min(precision, MOST_DIGITS),
        is_hidden=column.boolean("hidden", False),
    )


def _computed(
    section: Section, column: ColumnSource, context: Context, found: dict[int, tuple[Section, ColumnSource]]
) -> ColumnSource:
    """The column with what it is computed of; the indexes are those of other columns."""
    written = section.text("computation").lower()
    if not written:
        return column
    notes = context.notes
    computation = _COMPUTATIONS.get({"average": "avg", "mean": "avg"}.get(written, written))
    if computation is None:
        mend = f"Write one of {', '.join(_COMPUTATIONS)}."
        notes.warn(
            section.place_of("computation"), f"The computation {written} is unknown and was left out.", mend
        )
        return column
    fields = []
    value = section.get("computation_indexes")
    if value is None:
        section.missing("computation_indexes", what=f" for the computation {written}")
        return column
    for text in value.texts():
        index = whole_number(text.strip("'\""))
        if index is None or index not in found or found[index][1].key == column.key:
            there = ", ".join(str(one) for one in sorted(found) if found[one][1].key != column.key) or "none"
            message = f"The column {column.key} cannot be computed of a column with the index {text}."
            notes.error(value.place, message, f"The indexes of the other columns are: {there}.")
        else:
            fields.append(found[index][1].key)
    return ColumnSource(
        key=column.key,
        title=column.title,
        is_ascending=column.is_ascending,
        precision=column.precision,
        is_hidden=column.is_hidden,
        computation=computation,
        fields=tuple(dict.fromkeys(fields)),
    )
