"""One submission that enters several phases at once: those that stand beside each other as children of one."""

from collections.abc import Sequence

from accounts.refusals import Refused
from competitions.models import Phase, Task
from submissions import making
from submissions.models import Submission
from submissions.programs.making import make_runs
from submissions.transitions import settle


def fans_of(phase: Phase) -> list[Phase]:
    """The phases that what is sent to this one enters as well."""
    return list(phase.fans.select_related("round__competition").order_by("number"))


def check(phase: Phase) -> None:
    """Refuse a phase that is entered through another one."""
    if phase.fans_out_from is not None:
        raise Refused(
            f"Nobody submits to {phase.title} by itself.",
            status=409,
            mend=f"Submit to {phase.fans_out_from.title}: what is sent there enters {phase.title}, too.",
        )


def tasks_of(phase: Phase, fans: Sequence[Phase], names: Sequence[str] | None) -> list[Task]:
    """The phase's tasks, or those named. A phase that has none of its own may still pass on what it gets."""
    tasks = making.tasks_of(phase)
    passes_on = not tasks and not names and any(fan.tasks.exists() for fan in fans)
    return [] if passes_on else making.chosen(tasks, names, phase)


def fan_out(submission: Submission, fans: Sequence[Phase]) -> list[Submission]:
    """Enter the submission into the other phases, inside the transaction that made it. It costs quota once."""
    made = []
    for number, phase in enumerate(fans, start=submission.number + 1):
        fan = Submission.objects.create(
            entrant=submission.entrant,
            phase=phase,
            user=submission.user,
            fanned_from=submission,
            number=number,
            received_at=submission.received_at,
            archive=submission.archive.name,
            filename=submission.filename,
            sha256=submission.sha256,
            size=submission.size,
            kind=submission.kind,
            interface=submission.interface,
            notes=submission.notes,
            comment=submission.comment,
            is_kit_code=submission.is_kit_code,
            uses_quota=False,
        )
        make_runs(fan, enumerate(making.tasks_of(phase)))
        settle(fan)
        made.append(fan)
    return made
