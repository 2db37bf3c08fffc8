"""From collected predictions to a place on the board, and what people may see of it."""

import json

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

import scoring
from datasets.models import DatasetVersion
from leaderboards import board
from leaderboards.models import LeaderboardRow
from submissions.actions import cancel, submit
from submissions.models import Prediction, Run, RunState, Score, Submission
from submissions.public import public_score, run_view
from submissions.scoring import bootstrap_seed, counting_predictions, score_run
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return make.phase(make.competition())


def person(phase, name):
    found = make.user(name)
    make.participant(phase.competition, found)
    return found


def submit_results(phase, name, tmp_path, valid, test=None):
    values = {"valid": valid, "test": test or [0.5] * 6}
    archive = make.results_zip(tmp_path / name, phase, lambda part, rows: values[part])
    return submit(user=person(phase, name), phase=phase, archive=archive, filename="r.zip")


def score_all(submission):
    for run in submission.runs.all():
        score_run(run.pk)
    submission.refresh_from_db()
    return submission


PERFECT, GOOD, GUESS = [0.1, 0.9, 0.2, 0.8], [0.1, 0.9, 0.6, 0.5], [0.5] * 4


def test_scores_finish_the_runs_and_rank_the_entrant_in_the_same_step(phase, tmp_path):
    submission = score_all(submit_results(phase, "alice", tmp_path, PERFECT))
    assert submission.state == Submission.State.FINISHED
    score = submission.runs.first().scores.get(part="valid")
    assert (score.value, score.raw, score.metric) == (1.0, 1.0, "AUC")
    assert len(score.replicates) == 200 * 4
    row = board.rows(phase, timezone.now()).get()
    assert (row.rank, row.mean_rank, row.mean_score, row.entries) == (1, 1.0, 1.0, 1)
    assert [cell["text"] for cell in row.cells] == ["1.0000", "1.0000"]


def test_the_better_of_two_is_ranked_first(phase, tmp_path):
    score_all(submit_results(phase, "alice", tmp_path, GUESS))
    score_all(submit_results(phase, "bob", tmp_path, GOOD))
    rows = list(board.rows(phase, timezone.now()))
    assert [(row.rank, row.entrant.name) for row in rows] == [(1, "bob"), (2, "alice")]


def test_only_the_latest_submission_counts_even_if_it_is_worse(phase, tmp_path):
    score_all(submit_results(phase, "alice", tmp_path, PERFECT))
    archive = make.results_zip(tmp_path / "second", phase)
    worse = submit(user=make.user("alice"), phase=phase, archive=archive, filename="r.zip")
    assert board.rows(phase, timezone.now()).get().submission != worse
    score_all(worse)
    row = board.rows(phase, timezone.now()).get()
    assert (row.submission, row.mean_score, row.entries) == (worse, 0.0, 2)


def test_a_cancelled_submission_leaves_the_earlier_one_standing(phase, tmp_path):
    first = score_all(submit_results(phase, "alice", tmp_path, PERFECT))
    later = submit(
        user=make.user("alice"), phase=phase, archive=make.code_zip(tmp_path / "code"), filename="c.zip"
    )
    cancel(later, by=make.user("alice"))
    row = board.rows(phase, timezone.now()).get()
    assert (row.submission, row.entries) == (first, 1)


def test_an_organizer_who_tries_the_competition_is_shown_without_a_rank(phase, tmp_path):
    olga = phase.competition.created_by
    archive = make.results_zip(
        tmp_path / "o", phase, lambda part, rows: PERFECT if part == "valid" else [0.5] * rows
    )
    score_all(submit(user=olga, phase=phase, archive=archive, filename="r.zip"))
    score_all(submit_results(phase, "alice", tmp_path, GOOD))
    ranks = {row.entrant.name: row.rank for row in board.rows(phase, timezone.now())}
    assert ranks == {"alice": 1, "olga": None}


