"""Leaderboards of version 1.5: several boards, groups of columns, and columns computed of ranks."""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass, field

import yaml

from bundles.reading import keys
from bundles.reading.contest import BoardSource, ColumnSource, Computation, Rule
from bundles.reading.context import LONGEST_KEY, LONGEST_NAME, LONGEST_TITLE, Context
from bundles.reading.nodes import Section, Value

_OPERATIONS = {
    "avg": Computation.MEAN_RANK,
    "mrr": Computation.RECIPROCAL_RANK,
    "max": Computation.MAX,
    "min": Computation.MIN,
    "sum": Computation.SUM,
}
# What CodaLab makes of numeric_format: between one and ten digits, two when it is no number.
_DIGITS, _MOST_DIGITS = 2, 10
_LAST = 10**6


@dataclass
class _Board:
    key: str
    title: str
    rank: int
    node: yaml.Node | None = None
    columns: list[_Column] = field(default_factory=list)


@dataclass
class _Column:
    section: Section
    source: ColumnSource
    rank: int
    selection: int


def read_boards(top: Section, context: Context, rule: Rule) -> tuple[BoardSource, ...]:
    """The boards that have columns, by their rank; the column that decides is the one selected by default."""
    leaderboard = top.section("leaderboard", required=True)
    if leaderboard is None:
        return ()
    leaderboard.check_keys(keys.LEADERBOARD_1)
    boards = _boards(leaderboard, context)
    groups = _groups(leaderboard)
    columns = leaderboard.section("columns", required=True)
    for key, value in (columns.values if columns else {}).items():
        section = value.section()
        if section is None:
            context.notes.error(
                value.place, f"The column {key} must be a mapping.", "Write its label and leaderboard."
            )
            continue
        section.check_keys(keys.COLUMN_1, keys.COLUMN_1_IGNORED)
        column = _column(key, section, context, groups)
        _board_of(section, boards, context).columns.append(column)
    for board in boards:
        if not board.columns:
            context.notes.warn(leaderboard.place_of("leaderboards"), f"The board {board.title} has no columns.")
    filled = sorted((board for board in boards if board.columns), key=lambda board: board.rank)
    computed = _with_computed(filled, context)
    return tuple(_finished(board, computed[board.key], rule) for board in filled)


def _boards(leaderboard: Section, context: Context) -> list[_Board]:
    section = leaderboard.section("leaderboards")
    boards = []
    for name, value in (section.values if section else {}).items():
        board = value.section()
        if board is None:
            context.notes.error(value.place, f"The board {name} must be a mapping.", "Write its label and rank.")
            continue
        board.check_keys(keys.BOARD_1)
        title = board.text("label", name, longest=LONGEST_TITLE)
        boards.append(_Board(name[:LONGEST_KEY], title, board.integer("rank", _LAST), board.node))
    return boards


def _groups(leaderboard: Section) -> dict[int, str]:
    """The labels of column groups by the nodes they are: columns refer to them by YAML aliases."""
    section = leaderboard.section("column_groups")
    found = {}
    for name, value in (section.values if section else {}).items():
        group = value.section()
        if group is not None:
            group.check_keys(keys.GROUP_1, keys.GROUP_1_IGNORED)
            found[id(value.node)] = group.text("label", name, longest=LONGEST_NAME)
    return found


def _label_of(value: Value) -> str:
    """What a reference says: the label of the mapping it is, or the name it is."""
    section = value.section()
    return section.text("label") if section else value.text or ""


def _board_of(section: Section, boards: list[_Board], context: Context) -> _Board:
    """The board that a column refers to: by alias, else by its label or name, else the first."""
    value = section.get("leaderboard")
    if value is not None:
        label = _label_of(value)
        for board in boards:
            if board.node is value.node:
                return board
        for board in boards:
            if label and label.lower() in (board.title.lower(), board.key.lower()):
                return board
        if label and value.section() is not None:
            boards.append(_Board(label[:LONGEST_KEY], label, len(boards) + 1, value.node))
            return boards[-1]
    if not boards:
        boards.append(_Board("Results", "Results", 1))
    if value is not None or len(boards) > 1:
        place = section.place_of("leaderboard")
        context.notes.warn(place, f"The column belongs to no leaderboard; it was put on {boards[0].title}.")
    return boards[0]


