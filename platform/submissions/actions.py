"""What people do with submissions: submit, cancel."""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path, PurePath

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.db.models import Max, Q
from django.db.models.fields.files import FieldFile

from accounts.models import User
from accounts.refusals import Refused
from competitions import actions as competition_actions
from competitions import clock, teams
from competitions import images as competition_images
from competitions import policy as competition_policy
from competitions.models import Entrant, Phase, Task
from submissions import dispatch, fanning, making, policy
from submissions.intake import AtTheDoor, examined
from submissions.models import Prediction, Run, RunState, Submission
from submissions.models.runs import AT_WORKER
from submissions.models.submission import quota_left
from submissions.models.worker import code_runs_unconfined
from submissions.programs.making import is_programmed, make_runs
from submissions.standing import standing_submission
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
    drops_code: bool = False,
) -> Submission:
    """Accept an archive for a phase and queue its runs; raises Refused and leaves nothing behind.

    `begun_at` is when the upload began: one that began before the phase closed belongs to the phase.
    `task_names` restricts the runs to some tasks of the phase. `drops_code` says that the sender knows that
    results alone take the place of code which the next blind phase would run.
    """
    begun_at = begun_at or clock.now(phase.competition)
    check(user=user, phase=phase, is_kit_code=is_kit_code)
    fans = fanning.fans_of(phase)
    tasks = fanning.tasks_of(phase, fans, task_names)
    entrant = competition_actions.entrant_of(phase.competition, user)
    is_trial = tries_out(user, phase, tasks or making.tasks_of(fans[0]))
    if not is_trial:
        check_window(phase, entrant, begun_at=begun_at, now=clock.now(phase.competition))
        check_quota(phase, entrant, clock.now(phase.competition))
    with examined(archive, phase, tasks or making.tasks_of(fans[0])) as door:
        if not drops_code:
            check_dropped_code(phase, entrant, door.kind)
        stored: list[FieldFile] = []
        try:
            with transaction.atomic(), archive.open("rb") as file:
                # Locking the entrant makes reading the quota and using it one step for two uploads at once.
                check_same(phase, user, entrant, competition_actions.locked_entrant(phase.competition, user))
                if not is_trial:
                    check_quota(phase, entrant, clock.now(phase.competition))
                submission = store_submission(
                    entrant, phase, user, door, File(file), filename, comment, is_kit_code
                )
                stored.append(submission.archive)
                _make_runs(submission, tasks, door, stored)
                fanning.fan_out(submission, fans)
                settle(submission)
                # Robust: from here on the submission is in, and a doorbell that fails must not undo its files.
                transaction.on_commit(dispatch.after_commit, robust=True)
        except BaseException:
            for kept in stored:
                kept.storage.delete(str(kept.name))
            raise
    return submission


def check(*, user: User, phase: Phase, is_kit_code: bool) -> None:
    """Refuse who may not submit, a phase that takes no submissions, and strangers' code without a sandbox."""
    if not competition_policy.may_submit(user, phase.competition):
        raise Refused(
            f"Only participants of {phase.competition.title} may submit.",
            status=403,
            mend="Join the competition first.",
        )
    if not phase.takes_submissions:
        raise Refused(f"Nobody submits to {phase.title}; its entries come from an earlier phase.", status=409)
    fanning.check(phase)
    check_has_not_left(phase, user)
    if code_runs_unconfined() and not is_kit_code:
        raise Refused(
            "This installation has no sandbox, so it runs the starting kit's own code only.",
            status=409,
            mend="Its operator learns from ./podium doctor how to use one.",
        )


def check_has_not_left(phase: Phase, user: User) -> None:
    """Refuse who left a team that has submitted to the phase with them."""
    left = teams.departed_from(user, phase)
    if left is not None:
        raise Refused(
            f"You left {left.entrant.name} after it had submitted to {phase.title} with you, so you compete there "
            "with it or not at all.",
            status=409,
        )


def check_same(phase: Phase, user: User, before: Entrant, locked: Entrant) -> None:
    """Refuse who competes as somebody else than when the upload began: window and quota were another's."""
    check_has_not_left(phase, user)
    if locked != before:
        raise Refused("Your team has changed while the archive was read.", status=409, mend="Submit again.")


def tries_out(user: User, phase: Phase, tasks: Sequence[Task]) -> bool:
    """Whether an organizer tries programs of the competition, which they may do at any time and without a quota.

    Bundles come with dates that are over or far away, and organizers are ranked nowhere.
    """
    return is_programmed(tasks) and competition_policy.may_edit(user, phase.competition)


