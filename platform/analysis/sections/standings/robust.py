"""Who would win if something were left out, and how much the winners of a round gained."""

from typing import Any

import numpy as np

from analysis.measures.ranks import mean_rank
from analysis.results import Block, Column, Heading, Table
from analysis.sections.standings.view import View, counted, listed
from leaderboards.ranking import Table as RankTable
from leaderboards.ranking import rank_table
from leaderboards.robustness import DATASET, ENTRANT, WAY, Change, winner_changes

WAYS = {
    "mean_score": "ranked by ⟨S⟩, the mean score",
    "average_ranks": "ranked by fractional ranks",
    "median_rank": "ranked by the median of the ranks",
    "normalised_score": "ranked by scores scaled to 0 for the worst and 1 for the best of each dataset",
}


def blocks(view: View) -> list[Block]:
    """Leave-one-out winners; nothing where there are no two entrants."""
    if view.count < 2:
        return []
    changes = _changes(view)
    of_dataset = {change.key: change.winners for change in changes if change.kind == DATASET}
    of_entrant = [change for change in changes if change.kind == ENTRANT]
    of_way = [change for change in changes if change.kind == WAY]
    found: list[Block] = [
        Heading("Would another choice give another winner?", "Each choice is changed alone, all else as it is.")
    ]
    if view.tasks > 1:
        found.append(_datasets(view, of_dataset))
    found.append(_others(view, of_way, of_entrant))
    return found


def _changes(view: View) -> list[Change]:
    table = RankTable(
        entrants=np.arange(view.count, dtype=np.int64),
        scores=view.from_zero,
        received=view.received,
        ranked=np.ones(view.count, dtype=bool),
    )
    ranking = rank_table(table, tie_rule=view.board.tie_rule)
    return winner_changes(table, ranking.task_ranks, tie_rule=view.board.tie_rule)


def _datasets(view: View, changed: dict[Any, tuple[int, ...]]) -> Table:
    usual = [view.names[row] for row in range(view.count) if view.places[row] == 1]
    rows = []
    for index, name in enumerate(view.datasets):
        means = mean_rank(np.delete(view.ranks, index, axis=1))
        winners = [view.names[row] for row in changed[index]] if index in changed else usual
        rest = np.sort(means)
        rows.append((name, listed(winners), index in changed, float(rest[1] - rest[0])))
    columns = (
        Column("dataset", "Left out"),
        Column("winner", "Winner"),
        Column("is_changed", "Another winner"),
        Column("lead", "Lead in ⟨R⟩", "number", 2, "Between the two best."),
    )
    sentence = (
        f"The first place changes without {listed([view.datasets[index] for index in sorted(changed)])}"
        f"{', each left out alone' if len(changed) > 1 else ''}"
        f"{'; leaving out another changes nothing' if len(changed) < view.tasks else ''}."
        if changed
        else f"{listed(usual)} would win without any one of the {view.tasks} datasets."
    )
    return Table("without_dataset", "Winner without one dataset", columns, tuple(rows), sentence)


def _others(view: View, ways: list[Change], entrants: list[Change]) -> Table:
    rows = [
        (WAYS.get(str(change.key), str(change.key)), listed([view.names[row] for row in change.winners]))
        for change in ways
    ]
    rows += [
        (
            f"without {view.names[int(change.key)]}",
            listed([view.names[row] for row in change.winners]),
        )
        for change in entrants
    ]
    left_out = [view.names[int(change.key)] for change in entrants]
    said = (
        f"The winner depends on who else takes part: without {listed(left_out)} another entrant would win"
        if left_out
        else f"Leaving out any one of the {counted(view.count, 'entrant')} changes no winner"
    )
    said += f"; {len(ways)} of {len(WAYS)} other ways of ranking give another winner."
    columns = (Column("change", "If"), Column("winner", "the winner is"))
    return Table("other_winners", "What else would change the winner", columns, tuple(rows), said)


def rises(facts: list[dict[str, Any]]) -> list[Block]:
    """UP %: of each round whose AutoML and Final phases the audience sees."""
    rows = [
        (
            one["round"],
            listed(one["before"], 3),
            one["before_score"],
            listed(one["after"], 3),
            one["after_score"],
            None if one["percent"] is None else round(one["percent"], 4),
        )
        for one in facts
    ]
    if not rows:
        return []
    columns = (
        Column("round", "Round"),
        Column("automl", "First in AutoML"),
        Column("automl_score", "Their ⟨S⟩", "number", 4),
        Column("final", "First in Final"),
        Column("final_score", "Their ⟨S⟩", "number", 4),
        Column("up", "UP %", "number", 1, "Rise of the mean ⟨S⟩ of up to three winners."),
    )
    known = [one["percent"] for one in facts if one["percent"] is not None]
    sentence = (
        f"From blind code to tweaked code the winners' mean score changed by {min(known):+.0f} % to "
        f"{max(known):+.0f} % ({counted(len(known), 'round')})."
        if known
        else "There is no positive mean score to rise from."
    )
    return [
        Heading("What tweaking gained", "UP %: the mean ⟨S⟩ of up to three winners, Final against AutoML (10.3)."),
        Table("up", "UP % by round", columns, tuple(rows), sentence),
    ]
