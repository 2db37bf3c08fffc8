"""Entries go forward: the right submission, on the right datasets, once, whatever happens to the clock."""

import datetime as dt
from unittest.mock import patch

import pytest
from django.utils import timezone

from competitions.models import Extension
from leaderboards import board
from submissions import handover
from submissions.models import Handover, Run, RunState, Submission
from submissions.scoring import score_run
from submissions.transitions import end_run, settle
from tests.platform import factories as make
from tests.platform.series import BAD, GOOD, collected, copies, enter, fail, finish, series, tick

pytestmark = pytest.mark.django_db
SECOND = dt.timedelta(seconds=1)


@pytest.fixture
def contest(clock):
    return series(clock.now)


@pytest.fixture
def alice():
    return make.user("alice")


def rows(phase):
    return {(row.entrant.name, row.outcome) for row in phase.handovers.select_related("entrant")}


def scores(submission, part="test"):
    return [run.scores.get(part=part).value for run in submission.runs.all()]


def test_nothing_goes_forward_a_second_before_the_boundary_and_everything_a_second_after(contest, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice))
    assert tick(contest.at(10) - SECOND) == 0
    assert not Handover.objects.exists()
    assert tick(contest.at(10)) == 2
    assert rows(contest["AutoML[1]"]) == rows(contest["Final[0]"]) == {("alice", "migrated")}
    assert tick(contest.at(10) + SECOND) == 0


def test_the_final_shows_the_test_score_of_the_very_run_of_the_tweakathon(contest, alice, clock):
    source = finish(enter(contest["Tweakathon[0]"], alice))
    clock.set(contest.at(10))
    tick()
    (entry,) = copies(contest["Final[0]"])
    assert entry.state == "finished"
    assert entry.received_at == source.received_at
    assert entry.archive.name == source.archive.name
    assert not entry.uses_quota
    for run, original in zip(entry.runs.all(), source.runs.all(), strict=True):
        assert (run.source, run.copied_from, run.dataset_version) == ("copy", original, original.dataset_version)
        assert run.scores.get(part="test").replicates == original.scores.get(part="test").replicates
        assert {p.file.name for p in run.predictions.all()} == {p.file.name for p in original.predictions.all()}
    assert scores(entry) == scores(source)
    assert board.rows(contest["Final[0]"], clock.now) is not None


def test_in_a_blind_phase_the_code_runs_on_the_new_datasets_under_neutral_names(contest, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice, kind="both"))
    clock.set(contest.at(10))
    tick()
    (entry,) = copies(contest["AutoML[1]"])
    runs = list(entry.runs.all())
    new = [task.dataset for task in contest["AutoML[1]"].tasks.all()]
    assert [run.dataset_version.dataset for run in runs] == new
    assert [(run.source, run.state) for run in runs] == [("code", "queued")] * 2
    assert [run.dataset_name for run in runs] == ["dataset1", "dataset2"]
    assert runs[0].seed != runs[1].seed


def test_only_the_latest_goes_forward_even_if_it_failed(contest, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1))
    failed = fail(enter(contest["Tweakathon[0]"], alice, hours_ago=-2))
    clock.set(contest.at(10))
    tick()
    (final,) = copies(contest["Final[0]"])
    assert final.origin == failed
    assert [(run.source, run.state, run.reason) for run in final.runs.all()] == [("copy", "failed", "crashed")] * 2
    (blind,) = copies(contest["AutoML[1]"])
    assert {run.state for run in blind.runs.all()} == {"queued"}


def test_what_was_disqualified_cancelled_or_lost_does_not_go_forward(contest, alice, clock):
    good = finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1))
    for hours, fields in (
        (2, {"disqualified_at": clock.now}),
        (3, {"state": "cancelled"}),
        (4, {"state": "lost"}),
    ):
        worse = enter(contest["Tweakathon[0]"], alice, hours_ago=-hours)
        worse.runs.update(state="failed")
        Submission.objects.filter(pk=worse.pk).update(**{"state": "finished", **fields})
    clock.set(contest.at(10))
    tick()
    assert copies(contest["Final[0]"])[0].origin == good


def test_results_alone_have_no_place_in_a_blind_phase_and_are_listed(contest, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1))
    results = enter(contest["Tweakathon[0]"], alice, kind="results", hours_ago=-2)
    results.runs.update(source="results")
    finish(results)
    clock.set(contest.at(10))
    tick()
    assert rows(contest["AutoML[1]"]) == {("alice", "no_code")}
    assert copies(contest["AutoML[1]"]) == []
    assert copies(contest["Final[0]"])[0].origin == results
    clock.set(contest.at(12))
    tick()
    assert not contest["Tweakathon[1]"].handovers.exists()


