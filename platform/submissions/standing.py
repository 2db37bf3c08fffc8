"""What stands: the score of a submission on a task, and the submission of an entrant in a phase.

Boards, hand-overs and pages ask here, so that they cannot differ.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from competitions.models import Phase
from submissions.models import Run, RunState, Score, Submission

WITHOUT_SCORE = (RunState.FAILED, RunState.CANCELLED)


@dataclass(frozen=True)
class StandingScore:
    """The score that stands for a submission on one task and part, and the spread of its repeats.

    `run` is the run it comes from. `lowest` and `highest` are the ends of the normalised values of the `scored`
    repeats that have a score, out of `runs`.
    """

    score: Score
    run: Run
    lowest: float
    highest: float
    scored: int
    runs: int


def standing_score(runs: Iterable[Run], part: str) -> StandingScore | None:
    """The score that stands for one submission on one task: the lower median of its repeats by value.

    `runs` are the repeats, with their `scores` prefetched. A repeat that ended without a score counts as lower
    than any score, so the median of three of which two failed is missing: None. Repeats that have not ended are
    left out until they do, except where an earlier score stays until a new one replaces it.
    """
    scored: list[tuple[Score, Run]] = []
    without, total = 0, 0
    for run in runs:
        total += 1
        score = None
        if run.state not in WITHOUT_SCORE:
            score = next((score for score in run.scores.all() if score.part == part), None)
        if score is not None:
            scored.append((score, run))
        elif run.has_ended:
            without += 1
    place = (len(scored) + without - 1) // 2 - without
    if not scored or place < 0:
        return None
    scored.sort(key=lambda pair: (pair[0].value, pair[1].repeat))
    score, run = scored[place]
    return StandingScore(score, run, scored[0][0].value, scored[-1][0].value, len(scored), total)


def runs_by_task(runs: Iterable[Run]) -> dict[int, list[Run]]:
    """The runs of one submission by the id of their task, repeats together."""
    found: dict[int, list[Run]] = {}
    for run in runs:
        found.setdefault(run.task_id, []).append(run)
    return found


def public_scores(
    runs: Mapping[int, Sequence[Run]], task_ids: Sequence[int], *, part: str, digits: int
) -> tuple[float | None, ...]:
    """The rounded scores of one submission over the tasks of its phase; None where one is missing.

    `runs` are those of the submission by task. They decide which submission is the best one, so they are what
    people see.
    """
    found = [standing_score(runs.get(task, ()), part) for task in task_ids]
    return tuple(None if one is None else round(one.score.value, digits) + 0.0 for one in found)


def best_first(table: Sequence[Sequence[float | None]]) -> list[tuple[float, float]]:
    """A key for each of one entrant's submissions, the smallest for the best; a row of scores for each.

    Its mean rank among these submissions (dense rank on each task, missing is worst + 1), then its mean score,
    missing counted 0, turned round. Submissions of others play no part, so nobody can change which one is best.
    """
    ladders = [
        sorted({value for value in column if value is not None}, reverse=True)
        for column in zip(*table, strict=True)
    ]
    keys = []
    for scores in table:
        ranks = [
            len(ladder) + 1 if value is None else ladder.index(value) + 1
            for value, ladder in zip(scores, ladders, strict=True)
        ]
        many = max(len(scores), 1)
        keys.append((sum(ranks) / many, -sum(value or 0.0 for value in scores) / many))
    return keys


def standing_submission(
    submissions: Iterable[Submission],
    *,
    counts: str,
    scores: Callable[[Submission], Sequence[float | None]] | None = None,
    interim: bool = False,
) -> Submission | None:
    """The submission that stands for an entrant in a phase; None where none competes.

    `submissions` are those of one entrant in one phase. `counts` is the phase's rule; `scores` gives the public
    scores of a submission on the feedback part (`public_scores`) and is needed for `best` alone, where the
    earlier of two equal ones stands.
    With `interim`, what a board shows meanwhile: one that runs for the first time steps back behind those that
    have ended, so that nobody disappears from the board by waiting.
    """
    competing = sorted((one for one in submissions if one.competes), key=attrgetter("received_at", "pk"))
    if interim:
        competing = [one for one in competing if not one.is_first_running] or competing[-1:]
    if not competing:
        return None
    if counts == Phase.Counts.BEST:
        if scores is None:
            raise ValueError("the best submission cannot be found without scores")
        keys = best_first([scores(one) for one in competing])
        return competing[keys.index(min(keys))]  # of equal ones the first, which is the earliest
    if counts == Phase.Counts.CHOSEN:
        return next((one for one in reversed(competing) if one.is_chosen), competing[-1])
    return competing[-1]
