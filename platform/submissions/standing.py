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


def mean_public_score(
    runs: Mapping[int, Sequence[Run]], task_ids: Sequence[int], *, part: str, digits: int
) -> float:
    """The mean of the rounded scores of one submission over the tasks of its phase; a missing one counts 0.

    `runs` are those of the submission by task. It decides which submission is the best one, so it is made of
    what people see.
    """
    if not task_ids:
        return 0.0
    found = [standing_score(runs.get(task, ()), part) for task in task_ids]
    return sum(round(one.score.value, digits) for one in found if one is not None) / len(task_ids)


def standing_submission(
    submissions: Iterable[Submission],
    *,
    counts: str,
    value: Callable[[Submission], float] | None = None,
    interim: bool = False,
) -> Submission | None:
    """The submission that stands for an entrant in a phase; None where none competes.

    `submissions` are those of one entrant in one phase. `counts` is the phase's rule; `value` gives the mean
    public score of a submission and is needed for `best` alone, where the earlier of two equal ones stands.
    With `interim`, what a board shows meanwhile: one that runs for the first time steps back behind those that
    have ended, so that nobody disappears from the board by waiting.
    """
    competing = sorted((one for one in submissions if one.competes), key=attrgetter("received_at", "pk"))
    if interim:
        competing = [one for one in competing if not one.is_first_running] or competing[-1:]
    if not competing:
        return None
    if counts == Phase.Counts.BEST:
        if value is None:
            raise ValueError("the best submission cannot be found without values")
        return max(competing, key=value)  # of equal ones `max` gives the first, which is the earliest
    if counts == Phase.Counts.CHOSEN:
        return next((one for one in reversed(competing) if one.is_chosen), competing[-1])
    return competing[-1]
