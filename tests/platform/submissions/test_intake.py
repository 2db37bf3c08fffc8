"""The door: what is accepted, what is refused with which sentence and status, and that nothing is left behind."""

import datetime as dt
import zipfile
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.utils import timezone

from accounts.refusals import Refused
from submissions.actions import cancel, submit
from submissions.models import Run, RunState, Submission
from submissions.models.submission import quota_left
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return make.phase(make.competition())


@pytest.fixture
def alice(phase):
    person = make.user("alice")
    make.participant(phase.competition, person)
    return person


def send(phase, person, archive, **fields):
    return submit(user=person, phase=phase, archive=archive, filename=archive.name, **fields)


def refused(phase, person, archive, **fields):
    """The refusal of an archive, after checking that nothing of it was kept."""
    before = files_on_disk()
    with pytest.raises(Refused) as caught:
        send(phase, person, archive, **fields)
    assert Submission.objects.count() == 0
    assert files_on_disk() == before
    assert list(Path(settings.FILE_UPLOAD_TEMP_DIR).iterdir()) == []
    return caught.value


def files_on_disk():
    return sorted(path for path in Path(default_storage.location).rglob("*") if path.is_file())


def test_code_becomes_a_submission_with_one_queued_run_for_each_task(phase, alice, tmp_path):
    submission = send(phase, alice, make.code_zip(tmp_path))
    assert (submission.kind, submission.interface, submission.number) == ("code", "model", 1)
    runs = list(submission.runs.all())
    assert [run.state for run in runs] == [RunState.QUEUED, RunState.QUEUED]
    assert [run.dataset_name for run in runs] == [task.name for task in phase.tasks.all()]
    assert submission.archive.read()[:2] == b"PK"


def test_results_are_collected_at_once_and_wait_only_for_their_scores(phase, alice, tmp_path):
    submission = send(phase, alice, make.results_zip(tmp_path, phase))
    assert submission.kind == "results"
    assert {run.state for run in submission.runs.all()} == {RunState.COLLECTED}
    assert submission.runs.first().predictions.count() == 2


def test_results_for_some_datasets_leave_the_others_without_predictions(phase, alice, tmp_path):
    name = phase.tasks.first().name
    archive = make.zip_of(tmp_path, {f"{name}_valid.predict": make.column([0.1, 0.2, 0.3, 0.4])})
    first, second = send(phase, alice, archive).runs.all()
    assert first.state == RunState.COLLECTED
    assert (second.state, second.reason) == (RunState.FAILED, "no_predictions")
    assert second.dataset_name in second.sentence


def test_code_and_results_together_run_only_where_results_are_missing(phase, alice, tmp_path):
    name = phase.tasks.first().name
    files = {"model.py": "class Model: pass\n", f"{name}_valid.predict": make.column([0.1, 0.2, 0.3, 0.4])}
    first, second = send(phase, alice, make.zip_of(tmp_path, files)).runs.all()
    assert (first.source, first.state) == ("results", RunState.COLLECTED)
    assert (second.source, second.state) == ("code", RunState.QUEUED)


def test_code_with_a_broken_result_is_run_there_instead_and_says_so(phase, alice, tmp_path):
    name = phase.tasks.first().name
    files = {"model.py": "class Model: pass\n", f"{name}_valid.predict": "one\ntwo\n"}
    submission = send(phase, alice, make.zip_of(tmp_path, files))
    assert submission.runs.first().state == RunState.QUEUED
    assert any(f"{name}_valid.predict" in note for note in submission.notes)


def bomb(folder):
    path = folder / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.py", "class Model: pass\n")
        archive.writestr("zeros", b"\0" * (64 * 2**20))
    return path


def plain(folder, content):
    path = folder / "submission.zip"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda folder, phase: plain(folder, b"hello"), "zip"),
        (lambda folder, phase: plain(folder, b""), "empty"),
        (lambda folder, phase: make.zip_of(folder, {}), "empty"),
        (lambda folder, phase: make.zip_of(folder, {"../model.py": "x"}), "../model.py"),
        (lambda folder, phase: bomb(folder), "zeros"),
        (lambda folder, phase: make.zip_of(folder, {"readme.txt": "x"}), "model.py"),
        (
            lambda folder, phase: make.zip_of(
                folder, {f"{phase.tasks.first().name}_valid.predict": make.column([1, 0, 1])}
            ),
            "3 rows",
        ),
        (
            lambda folder, phase: make.zip_of(
                folder, {f"{phase.tasks.first().name}_valid.predict": "0.1\nnan\n0.2\n0.3\n"}
            ),
            "_valid.predict",
        ),
    ],
    ids=["not a zip", "no bytes", "no entries", "parent path", "bomb", "no model", "wrong shape", "nan"],
)
def test_a_bad_archive_is_refused_with_a_sentence_and_leaves_nothing(phase, alice, tmp_path, build, says):
    problem = refused(phase, alice, build(tmp_path, phase))
    assert problem.status == 400
    assert says in str(problem)
    assert quota_left(phase, make.entrant(phase.competition, alice), timezone.now()) == 5


