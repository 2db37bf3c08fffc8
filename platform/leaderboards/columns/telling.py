"""The rules of a board of columns in sentences, for pages and exports."""

from collections.abc import Sequence

from competitions.columns import OF_RANKS, is_ascending
from competitions.models import Column, ColumnBoard, Phase
from leaderboards.columns.reading import ColumnLook, shown_deciding

RULES = {
    ColumnBoard.Rule.ADD: "Entrants add one submission to it; another takes its place, and none is taken away.",
    ColumnBoard.Rule.ADD_AND_DELETE: "Entrants add one submission to it, and may take it away again.",
    ColumnBoard.Rule.ADD_AND_DELETE_MULTIPLE: "Entrants add as many of their submissions as they like, and may "
    "take them away again.",
    ColumnBoard.Rule.FORCE_LAST: "The latest finished submission of an entrant stands on it.",
    ColumnBoard.Rule.FORCE_LATEST_MULTIPLE: "Every finished submission stands on it.",
    ColumnBoard.Rule.FORCE_BEST: "The best finished submission of an entrant stands on it, of equal ones the "
    "earliest.",
}
TIES = {
    Phase.TieRule.EARLIER: "Of equal ones the earlier submission leads.",
    Phase.TieRule.SHARED: "Who is equal in all of them shares a place.",
}


def rules_of(board: ColumnBoard, columns: Sequence[Column]) -> list[str]:
    """How a board is made, for somebody who sees these columns of it."""
    column = shown_deciding(board, columns)
    by = (
        f"Places follow {column.title} ({direction(column)} leads), then the other columns in their order."
        if column is not None
        else "Places follow a column that is not shown."
    )
    return [RULES[ColumnBoard.Rule(board.rule)], by]


def sentences(look: ColumnLook) -> list[str]:
    """How a board is made in the phase that is looked at."""
    if look.board is None:
        return []
    told = rules_of(look.board, look.columns)
    if len(look.tasks) > 1:
        told.append(f"What counts is the mean over the {len(look.tasks)} tasks; who misses one stands behind.")
    told.append(TIES[Phase.TieRule(look.phase.tie_rule)])
    told += filter(None, (computation(column, look.columns) for column in look.columns))
    told.append(
        "Organizers take no place." if look.phase.ranks_baselines else "Baselines and organizers take no place."
    )
    return told


def direction(column: Column) -> str:
    """Which value leads."""
    return "the smallest" if is_ascending(column) else "the greatest"


def meaning(column: Column, columns: Sequence[Column]) -> str:
    """What a column says: which value leads, and of what it is computed."""
    leads = f"{direction(column).capitalize()} value leads."
    return " ".join(filter(None, [leads, computation(column, columns)]))


def computation(column: Column, columns: Sequence[Column]) -> str:
    """Of what a column is computed; nothing for one that the scoring program fills, or of columns not shown."""
    titles = {one.key: one.title for one in columns}
    if not column.computation or not all(key in titles for key in column.fields):
        return ""
    fields = ", ".join(titles[key] for key in column.fields)
    numbers = ", ".join(f"{weight:g}" for weight in column.weights)
    weights = f", with the weights {numbers}" if numbers else ""
    missing = " A missing value ranks one behind the worst." if column.computation in OF_RANKS else ""
    return f"{column.title} is {Column.Computation(column.computation).label}: {fields}{weights}.{missing}"
