"""What must not be learned: names of hidden datasets, test scores, archives of hidden phases."""

import datetime as dt
import json

import pytest
from django.utils import timezone

from accounts.refusals import Refused
from leaderboards import board
from submissions import policy
from submissions.actions import cancel, submit
from submissions.models import RunState, Submission
from submissions.models.submission import quota_left
from submissions.public import run_view
from submissions.scoring import score_run
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


def view(run, **fields):
    run.refresh_from_db()
    return run_view(run, **{"sees_hidden": False, "now": timezone.now(), **fields})


def test_a_blind_dataset_has_no_name_before_its_phase_has_closed(phase, alice):
    phase.kind = "automl"
    phase.save()
    run = make.submission(phase, alice).runs.last()
    name = run.dataset_name
    assert view(run).task == "Dataset 2"
    assert name not in json.dumps(view(run).__dict__, default=str)
    assert view(run, sees_hidden=True).task == name
    assert view(run, now=phase.closes_at + dt.timedelta(seconds=1)).task == name


def test_a_blind_dataset_with_an_alias_goes_by_it(phase, alice):
    phase.kind = "automl"
    phase.save()
    run = make.submission(phase, alice).runs.first()
    run.task.alias = "evita"
    assert run_view(run, sees_hidden=False, now=timezone.now()).task == "evita"


def test_a_refusal_at_the_door_names_the_alias_and_never_the_dataset(phase, alice, tmp_path):
    task = phase.tasks.first()
    real = task.name
    task.alias = "evita"
    task.save()
    archive = make.zip_of(tmp_path, {"evita_test.predict": make.column([0.5] * 6)})
    with pytest.raises(Refused) as caught:
        submit(user=alice, phase=phase, archive=archive, filename="r.zip")
    assert "evita has no file for the valid part" in str(caught.value)
    assert real not in str(caught.value)


def test_a_stranger_who_asks_for_tasks_learns_no_names(phase, tmp_path):
    with pytest.raises(Refused) as caught:
        submit(
            user=make.user("charlie"),
            phase=phase,
            archive=make.code_zip(tmp_path),
            filename="s.zip",
            task_names=["nothing"],
        )
    assert caught.value.status == 403
    assert phase.tasks.first().name not in str(caught.value)


@pytest.mark.parametrize("kind", ["final", "automl"])
def test_an_archive_of_a_hidden_phase_goes_to_organizers_only(phase, alice, kind):
    submission = make.submission(phase, alice)
    assert policy.may_download(alice, submission)
    phase.kind = kind
    phase.save()
    submission = Submission.objects.get()
    assert not policy.may_download(alice, submission)
    assert policy.may_download(phase.competition.created_by, submission)


def test_scores_cannot_be_read_and_their_quota_taken_back(phase, alice, tmp_path):
    """An archive with results for one dataset and code for the other is scored while the code waits."""
    name = phase.tasks.first().name
    files = {"model.py": "class Model: pass\n", f"{name}_valid.predict": make.column([0.1, 0.2, 0.3, 0.4])}
    submission = submit(user=alice, phase=phase, archive=make.zip_of(tmp_path, files), filename="s.zip")
    score_run(submission.runs.first().pk)
    cancel(submission, by=alice)
    submission.refresh_from_db()
    assert submission.uses_quota
    assert quota_left(phase, submission.entrant, timezone.now()) == 4


def test_a_board_never_shows_rows_that_were_made_from_another_part(phase, alice):
    phase.kind = "final"
    phase.save()
    submission = make.submission(phase, alice)
    for run in submission.runs.all():
        make.score(run, 0.9, part="test")
        make.score(run, 0.3, part="valid")
    Submission.objects.update(state="finished")
    board.refresh_now(phase)
    type(phase).objects.update(kind="tweakathon")  # an edit that no signal saw
    phase.refresh_from_db()
    assert list(board.rows(phase, timezone.now())) == []
    phase.save()
    row = board.rows(phase, timezone.now()).get()
    assert [cell["value"] for cell in row.cells] == [0.3, 0.3]


def test_a_phase_with_fewer_digits_has_a_board_with_fewer_digits_at_once(phase, alice):
    submission = make.submission(phase, alice)
    for run in submission.runs.all():
        make.score(run, 0.123456)
    Submission.objects.update(state="finished")
    board.refresh_now(phase)
    phase.score_digits = 2
    phase.save()
    assert [cell["text"] for cell in board.rows(phase, timezone.now()).get().cells] == ["0.12", "0.12"]


def test_a_comment_keeps_its_words_and_loses_what_databases_refuse(phase, alice, tmp_path):
    submission = submit(
        user=alice, phase=phase, archive=make.code_zip(tmp_path), filename="s.zip", comment=" a\x00b\n\tc\x1b[31m "
    )
    submission.refresh_from_db()
    assert submission.comment == "ab c[31m"


def test_a_run_that_ended_shows_no_more_than_its_reason_in_a_final(phase, alice):
    phase.kind = "final"
    phase.save()
    run = make.submission(phase, alice).runs.first()
    type(run).objects.update(state=RunState.FAILED, reason="crashed", sentence="row 3 is 1", log_tail="row 3 is 1")
    assert "row 3" not in json.dumps(view(run).__dict__, default=str)
