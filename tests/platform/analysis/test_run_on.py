"""Runs go on beyond their budget for their learning curves: nothing else changes, and nobody sees more."""

import datetime as dt

import pytest
from django.test import Client
from django.utils import timezone

from accounts.refusals import Refused
from analysis.inputs.audience import Audience
from analysis.models import RunOn
from analysis.run_on import RemoveRunOns, RunOnBeyond, told_seconds
from analysis.sections.base import quiet
from analysis.sections.curves import SECTION
from competitions.models import AuditEntry, Phase
from leaderboards.models import LeaderboardRow
from submissions import curves, handover, policy
from submissions.models import Run, RunState, Submission
from tests.platform import factories as make
from tests.platform.analysis.test_curves_section import BEST, MIDDLE, left
from tests.platform.api.test_worker_protocol import Caller
from tests.platform.series import fail

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase(db):
    """A phase with a budget of 10 s that is over, and Alice's run in it."""
    made = make.phase(make.competition(), tasks=1)
    left(make.submission(made, make.user("alice")).runs.get(), {0.5: MIDDLE, 9.0: MIDDLE})
    Phase.objects.filter(pk=made.pk).update(closes_at=timezone.now() - dt.timedelta(minutes=1))
    made.refresh_from_db()
    return made


def run_on(phase, factor=3, by=None):
    RunOnBeyond(by=by, phase=phase, factor=factor).execute()
    return RunOn.objects.get(phase=phase, factor=factor)


def finished(longer: RunOn) -> Run:
    return left(longer.run, {0.6: MIDDLE, 9.5: MIDDLE, 25.0: BEST})


def board(phase):
    rows = LeaderboardRow.objects.filter(board__phase=phase).order_by("board__part", "position")
    return list(rows.values_list("board__part", "entrant__name", "rank", "scores", "entries", "wall_seconds"))


def result(phase, **audience):
    curves.score_due(timezone.now())
    asked = Audience(phase=phase.pk, part="valid", **audience)
    return SECTION.build(SECTION.load(phase.competition, asked, timezone.now()), quiet)


def test_the_code_runs_again_with_the_same_seed_and_is_told_the_same_budget(phase):
    longer = run_on(phase)
    assert (longer.run.seed, longer.run.metric) == (longer.of.seed, longer.of.metric)
    assert longer.run.budget.wall_seconds == 3 * longer.of.budget.wall_seconds
    assert told_seconds(longer.run) == longer.of.budget.wall_seconds
    assert told_seconds(longer.of) is None
    assert longer.run.is_rerun and longer.run.state == RunState.QUEUED
    assert AuditEntry.objects.filter(action="run_on").count() == 1


def test_nothing_of_the_real_run_changes(phase):
    before, scores = board(phase), list(longer_scores(phase))
    finished(run_on(phase))
    assert board(phase) == before
    assert list(longer_scores(phase)) == scores
    assert set(phase.submissions.competing()) == set(phase.submissions.filter(user__username="alice"))


def longer_scores(phase):
    real = Run.objects.filter(submission__phase=phase).exclude(submission__arrival=Submission.Arrival.RUN_ON)
    return real.order_by("pk").values_list("pk", "state", "attempt_number", "scores__part", "scores__value")


def test_it_is_handed_on_nowhere(phase):
    longer = finished(run_on(phase))
    assert set(handover.entries_of(phase)) == {longer.submission.phase.submissions.competing().get().entrant_id}


def test_what_came_after_the_budget_is_drawn_beside_the_curve(phase):
    assert result(phase).named("beyond") is None
    finished(run_on(phase))
    found = result(phase)
    (row,) = found.named("beyond").rows
    assert row[1] == "alice" and row[3] == 1.0 and row[7] == 3
    # The areas are those of the real run.
    assert found.named("areas").rows == result(phase).named("areas").rows
    kept = found.extras["datasets"][0]["curves"][0]
    assert kept["seconds"] == [0.5, 9.0] and kept["late_seconds"] == [25.0]


def test_programs_that_end_when_their_told_time_is_over_are_counted(phase):
    left(run_on(phase).run, {0.6: MIDDLE, 9.5: BEST})
    found = result(phase)
    assert found.named("beyond") is None
    assert any("1 of 1 runs that could go on" in getattr(block, "text", "") for block in found.blocks)


