"""What people do with submissions: submit, cancel."""

import datetime as dt
import secrets
from collections.abc import Sequence
from pathlib import Path, PurePath

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.db.models import Max
from django.db.models.fields.files import FieldFile
from django.utils import timezone

from accounts.models import User
from accounts.refusals import Refused
from competitions import actions as competition_actions
from competitions import policy as competition_policy
from competitions.models import Entrant, Phase, Task
from submissions import dispatch, policy
from submissions.intake import AtTheDoor, examined
from submissions.models import Prediction, Run, RunState, Submission
from submissions.models.runs import AT_WORKER
from submissions.models.submission import quota_left
from submissions.models.worker import code_runs_unconfined
from submissions.transitions import end_run, settle


def submit(
    *,
    user: User,
    phase: Phase,
    archive: Path,
    filename: str,
    comment: str = "",
    is_kit_code: bool = False,
    task_names: Sequence[str] | None = None,
    begun_at: dt.datetime | None = None,
) -> Submission:
    """Accept an archive for a phase and queue its runs; raises Refused and leaves nothing behind.

    `begun_at` is when the upload began: one that began before the phase closed belongs to the phase.
    `task_names` restricts the runs to some tasks of the phase.
    """
    begun_at = begun_at or timezone.now()
    check(user=user, phase=phase, now=begun_at, is_kit_code=is_kit_code)
    if phase.has_ended(timezone.now() - settings.UPLOAD_GRACE):
        raise Refused(f"The upload took too long: {phase.title} closed meanwhile.", status=409)
    tasks = chosen_tasks(phase, task_names)
    entrant = competition_actions.entrant_of(phase.competition, user)
    check_quota(phase, entrant, timezone.now())
    with examined(archive, phase, tasks) as door:
        stored: list[FieldFile] = []
        try:
            with transaction.atomic(), archive.open("rb") as file:
                # Locking the entrant makes reading the quota and using it one step for two uploads at once.
                entrant = competition_actions.locked_entrant(phase.competition, user)
                check_quota(phase, entrant, timezone.now())
                submission = _store(entrant, phase, user, door, File(file), filename, comment, is_kit_code)
                stored.append(submission.archive)
                _make_runs(submission, tasks, door, stored)
                settle(submission)
                # Robust: from here on the submission is in, and a doorbell that fails must not undo its files.
                transaction.on_commit(dispatch.after_commit, robust=True)
        except BaseException:
            for kept in stored:
                kept.storage.delete(str(kept.name))
            raise
    return submission


def chosen_tasks(phase: Phase, names: Sequence[str] | None) -> list[Task]:
    """The tasks of the phase, or those named; a name that is not there is refused."""
    tasks = list(phase.tasks.select_related("dataset", "phase").prefetch_related("dataset__versions"))
    if not tasks:
        raise Refused(f"{phase.title} has no datasets yet.", status=409)
    if not names:
        return tasks
    by_name = {task.name: task for task in tasks}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise Refused(f"{phase.title} has no task {unknown[0]!r}.", mend=f"Its tasks are {', '.join(by_name)}.")
    return [by_name[name] for name in names]


def check(*, user: User, phase: Phase, now: dt.datetime, is_kit_code: bool) -> None:
    """Refuse who may not submit, a phase that takes nothing now, and strangers' code without a sandbox."""
    if not competition_policy.may_submit(user, phase.competition):
        raise Refused(
            f"Only participants of {phase.competition.title} may submit.",
            status=403,
            mend="Join the competition first.",
        )
    if not phase.takes_submissions:
        raise Refused(f"Nobody submits to {phase.title}; its entries come from an earlier phase.", status=409)
    if not phase.has_begun(now):
        raise Refused(f"{phase.title} opens on {phase.opens_at:%d %B %Y at %H:%M} UTC.", status=409)
    if phase.has_ended(now):
        raise Refused(f"{phase.title} closed on {phase.closes_at:%d %B %Y at %H:%M} UTC.", status=409)
    if code_runs_unconfined() and not is_kit_code:
        raise Refused(
            "This installation has no sandbox, so it runs the starting kit's own code only.",
            status=409,
            mend="Its operator can install one: apt-get install bubblewrap.",
        )


