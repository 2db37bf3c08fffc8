"""Standings: who is ahead by which rule, and whether the datasets are enough to tell."""

import datetime as dt
from typing import Any

from analysis.inputs.audience import Audience, looks
from analysis.inputs.boards import load_boards
from analysis.inputs.sizes import best_balanced, rows_of
from analysis.inputs.tables import Loaded
from analysis.references import CHAPTER
from analysis.results import Block, Note, Result
from analysis.sections.base import Section, Tell
from analysis.sections.standings import chances, duel, errors, places, robust, significance
from analysis.sections.standings.view import View, counted, listed, view_of
from competitions.models import Competition, Phase
from leaderboards.series import in_series, rises

REFERENCES = (
    CHAPTER,
    "Demšar, J.: Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, 2006.",
    "Iman, R. L., Davenport, J. M.: Approximations of the critical region of the Friedman statistic. "
    "Communications "
    "in Statistics 9(6), 571-595, 1980.",
    "Efron, B., Tibshirani, R. J.: An introduction to the bootstrap. Chapman and Hall, 1993.",
    "Davison, A. C., Hinkley, D. V.: Bootstrap methods and their application. Cambridge University Press, 1997.",
    "Gijsbers, P., et al.: An open source AutoML benchmark. arXiv:1907.00909, 2019.",
)
METHODS = (
    "Entrants are ranked on each dataset by dense ranks, and ordered by the mean of them. Differences over "
    "datasets are "
    "tested by Friedman's test with Nemenyi's critical differences at 5 %; a missing score is the last rank. "
    "Uncertainty from the test sets is that of a paired bootstrap of their rows, uncertainty from the choice of "
    "datasets that of a two-stage bootstrap of datasets and rows."
)


def load(competition: Competition, audience: Audience, now: dt.datetime) -> Loaded:
    """The board that was asked for, or those of all phases of a kind; and what tells of datasets and rounds."""
    boards = load_boards(competition, audience, now, programmed=True)
    if not audience.kind:
        boards = boards[:1]
    facts = {
        "rows": rows_of(boards),
        "balanced": best_balanced(boards),
        "rises": _rises(competition, audience, now),
    }
    return Loaded(boards, facts)


def _rises(competition: Competition, audience: Audience, now: dt.datetime) -> list[dict[str, Any]]:
    """UP % of the rounds whose Final and AutoML boards the audience sees, as plain values."""
    seen = [look for look in looks(competition, audience, now) if look.part == Phase.Part.TEST]
    return [
        {
            "round": f"{rise.automl.round.number} {rise.automl.round.name}".strip(),
            "before": [winner.name for winner in rise.before],
            "before_score": _mean([winner.mean_score for winner in rise.before]),
            "after": [winner.name for winner in rise.after],
            "after_score": _mean([winner.mean_score for winner in rise.after]),
            "percent": rise.percent,
        }
        for rise in rises(in_series(seen))
    ]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def build(loaded: Loaded, tell: Tell) -> Result:
    """Places, what would change them, what tests and draws say of them, and every score with its error bar."""
    tell(0.05, "Loads the replicates behind the scores.")
    view = view_of(loaded.boards)
    if view is None:
        said = "Nobody competes on this board, so there is nothing to compare."
        return Result(said, (Note(said),), METHODS, REFERENCES)
    blocks: list[Block] = [places.note(view)]
    tell(0.2, "Ranks in every draw of test rows.")
    blocks += places.blocks(view)
    tell(0.6, "Leaves out datasets and entrants.")
    blocks += robust.blocks(view)
    blocks += robust.rises(loaded.facts["rises"])
    tell(0.7, "Tests whether the datasets tell entrants apart.")
    blocks += significance.blocks(view)
    blocks += chances.blocks(view)
    tell(0.9, "Puts scores and error bars together.")
    blocks += errors.blocks(view, loaded.facts)
    return Result(_headline(view), tuple(blocks), METHODS, REFERENCES)


def _headline(view: View) -> str:
    first = places.leaders(view)
    said = f"{listed(first)} {'leads' if len(first) == 1 else 'lead'} {counted(view.count, 'entrant')} with ⟨R⟩ "
    said += f"{view.means[0]:.2f} on {counted(view.tasks, 'dataset')}"
    if view.moves and view.count > 1:
        rows, datasets = chances.chance_of_leader(view)
        said += (
            f"; {view.names[0]} leads in {rows:.0%} of draws of test rows and {datasets:.0%} of draws of datasets"
        )
    return said + "."


SECTION = Section(
    key="standings",
    label="Standings",
    question="Who is ahead, by which rule, and can the datasets tell?",
    load=load,
    build=build,
    of_phase=True,
    version="2",
    tools=(duel.TOOL,),
)
