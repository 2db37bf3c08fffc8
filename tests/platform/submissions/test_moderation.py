"""Running and scoring again, disqualifying, withdrawing, changing a task: shown before, followed by copies."""

import pytest

from accounts.refusals import Refused
from leaderboards import board
from submissions.changes import ChangeBudget, ChangeMetric, Rescore, UseCurrentVersion
from submissions.models import Attempt, Handover, Run, RunState, Submission
from submissions.moderation import Disqualify, Requalify, Rerun, Withdraw, choose
from submissions.reconciler import lose_attempt
from submissions.scoring import score_run
from tests.platform import factories as make
from tests.platform.series import BAD, GOOD, collected, copies, enter, fail, finish, series, tick

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest(clock):
    return series(clock.now)


@pytest.fixture
def olga(contest):
    return make.user("olga")


@pytest.fixture
def alice(contest):
    return make.user("alice")


def shown(phase, now):
    return {row.entrant.name: [cell["value"] for cell in row.cells] for row in board.rows(phase, now)}


def test_a_run_that_is_run_again_keeps_its_old_score_until_the_new_one_comes(contest, olga, alice, clock):
    submission = finish(enter(contest["Tweakathon[0]"], alice), BAD)
    run = submission.runs.first()
    action = Rerun(by=olga, submission=submission, run=run)
    assert action.preview(clock.now).rerun == 1
    action.execute()
    run.refresh_from_db()
    assert (run.state, run.is_rerun, run.predictions.count()) == ("queued", True, 0)
    assert shown(contest["Tweakathon[0]"], clock.now) == {"alice": [-1.0, -1.0]}
    submission.refresh_from_db()
    assert submission.is_active
    score_run(collected(run, GOOD).pk)
    assert shown(contest["Tweakathon[0]"], clock.now) == {"alice": [1.0, -1.0]}
    submission.refresh_from_db()
    assert submission.state == "finished"


def test_a_run_lost_three_times_may_be_lost_three_times_more_after_it_was_run_again(contest, olga, alice):
    submission = enter(contest["Tweakathon[0]"], alice)
    run = submission.runs.first()

    def lose():
        number = Run.objects.get(pk=run.pk).attempt_number + 1
        Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING, attempt_number=number)
        Attempt.objects.create(run=run, number=number, secret_hash="x")
        lose_attempt(Run.objects.get(pk=run.pk), why="Its worker was not heard any more.")
        return Run.objects.get(pk=run.pk).state

    assert [lose(), lose(), lose()] == ["queued", "queued", "failed"]
    score_run(collected(submission.runs.last()).pk)
    Rerun(by=olga, submission=Submission.objects.get(pk=submission.pk)).execute()
    assert [lose(), lose(), lose()] == ["queued", "queued", "failed"]


def test_a_late_report_of_the_time_before_is_refused_after_a_rerun(contest, olga, alice):
    submission = finish(enter(contest["Tweakathon[0]"], alice))
    run = submission.runs.first()
    before = run.attempt_number
    Rerun(by=olga, submission=submission).execute()
    run.refresh_from_db()
    assert run.attempt_number > before
    assert run.attempts_before == run.attempt_number


def test_a_rerun_that_fails_leaves_no_old_score_behind(contest, olga, alice, clock):
    submission = finish(enter(contest["Tweakathon[0]"], alice))
    Rerun(by=olga, submission=submission).execute()
    fail(submission)
    assert submission.state == "failed"
    assert not any(run.scores.exists() for run in submission.runs.all())


def test_an_entrant_does_not_stop_what_the_organizers_run_again(contest, olga, alice):
    from submissions.actions import cancel

    submission = finish(enter(contest["Tweakathon[0]"], alice))
    Rerun(by=olga, submission=submission).execute()
    submission.refresh_from_db()
    with pytest.raises(Refused, match="organizers run this"):
        cancel(submission, by=alice)


def test_a_copy_is_not_run_again_by_itself_and_follows_the_run_it_stands_for(contest, olga, alice, clock):
    source = finish(enter(contest["Tweakathon[0]"], alice), BAD)
    clock.set(contest.at(10))
    tick()
    (final,) = copies(contest["Final[0]"])
    with pytest.raises(Refused, match="earlier phase"):
        Rerun(by=olga, submission=final).execute()
    clock.move(minutes=5)
    Rerun(by=olga, submission=source).execute()
    finish(source, GOOD)
    assert {run.scores.get(part="test").value for run in final.runs.all()} == {1.0}