def check_quota(phase: Phase, entrant: Entrant, now: dt.datetime) -> None:
    """Refuse when the day's or the phase's quota is used up."""
    if quota_left(phase, entrant, now) != 0:
        return
    made = Submission.objects.filter(phase=phase, entrant=entrant).counting_for_quota().count()
    if phase.total_quota is not None and made >= phase.total_quota:
        raise Refused(f"All {phase.total_quota} submissions of {phase.title} are used.", status=429)
    raise Refused(
        f"All {phase.daily_quota} submissions of today are used.",
        status=429,
        mend="The next day begins at 00:00 UTC.",
    )


def cancel(submission: Submission, *, by: User) -> Submission:
    """Cancel what has not ended: queued runs at once, running ones through their worker's next heartbeat."""
    if not policy.may_cancel(by, submission):
        raise Refused("Only its entrant or an organizer may cancel a submission.", status=403)
    with transaction.atomic():
        runs = list(submission.runs.select_for_update())
        if all(run.has_ended for run in runs):
            raise Refused("This submission has ended already.", status=409)
        # Nothing came of it yet: no worker has had it, and no score was computed that somebody could read.
        is_untouched = all(run.state == RunState.QUEUED and not run.attempt_number for run in runs)
        for run in runs:
            if run.state in (RunState.QUEUED, RunState.COLLECTED, RunState.SCORING):
                end_run(run, RunState.CANCELLED, reason="cancelled", sentence="Cancelled before it ended.")
        submission.runs.filter(state__in=AT_WORKER).update(
            cancel_asked=True, sentence="Is being stopped because it was cancelled."
        )
        if is_untouched:
            submission.uses_quota = False
            submission.save(update_fields=["uses_quota"])
        settle(submission)
    submission.refresh_from_db()
    return submission


def _store(
    entrant: Entrant,
    phase: Phase,
    user: User,
    door: AtTheDoor,
    file: "File[bytes]",
    filename: str,
    comment: str,
    is_kit_code: bool,
) -> Submission:
    last = entrant.submissions.aggregate(last=Max("number"))["last"] or 0
    submission = Submission(
        entrant=entrant,
        phase=phase,
        user=user,
        number=last + 1,
        received_at=timezone.now(),
        filename=_clean_name(filename),
        sha256=door.sha256,
        size=door.size,
        kind=door.kind,
        interface=door.interface,
        notes=door.notes[:50],
        comment=_printable(" ".join(comment.split()))[:200],
        is_kit_code=is_kit_code,
    )
    submission.archive.save(submission.filename, file, save=False)
    submission.save()
    return submission


def _clean_name(filename: str) -> str:
    """The last part of an uploaded name, without control characters."""
    return _printable(PurePath(filename.replace("\\", "/")).name)[:200] or "submission.zip"


def _printable(text: str) -> str:
    """The text without control characters, which pages cannot show and PostgreSQL does not store."""
    return "".join(letter for letter in text if letter.isprintable())


def _make_runs(submission: Submission, tasks: list[Task], door: AtTheDoor, stored: list[FieldFile]) -> None:
    seed = secrets.randbelow(2**31)
    for order, task in enumerate(tasks):
        results = door.results.get(task.pk)
        run = _new_run(submission, task, order, seed, has_results=bool(results))
        if results:
            for result in results:
                with result.path.open("rb") as file:
                    prediction = Prediction(
                        run=run, part=result.part, name=result.name, sha256=result.sha256, size=result.size
                    )
                    prediction.file.save(result.name, File(file), save=False)
                    stored.append(prediction.file)
                    prediction.save()
        elif submission.kind == Submission.Kind.RESULTS:
            end_run(
                run,
                RunState.FAILED,
                reason="no_predictions",
                sentence=f"The archive holds no prediction file for {task.name}.",
            )


def _new_run(submission: Submission, task: Task, order: int, seed: int, *, has_results: bool) -> Run:
    version = task.dataset.current
    if version is None:
        raise Refused(f"{task} has no data yet.", status=409)
    phase = submission.phase
    return Run.objects.create(
        submission=submission,
        task=task,
        order=order,
        source=Run.Source.RESULTS if has_results else Run.Source.CODE,
        state=RunState.COLLECTED if has_results else RunState.QUEUED,
        sentence="Waits for its score." if has_results else "Waits for a worker.",
        dataset_version=version,
        dataset_name=task.name,
        metric=task.metric or version.metric,
        budget_json=task.budget().to_json(),
        image=phase.image,
        seed=seed,
        any_time=phase.any_time,
        resource_class=phase.resource_class,
    )
