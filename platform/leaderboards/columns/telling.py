"""The rules of a board of columns in sentences, for pages and exports."""

from competitions.columns import OF_RANKS, is_ascending
from competitions.models import Column, ColumnBoard, Phase
from leaderboards.columns.reading import ColumnLook

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
    Phase.TieRule.EARLIER: "then the earlier submission",
    Phase.TieRule.SHARED: "and who is equal in all of them shares a place",
}


def sentences(look: ColumnLook) -> list[str]:
    """How the board is made."""
    board = look.board
    if board is None:
        return []
    told = [RULES[ColumnBoard.Rule(board.rule)]]
    column = look.deciding
    if column is not None:
        many = len(look.tasks)
        over = f", by its mean over the {many} tasks; a missing one comes last" if many > 1 else ""
        told.append(
            f"Places follow {column.title} ({direction(column)} leads{over}), then the other columns in their "
            f"order, {TIES[Phase.TieRule(look.phase.tie_rule)]}."
        )
    else:
        told.append("Places follow a column that is not shown here.")
    told += [sentence for column in look.columns if (sentence := computation(column, look))]
    told.append(
        "Organizers take no place." if look.phase.ranks_baselines else "Baselines and organizers take no place."
    )
    return told


def direction(column: Column) -> str:
    """Which value leads."""
    return "the smallest" if is_ascending(column) else "the greatest"


def computation(column: Column, look: ColumnLook) -> str:
    """Of what a column is computed; nothing for one that the scoring program fills, or of columns not shown."""
    titles = {one.key: one.title for one in look.columns}
    if not column.computation or not all(key in titles for key in column.fields):
        return ""
    fields = ", ".join(titles[key] for key in column.fields)
    numbers = ", ".join(f"{weight:g}" for weight in column.weights)
    weights = f", with the weights {numbers}" if numbers else ""
    missing = " A missing value ranks one behind the worst." if column.computation in OF_RANKS else ""
    return f"{column.title} is {Column.Computation(column.computation).label}: {fields}{weights}.{missing}"
