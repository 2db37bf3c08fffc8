"""What stands for each entrant of a phase, in public numbers: the rows of a board before they are ranked."""

import datetime as dt
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch, QuerySet

from competitions.models import Entrant, Phase
from submissions.models import Run, RunState, Score, Submission
from submissions.public import coarse_seconds, public_score
from submissions.standing import StandingScore, public_scores, runs_by_task, standing_score, standing_submission

PARTS = (Phase.Part.VALID, Phase.Part.TEST)
AT_ONCE = 300  # entrants loaded together: bounds memory and the number of parameters of a query
# What is read of each, so that a thousand cost less.
OF_SUBMISSION = (
    "phase", "received_at", "arrival", "state", "ended_at", "disqualified_at", "is_chosen", "entrant__name",
    "entrant__is_baseline", "entrant__held_a_role", "entrant__owes_answers",
)  # fmt: skip
OF_RUN = ("submission", "task", "order", "repeat", "state", "dataset_name", "wall_seconds")
Runs = dict[int, list[Run]]  # of one submission, by task


@dataclass(frozen=True)
class Standing:
    """The submission that stands for an entrant, and what a board shows of it.

    `cells` has for each part one dictionary for each task, as `LeaderboardRow.stored_cells` keeps them.
    """

    entrant: Entrant
    submission: Submission
    cells: dict[str, list[dict[str, Any]]]
    entries: int
    last_received_at: dt.datetime
    wall_seconds: float | None

    def has_score(self, part: str) -> bool:
        """Whether it has a score on any task."""
        return any(cell["value"] is not None for cell in self.cells[part])

    def is_on(self, part: str) -> bool:
        """Whether the board lists it: who has no score yet and still waits is not there; a failed entry is."""
        return not self.submission.is_first_running or self.has_score(part)


def board_part(phase: Phase) -> str:
    """The part that decides the board: the feedback part while people submit, else the test part."""
    return phase.feedback_part if phase.takes_submissions else Phase.Part.TEST


def name_key(name: str) -> str:
    """The name as boards sort and search it, on every database alike."""
    return unicodedata.normalize("NFKC", name).casefold()[:240]


def entries_that_count(phase: Phase, entrants: Collection[int] | None = None) -> dict[int, Submission]:
    """Map each entrant, or each of those given, to the submission that stands for it on the board."""
    return {found.entrant.pk: found.submission for found in standings(phase, task_ids_of(phase), entrants)}


def standings(
    phase: Phase, task_ids: Sequence[int], entrants: Collection[int] | None = None
) -> Iterator[Standing]:
    """What stands for every entrant of a phase, or for those given, in bounded pieces of four queries."""
    if entrants is None:
        entrants = list(phase.submissions.order_by("entrant").values_list("entrant", flat=True).distinct())
    ordered = sorted(entrants)
    for start in range(0, len(ordered), AT_ONCE):
        yield from _standings(phase, task_ids, ordered[start : start + AT_ONCE])


def task_ids_of(phase: Phase) -> list[int]:
    """The tasks that a board ranks by, in their order: those in quarantine are left out."""
    return list(phase.tasks.filter(quarantined_at=None).order_by("order", "id").values_list("pk", flat=True))


def _standings(phase: Phase, task_ids: Sequence[int], entrants: Sequence[int]) -> Iterator[Standing]:
    made: dict[int, list[Submission]] = defaultdict(list)
    submissions = phase.submissions.filter(entrant__in=entrants).exclude(state=Submission.State.CANCELLED)
    for submission in submissions.select_related("entrant").only(*OF_SUBMISSION):
        made[submission.entrant_id].append(submission)
    is_best = phase.counts == Phase.Counts.BEST
    runs = _runs(Run.objects.filter(submission__phase=phase, submission__entrant__in=entrants)) if is_best else {}

    def scores(submission: Submission) -> tuple[float | None, ...]:
        own = runs.get(submission.pk, {})
        return public_scores(own, task_ids, part=phase.feedback_part, digits=phase.score_digits)

    standing = {
        entrant: standing_submission(own, counts=phase.counts, scores=scores, interim=True)
        for entrant, own in made.items()
    }
    chosen = [submission for submission in standing.values() if submission is not None]
    if not is_best:
        runs = _runs(Run.objects.filter(submission__in=chosen))
    for submission in chosen:
        own, found = made[submission.entrant_id], runs.get(submission.pk, {})
        yield Standing(
            entrant=submission.entrant,
            submission=submission,
            cells={part: [_cell(phase, found.get(task, []), part) for task in task_ids] for part in PARTS},
            entries=len(own),
            last_received_at=max(one.received_at for one in own),
            wall_seconds=_seconds(phase, found),
        )


def _runs(chosen: QuerySet[Run]) -> dict[int, Runs]:
    """The runs by submission and task, with their scores: two queries."""
    by_submission: dict[int, list[Run]] = defaultdict(list)
    scores = Prefetch("scores", Score.objects.only("run", "part", "metric", "value", "stderr"))
    for run in chosen.only(*OF_RUN).prefetch_related(scores):
        by_submission[run.submission_id].append(run)
    return {submission: runs_by_task(runs) for submission, runs in by_submission.items()}


def _cell(phase: Phase, runs: list[Run], part: str) -> dict[str, Any]:
    found = standing_score(runs, part)
    shown = None if found is None else public_score(found.score, phase)
    cell: dict[str, Any] = {
        "task": runs[0].dataset_name if runs else "",
        "value": shown.value if shown else None,
        "text": shown.text if shown else "missing",
        "stderr": shown.stderr if shown else None,
        "state": _state(found, runs),
    }
    if found is not None and found.runs > 1:
        digits = phase.score_digits
        cell |= {
            "low": round(found.lowest, digits) + 0.0,
            "high": round(found.highest, digits) + 0.0,
            "repeats": found.scored,
            "runs": found.runs,
        }
    return cell


def _state(found: StandingScore | None, runs: list[Run]) -> str:
    """What a cell says of the runs behind it; boards do not follow the steps between waiting and the end."""
    if found is not None:
        return str(RunState.FINISHED)
    if any(not run.has_ended for run in runs):
        return "waiting"
    return str(runs[0].state) if runs else "missing"


def _seconds(phase: Phase, runs: Runs) -> float | None:
    """The wall time of all runs together, each rounded in a hidden phase as its entrant sees it."""
    times = [run.wall_seconds for own in runs.values() for run in own if run.wall_seconds is not None]
    if not times:
        return None
    return sum(coarse_seconds(time) for time in times) if phase.is_hidden else round(sum(times), 3)
