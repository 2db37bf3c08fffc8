"""What organizers' programs do with a submission, and where: at a compute worker, or on the site's machine.

Reference data never leave the site. So what reads them happens here: every scoring program, an ingestion program
that runs beside it, and one that asks for `$hidden`.
"""

from collections.abc import Iterable

from django.db.models import Q

from competitions.models import Phase, Program, Task
from ingestion.programs.places import names_submission
from ingestion.programs.requests import CODALAB
from submissions.models import Run, Submission

COMMAND = "metadata"  # interface of a submission whose metadata has a command
FILES = "files"  # of one that an ingestion program takes up
PROGRAMMED = Q(task__scoring_program__isnull=False)  # of runs


def is_programmed(tasks: Iterable[Task]) -> bool:
    """Whether organizers' programs score what is sent to these tasks. A competition does not mix."""
    return any(task.scoring_program_id is not None for task in tasks)


def is_scored_by_program(run_id: int) -> bool:
    """Whether an organizer's program scores this run; one query."""
    return Run.objects.filter(PROGRAMMED, pk=run_id).exists()


def ingestion_of(task: Task, phase: Phase) -> Program | None:
    """The ingestion program that meets a submission; none does where the phase takes results only."""
    return None if phase.accepts == Phase.Accepts.RESULTS else task.ingestion_program


def reads_labels(program: Program | None) -> bool:
    """Whether the program's command asks for the reference data, as CodaLab gave them; Codabench never did."""
    return program is not None and program.layout == CODALAB and "$hidden" in program.command


def may_read_labels(task: Task, phase: Phase) -> bool:
    """Whether the ingestion program finds the reference data.

    It asks for them, and no code of participants is in its sandbox, or the owner of the competition allows that.
    """
    program = ingestion_of(task, phase)
    if program is None or not reads_labels(program):
        return False
    return not names_submission(program.command) or phase.competition.labels_are_readable


def ingests_at_worker(task: Task, phase: Phase) -> bool:
    """Whether the task's ingestion program runs at a compute worker."""
    program = ingestion_of(task, phase)
    return program is not None and not task.overlaps and not reads_labels(program)


def predicts_here(task: Task, phase: Phase) -> bool:
    """Whether the site's machine runs the ingestion program, and a submission's own command, before scoring."""
    return not task.overlaps and reads_labels(ingestion_of(task, phase))


def needs_worker(submission: Submission, task: Task) -> bool:
    """Whether something of the submission runs at a compute worker before it is scored on the task."""
    phase = submission.phase
    if phase.accepts == Phase.Accepts.RESULTS or predicts_here(task, phase):
        return False
    return submission.interface == COMMAND or ingests_at_worker(task, phase)


def layout_of(task: Task) -> int:
    """Where the programs of the task find their files, as `ingestion.programs` numbers the layouts."""
    program = task.ingestion_program or task.scoring_program
    assert program is not None, "the task is scored by a program"
    return program.layout


def image_of(task: Task, phase: Phase) -> str:
    """The image in which a submission runs, with its ingestion program; empty for the installation's own."""
    program = ingestion_of(task, phase)
    return (program.image if program else "") or phase.image