def test_a_submission_that_still_runs_at_the_close_is_waited_for(contest, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1))
    late = enter(contest["Tweakathon[0]"], alice, hours_ago=-2)
    clock.set(contest.at(10))
    assert tick() == 0
    assert handover.progress(contest["Final[0]"], clock.now).awaited == 1
    clock.move(hours=1)
    finish(late)
    assert tick() == 2
    assert copies(contest["Final[0]"])[0].origin == late
    assert handover.progress(contest["Final[0]"], clock.now).is_complete


def test_a_late_end_goes_forward_at_once_without_waiting_for_the_clock(
    contest,
    alice,
    clock,
    django_capture_on_commit_callbacks,
):
    late = enter(contest["Tweakathon[0]"], alice)
    clock.set(contest.at(10))
    tick()
    with django_capture_on_commit_callbacks(execute=True):
        finish(late)
    assert rows(contest["AutoML[1]"]) == {("alice", "migrated")}


def test_when_the_latest_is_lost_to_us_the_one_before_goes_forward(contest, alice, clock):
    first = finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1))
    late = enter(contest["Tweakathon[0]"], alice, hours_ago=-2)
    clock.set(contest.at(10))
    tick()
    fail(late, "infrastructure")
    tick()
    assert copies(contest["Final[0]"])[0].origin == first


def test_an_upload_that_began_before_the_close_takes_the_place_of_what_went_forward(
    contest,
    alice,
    clock,
    tmp_path,
):
    from submissions.actions import submit

    make.participant(contest.contest, alice)
    finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1))
    clock.set(contest.at(10))
    tick()
    (old,) = copies(contest["AutoML[1]"])
    begun = clock.now - SECOND
    clock.move(minutes=20)
    archive = make.code_zip(tmp_path)
    new = submit(user=alice, phase=contest["Tweakathon[0]"], archive=archive, filename="s.zip", begun_at=begun)
    tick()
    assert copies(contest["AutoML[1]"]) == [old]
    finish(new)
    tick()
    (entry,) = copies(contest["AutoML[1]"])
    assert entry.origin == new
    old.refresh_from_db()
    assert old.state == "cancelled"
    assert {run.state for run in old.runs.all()} == {"cancelled"}
    assert Handover.objects.filter(phase=contest["AutoML[1]"]).count() == 1
    assert tick() == 0


def test_after_hours_of_downtime_one_tick_catches_up_with_every_phase(contest, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice))
    clock.set(contest.at(13))
    tick()
    assert copies(contest["AutoML[1]"])
    assert not copies(contest["Tweakathon[1]"]), "the blind runs have not ended"
    assert all(task.revealed_at for task in contest["AutoML[1]"].tasks.all())
    finish(copies(contest["AutoML[1]"])[0])
    clock.set(contest.at(23))
    tick()
    assert [copies(contest[title])[0].arrival for title in ("Tweakathon[1]", "Final[1]", "AutoML[2]")] == [
        "carried",
        "migrated",
        "migrated",
    ]


def test_carried_entries_stand_on_the_scores_of_the_blind_runs_and_cost_no_quota(contest, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice))
    clock.set(contest.at(10))
    tick()
    blind = finish(copies(contest["AutoML[1]"])[0], BAD)
    clock.set(contest.at(12))
    tick()
    (carried,) = copies(contest["Tweakathon[1]"])
    assert (carried.arrival, carried.state, carried.uses_quota) == ("carried", "finished", False)
    assert scores(carried, "valid") == scores(blind, "valid")
    assert [run.copied_from for run in carried.runs.all()] == list(blind.runs.all())
    from submissions.models.submission import quota_left

    assert quota_left(contest["Tweakathon[1]"], carried.entrant, clock.now) == 5
    (row,) = board.rows(contest["Tweakathon[1]"], clock.now)
    assert row.submission == carried


def test_a_carried_entry_gives_way_to_the_entrants_own_and_goes_on_where_there_is_none(contest, alice, clock):
    bob = make.user("bob")
    for person in (alice, bob):
        finish(enter(contest["Tweakathon[0]"], person))
    clock.set(contest.at(10))
    tick()
    for entry in copies(contest["AutoML[1]"]):
        finish(entry)
    clock.set(contest.at(13))
    tick()
    own = finish(enter(contest["Tweakathon[1]"], alice))
    clock.set(contest.at(20))
    tick()
    origins = {entry.entrant.name: entry.origin for entry in copies(contest["AutoML[2]"])}
    assert origins["alice"] == own
    assert origins["bob"].arrival == "carried"


