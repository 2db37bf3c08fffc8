"""One thing done to many submissions: previewed, confirmed once, done piece by piece, once each."""

import pytest

from accounts.refusals import Refused
from competitions.models import AuditEntry, Organizer
from leaderboards import board
from submissions import bulk, dispatch, doorbell
from submissions.models import BulkWork, Run, RunState, Submission
from submissions.transitions import settle
from tests.platform import factories as make

pytestmark = pytest.mark.django_db
State = BulkWork.State


@pytest.fixture(autouse=True)
def no_bells(monkeypatch):
    """Nobody listens; how often the site's worker was called is counted."""
    calls = []
    monkeypatch.setattr(doorbell, "_send", lambda *args, **options: calls.append(args[1]))
    return calls


@pytest.fixture
def phase():
    return make.phase(make.competition("contest", make.user("olga")))


def finished(phase, name):
    submission = make.submission(phase, make.user(name))
    for run in submission.runs.all():
        make.score(run, 0.5)
    settle(submission)
    return submission


def prepared(phase, kind, submissions, name="olga"):
    ids = [one.pk for one in submissions]
    return bulk.prepare(phase.competition, by=make.user(name), kind=kind, chosen=ids, told="those ticked")


def begin(work, django_capture_on_commit_callbacks, **answers):
    with django_capture_on_commit_callbacks(execute=True):
        told = bulk.Begin(by=work.user, work=work, **answers).execute()
    work.refresh_from_db()
    return told


def states(*submissions):
    return [Submission.objects.get(pk=one.pk).state for one in submissions]


def test_a_preview_changes_nothing_and_says_how_many_runs_and_hours(phase):
    done = [finished(phase, name) for name in ("alice", "bob")]
    waiting = make.submission(phase, make.user("carol"))
    work = prepared(phase, "rerun", [*done, waiting])
    preview = bulk.Begin(by=make.user("olga"), work=work).preview(work.made_at)
    assert preview.rerun == 4
    told = " ".join(preview.sentences)
    assert "Run again: 2 of 3 submissions" in told
    assert "up to 40 worker-seconds" in told
    assert "Left as they are: 1 submission." in told
    assert states(*done, waiting) == ["finished", "finished", "active"]
    assert not AuditEntry.objects.exists()


def test_many_are_run_again_behind_live_work_with_one_audit_entry(phase, django_capture_on_commit_callbacks):
    done = [finished(phase, name) for name in ("alice", "bob")]
    work = prepared(phase, "rerun", done)
    assert begin(work, django_capture_on_commit_callbacks) == "Run again: 2 submissions, those ticked."
    assert (work.state, work.position, work.changed) == (State.DONE, 2, 2)
    assert states(*done) == ["active", "active"]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.data["count"]) == ("bulk", 2)
    live = make.submission(phase, make.user("carol"))
    order = [item.waiting.submission_id for item in dispatch.queued()]
    assert order[: live.runs.count()] == [live.pk] * live.runs.count()
    assert set(order[live.runs.count() :]) == {one.pk for one in done}


def test_many_are_scored_again(phase, django_capture_on_commit_callbacks):
    done = finished(phase, "alice")
    waiting = make.submission(phase, make.user("bob"))
    work = prepared(phase, "rescore", [done, waiting])
    begin(work, django_capture_on_commit_callbacks)
    assert set(done.runs.values_list("state", flat=True)) == {RunState.COLLECTED}
    assert set(waiting.runs.values_list("state", flat=True)) == {RunState.QUEUED}
    assert (work.changed, work.skipped) == (1, 1)
    assert work.left_out == ["There is no run that could be scored again."]


def test_many_are_cancelled_and_those_that_ended_stay(phase, django_capture_on_commit_callbacks):
    done, waiting = finished(phase, "alice"), make.submission(phase, make.user("bob"))
    work = prepared(phase, "cancel", [done, waiting])
    begin(work, django_capture_on_commit_callbacks)
    assert states(done, waiting) == ["finished", "cancelled"]
    assert work.left_out == ["Submission 1 of alice has ended already."]


def test_many_are_disqualified_with_one_reason(phase, django_capture_on_commit_callbacks):
    both = [finished(phase, name) for name in ("alice", "bob")]
    work = prepared(phase, "disqualify", both)
    with pytest.raises(Refused, match="Say why"):
        begin(work, django_capture_on_commit_callbacks)
    begin(work, django_capture_on_commit_callbacks, why="They shared an account.")
    assert all(one.disqualified_at for one in Submission.objects.all())
    assert "They shared an account." in AuditEntry.objects.get().text


def test_a_work_is_confirmed_once(phase, django_capture_on_commit_callbacks):
    work = prepared(phase, "rerun", [finished(phase, "alice")])
    begin(work, django_capture_on_commit_callbacks)
    with pytest.raises(Refused, match="confirmed already"):
        begin(work, django_capture_on_commit_callbacks)
    assert Run.objects.filter(is_rerun=True, attempt_number=1).count() == 2


