"""A dataset that fails for everybody: suggested, set aside, and taken back with all that waited."""

import pytest

from accounts.refusals import Refused
from competitions.models import AuditEntry, Phase
from leaderboards import board
from leaderboards.models import Board, LeaderboardRow
from leaderboards.reading import look_at
from pages import boards
from submissions import dispatch, doorbell, handover, quarantine
from submissions.models import Attempt, Run, RunState, Submission
from submissions.transitions import end_run, settle
from tests.platform import factories as make
from tests.platform.series import series

pytestmark = pytest.mark.django_db
REASON = "Its labels are wrong."


@pytest.fixture(autouse=True)
def bells(monkeypatch):
    """The runs that were rung for."""
    rung = []
    monkeypatch.setattr(doorbell, "ring_worker", lambda run_id, queue: rung.append(run_id))
    return rung


@pytest.fixture
def phase():
    return make.phase(make.competition("contest", make.user("olga")))


@pytest.fixture
def act(django_capture_on_commit_callbacks):
    def do(action):
        with django_capture_on_commit_callbacks(execute=True):
            return action.execute()

    return do


def aside(phase, order=0):
    return quarantine.Quarantine(by=make.user("olga"), task=phase.tasks.get(order=order), reason=REASON)


def lifted(phase, order=0):
    return quarantine.LiftQuarantine(by=make.user("olga"), task=phase.tasks.get(order=order))


def sent(phase, name, *values):
    """A submission with a score for each value; None fails, what has no value waits."""
    submission = make.submission(phase, make.user(name))
    for run, value in zip(submission.runs.all(), values, strict=False):
        if value is None:
            end_run(run, RunState.FAILED, reason="crashed", sentence="It failed.")
        else:
            make.score(run, value)
    settle(submission)
    submission.refresh_from_db()
    return submission


def ranked(phase):
    rows = LeaderboardRow.objects.filter(board__phase=phase, board__part="valid", board__is_frozen=False)
    return [(row.entrant.name, row.rank, len(row.cells)) for row in rows.order_by("position")]


def test_a_dataset_is_suspected_when_three_entrants_failed_and_nobody_finished(phase):
    first = phase.tasks.get(order=0)
    for name in ("alice", "bob"):
        sent(phase, name, None, 0.5)
    sent(phase, "bob", None, 0.5)
    assert quarantine.suspected(phase.competition) == []
    sent(phase, "carol", None, None)
    assert [(one.task, one.entrants, one.runs) for one in quarantine.suspected(phase.competition)] == [
        (first, 3, 4)
    ]
    sent(phase, "dan", 0.1, None)
    assert quarantine.suspected(phase.competition) == []


def test_its_waiting_runs_go_to_no_worker_and_say_why(phase, act, bells):
    submission = make.submission(phase, make.user("alice"))
    first, second = submission.runs.all()
    act(aside(phase))
    worker, _ = make.worker()
    make.worker()
    dispatch.ring()
    assert bells == [second.pk]
    assert dispatch.next_for(worker) == second.pk
    assert "set the dataset aside" in dispatch.refusal(worker, dispatch.needs_of(Run.objects.get(pk=first.pk)))
    first.refresh_from_db()
    assert first.sentence == f"Waits: the organizers have set this dataset aside for now. {REASON}"
    assert dispatch.queue_positions([first, second]) == {second.pk: 1}
    act(lifted(phase))
    dispatch.ring()
    assert first.pk in bells
    first.refresh_from_db()
    assert first.sentence == dispatch.WAITS


def test_the_board_ranks_by_the_other_datasets_until_it_is_taken_back(phase, act):
    sent(phase, "alice", 0.9, 0.1)
    sent(phase, "bob", 0.2, 0.8)
    sent(phase, "carol", 0.1, 0.5)
    board.refresh_now(phase)
    before = ranked(phase)
    act(aside(phase))
    assert ranked(phase) == [("bob", 1, 1), ("carol", 2, 1), ("alice", 3, 1)]
    assert board.recomputed(phase) == board.stored(phase)
    assert board.columns(phase) == [phase.tasks.get(order=1).name]
    act(lifted(phase))
    assert ranked(phase) == before