def test_a_stranger_is_refused(phase, tmp_path):
    assert refused(phase, make.user("charlie"), make.code_zip(tmp_path)).status == 403


def test_a_phase_that_closed_is_refused_unless_the_upload_began_before(phase, alice, tmp_path):
    phase.closes_at = timezone.now() - dt.timedelta(minutes=1)
    phase.save()
    problem = refused(phase, alice, make.code_zip(tmp_path))
    assert problem.status == 409
    assert "closed on" in problem.message
    send(phase, alice, make.code_zip(tmp_path), begun_at=timezone.now() - dt.timedelta(minutes=2))


def test_a_phase_that_has_not_opened_is_refused(phase, alice, tmp_path):
    phase.opens_at = timezone.now() + dt.timedelta(days=1)
    phase.save()
    assert "opens on" in refused(phase, alice, make.code_zip(tmp_path)).message


def test_nobody_submits_to_a_final_phase(phase, alice, tmp_path):
    phase.kind = "final"
    phase.save()
    assert refused(phase, alice, make.code_zip(tmp_path)).status == 409


def test_the_quota_of_the_day_is_a_utc_day(phase, alice, tmp_path):
    phase.daily_quota = 2
    phase.save()
    for _ in range(2):
        send(phase, alice, make.code_zip(tmp_path))
    with pytest.raises(Refused, match="2 submissions of today") as caught:
        send(phase, alice, make.code_zip(tmp_path))
    assert caught.value.status == 429
    Submission.objects.update(received_at=timezone.now() - dt.timedelta(days=1))
    send(phase, alice, make.code_zip(tmp_path))


def test_the_total_quota_holds_over_days(phase, alice, tmp_path):
    phase.total_quota = 1
    phase.save()
    send(phase, alice, make.code_zip(tmp_path))
    Submission.objects.update(received_at=timezone.now() - dt.timedelta(days=3))
    with pytest.raises(Refused, match="All 1 submissions"):
        send(phase, alice, make.code_zip(tmp_path))


def test_code_only_and_results_only_phases_refuse_the_other_kind(phase, alice, tmp_path):
    phase.accepts = "code"
    assert "code only" in refused(phase, alice, make.results_zip(tmp_path, phase)).message
    phase.accepts = "results"
    assert "prediction files only" in refused(phase, alice, make.code_zip(tmp_path)).message


def test_strangers_code_is_refused_while_code_runs_unconfined_but_not_the_kits_own(phase, alice, tmp_path):
    make.worker(sandbox="unconfined")
    problem = refused(phase, alice, make.code_zip(tmp_path))
    assert "podium doctor" in str(problem)
    send(phase, alice, make.code_zip(tmp_path), is_kit_code=True)


def test_an_unknown_task_is_refused_and_the_names_are_listed(phase, alice, tmp_path):
    problem = refused(phase, alice, make.code_zip(tmp_path), task_names=["nothing"])
    assert phase.tasks.first().name in str(problem)


def test_cancelling_before_any_claim_gives_the_quota_back(phase, alice, tmp_path):
    submission = cancel(send(phase, alice, make.code_zip(tmp_path)), by=alice)
    assert submission.state == Submission.State.CANCELLED
    assert not submission.uses_quota


def test_cancelling_a_claimed_run_waits_for_its_worker_and_keeps_the_quota_used(phase, alice, tmp_path):
    submission = send(phase, alice, make.code_zip(tmp_path))
    Run.objects.filter(order=0).update(state=RunState.RUNNING, attempt_number=1)
    submission = cancel(submission, by=alice)
    assert submission.uses_quota
    assert submission.state == Submission.State.ACTIVE
    assert submission.runs.get(order=0).cancel_asked


def test_nobody_else_cancels_a_submission(phase, alice, tmp_path):
    submission = send(phase, alice, make.code_zip(tmp_path))
    with pytest.raises(Refused) as caught:
        cancel(submission, by=make.user("bob"))
    assert caught.value.status == 403


def test_an_uploaded_name_loses_its_folders_and_control_characters(phase, alice, tmp_path):
    archive = make.code_zip(tmp_path)
    submission = submit(user=alice, phase=phase, archive=archive, filename="../../e\x00vil\n.zip")
    assert submission.filename == "evil.zip"
