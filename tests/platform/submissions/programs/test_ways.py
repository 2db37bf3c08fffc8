"""Which way submissions to programs go: the door, fans, hand-over, running again, cancelling, deleting."""

import datetime as dt

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from accounts.refusals import Refused
from competitions.models import Phase, Program
from submissions import files, handover
from submissions.actions import cancel, submit
from submissions.models import Run, RunFile, RunState, Submission
from submissions.models.submission import quota_left
from submissions.moderation import Rerun
from submissions.programs import stored
from submissions.transitions import end_run, settle
from tests.platform import factories as make
from tests.platform.submissions.programs import contest as programmed

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest():
    made = make.competition()
    make.participant(made, make.user("alice"))
    return made


def send(phase, folder, **fields) -> Submission:
    archive = programmed.archive(folder, **fields)
    return submit(user=make.user("alice"), phase=phase, archive=archive, filename="sent.zip")


def finished(run) -> None:
    end_run(run, RunState.FINISHED, sentence="Finished.")
    settle(run.submission)


@pytest.mark.parametrize(
    ("accepts", "ingestion", "command", "kind", "interface", "state"),
    [
        ("both", False, "", "results", "", RunState.COLLECTED),
        ("both", False, "python3 a.py", "code", "metadata", RunState.QUEUED),
        ("both", True, "", "code", "files", RunState.QUEUED),
        ("both", True, "python3 a.py", "code", "metadata", RunState.QUEUED),
        ("results", True, "python3 a.py", "results", "", RunState.COLLECTED),
        ("code", True, "", "code", "files", RunState.QUEUED),
    ],
)
def test_any_zip_is_right_and_its_kind_says_what_runs(
    contest, tmp_path, accepts, ingestion, command, kind, interface, state
):
    phase = programmed.phase(contest, ingestion=ingestion, accepts=accepts)
    submission = send(phase, tmp_path, command=command)
    run = submission.runs.get()
    assert (submission.kind, submission.interface, run.state) == (kind, interface, state)


def test_a_phase_for_code_refuses_what_nothing_would_run(contest, tmp_path):
    phase = programmed.phase(contest, accepts=Phase.Accepts.CODE)
    with pytest.raises(Refused, match="takes code only"):
        send(phase, tmp_path)
    assert not Submission.objects.exists()


def test_every_task_of_a_phase_gets_its_run(contest, tmp_path):
    submission = send(programmed.phase(contest, tasks=3), tmp_path)
    assert [run.order for run in submission.runs.all()] == [0, 1, 2]


# One submission for several phases ----------------------------------------------------------------------------


@pytest.fixture
def fans(contest):
    """A parent without tasks, and two phases that what is sent to it enters."""
    parent = make.phase(contest, tasks=0, kind=Phase.Kind.OPEN, title="All tracks", daily_quota=2)
    children = [programmed.phase(contest, title=f"Track {number}") for number in (1, 2)]
    for child in children:
        Phase.objects.filter(pk=child.pk).update(fans_out_from=parent)
    return parent, children


def test_a_submission_enters_every_phase_that_stands_below_its_own(fans, tmp_path):
    parent, children = fans
    submission = send(parent, tmp_path)
    made = list(submission.fans.order_by("pk"))
    assert [fan.phase for fan in made] == children
    assert [fan.runs.count() for fan in made] == [1, 1]
    assert [fan.number for fan in made] == [2, 3]
    assert not any(fan.uses_quota for fan in made)
    assert quota_left(parent, submission.entrant, timezone.now()) == 1
    assert send(parent, tmp_path).number == 4


def test_it_has_ended_when_all_that_it_was_passed_on_to_has(fans, tmp_path):
    parent, _ = fans
    submission = send(parent, tmp_path)
    first, second = Run.objects.filter(submission__fanned_from=submission)
    finished(first)
    submission.refresh_from_db()
    assert submission.is_active
    finished(second)
    submission.refresh_from_db()
    assert submission.state == Submission.State.FINISHED


def test_nobody_submits_to_such_a_phase_by_itself(fans, tmp_path):
    _, [child, _] = fans
    child.refresh_from_db()
    with pytest.raises(Refused) as caught:
        send(child, tmp_path)
    assert "Submit to All tracks" in caught.value.mend


def test_cancelling_it_cancels_it_everywhere(fans, tmp_path):
    parent, _ = fans
    submission = send(parent, tmp_path)
    submission = cancel(submission, by=make.user("alice"))
    states = set(Submission.objects.values_list("state", flat=True))
    assert states == {Submission.State.CANCELLED}
    assert set(Run.objects.values_list("state", flat=True)) == {RunState.CANCELLED}


# Going forward, and again ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "state"), [("", RunState.COLLECTED), ("python3 a.py", RunState.QUEUED)])
def test_what_is_handed_over_is_run_and_scored_again(contest, tmp_path, command, state):
    now = timezone.now()
    first = programmed.phase(contest)
    submission = send(first, tmp_path, command=command)
    finished(submission.runs.get())
    programmed.phase(contest, parent=first, carry_over=True, title="Final", opens_at=now - dt.timedelta(minutes=1))
    Phase.objects.filter(pk=first.pk).update(closes_at=now - dt.timedelta(minutes=2))
    handover.tick(now)
    carried = Submission.objects.get(origin=submission)
    run = carried.runs.get()
    assert (carried.arrival, run.state) == (Submission.Arrival.CARRIED, state)
    assert run.source != Run.Source.COPY


def test_running_again_drops_what_the_run_had_left(contest, tmp_path):
    phase = programmed.phase(contest, ingestion=True)
    submission = send(phase, tmp_path)
    run = submission.runs.get()
    path = tmp_path / "left.zip"
    path.write_bytes(b"PK")
    stored.write_rows(run, [stored.keep(run, RunFile.Kind.PREDICTIONS, path, "predictions.zip")])
    finished(run)
    Rerun(by=contest.created_by, submission=submission).execute()
    run.refresh_from_db()
    assert (run.state, run.files.count()) == (RunState.QUEUED, 0)


def test_running_again_what_only_the_site_runs_scores_it_anew(contest, tmp_path):
    phase = programmed.phase(contest, ingestion=True)
    phase.tasks.update(overlaps=True)
    submission = send(phase, tmp_path)
    finished(submission.runs.get())
    Rerun(by=contest.created_by, submission=submission).execute()
    assert submission.runs.get().state == RunState.COLLECTED


# Files ----------------------------------------------------------------------------------------------------------


def test_a_file_that_is_replaced_is_removed_and_the_sweep_keeps_what_is_named(contest, tmp_path):
    run = send(programmed.phase(contest), tmp_path).runs.get()
    path = tmp_path / "log.txt"
    names = []
    for text in ("first", "second"):
        path.write_text(text)
        kept = stored.keep(run, RunFile.Kind.SCORING_LOG, path, "scoring_log.txt")
        stored.write_rows(run, [kept])
        names.append(kept.stored)
    assert run.files.get().file.read() == b"second"
    reference = run.dataset_version.reference
    files.sweep(timezone.now() + dt.timedelta(days=1))
    assert default_storage.exists(names[1])
    assert reference.storage.exists(reference.name)


def test_a_deleted_competition_takes_its_programs_and_files_with_it(contest, tmp_path, fans):
    from submissions.deletion import DeleteCompetition, finish_all

    parent, _ = fans
    submission = send(parent, tmp_path)
    assert Program.objects.count() == 1
    DeleteCompetition(by=contest.created_by, contest=contest, typed=contest.slug).execute()
    finish_all()
    assert not Submission.objects.filter(pk=submission.pk).exists()
    assert not Program.objects.exists()