def test_scoring_again_changes_nothing_but_the_score(contest, olga, alice, clock):
    submission = finish(enter(contest["Tweakathon[0]"], alice))
    run = submission.runs.first()
    run.scores.filter(part="valid").update(value=0.5)
    action = Rescore(by=olga, phase=contest["Tweakathon[0]"], task=run.task)
    assert action.preview(clock.now).rescored == 1
    action.execute()
    run.refresh_from_db()
    assert run.state == "collected"
    score_run(run.pk)
    assert run.scores.get(part="valid").value == 1.0
    assert run.predictions.count() == 2
    assert Submission.objects.get(pk=submission.pk).state == "finished"


def test_a_metric_changes_with_every_score_on_the_board(contest, olga, alice, clock):
    submission = finish(enter(contest["Tweakathon[0]"], alice))
    task = contest["Tweakathon[0]"].tasks.first()
    waiting = enter(contest["Tweakathon[0]"], make.user("bob"))
    with pytest.raises(Refused, match="have not ended"):
        ChangeMetric(by=olga, task=task, metric="BAC").execute()
    finish(waiting)
    action = ChangeMetric(by=olga, task=task, metric="BAC")
    assert action.preview(clock.now).rescored == 2
    action.execute()
    for run in Run.objects.filter(task=task):
        assert (run.metric, run.state) == ("BAC", "collected")
        score_run(run.pk)
    task.refresh_from_db()
    assert task.metric == "BAC"
    assert submission.runs.first().scores.get(part="valid").metric == "BAC"
    with pytest.raises(Refused, match="no metric"):
        ChangeMetric(by=olga, task=task, metric="RMSE").execute()
    with pytest.raises(Refused, match="already"):
        ChangeMetric(by=olga, task=task, metric="BAC").execute()


def test_a_metric_that_changes_in_one_phase_alone_says_which_phases_keep_theirs(contest, olga, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice))
    change = ChangeMetric(olga, contest["Tweakathon[0]"].tasks.first(), "BAC")
    assert change.preview(clock.now).sentences[1:] == [
        "Final[0] has the same dataset and keeps AUC; change it there, too."
    ]


def test_a_budget_changes_and_what_stands_runs_again_with_it(contest, olga, alice, clock):
    old = finish(enter(contest["Tweakathon[0]"], alice, hours_ago=1))
    standing = finish(enter(contest["Tweakathon[0]"], alice))
    action = ChangeBudget(
        by=olga, phase=contest["Tweakathon[0]"], wall_seconds=77.0, cores=None, memory_bytes=None
    )
    assert action.preview(clock.now).rerun == 2
    action.execute()
    assert {run.state for run in old.runs.all()} == {"finished"}
    assert {(run.state, run.budget.wall_seconds) for run in standing.runs.all()} == {("queued", 77.0)}


@pytest.mark.parametrize(
    "asked", [(1e308, None, None), (float("nan"), None, None), (60, 2**70, 1), (60, 1, 2**63)]
)
def test_a_budget_that_no_machine_has_is_refused(contest, olga, asked):
    with pytest.raises(Refused, match="at most"):
        ChangeBudget(olga, contest["Tweakathon[0]"], *asked).execute()


def test_corrected_solutions_are_scored_without_running_anything(contest, olga, alice, clock):
    submission = finish(enter(contest["Tweakathon[0]"], alice))
    task = contest["Tweakathon[0]"].tasks.first()
    with pytest.raises(Refused, match="no run"):
        UseCurrentVersion(by=olga, task=task, run_again=False).execute()
    new = make.version(task.dataset, task.dataset.slug)
    action = UseCurrentVersion(by=olga, task=task, run_again=False)
    assert action.preview(clock.now).rescored == 1
    action.execute()
    run = submission.runs.first()
    assert (run.dataset_version, run.state) == (new, "collected")


def test_a_version_of_another_size_is_run_again_not_scored_again(contest, olga, alice, clock):
    submission = finish(enter(contest["Tweakathon[0]"], alice))
    task = contest["Tweakathon[0]"].tasks.first()
    new = make.version(task.dataset, task.dataset.slug, valid_num=5)
    with pytest.raises(Refused, match="other numbers"):
        UseCurrentVersion(by=olga, task=task, run_again=False).execute()
    UseCurrentVersion(by=olga, task=task, run_again=True).execute()
    assert submission.runs.first().dataset_version == new