def test_its_author_sees_nothing_of_it(phase):
    longer = run_on(phase)
    assert not policy.may_see(make.user("alice"), longer.run.submission)
    client = Client()
    client.force_login(make.user("alice"))
    address = f"/competitions/{phase.competition.slug}/submissions/"
    assert str(longer.run.submission.get_absolute_url()) not in client.get(address).content.decode()
    assert client.get(longer.run.submission.get_absolute_url()).status_code in (403, 404)


def test_curves_of_the_test_part_wait_for_the_release_as_before(phase):
    finished(run_on(phase))
    curves.score_due(timezone.now())
    asked = Audience(phase=phase.pk, part="test")
    assert not SECTION.load(phase.competition, asked, timezone.now()).boards


def test_only_what_is_missing_runs(phase):
    run_on(phase, 3)
    for factor in (2, 3):
        with pytest.raises(Refused, match="or all have done so"):
            RunOnBeyond(by=None, phase=phase, factor=factor).execute()
    assert run_on(phase, 4).run.budget.wall_seconds == 40


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"closes_at": timezone.now() + dt.timedelta(days=1)}, "is not over yet"),
        ({"any_time": False}, "leave no learning curves"),
    ],
    ids=["open", "not any-time"],
)
def test_phases_that_cannot_have_them_are_refused(phase, change, why):
    Phase.objects.filter(pk=phase.pk).update(**change)
    phase.refresh_from_db()
    with pytest.raises(Refused, match=why):
        RunOnBeyond(by=None, phase=phase, factor=2).execute()


def test_participants_may_not_ask_for_it(phase):
    with pytest.raises(Refused, match="Only organizers"):
        RunOnBeyond(by=make.user("alice"), phase=phase, factor=2).execute()
    with pytest.raises(Refused, match="nothing else"):
        RunOnBeyond(by=phase.competition.created_by, phase=phase, factor=1000).execute()


def test_the_preview_tells_the_worst_hours(phase):
    action = RunOnBeyond(by=phase.competition.created_by, phase=phase, factor=3)
    shown = action.preview(timezone.now())
    assert shown.rerun == 1 and "worker" in shown.sentences[0] and "3 times the budget" in shown.sentences[0]


def test_removing_them_leaves_the_real_submission_and_its_archive(phase):
    longer = finished(run_on(phase))
    archive = longer.submission.archive
    RemoveRunOns(by=None, phase=phase).execute()
    assert not Submission.objects.filter(arrival=Submission.Arrival.RUN_ON).exists()
    assert RunOn.objects.count() == 0 and Run.objects.count() == 1
    assert not archive or archive.storage.exists(archive.name)


def test_a_run_without_predictions_in_time_has_the_curve_of_what_came_later(phase):
    slow = fail(make.submission(phase, make.user("bob")), "timed_out").runs.get()
    RunOnBeyond(by=None, phase=phase, factor=4).execute()
    longer = RunOn.objects.get(of=slow)
    left(longer.run, {30.0: BEST})
    assert longer.run.submission.entrant == RunOn.objects.exclude(of=slow).get().run.submission.entrant
    rows = {row[1]: row for row in result(phase).named("beyond").rows}
    assert rows["bob"][2:5] == (0.0, 1.0, None)


def test_organizers_see_first_what_would_run_and_then_let_it_run(phase):
    client, slug = Client(), phase.competition.slug
    client.force_login(phase.competition.created_by)
    address = f"/competitions/{slug}/manage/run-on/"
    assert "How many times the budget" in client.get(address).content.decode()
    sent = {"phase": phase.number, "factor": "2"}
    assert "for 2 times the budget" in client.post(address + "run/", sent).content.decode()
    assert not RunOn.objects.exists()
    client.post(address + "run/", {**sent, "confirm": "yes"})
    assert RunOn.objects.get().factor == 2
    assert "2 times the budget:" in client.get(address).content.decode()
    assert client.post(address + "run/", {**sent, "factor": "²"}).status_code == 400
    client.post(address + "remove/", {**sent, "confirm": "yes"})
    assert not RunOn.objects.exists()


def test_a_worker_is_given_the_longer_budget_and_what_the_program_is_told(phase):
    longer = run_on(phase)
    Submission.objects.filter(arrival="run_on").update(archive="submissions/one.zip", sha256="0" * 64)
    _, token = make.worker()
    caller = Caller(Client(), token)
    claimed, _ = caller.claim(longer.run)
    assert claimed["budget"]["wall_seconds"] == 30 and claimed["told_seconds"] == 10
    assert claimed["seed"] == longer.of.seed
