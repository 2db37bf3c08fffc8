"""Reference entries: what organizers show beside the entrants' own, without a place on any board."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from django.core.files import File
from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from competitions import names
from competitions.actions.people import taken_names
from competitions.models import Competition, Entrant, Phase, Team
from submissions import dispatch, making
from submissions.actions import store_submission
from submissions.intake import examined
from submissions.models import Submission
from submissions.programs.making import is_programmed, make_run
from submissions.transitions import settle


def enter_reference(
    phase: Phase, archive: Path, *, name: str, by: User, orders: Sequence[int] | None = None
) -> Submission:
    """Run an archive as a reference entry of a phase that organizers' programs score; it uses no quota.

    The phase need not be open. `orders` are the places of the tasks that it runs on; None is all of them. Raises
    Refused for an archive that no entrant could send either, and leaves nothing behind then.
    """
    tasks = making.tasks_of(phase)
    if not is_programmed(tasks):
        raise Refused(f"{phase.title} takes no reference entries.", status=409)
    chosen = [(order, task) for order, task in enumerate(tasks) if orders is None or order in orders]
    with examined(archive, phase, [task for _, task in chosen]) as door:
        stored = None
        try:
            with transaction.atomic(), archive.open("rb") as file:
                entrant = baseline_entrant(phase.competition, name)
                submission = store_submission(
                    entrant, phase, by, door, File(file), archive.name, "A solution of the organizers.", False
                )
                stored = submission.archive
                submission.uses_quota = False
                submission.save(update_fields=["uses_quota"])
                for order, task in chosen:
                    make_run(submission, task, order)
                settle(submission)
                transaction.on_commit(dispatch.after_commit, robust=True)
        except BaseException:
            if stored is not None:
                stored.storage.delete(str(stored.name))
            raise
    return submission


def baseline_entrant(competition: Competition, wanted: str) -> Entrant:
    """An entrant that is nobody: a team without members, in one spelling that no other name looks like."""
    name = names.distinct(wanted, taken=taken_names(competition))
    team = Team.objects.create(competition=competition, name=name)
    return Entrant.objects.create(competition=competition, team=team, name=name, is_baseline=True)