def test_a_disqualified_submission_takes_its_copies_along_and_the_one_before_goes_forward(
    contest,
    olga,
    alice,
    clock,
):
    first = finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1), BAD)
    second = finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-2), GOOD)
    clock.set(contest.at(10))
    tick()
    (blind,) = copies(contest["AutoML[1]"])
    action = Disqualify(by=olga, submission=second, why="A copy of another entry.")
    assert action.preview(clock.now).rerun == 2
    action.execute()
    blind.refresh_from_db()
    assert blind.disqualified_at == clock.now
    assert {run.state for run in blind.runs.all()} == {"cancelled"}
    assert shown(contest["Tweakathon[0]"], clock.now) == {"alice": [-1.0, -1.0]}
    tick()
    assert copies(contest["AutoML[1]"])[0].origin == first
    assert copies(contest["Final[0]"])[0].origin == first
    assert Handover.objects.filter(phase=contest["Final[0]"]).count() == 1
    assert tick() == 0


def test_a_disqualification_taken_back_brings_the_finished_copies_back(contest, olga, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1), BAD)
    second = finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-2), GOOD)
    clock.set(contest.at(10))
    tick()
    blind = finish(copies(contest["AutoML[1]"])[0])
    Disqualify(by=olga, submission=second, why="A mistake of ours.").execute()
    tick()
    second.refresh_from_db()
    Requalify(by=olga, submission=second).execute()
    tick()
    assert copies(contest["AutoML[1]"]) == [blind]
    assert copies(contest["Final[0]"])[0].origin == second
    assert tick() == 0
    clock.set(contest.at(12))
    assert shown(contest["AutoML[1]"], clock.now) == {"alice": [1.0, 1.0]}


def test_a_copy_cannot_be_requalified_while_its_source_is_not(contest, olga, alice, clock):
    source = finish(enter(contest["Tweakathon[0]"], alice))
    clock.set(contest.at(10))
    tick()
    (blind,) = copies(contest["AutoML[1]"])
    Disqualify(by=olga, submission=source, why="Because.").execute()
    blind.refresh_from_db()
    with pytest.raises(Refused, match="came from a submission"):
        Requalify(by=olga, submission=blind).execute()


def test_a_disqualification_without_a_reason_or_twice_is_refused(contest, olga, alice):
    source = finish(enter(contest["Tweakathon[0]"], alice))
    with pytest.raises(Refused, match="Say why"):
        Disqualify(by=olga, submission=source).execute()
    Disqualify(by=olga, submission=source, why="Because.").execute()
    with pytest.raises(Refused, match="already"):
        Disqualify(by=olga, submission=source, why="Because.").execute()


def test_an_entrant_who_is_withdrawn_leaves_every_board_and_the_others_move_up(contest, olga, alice, clock):
    bob = make.user("bob")
    make.participant(contest.contest, alice)
    finish(enter(contest["Tweakathon[0]"], alice), GOOD)
    finish(enter(contest["Tweakathon[0]"], bob), BAD)
    clock.set(contest.at(10))
    tick()
    for entry in copies(contest["AutoML[1]"]):
        finish(entry)
    action = Withdraw(by=olga, entrant=make.entrant(contest.contest, alice))
    assert action.preview(clock.now).sentences
    action.execute()
    tick()
    assert tick() == 0
    clock.set(contest.at(12))
    for title in ("Tweakathon[0]", "Final[0]", "AutoML[1]"):
        assert [(row.rank, row.entrant.name) for row in board.rows(contest[title], clock.now)] == [(1, "bob")]
    assert contest.contest.participants.get(user=alice).state == "removed"
    assert set(Handover.objects.filter(entrant__user=alice).values_list("outcome", flat=True)) == {"nothing"}


def test_an_entrant_chooses_what_counts_only_where_and_while_the_phase_allows_it(clock):
    contest = series(clock.now, counts="chosen")
    alice, bob = make.user("alice"), make.user("bob")
    first = finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1), GOOD)
    second = finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-2), BAD)
    with pytest.raises(Refused, match="Only its entrant"):
        choose(first, by=bob)
    choose(second, by=alice)
    choose(first, by=alice)
    assert list(Submission.objects.filter(is_chosen=True)) == [first]
    assert shown(contest["Tweakathon[0]"], clock.now) == {"alice": [1.0, 1.0]}
    clock.set(contest.at(10))
    with pytest.raises(Refused, match="closed"):
        choose(second, by=alice)