def collected(phase, files):
    """A code run with collected prediction files {(part, number): values}."""
    run = make.submission(phase, make.user("alice")).runs.first()
    for (part, number), content in files.items():
        prediction = Prediction(run=run, part=part, number=number, name="p.predict", sha256="0" * 64, size=1)
        prediction.file.save("p", ContentFile(content), save=False)
        prediction.save()
    Run.objects.filter(pk=run.pk).update(state=RunState.COLLECTED)
    run.refresh_from_db()
    return run


def test_the_highest_number_complete_in_all_parts_counts(phase):
    run = collected(
        phase,
        {
            ("valid", None): b"",
            ("test", None): b"",
            ("valid", 0): b"",
            ("test", 0): b"",
            ("valid", 1): b"",
            ("test", 1): b"",
            ("valid", 2): b"",
        },
    )
    assert {(found.part, found.number) for found in counting_predictions(run)} == {("valid", 1), ("test", 1)}


def test_a_run_without_any_complete_prediction_fails(phase):
    run = collected(phase, {("valid", 0): make.column(GOOD)})
    score_run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.reason) == (RunState.FAILED, "no_predictions")


def test_predictions_that_cannot_be_scored_fail_with_file_and_row(phase):
    run = collected(phase, {("valid", None): b"1\nnan\n0\n0\n", ("test", None): make.column([0] * 6)})
    score_run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.reason) == (RunState.FAILED, "bad_predictions")
    assert "p.predict" in run.sentence
    assert "2" in run.sentence


def test_a_run_is_scored_once_although_the_doorbell_rings_twice(phase, tmp_path):
    submission = submit_results(phase, "alice", tmp_path, GOOD)
    run = submission.runs.first()
    score_run(run.pk)
    first = run.scores.get(part="valid").pk
    score_run(run.pk)
    assert run.scores.get(part="valid").pk == first


def test_every_entrant_of_a_task_is_resampled_alike_and_tasks_differ(phase, tmp_path):
    one = submit_results(phase, "alice", tmp_path, GOOD).runs.first()
    two = submit_results(phase, "bob", tmp_path, GOOD).runs.first()
    other = Run.objects.filter(submission=one.submission).last()
    assert bootstrap_seed(one, "valid") == bootstrap_seed(two, "valid")
    assert bootstrap_seed(one, "valid") != bootstrap_seed(other, "valid")


def test_the_public_view_rounds_the_score_and_gives_the_error_two_digits(phase, tmp_path):
    run = score_all(submit_results(phase, "alice", tmp_path, GOOD)).runs.first()
    score = run.scores.get(part="valid")
    score.value, score.stderr = 0.123456789, 0.0123456
    shown = public_score(score, phase)
    assert (shown.value, shown.stderr, shown.text) == (0.1235, 0.012, "0.1235")


def test_ranks_are_ranks_of_the_rounded_scores(phase, tmp_path):
    phase.score_digits = 1
    phase.save()
    for name in ("alice", "bob"):
        submission = submit_results(phase, name, tmp_path, GOOD)
        for run in submission.runs.all():
            score_run(run.pk)
            run.scores.filter(part="valid").update(value=0.52 if name == "alice" else 0.54)
    board.refresh_now(phase)
    rows = list(board.rows(phase, timezone.now()))
    assert [row.mean_rank for row in rows] == [1.0, 1.0]
    assert rows[0].entrant.name == "alice"


def test_a_participant_sees_the_feedback_part_only_and_an_organizer_both(phase, tmp_path):
    run = score_all(submit_results(phase, "alice", tmp_path, GOOD)).runs.first()
    now = timezone.now()
    assert set(run_view(run, sees_hidden=False, now=now).scores) == {"valid"}
    assert set(run_view(run, sees_hidden=True, now=now).scores) == {"valid", "test"}


