"""What must not be learned: names of hidden datasets, test scores, archives of hidden phases."""

import datetime as dt
import json

import pytest
from django.utils import timezone

from accounts.refusals import Refused
from competitions import policy as competition_policy
from competitions.models import Organizer, Task
from leaderboards import board
from submissions import handover, policy
from submissions.actions import cancel, submit
from submissions.models import Run, RunState, Submission
from submissions.models.submission import quota_left
from submissions.public import run_view, submission_state
from submissions.scoring import score_run
from tests.platform import factories as make
from tests.platform.clock import clock  # noqa: F401  (a fixture)

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


def hidden(phase, kind="automl"):
    """Make the phase a hidden one, as its tasks see it too."""
    phase.kind = kind
    phase.save()
    return phase


def test_a_blind_dataset_has_no_name_before_it_is_revealed(phase, alice):
    run = make.submission(hidden(phase), alice).runs.last()
    name = run.dataset_version.name
    later = phase.closes_at + dt.timedelta(seconds=1)
    assert view(run).task == view(run, now=later).task == "dataset2"
    assert name not in json.dumps(view(run).__dict__, default=str)
    assert view(run, sees_hidden=True).task == f"{name} (dataset2)"
    run.task.revealed_at = later
    run.task.save()
    run = Run.objects.get(pk=run.pk)
    assert view(run).task == "dataset2"
    assert view(run, now=later).task == f"{name} (dataset2)"


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
    hidden(phase, kind)
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
    for _ in range(2):
        row = board.rows(phase, timezone.now()).get()
        assert [cell["value"] for cell in row.cells] == [0.3, 0.3]
        phase.save()


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


LEAKS = {
    "sentence": "row 3 is 1",
    "log_tail": "row 3 is 1",
    "error_tail": "row 3 is 1",
    "cpu_seconds": 3.03,
    "peak_memory_bytes": 30_303_030,
    "output_bytes": 30_303,
    "wall_seconds": 7.303,
    "started_at": dt.datetime(2020, 3, 3, 3, 3, 3, tzinfo=dt.UTC),
    "ended_at": dt.datetime(2020, 3, 3, 3, 3, 10, tzinfo=dt.UTC),
}


@pytest.mark.parametrize("kind", ["final", "automl"])
@pytest.mark.parametrize("state", RunState.values)
def test_a_run_shows_no_more_than_its_reason_and_a_rounded_time_in_a_hidden_phase(phase, alice, kind, state):
    run = make.submission(hidden(phase, kind), alice).runs.first()
    known = {field.name for field in Run._meta.fields}
    leaks = {name: value for name, value in LEAKS.items() if name in known}
    Run.objects.filter(pk=run.pk).update(state=state, reason="crashed" if state == "failed" else "", **leaks)
    shown = json.dumps(view(run).__dict__, default=str)
    for secret in ("row 3", "3.03", "303", "03:03", str(run.budget.wall_seconds)):
        assert secret not in shown
    assert view(run).cpu_seconds is None
    assert view(run).wall_budget is None
    assert view(run).wall_seconds == (7.0 if run.has_ended else None)
    assert view(run, sees_hidden=True).sentence == "row 3 is 1"


@pytest.mark.parametrize("state", ["queued", "claimed", "running", "collected", "scoring"])
def test_a_hidden_run_that_has_not_ended_is_in_progress_and_nothing_else(phase, alice, state):
    run = make.submission(hidden(phase), alice).runs.first()
    Run.objects.filter(pk=run.pk).update(state=state, sentence="Is being prepared by worker-7.")
    seen = view(run)
    assert (seen.state, seen.state_label, seen.sentence) == ("active", "in progress", "In progress.")


@pytest.mark.parametrize(("wall", "told"), [(7.3, 8), (7.0, 7), (0.26, 0.3), (1130, 2000), (96, 100)])
def test_a_hidden_run_seems_to_end_when_its_rounded_time_is_over(phase, alice, wall, told):
    submission = make.submission(hidden(phase), alice)
    run = submission.runs.first()
    begun = timezone.now()
    ended = begun + dt.timedelta(seconds=wall)
    Run.objects.filter(submission=submission).update(
        state=RunState.FINISHED, started_at=begun, ended_at=ended, wall_seconds=wall
    )
    Submission.objects.update(state="finished")
    submission.refresh_from_db()
    before = begun + dt.timedelta(seconds=told - 0.001)
    after = begun + dt.timedelta(seconds=told + 0.001)
    assert view(run, now=before).state == "active"
    assert submission_state(submission, [view(run, now=before)]) == ("active", "in progress")
    assert view(run, now=after).state == "finished"
    assert submission_state(submission, [view(run, now=after)]) == ("finished", "finished")
    assert view(run, now=before, sees_hidden=True).state == "finished"


def test_a_reviewer_sees_what_is_hidden_only_where_the_owner_ticked_it(phase, alice):
    contest = phase.competition
    rita, vera = make.user("rita"), make.user("vera")
    Organizer.objects.create(competition=contest, user=rita, role="reviewer")
    Organizer.objects.create(competition=contest, user=vera, role="reviewer", sees_hidden=True)
    submission = make.submission(hidden(phase), alice)
    assert policy.may_see(rita, submission)
    assert not policy.may_see_log(rita, submission)
    assert not policy.may_download(rita, submission)
    assert policy.may_see_log(vera, submission)
    assert not policy.may_cancel(vera, submission)
    assert not competition_policy.sees_hidden(rita, contest)
    assert competition_policy.sees_hidden(vera, contest)
    hidden(phase, "tweakathon")
    assert policy.may_see_log(rita, Submission.objects.get())


def test_in_a_hidden_phase_only_organizers_cancel(phase, alice):
    """What the platform answers would tell whether a run has ended."""
    submission = make.submission(phase, alice)
    assert policy.may_cancel(alice, submission)
    hidden(phase)
    submission = Submission.objects.get()
    assert not policy.may_cancel(alice, submission)
    assert policy.may_cancel(phase.competition.created_by, submission)


def test_while_the_datasets_of_a_phase_are_hidden_nothing_is_submitted_or_carried_to_it(
    phase,
    alice,
    tmp_path,
    clock,  # noqa: F811
):
    """The organizers reveal them by hand, and the Tweakathon that shows their names and logs has opened before."""
    now = clock.now
    blind = make.phase(
        phase.competition,
        kind="automl",
        parent=phase,
        reveal="by_hand",
        opens_at=now - dt.timedelta(hours=3),
        closes_at=now - dt.timedelta(hours=1),
    )
    tweak = make.phase(
        phase.competition,
        tasks=0,
        parent=blind,
        carry_over=True,
        opens_at=now - dt.timedelta(hours=1),
    )
    for task in blind.tasks.all():
        Task.objects.create(phase=tweak, dataset=task.dataset, order=task.order)
    make.submission(blind, alice, state="finished").runs.update(state=RunState.FINISHED)
    handover.tick()
    assert not tweak.submissions.exists()
    with pytest.raises(Refused, match="once its datasets are revealed") as caught:
        submit(user=alice, phase=tweak, archive=make.code_zip(tmp_path), filename="s.zip")
    for task in blind.tasks.all():
        assert task.dataset_name not in str(caught.value)
    Task.objects.filter(phase=blind).update(revealed_at=now)
    handover.tick()
    assert tweak.submissions.get().origin.phase == blind
    assert submit(user=alice, phase=tweak, archive=make.code_zip(tmp_path), filename="s.zip").phase == tweak