def _column(key: str, section: Section, context: Context, groups: dict[int, str]) -> _Column:
    notes = context.notes
    sort = section.text("sort", "desc").lower()
    if sort not in ("asc", "desc"):
        notes.warn(section.place_of("sort"), f"The sort {sort} is unknown; desc was taken.", "Write asc or desc.")
    group = section.get("column_group")
    source = ColumnSource(
        key=key[:LONGEST_KEY],
        title=section.text("label", key, longest=LONGEST_NAME),
        group="" if group is None else groups.get(id(group.node), _label_of(group)[:LONGEST_NAME]),
        is_ascending=sort == "asc",
        precision=_digits(section.text("numeric_format")),
    )
    return _Column(section, source, section.integer("rank", _LAST), section.integer("selection_default", 0))


def _digits(written: str) -> int:
    found = re.search(r"\d+", written)
    return min(_MOST_DIGITS, max(1, int(found[0]))) if found else _DIGITS


def _with_computed(boards: list[_Board], context: Context) -> dict[str, list[_Column]]:
    """The columns of every board, with what they are computed of.

    A column may be computed of columns of another board; these come to its own board, hidden.
    """
    everywhere = {column.source.key: column for board in boards for column in board.columns}
    result: dict[str, list[_Column]] = {}
    for board in boards:
        columns = [
            dataclasses.replace(column, source=_computed(column, everywhere, context)) for column in board.columns
        ]
        here = {column.source.key for column in columns}
        for column in list(columns):
            for name in column.source.fields:
                if name not in here:
                    here.add(name)
                    other = everywhere[name]
                    hidden = dataclasses.replace(_bare(other.source), is_hidden=True)
                    columns.append(dataclasses.replace(other, source=hidden, rank=2 * _LAST, selection=-1))
        result[board.key] = columns
    return result


def _bare(source: ColumnSource) -> ColumnSource:
    return dataclasses.replace(source, computation=Computation.NONE, fields=(), weights=())


def _computed(column: _Column, everywhere: dict[str, _Column], context: Context) -> ColumnSource:
    section = column.section.section("computed")
    if section is None:
        return column.source
    section.check_keys(keys.COMPUTED_1)
    notes = context.notes
    operation = section.text("operation", required=True)
    computation = _OPERATIONS.get(operation.lower())
    if computation is None:
        if operation:
            mend = "Write Avg, MRR or Max."
            notes.warn(
                section.place_of("operation"), f"The operation {operation} is unknown; it was left out.", mend
            )
        return column.source
    fields = section.values["fields"].texts() if "fields" in section.values else []
    if not fields:
        section.missing("fields", what=f" of the computed column {column.source.key}")
    for name in fields:
        if name not in everywhere or name == column.source.key:
            there = ", ".join(key for key in everywhere if key != column.source.key)
            message = f"The column {column.source.key} is computed of {name}, which is no other column."
            notes.error(section.place_of("fields"), message, f"The columns are: {there[:300]}.")
        elif everywhere[name].section.get("computed") is not None:
            message = f"The column {column.source.key} is computed of {name}, which is computed itself."
            notes.error(section.place_of("fields"), message, "Name columns that the scoring program fills.")
    known = tuple(name for name in dict.fromkeys(fields) if name in everywhere and name != column.source.key)
    return dataclasses.replace(
        column.source, computation=computation, fields=known, weights=_weights(section, len(fields), context)
    )


def _weights(section: Section, fields: int, context: Context) -> tuple[float, ...]:
    """One positive number for each field, or nothing: equal weights."""
    if "weights" not in section.values:
        return ()
    written = section.values["weights"].texts()
    if not written:
        return ()
    try:
        weights = tuple(float(one) for one in written)
    except ValueError:
        weights = ()
    usable = all(math.isfinite(one) and one >= 0 for one in weights) and sum(weights) > 0
    if len(weights) != fields or not usable:
        message = f"The weights are not {fields} numbers from 0 up, one for each field; equal ones were taken."
        context.notes.warn(section.place_of("weights"), message, "Write one number for each field, with commas.")
        return ()
    return weights


def _finished(board: _Board, columns: list[_Column], rule: Rule) -> BoardSource:
    ordered = sorted(columns, key=lambda column: column.rank)
    # As CodaLab chooses: the greatest selection_default, the first of those that are equal.
    primary = max(ordered, key=lambda column: column.selection)
    return BoardSource(
        key=board.key,
        title=board.title,
        rule=rule,
        primary=primary.source.key,
        columns=tuple(column.source for column in ordered),
    )
