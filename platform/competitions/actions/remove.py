"""Removing what nothing depends on; what has runs stays, and the refusal says what to do instead."""

from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from competitions import clock, policy
from competitions.actions.base import record
from competitions.models import Entrant, Task
from datasets.models import Dataset
from datasets.versions import delete_afterwards, stored_files


def remove_dataset(dataset: Dataset, *, by: User) -> None:
    """Delete a dataset with its versions and their files, unless a phase uses it or a run was made with it."""
    if not (by.is_superuser or dataset.owner_id == by.pk):
        raise Refused("Only its owner removes a dataset.", status=403)
    used = list(dataset.tasks.select_related("phase__round__competition").order_by("pk")[:1])
    if used:
        phase = used[0].phase
        raise Refused(
            f"{dataset.title} is used by {phase.title} of {phase.competition.title}.",
            status=409,
            mend="Take it out of the phase first, while nothing has run on it.",
        )
    with transaction.atomic():
        stored = [file for version in dataset.versions.all() for file in stored_files(version)]
        dataset.delete()
        delete_afterwards(stored)


def remove_task(task: Task, *, by: User | None) -> None:
    """Take a dataset out of a phase, unless runs exist on it."""
    competition = task.phase.competition
    if by is not None and not policy.may_edit(by, competition):
        raise Refused(f"Only organizers of {competition.title} may do this.", status=403)
    count = task.runs.count()
    if count:
        raise Refused(
            f"{count} runs exist on {task.name} in {task.phase.title}; they would mean nothing without it.",
            status=409,
            mend="It can get another metric, or a new version of its data, on the manage page.",
        )
    text = f"{task.name} was taken out of {task.phase.title}."
    with transaction.atomic():
        record(
            competition, by=by, action="remove_task", text=text, at=clock.now(competition), phase=task.phase.number
        )
        task.delete()


def remove_entrant(entrant: Entrant, *, by: User | None) -> None:
    """Delete an entrant who never submitted; one who has is withdrawn instead."""
    competition = entrant.competition
    if by is not None and not policy.may_edit(by, competition):
        raise Refused(f"Only organizers of {competition.title} may do this.", status=403)
    count = entrant.submissions.count()
    if count:
        raise Refused(
            f"{entrant.name} has {count} submissions, whose runs tell what happened.",
            status=409,
            mend="Withdraw the entrant: that takes them off every board.",
        )
    text = f"{entrant.name}, who had submitted nothing, was removed."
    with transaction.atomic():
        record(competition, by=by, action="remove_entrant", text=text, at=clock.now(competition))
        entrant.delete()