def test_in_a_hidden_phase_an_entrant_learns_the_reason_and_a_rounded_time_only(phase):
    phase.kind = "automl"
    phase.save()
    run = make.submission(phase, make.user("alice")).runs.first()
    Run.objects.filter(pk=run.pk).update(
        state=RunState.FAILED,
        reason="crashed",
        sentence="Row 17 has label 1",
        log_tail="label 1",
        wall_seconds=123.4,
        cpu_seconds=99.0,
        peak_memory_bytes=12345,
    )
    run.refresh_from_db()
    view = run_view(run, sees_hidden=False, now=timezone.now())
    assert "label 1" not in json.dumps(view.__dict__, default=str)
    assert (view.reason, view.sentence, view.wall_seconds) == ("crashed", "The program failed.", 100.0)
    assert (view.cpu_seconds, view.peak_memory_bytes, view.has_log) == (None, None, False)
    assert "label 1" in run_view(run, sees_hidden=True, now=timezone.now()).sentence


def test_the_board_shows_no_row_before_its_scores_are_public(phase, tmp_path):
    score_all(submit_results(phase, "alice", tmp_path, GOOD))
    phase.kind = "final"
    phase.save()
    assert list(board.rows(phase, timezone.now())) == []


def test_reading_the_rows_of_a_board_is_one_query(phase, tmp_path, django_assert_num_queries):
    for name in ("alice", "bob"):
        score_all(submit_results(phase, name, tmp_path, GOOD))
    with django_assert_num_queries(1):
        assert [row.entrant.name for row in board.rows(phase, timezone.now())] == ["alice", "bob"]


def test_a_run_that_was_stopped_but_counts_keeps_its_note_and_its_sentence(phase):
    run = collected(phase, {("valid", 0): make.column(GOOD), ("test", 0): make.column([0.5] * 6)})
    Run.objects.filter(pk=run.pk).update(reason="timed_out", sentence="The program was stopped at 10 seconds.")
    score_run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.reason) == (RunState.FINISHED, "timed_out")
    assert run.sentence == "The program was stopped at 10 seconds."
    assert run_view(run, sees_hidden=False, now=timezone.now()).stopped


def test_refreshing_a_board_takes_the_same_queries_for_many_as_for_few(phase, django_assert_max_num_queries):
    for number in range(12):
        submission = make.submission(phase, make.user(f"person{number}"))
        for run in submission.runs.all():
            make.score(run, number / 20)
    Submission.objects.update(state=Submission.State.FINISHED)
    for _ in range(2):
        with django_assert_max_num_queries(20):
            board.refresh_now(phase)
    assert [row.rank for row in board.rows(phase, timezone.now())] == list(range(1, 13))


def test_rows_that_did_not_change_are_not_written_again(phase):
    for name in ("alice", "bob"):
        for run in make.submission(phase, make.user(name)).runs.all():
            make.score(run, 0.5 if name == "alice" else 0.4)
    Submission.objects.update(state=Submission.State.FINISHED)
    board.refresh_now(phase)
    before = {row.pk: row.updated_at for row in LeaderboardRow.objects.all()}
    Score.objects.filter(run__submission__entrant__name="bob").update(value=0.3)
    board.refresh_now(phase)
    after = {row.pk: row.updated_at for row in LeaderboardRow.objects.all()}
    assert [after[pk] != stamp for pk, stamp in before.items()].count(True) == 1


def test_rows_of_chronological_data_are_resampled_in_blocks(phase, tmp_path, monkeypatch):
    asked = []
    compute = scoring.score

    def noted(*data, **options):
        asked.append(options["blocks"])
        return compute(*data, **options)

    monkeypatch.setattr(scoring, "score", noted)
    DatasetVersion.objects.filter(dataset=phase.tasks.first().dataset).update(is_chronological=True)
    first, second = submit_results(phase, "alice", tmp_path, GOOD).runs.all()
    score_run(first.pk)
    score_run(second.pk)
    assert asked == [2, 2, None, None]