def test_nothing_of_a_hidden_run_comes_out_by_its_copy_in_an_open_phase(contest, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice))
    clock.set(contest.at(10))
    tick()
    blind = copies(contest["AutoML[1]"])[0]
    Run.objects.filter(submission=blind).update(log_tail="row 7: 0.123", log="runs/x", cpu_seconds=3.21)
    first, second = blind.runs.all()
    end_run(first, RunState.FAILED, reason="crashed", sentence="ValueError: row 7 holds 0.123", wall_seconds=3.21)
    score_run(collected(second).pk)
    clock.set(contest.at(12))
    tick()
    (carried,) = copies(contest["Tweakathon[1]"])
    for run in carried.runs.all():
        assert (run.log_tail, run.log.name, run.cpu_seconds, run.peak_memory_bytes) == ("", "", None, None)
        assert "0.123" not in run.sentence
    assert carried.runs.first().sentence == "The program failed."
    assert carried.runs.first().wall_seconds == 3.0


def test_a_part_that_results_left_out_is_run_where_there_is_code(contest, alice, clock):
    source = enter(contest["Tweakathon[0]"], alice, kind="both")
    first, second = source.runs.all()
    source.runs.update(source="results")
    score_run(collected(first, GOOD, parts=("valid",)).pk)
    score_run(collected(second).pk)
    clock.set(contest.at(10))
    tick()
    (final,) = copies(contest["Final[0]"])
    assert [(run.source, run.state) for run in final.runs.all()] == [("code", "queued"), ("copy", "finished")]


def test_a_part_that_results_left_out_stays_missing_where_there_is_no_code(contest, alice, clock):
    source = enter(contest["Tweakathon[0]"], alice, kind="results")
    source.runs.update(source="results")
    for run in source.runs.all():
        score_run(collected(run, GOOD, parts=("valid",)).pk)
    clock.set(contest.at(10))
    tick()
    (final,) = copies(contest["Final[0]"])
    assert [(run.source, run.state) for run in final.runs.all()] == [("copy", "finished")] * 2
    assert not any(run.scores.filter(part="test").exists() for run in final.runs.all())


def test_another_metric_in_the_final_scores_the_same_predictions_again(contest, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice))
    contest["Final[0]"].tasks.update(metric="BAC")
    clock.set(contest.at(10))
    tick()
    (final,) = copies(contest["Final[0]"])
    assert [(run.metric, run.state) for run in final.runs.all()] == [("BAC", "collected")] * 2
    for run in final.runs.all():
        score_run(run.pk)
    assert scores(final) == [1.0, 1.0]


def test_a_dataset_replaced_meanwhile_changes_nothing_in_the_final(contest, alice, clock):
    source = finish(enter(contest["Tweakathon[0]"], alice))
    task = contest["Tweakathon[0]"].tasks.first()
    make.version(task.dataset, "replaced")
    clock.set(contest.at(10))
    tick()
    (final,) = copies(contest["Final[0]"])
    assert final.runs.first().dataset_version == source.runs.first().dataset_version
    assert scores(final) == scores(source)


def test_extra_time_of_one_entrant_holds_up_only_that_one(contest, alice, clock):
    bob = make.user("bob")
    for person in (alice, bob):
        finish(enter(contest["Tweakathon[0]"], person))
    Extension.objects.create(
        phase=contest["Tweakathon[0]"],
        entrant=make.entrant(contest.contest, alice),
        closes_at=contest.at(11),
        why="The site was down.",
        given_by=contest.contest.created_by,
    )
    clock.set(contest.at(10))
    tick()
    assert rows(contest["AutoML[1]"]) == {("bob", "migrated")}
    clock.set(contest.at(11) - SECOND)
    later = finish(enter(contest["Tweakathon[0]"], alice))
    clock.set(contest.at(11))
    tick()
    assert {entry.origin for entry in copies(contest["AutoML[1]"])} >= {later}