def test_more_than_a_few_are_done_in_pieces_by_the_sites_worker(
    phase, django_capture_on_commit_callbacks, monkeypatch, no_bells
):
    monkeypatch.setattr(bulk, "WITHIN_A_REQUEST", 2)
    monkeypatch.setattr(bulk, "CHUNK", 2)
    done = [finished(phase, name) for name in ("alice", "bob", "carol")]
    work = prepared(phase, "rerun", done)
    begin(work, django_capture_on_commit_callbacks)
    assert (work.state, work.position) == (State.WORKING, 0)
    assert "submissions.work_on_bulk" in no_bells
    assert bulk.step(work.pk)
    work.refresh_from_db()
    assert (work.state, work.position, work.changed) == (State.WORKING, 2, 2)
    assert bulk.work_on() == 1
    work.refresh_from_db()
    assert (work.state, work.position, work.changed) == (State.DONE, 3, 3)
    assert not bulk.step(work.pk)
    assert set(Run.objects.values_list("attempt_number", flat=True)) == {1}


def test_a_piece_that_breaks_down_is_done_again_as_a_whole(phase, django_capture_on_commit_callbacks, monkeypatch):
    monkeypatch.setattr(bulk, "WITHIN_A_REQUEST", 0)
    done = [finished(phase, name) for name in ("alice", "bob")]
    work = prepared(phase, "rerun", done)
    begin(work, django_capture_on_commit_callbacks)
    with monkeypatch.context() as broken:
        broken.setattr(BulkWork, "save", lambda self, **fields: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            bulk.step(work.pk)
    assert states(*done) == ["finished", "finished"]
    assert bulk.work_on() == 1
    assert states(*done) == ["active", "active"]


def test_one_that_cannot_be_changed_keeps_no_other_from_it(phase, django_capture_on_commit_callbacks, monkeypatch):
    alice, bob = finished(phase, "alice"), finished(phase, "bob")
    usual = bulk.moderation.Rerun.apply

    def apply(self, now):
        return 1 / 0 if self.submission.pk == alice.pk else usual(self, now)

    monkeypatch.setattr(bulk.moderation.Rerun, "apply", apply)
    work = prepared(phase, "rerun", [alice, bob])
    begin(work, django_capture_on_commit_callbacks)
    assert states(alice, bob) == ["finished", "active"]
    assert "fault of ours" in work.left_out[0]


def test_the_boards_follow_once_for_a_whole_piece(phase, django_capture_on_commit_callbacks, monkeypatch):
    done = [finished(phase, name) for name in ("alice", "bob", "carol")]
    refreshed = []
    usual = board.refresh
    monkeypatch.setattr(board, "refresh", lambda of, **how: (refreshed.append((of, how)), usual(of, **how)))
    begin(prepared(phase, "disqualify", done[:2]), django_capture_on_commit_callbacks, why="One account.")
    assert refreshed == [(phase, {"entrants": sorted(one.entrant_id for one in done[:2])})]
    assert [row.entrant.name for row in board.live_rows(phase)] == ["carol"]
    assert board.recomputed(phase) == board.stored(phase)


def test_it_can_be_stopped_on_the_way(phase, django_capture_on_commit_callbacks, monkeypatch):
    monkeypatch.setattr(bulk, "WITHIN_A_REQUEST", 0)
    monkeypatch.setattr(bulk, "CHUNK", 1)
    done = [finished(phase, name) for name in ("alice", "bob")]
    work = prepared(phase, "rerun", done)
    begin(work, django_capture_on_commit_callbacks)
    bulk.step(work.pk)
    assert bulk.stop(work, by=make.user("olga"))
    assert not bulk.step(work.pk)
    assert not bulk.stop(work, by=make.user("olga"))
    assert states(*done) == ["active", "finished"]


def test_who_lost_the_role_meanwhile_changes_nothing_more(phase, django_capture_on_commit_callbacks, monkeypatch):
    monkeypatch.setattr(bulk, "WITHIN_A_REQUEST", 0)
    Organizer.objects.create(competition=phase.competition, user=make.user("eddie"), role="editor")
    done = finished(phase, "alice")
    work = prepared(phase, "rerun", [done], name="eddie")
    begin(work, django_capture_on_commit_callbacks)
    Organizer.objects.filter(user=make.user("eddie")).delete()
    bulk.work_on()
    work.refresh_from_db()
    assert work.state == State.STOPPED
    assert states(done) == ["finished"]


def test_only_editors_choose_and_something_must_be_chosen(phase):
    done = finished(phase, "alice")
    with pytest.raises(Refused, match="Only organizers"):
        prepared(phase, "rerun", [done], name="alice")
    with pytest.raises(Refused, match="No submission is chosen"):
        prepared(phase, "rerun", [])
    with pytest.raises(Refused, match="no such action"):
        prepared(phase, "delete", [done])


def test_a_work_that_breaks_down_keeps_no_other_waiting(
    phase, django_capture_on_commit_callbacks, monkeypatch, no_bells
):
    monkeypatch.setattr(bulk, "WITHIN_A_REQUEST", 0)
    first, second = finished(phase, "alice"), finished(phase, "bob")
    broken = prepared(phase, "rerun", [first])
    begin(broken, django_capture_on_commit_callbacks)
    begin(prepared(phase, "rerun", [second]), django_capture_on_commit_callbacks)
    usual = bulk.step
    monkeypatch.setattr(bulk, "step", lambda pk: 1 / 0 if pk == broken.pk else usual(pk))
    assert bulk.work_on() == 1
    assert states(first, second) == ["finished", "active"]
    no_bells.clear()
    assert bulk.work_on() == 0
    assert not no_bells  # nothing rings for it at once: it would break down again and again