def check_window(phase: Phase, entrant: Entrant, *, begun_at: dt.datetime, now: dt.datetime) -> None:
    """Refuse an upload that began outside the phase's window for this entrant, or that took far too long."""
    if not phase.has_begun(begun_at):
        raise Refused(f"{phase.title} opens on {phase.opens_at:%d %B %Y at %H:%M} UTC.", status=409)
    if not competition_policy.shows_all_datasets(phase, now):
        raise Refused(
            f"{phase.title} takes submissions once its datasets are revealed, and they are not yet.", status=409
        )
    closing = phase.closing_for(entrant)
    if closing is not None and closing <= begun_at:
        raise Refused(f"{phase.title} closed on {closing:%d %B %Y at %H:%M} UTC.", status=409)
    if closing is not None and closing + settings.UPLOAD_GRACE <= now:
        raise Refused(f"The upload took too long: {phase.title} closed meanwhile.", status=409)


class DropsCode(Refused):
    """Results alone would take the place of code that the next blind phase runs; the sender has to say so."""


def check_dropped_code(phase: Phase, entrant: Entrant, kind: str) -> None:
    """Refuse results alone, until confirmed, where they would leave the next blind phase without code."""
    if kind != Submission.Kind.RESULTS:
        return
    blind = phase.children.filter(kind=Phase.Kind.AUTOML).order_by("number").first()
    own = Submission.objects.filter(phase=phase, entrant=entrant)
    standing = standing_submission(own, counts=Phase.Counts.LATEST)
    if blind is None or standing is None or not standing.has_code:
        return
    raise DropsCode(
        f"This archive holds results only. As your latest submission it would take the place of submission "
        f"{standing.number}, whose code goes forward to {blind.title}; without code you have no place there.",
        status=409,
        mend="Send it with the box ticked that says so, or add the code to the archive.",
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


def cancel(submission: Submission, *, by: User | None) -> Submission:
    """Cancel what has not ended: queued runs at once, running ones through their worker's next heartbeat.

    `by` is None for the operator, who may do it.
    """
    if by is not None and not policy.may_cancel(by, submission):
        raise Refused("Only its entrant or an organizer may cancel a submission.", status=403)
    with transaction.atomic():
        # Not through the submission: its page loads the runs with more, which a lock cannot take in.
        own = Q(submission=submission) | Q(submission__fanned_from=submission)
        runs = list(Run.objects.filter(own).order_by("pk").select_for_update(of=("self",), no_key=True))
        if all(run.has_ended for run in runs):
            raise Refused("This submission has ended already.", status=409)
        if submission.origin is not None:
            what = f"It came from {submission.origin.phase.title} by itself and is not cancelled."
            raise Refused(what, status=409, mend="Organizers can disqualify it, or run it again.")
        may_edit = by is None or competition_policy.may_edit(by, submission.phase.competition)
        if submission.ended_at and not may_edit:
            raise Refused("The organizers run this submission again; only they may stop it.", status=409)
        # Nothing came of it yet: no worker has had it, and no score was computed that somebody could read.
        is_untouched = all(run.state == RunState.QUEUED and not run.attempt_number for run in runs)
        for run in runs:
            if run.state in (RunState.QUEUED, RunState.COLLECTED, RunState.SCORING):
                end_run(run, RunState.CANCELLED, reason="cancelled", sentence="Cancelled before it ended.")
        Run.objects.filter(own, state__in=AT_WORKER).update(
            cancel_asked=True, sentence="Is being stopped because it was cancelled."
        )
        if is_untouched:
            submission.uses_quota = False
            submission.save(update_fields=["uses_quota"])
        for fan in submission.fans.all():
            settle(fan)
        settle(submission)
    submission.refresh_from_db()
    return submission


def store_submission(
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
        received_at=clock.now(phase.competition),
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
    if is_programmed(tasks):
        make_runs(submission, enumerate(tasks))
        return
    for order, task in enumerate(tasks):
        results = door.results.get(task.pk, [])
        if not results and submission.has_code:
            competition_images.require_allowed(submission.phase.image)
            making.code_runs(submission, task, order)
            continue
        run = making.results_run(submission, task, order)
        for result in results:
            with result.path.open("rb") as file:
                prediction = Prediction(
                    run=run, part=result.part, name=result.name, sha256=result.sha256, size=result.size
                )
                prediction.file.save(result.name, File(file), save=False)
                stored.append(prediction.file)
                prediction.save()
        if not results:
            sentence = f"The archive holds no prediction file for {task.name}."
            end_run(run, RunState.FAILED, reason="no_predictions", sentence=sentence)