def test_a_score_given_again_reaches_every_copy_and_its_board(contest, alice, clock):
    source = finish(enter(contest["Tweakathon[0]"], alice))
    clock.set(contest.at(10))
    tick()
    (final,) = copies(contest["Final[0]"])
    clock.move(hours=1)
    run = source.runs.first()
    run.predictions.all().delete()
    run.scores.all().delete()
    score_run(collected(run, BAD).pk)
    assert scores(final)[0] == -1.0
    clock.set(contest.at(12))
    (row,) = board.rows(contest["Final[0]"], clock.now)
    assert row.cells[0]["value"] == -1.0


def test_a_phase_without_datasets_takes_nothing_over_until_it_has_some(contest, alice, clock):
    finish(enter(contest["Tweakathon[0]"], alice))
    blind = contest["AutoML[1]"]
    tasks = list(blind.tasks.all())
    blind.tasks.all().delete()
    clock.set(contest.at(10))
    tick()
    assert not blind.handovers.exists()
    tasks[0].pk = None
    tasks[0].save(force_insert=True)
    tick()
    (entry,) = copies(blind)
    assert entry.runs.count() == 1
    tasks[1].pk = None
    tasks[1].save(force_insert=True)
    tick()
    assert entry.runs.count() == 2
    assert {run.state for run in entry.runs.all()} == {"queued"}


def test_repeats_run_with_fresh_seeds_and_are_copied_together(contest, alice, clock):
    for title in ("Tweakathon[0]", "AutoML[1]"):
        phase = contest[title]
        phase.repeats = 3
        phase.save()
    source = finish(enter(contest["Tweakathon[0]"], alice))
    clock.set(contest.at(10))
    tick()
    (entry,) = copies(contest["AutoML[1]"])
    assert [(run.order, run.repeat) for run in entry.runs.order_by("order", "repeat")] == [
        (order, repeat) for order in range(2) for repeat in range(3)
    ]
    assert len({run.seed for run in entry.runs.all()}) == 6
    assert source.runs.count() == 2  # made by the factory, which knows no repeats


def test_the_best_submission_goes_forward_where_the_phase_says_so(clock):
    contest = series(clock.now, counts="best")
    alice = make.user("alice")
    best = finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1), GOOD)
    finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-2), BAD)
    clock.set(contest.at(10))
    tick()
    assert copies(contest["Final[0]"])[0].origin == best


def test_the_chosen_submission_goes_forward_where_the_phase_says_so(clock):
    contest = series(clock.now, counts="chosen")
    alice = make.user("alice")
    chosen = finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-1, is_chosen=True))
    finish(enter(contest["Tweakathon[0]"], alice, hours_ago=-2))
    clock.set(contest.at(10))
    tick()
    assert copies(contest["AutoML[1]"])[0].origin == chosen


def test_datasets_are_revealed_and_entries_carried_over_in_one_tick_of_a_clock_that_runs(clock):
    contest = series(clock.now)
    finish(enter(contest["Tweakathon[0]"], make.user("alice")))
    clock.set(contest.at(10))
    tick()
    finish(copies(contest["AutoML[1]"])[0])
    moments = iter(contest.at(12) + dt.timedelta(milliseconds=step) for step in range(10_000))
    with patch.object(timezone, "now", lambda: next(moments)):
        tick()
    assert copies(contest["Tweakathon[1]"])


def test_who_has_submitted_nothing_gets_no_row(contest, clock):
    make.entrant(contest.contest, make.user("dora"))
    clock.set(contest.at(23))
    tick()
    assert not Handover.objects.exists()


def test_a_run_keeps_the_convention_it_was_made_with(contest, alice, clock):
    final = contest["Final[0]"]
    final.convention = "libscores"
    final.save()
    source = finish(enter(contest["Tweakathon[0]"], alice))
    clock.set(contest.at(10))
    tick()
    (entry,) = copies(final)
    for run in entry.runs.all():
        assert (run.convention, run.state) == ("libscores", "collected")
        score_run(run.pk)
    assert {score.convention for run in entry.runs.all() for score in run.scores.all()} == {"libscores"}
    assert {score.convention for run in source.runs.all() for score in run.scores.all()} == {"chapter"}


def test_a_settled_submission_is_not_touched_by_a_tick_long_after(contest, alice, clock):
    source = finish(enter(contest["Tweakathon[0]"], alice))
    clock.set(contest.at(10))
    tick()
    before = list(Submission.objects.values())
    clock.move(days=400)
    tick()
    after = [row for row in Submission.objects.values() if row["phase_id"] in {b["phase_id"] for b in before}]
    assert [row for row in after if row["id"] in {b["id"] for b in before}] == before
    settle(source)
    assert timezone.now() == clock.now
