"""Design spaces: all submissions of an entrant as a sample of what they tried, compared with those of others."""

import datetime as dt

from analysis.inputs.audience import Audience, looks
from analysis.inputs.boards import Loaded, load_boards
from analysis.inputs.entrants_models import candidates, models_of, state_of
from analysis.measures.spaces.samples import LEAST
from analysis.results import Note, Result
from analysis.sections.base import Section, Tell
from analysis.spaces.comparing import MOST_COMPARED, compare
from analysis.spaces.modelset import Options
from competitions.models import Competition
from leaderboards.columns import is_programmed

COMPLEXITIES = ("wall_seconds", "archive_bytes")
BINS = 5  # entrants have tens of submissions, not the paper's thousands
ONE_PHASE = "Submissions can be compared within one phase: choose one."
CONCEALED = "Names are not shown on this board, and how many submissions somebody made would tell whose they are."
FEW = f"No entrant has {LEAST} submissions here, which is the least that can be compared."


def load(competition: Competition, audience: Audience, now: dt.datetime) -> Loaded:
    """The board of the phase and part, who has enough submissions there, and the state of their scores."""
    seen = [
        look
        for look in looks(competition, audience, now)
        if audience.asks_for(look) and not is_programmed(look.phase)
    ]
    if not seen:
        return Loaded(())
    # Of several boards only one is loaded, to say that one has to be chosen.
    one = Audience(audience.sees_hidden, seen[0].phase.pk, seen[0].part or "")
    boards = load_boards(competition, one, now)
    if len(seen) > 1:
        return Loaded(boards, {"choices": len(seen)})
    found = candidates(boards[0])
    kept = found[:MOST_COMPARED]
    state = state_of(boards[0], [entrant for entrant, _, _ in kept]) if kept else []
    return Loaded(boards, {"entrants": kept, "count": len(found), "state": state})


def build(loaded: Loaded, tell: Tell) -> Result:
    """The comparison of the entrants with most submissions."""
    if loaded.facts.get("choices", 1) > 1:
        return _nothing(ONE_PHASE)
    board, kept = loaded.boards[0], loaded.facts["entrants"]
    if not kept:
        return _nothing(CONCEALED if board.is_anonymous else FEW)
    sets = []
    for done, (entrant, name, _) in enumerate(kept):
        tell(0.3 * done / len(kept), "Loading submissions")
        sets.append(models_of(board, entrant, name))
    options = Options(complexities=COMPLEXITIES, bins=BINS, is_log=True)
    found = compare(sets, options, lambda share, what: tell(0.3 + 0.7 * share, what))
    left_out = loaded.facts["count"] - len(kept)
    about = (
        f"Each submission to {board.title} is a model; its error is 1 - the mean of its scores. They are no "
        "random samples of anything: who submits has looked at earlier scores, so the tests say whether the "
        "submissions differ, not whether the methods would."
    )
    notes = [Note(about)]
    if left_out:
        notes.append(
            Note(f"Of {loaded.facts['count']} entrants the {len(kept)} with most submissions are compared.")
        )
    return Result(found.headline, (*notes, *found.blocks), found.methods, found.references)


def _nothing(why: str) -> Result:
    return Result(why, (Note(why),))


SECTION = Section(
    key="spaces",
    label="Design spaces",
    question="How good is what each entrant tried as a whole, apart from their best submission?",
    load=load,
    build=build,
    of_phase=True,
)