def test_no_submission_waits_for_it_and_all_are_in_progress_again_afterwards(phase, act):
    waits = sent(phase, "alice", 0.5)  # on its first dataset; the second waits
    act(aside(phase, 1))
    waits.refresh_from_db()
    assert waits.state == Submission.State.FINISHED
    later = sent(phase, "bob", 0.7)
    assert later.state == Submission.State.FINISHED
    assert [name for name, *_ in ranked(phase)] == ["bob", "alice"]
    act(lifted(phase, 1))
    waits.refresh_from_db()
    assert waits.state == Submission.State.ACTIVE
    assert not waits.is_first_running
    assert [name for name, *_ in ranked(phase)] == ["bob", "alice"]
    make.score(waits.runs.last(), 0.9)
    settle(waits)
    waits.refresh_from_db()
    assert waits.state == Submission.State.FINISHED


def test_what_a_worker_has_goes_on_to_its_end(phase, act):
    submission = make.submission(phase, make.user("alice"))
    run = submission.runs.first()
    worker, _ = make.worker()
    Attempt.objects.create(run=run, number=1, worker=worker, secret_hash="x")
    Run.objects.filter(pk=run.pk).update(state=RunState.RUNNING, attempt_number=1)
    told = aside(phase).preview(run.queued_at).sentences
    assert "At workers now, and going on to their end: 1 run." in told
    act(aside(phase))
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    assert not run.cancel_asked


def test_a_hand_over_does_not_wait_for_a_dataset_that_is_set_aside(clock, act):
    contest = series(clock.now)
    alice = sent(contest["Tweakathon[0]"], "alice", 0.5)
    act(aside(contest["Tweakathon[0]"], 1))
    clock.set(contest.at(10))
    handover.tick()
    assert contest["AutoML[1]"].submissions.get().origin == alice
    assert handover.progress(contest["Final[0]"], clock.now).awaited == 0


def test_a_frozen_board_keeps_the_datasets_it_was_frozen_with(phase, act):
    sent(phase, "alice", 0.9, 0.1)
    board.refresh_now(phase)
    phase.board = Phase.Board.FROZEN
    phase.save()
    act(aside(phase))
    first, second = phase.tasks.all()
    assert Board.objects.get(phase=phase, part="valid", is_frozen=True).task_ids == [first.pk, second.pk]
    frozen = look_at(phase, phase.opens_at, sees_hidden=False)
    columns, left_out = boards.columns_and_aside(frozen, phase.opens_at, sees_hidden=False)
    assert [column.task_id for column in columns] == [first.pk, second.pk]
    assert left_out == []
    live = look_at(phase, phase.opens_at, sees_hidden=True)
    columns, left_out = boards.columns_and_aside(live, phase.opens_at, sees_hidden=True)
    assert [column.task_id for column in columns] == [second.pk]
    assert [(one.name, one.reason) for one in left_out] == [(first.name, REASON)]


def test_it_needs_a_reason_and_happens_once(phase, act):
    with pytest.raises(Refused, match="Say why"):
        act(quarantine.Quarantine(by=make.user("olga"), task=phase.tasks.first(), reason=" "))
    with pytest.raises(Refused, match="not set aside"):
        act(lifted(phase))
    act(aside(phase))
    with pytest.raises(Refused, match="set aside already"):
        act(aside(phase))
    with pytest.raises(Refused, match="Only organizers"):
        act(quarantine.LiftQuarantine(by=make.user("alice"), task=phase.tasks.first()))
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.data["task"]) == ("quarantine", phase.tasks.get(order=0).pk)


def test_the_preview_names_the_other_phases_with_the_same_dataset(clock):
    contest = series(clock.now)
    task = contest["Tweakathon[0]"].tasks.first()
    preview = quarantine.Quarantine(by=None, task=task, reason=REASON).preview(clock.now)
    assert "The same dataset goes on in Final[0]." in preview.sentences


def test_ringing_again_forgets_when_it_was_rung_last(phase, act, bells):
    run = make.submission(phase, make.user("alice")).runs.first()
    again = quarantine.RingAgain(by=make.user("olga"), contest=phase.competition, run=run)
    make.worker()
    dispatch.ring()
    assert bells == [run.pk]
    dispatch.ring()
    assert bells == [run.pk]
    act(again)
    assert bells == [run.pk, run.pk]
    Run.objects.update(state=RunState.FINISHED)
    with pytest.raises(Refused, match="Nothing waits"):
        act(again)
