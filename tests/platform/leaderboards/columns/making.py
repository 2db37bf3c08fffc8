"""Competitions scored by programs, with boards of columns and scores, made without running anything."""

from django.db import transaction
from django.utils import timezone

from competitions.models import Column, ColumnBoard, Program, Task
from submissions.models import ColumnScore, Run, RunState, Submission
from submissions.transitions import settle
from tests.platform import factories as make


def programmed(phase):
    """Let a scoring program score all tasks of a phase."""
    contest = phase.competition
    program = contest.programs.first() or Program.objects.create(
        competition=contest, kind="scoring", name="Scorer", sha256="0" * 64, size=1, command="python3 score.py"
    )
    Task.objects.filter(phase=phase).update(scoring_program=program)
    return phase


def phase(contest=None, *, tasks=1, **fields):
    return programmed(make.phase(contest or make.competition(), tasks=tasks, kind="open", **fields))


def board(contest, *columns, rule="Force_Last", **fields):
    """A board whose columns are given as a key, or as a key with what else is to be said of it."""
    order = contest.column_boards.count()
    fields = {"key": f"board{order}", "title": f"Board {order}", "order": order, **fields}
    made = ColumnBoard.objects.create(competition=contest, rule=rule, **fields)
    for number, column in enumerate(columns):
        key, more = (column, {}) if isinstance(column, str) else column
        Column.objects.create(board=made, order=number, **{"key": key, "title": key.title(), **more})
    return made


def entry(phase, name, *values, state="finished", **fields):
    """A submission of which a program said these values, one dictionary for each task, as it comes about."""
    made = make.submission(phase, make.user(name), **fields)
    runs = list(made.runs.order_by("order"))
    for run, own in zip(runs, [*values, *[{}] * len(runs)], strict=False):
        for key, value in own.items():
            ColumnScore.objects.create(run=run, key=key, value=value)
        ended = RunState.FINISHED if state == "finished" else RunState.FAILED
        Run.objects.filter(pk=run.pk).update(state=ended, ended_at=timezone.now())
    return told(made)


def told(submission):
    """What the end of a run does: settle, and so the signal to the boards."""
    with transaction.atomic():
        settle(submission)
    return Submission.objects.get(pk=submission.pk)
