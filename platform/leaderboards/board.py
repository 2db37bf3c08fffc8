"""Keeping the stored rows of a phase true, and reading them in one query."""

import datetime as dt
from collections import Counter

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from competitions.models import Phase
from leaderboards.models import LeaderboardRow
from leaderboards.ranking import Entry, Place, rank_entries
from submissions.models import Run, RunState, Score, Submission
from submissions.public import PublicScore, public_score


def board_part(phase: Phase) -> str:
    """The part that decides the board: the feedback part while people submit, else the test part."""
    return phase.feedback_part if phase.takes_submissions else Phase.Part.TEST


def rows(phase: Phase, now: dt.datetime) -> QuerySet[LeaderboardRow]:
    """The rows of a phase by place, in one query; none while their scores are not public."""
    part = phase.public_part(now)
    if part is None:
        return LeaderboardRow.objects.none()
    # A row keeps the part it was made from: where the phase was edited since, it must not show the other one.
    return LeaderboardRow.objects.filter(phase=phase, part=part).select_related("entrant", "submission")


def columns(phase: Phase) -> list[str]:
    """The names of the tasks, in the order of the cells."""
    return [task.name for task in phase.tasks.select_related("dataset").prefetch_related("dataset__versions")]


def entries_that_count(phase: Phase) -> dict[int, Submission]:
    """Map each entrant to the submission that stands for it.

    Only the latest counts, even if it is worse or failed. While it still runs, the latest that has ended
    stands, so that nobody disappears from the board by waiting; the first one stands from its first score.
    """
    standing: dict[int, Submission] = {}
    competing = phase.submissions.competing().select_related("entrant").order_by("received_at", "id")
    for submission in competing.defer("notes", "comment"):
        held = standing.get(submission.entrant_id)
        if held is None or held.is_active or not submission.is_active:
            standing[submission.entrant_id] = submission
    return standing


def refresh(phase: Phase) -> None:
    """Rewrite the rows of a phase from the scores that count. Call inside the transaction that changed them."""
    # The lock makes two refreshes follow each other: the later one sees the scores of both.
    # no_key: what only refers to the phase, such as a submission that is being received, need not wait for it.
    phase = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
    task_ids = list(phase.tasks.order_by("order", "id").values_list("pk", flat=True))
    standing = entries_that_count(phase)
    runs = _runs_by_submission(list(standing.values()))
    scores = _scores(phase, standing, runs, task_ids)
    # Whoever has no score yet and still waits is not on the board; a failed entry stays on it, with nothing.
    shown = {
        entrant: submission
        for entrant, submission in standing.items()
        if not submission.is_active or any(score is not None for score in scores[entrant])
    }
    entries = [
        Entry(
            entrant_id=entrant,
            scores=tuple(None if score is None else score.value for score in scores[entrant]),
            received=submission.received_at.timestamp(),
            ranked=submission.entrant.is_ranked,
        )
        for entrant, submission in shown.items()
    ]
    made = Counter(phase.submissions.exclude(state=Submission.State.CANCELLED).values_list("entrant", flat=True))
    fresh = []
    for place in rank_entries(entries, tie_rule=phase.tie_rule):
        submission = shown[place.entrant_id]
        fresh.append(
            LeaderboardRow(
                phase=phase,
                entrant_id=place.entrant_id,
                submission=submission,
                part=board_part(phase),
                rank=place.rank,
                mean_rank=place.mean_rank,
                mean_score=place.mean_score,
                cells=_cells(place, scores[place.entrant_id], runs.get(submission.pk, {}), task_ids),
                entries=made[place.entrant_id],
            )
        )
    _store(phase, fresh)


STORED = ("submission_id", "part", "rank", "mean_rank", "mean_score", "cells", "entries")


def _store(phase: Phase, fresh: list[LeaderboardRow]) -> None:
    """Make the stored rows those given, writing only what differs, in at most four queries."""
    kept = {row.entrant_id: row for row in LeaderboardRow.objects.filter(phase=phase)}
    changed = []
    for row in fresh:
        old = kept.pop(row.entrant_id, None)
        if old is None:
            continue
        row.pk = old.pk
        if any(getattr(row, name) != getattr(old, name) for name in STORED):
            row.updated_at = timezone.now()
            changed.append(row)
    LeaderboardRow.objects.filter(pk__in=[row.pk for row in kept.values()]).delete()
    LeaderboardRow.objects.bulk_update(
        changed, [*(name.removesuffix("_id") for name in STORED), "updated_at"], batch_size=100
    )
    LeaderboardRow.objects.bulk_create([row for row in fresh if row.pk is None])


def _runs_by_submission(submissions: list[Submission]) -> dict[int, dict[int, Run]]:
    found: dict[int, dict[int, Run]] = {}
    scores = Prefetch("scores", Score.objects.defer("replicates"))
    runs = Run.objects.filter(submission__in=submissions).defer("log_tail", "budget_json", "sentence")
    for run in runs.prefetch_related(scores):
        found.setdefault(run.submission_id, {})[run.task_id] = run
    return found


def _scores(
    phase: Phase, standing: dict[int, Submission], runs: dict[int, dict[int, Run]], task_ids: list[int]
) -> dict[int, list[PublicScore | None]]:
    """The public scores of every entry: ranks are ranks of what is shown, so they say nothing more."""
    part = board_part(phase)
    table: dict[int, list[PublicScore | None]] = {}
    for entrant, submission in standing.items():
        row: list[PublicScore | None] = []
        for task_id in task_ids:
            run = runs.get(submission.pk, {}).get(task_id)
            found = run and run.state == RunState.FINISHED and [s for s in run.scores.all() if s.part == part]
            row.append(public_score(found[0], phase) if found else None)
        table[entrant] = row
    return table


def _cells(
    place: Place, scores: list[PublicScore | None], runs: dict[int, Run], task_ids: list[int]
) -> list[dict[str, object]]:
    cells: list[dict[str, object]] = []
    for task_id, score, rank in zip(task_ids, scores, place.task_ranks, strict=True):
        run = runs.get(task_id)
        cells.append(
            {
                "task": run.dataset_name if run else "",
                "value": score.value if score else None,
                "text": score.text if score else "missing",
                "stderr": score.stderr if score else None,
                "rank": rank,
                "state": run.state if run else "missing",
            }
        )
    return cells


def refresh_now(phase: Phase) -> None:
    """Refresh outside any other transaction."""
    with transaction.atomic():
        refresh(phase)
