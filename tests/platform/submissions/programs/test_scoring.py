"""Scoring by an organizer's program: what it is given, what is kept, and whose fault a failure is."""

import json

import pytest
from django.core.files.base import ContentFile

from submissions.actions import cancel, submit
from submissions.models import ColumnScore, Run, RunFile, RunState, Submission
from submissions.moderation import RescoreSubmission
from submissions.programs import scoring, steps
from submissions.programs.scoring import score_programmed
from tests.platform import factories as make
from tests.platform.submissions.programs import contest as programmed

pytestmark = pytest.mark.django_db


class NoSandbox:
    name = "bubblewrap"


@pytest.fixture
def programs(monkeypatch, tmp_path):
    fake = programmed.FakePrograms(tmp_path)
    monkeypatch.setattr(steps, "programs", fake)
    monkeypatch.setattr(steps.site_sandbox, "site_sandbox", NoSandbox)
    return fake


@pytest.fixture
def phase():
    made = programmed.phase()
    programmed.board(made.competition, "accuracy", "loss")
    return made


@pytest.fixture
def alice(phase):
    person = make.user("alice")
    make.participant(phase.competition, person)
    return person


@pytest.fixture
def submission(phase, alice, tmp_path):
    return send(phase, alice, tmp_path)


def send(phase, person, folder, **fields):
    path = programmed.archive(folder, **fields)
    return submit(user=person, phase=phase, archive=path, filename="answers.zip")


def scored(submission) -> Run:
    run = submission.runs.get()
    score_programmed(run.pk)
    run.refresh_from_db()
    return run


def columns(run) -> dict[str, float]:
    return {score.key: score.value for score in run.column_scores.all()}


def test_results_wait_for_their_score_at_once_and_are_given_to_the_program_as_they_were_sent(programs, submission):
    run = submission.runs.get()
    assert (run.state, run.source) == (RunState.COLLECTED, Run.Source.RESULTS)
    run = scored(submission)
    assert (run.state, run.sentence) == (RunState.FINISHED, "Finished.")
    assert programs.predictions == submission.archive.open().read()
    assert b"answers.txt" in programs.reference
    assert programs.asked[0].beside is None
    submission.refresh_from_db()
    assert submission.state == Submission.State.FINISHED


def test_numbers_of_declared_columns_are_kept_and_others_are_told_to_organizers(programs, submission):
    programs.scores = {"accuracy": 0.5, "loss": 3, "secret": 1.0}
    run = scored(submission)
    assert columns(run) == {"accuracy": 0.5, "loss": 3.0}
    assert run.program_report["scoring_notes"] == ["No column is declared for secret: left out."]


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ({}, "wrote no scores"),
        ({"accuracy": float("nan")}, "accuracy is not finite"),
        ({"accuracy": float("-inf"), "loss": 1.0}, "accuracy is not finite"),
        ({"accuracy": "0.5"}, "accuracy is the text '0.5'"),
        ({"accuracy": {"all": 0.5}}, "accuracy is a mapping"),
        ({"accuracy": [0.5]}, "accuracy is a list"),
        ({"accuracy": None}, "accuracy is empty"),
        ({"accuracy": True}, "accuracy is True"),
        ({"accuracy": 10**400}, "accuracy is not finite"),
        ({"acc": 0.5}, "wrote scores for acc only. The columns are accuracy, loss."),
    ],
)
def test_scores_that_cannot_stand_fail_with_the_programs_name_and_cost_no_quota(
    programs, submission, scores, told
):
    programs.scores = scores
    run = scored(submission)
    assert (run.state, run.reason) == (RunState.FAILED, "scoring_failed")
    assert "The organizer's scoring program 'the scoring'" in run.sentence
    assert told in run.sentence
    assert columns(run) == {}
    submission.refresh_from_db()
    assert not submission.uses_quota


def test_a_program_that_fails_is_named_and_its_log_is_kept_for_organizers(programs, submission):
    programs.fields = {
        "status": "failed",
        "reason": "scoring_failed",
        "sentence": "The organizer's scoring program 'the scoring' ended with 3.",
        "log_tail": "Traceback of the scorer",
        "program_at_fault": "scoring",
    }
    run = scored(submission)
    assert (run.state, run.reason) == (RunState.FAILED, "scoring_failed")
    assert run.sentence == "The organizer's scoring program 'the scoring' ended with 3."
    assert run.program_report["scoring_lines"] == "Traceback of the scorer"
    assert "Traceback" not in run.error_lines + run.log_tail
    assert run.files.get(kind=RunFile.Kind.SCORING_LOG).file.read() == b"said by the scorer"


def test_a_machine_that_fails_is_our_fault_and_the_run_is_scored_again(programs, submission):
    programs.fields = {"status": "failed", "reason": "infrastructure", "sentence": "The disk is full."}
    run = scored(submission)
    assert run.state == RunState.SCORING  # until its lease is over, which is now
    assert run.sentence == "Is being scored."


def test_scores_appear_while_the_program_runs_and_the_last_ones_stand(programs, submission):
    run = submission.runs.get()
    programs.live = [{"accuracy": 0.1}, {"accuracy": 0.2, "loss": "?"}]
    seen = []
    programs.seen_live = type("", (), {"append": lambda self, _: seen.append(columns(run))})()
    assert columns(scored(submission)) == {"accuracy": 0.75}
    assert seen == [{"accuracy": 0.1}, {"accuracy": 0.2}]


def test_a_run_that_was_cancelled_while_it_was_scored_keeps_nothing(programs, submission, alice):
    programs.live = [{"accuracy": 0.1}]
    programs.seen_live = type("", (), {"append": lambda self, _: cancel(submission, by=alice)})()
    run = scored(submission)
    assert run.state == RunState.CANCELLED
    assert not columns(run)
    assert not run.files.exists()


def test_a_scorer_that_is_stopped_gives_its_run_back_without_counting_it(programs, submission):
    programs.live = [{"accuracy": 0.1}]
    programs.seen_live = type("", (), {"append": lambda self, _: scoring.stop_all()})()
    programs.fields = {"status": "failed", "reason": "cancelled", "sentence": "Stopped."}
    run = scored(submission)
    assert (run.state, run.scoring_tries, run.rung_at) == (RunState.COLLECTED, 0, None)
    programs.fields, programs.live = {}, []
    assert scored(submission).state == RunState.FINISHED


def test_a_run_is_scored_by_one_scorer_alone(programs, submission):
    scored(submission)
    scored(submission)
    assert len(programs.asked) == 1


def test_scoring_again_runs_the_program_again_on_what_was_kept(programs, submission):
    run = scored(submission)
    programs.scores = {"accuracy": 0.9, "secret": 1.0}
    RescoreSubmission(by=submission.phase.competition.created_by, submission=submission).execute()
    run.refresh_from_db()
    assert run.state == RunState.COLLECTED
    assert columns(scored(submission)) == {"accuracy": 0.9}
    assert len(programs.asked) == 2
    programs.scores = {"accuracy": 0.9}
    RescoreSubmission(by=submission.phase.competition.created_by, submission=submission).execute()
    assert scored(submission).program_report["scoring_notes"] == ["It gave no score for loss."]


def test_a_damaged_program_is_never_run(programs, submission):
    program = submission.phase.tasks.get().scoring_program
    program.file.save("other.zip", ContentFile(b"other bytes"))
    assert scored(submission).state == RunState.SCORING
    assert not programs.asked


def test_what_the_submit_command_prints_has_the_columns_keys(programs, submission):
    from operations.management.commands.submit import result_of

    scored(submission)
    [run] = json.loads(json.dumps(result_of(submission)))["runs"]
    assert run["scores"] == {"accuracy": 0.75}


def test_an_overlapping_ingestion_program_runs_beside_the_scoring_program(programs, alice, tmp_path):
    phase = programmed.phase(ingestion=True)
    programmed.board(phase.competition, "accuracy")
    make.participant(phase.competition, alice)
    phase.tasks.update(overlaps=True)
    submission = send(phase, alice, tmp_path)
    assert submission.runs.get().state == RunState.COLLECTED
    run = scored(submission)
    assert run.state == RunState.FINISHED
    beside = programs.asked[0].beside
    assert beside.ingestion_command == "python3 ingestion.py $input $output"
    assert beside.hidden is None
    assert programs.predictions is None


def test_an_ingestion_program_that_reads_labels_runs_on_the_sites_machine(programs, alice, tmp_path):
    phase = programmed.phase(ingestion=True)
    programmed.board(phase.competition, "accuracy")
    make.participant(phase.competition, alice)
    phase.competition.programs.filter(kind="ingestion").update(
        command="python3 $ingestion_program/a.py $hidden", layout=1
    )
    submission = send(phase, alice, tmp_path)
    assert submission.runs.get().state == RunState.COLLECTED
    scored(submission)
    predicting, _ = programs.asked
    assert predicting.hidden.name == "reference.zip"


@pytest.mark.parametrize("is_allowed", [True, False])
def test_labels_meet_participants_code_only_where_the_owner_allows_it(programs, alice, tmp_path, is_allowed):
    phase = programmed.phase(ingestion=True)
    programmed.board(phase.competition, "accuracy")
    make.participant(phase.competition, alice)
    command = "python3 $ingestion_program/a.py $hidden $submission_program"
    phase.competition.programs.filter(kind="ingestion").update(command=command, layout=1)
    type(phase.competition).objects.filter(pk=phase.competition.pk).update(labels_are_readable=is_allowed)
    scored(send(phase, alice, tmp_path))
    predicting, _ = programs.asked
    assert (predicting.hidden is not None) == is_allowed


def test_an_ingestion_program_in_the_places_of_codabench_never_finds_labels(alice, tmp_path):
    """The variable stood for a place that only scoring programs had; many bundles name it all the same."""
    phase = programmed.phase(ingestion=True)
    make.participant(phase.competition, alice)
    command = "python3 $ingestion_program/a.py $input $output $hidden $submission_program"
    phase.competition.programs.filter(kind="ingestion").update(command=command)
    assert send(phase, alice, tmp_path).runs.get().state == RunState.QUEUED


def test_scores_of_a_run_that_failed_when_it_was_scored_again_do_not_stand(programs, submission):
    run = scored(submission)
    RescoreSubmission(by=submission.phase.competition.created_by, submission=submission).execute()
    programs.scores = {}
    scored(submission)
    assert not ColumnScore.objects.filter(run=run).exists()


def test_no_scorer_of_this_site_runs_without_a_sandbox(monkeypatch):
    from ingestion.sandbox import NoSandbox as Refusal
    from ingestion.sandbox import UnconfinedSandbox
    from submissions.programs import site_sandbox

    monkeypatch.setattr(site_sandbox, "choose_sandbox", UnconfinedSandbox)
    with pytest.raises(Refusal, match="in a sandbox only"):
        site_sandbox.site_sandbox.__wrapped__()


def test_a_score_stands_until_the_new_one_comes_whatever_the_program_writes_on_the_way(programs, submission):
    programs.scores = {"accuracy": 0.5}
    run = scored(submission)
    RescoreSubmission(by=submission.phase.competition.created_by, submission=submission).execute()
    seen = []
    programs.live = [{"accuracy": 0.0}]
    programs.seen_live = type("", (), {"append": lambda self, _: seen.append(columns(run))})()
    scored(submission)
    assert seen == [{"accuracy": 0.5}]


def test_what_cannot_be_shown_on_the_way_does_not_cost_the_run(programs, submission, monkeypatch):
    def full(*args):
        raise OSError("no space left")

    programs.live = [{"accuracy": 0.1}]
    monkeypatch.setattr(scoring._Scoring, "_show", full)
    assert scored(submission).state == RunState.FINISHED


def test_a_verdict_names_no_column_that_is_hidden_from_entrants(programs, submission):
    board = submission.phase.competition.column_boards.get()
    board.columns.filter(key="loss").update(is_hidden=True)
    programs.scores = {"accuracy": 0.5, "loss": "cat, dog, cat"}
    run = scored(submission)
    assert (run.state, run.reason) == (RunState.FAILED, "scoring_failed")
    assert "loss" not in run.sentence and "cat" not in run.sentence
    assert "cat, dog, cat" in " ".join(run.program_report["scoring_notes"])


def test_programs_that_run_side_by_side_share_the_memory_of_the_site(monkeypatch):
    from ingestion.budget import GIB, Budget, Capacity
    from submissions.programs import site_sandbox

    monkeypatch.setattr(Capacity, "of_this_machine", lambda: Capacity(cores=4, memory_bytes=10 * GIB))
    small = site_sandbox.filled(Budget(wall_seconds=1))
    assert (small.cores, small.memory_bytes) == (4, 4 * GIB)
    large = site_sandbox.filled(Budget(wall_seconds=1, cores=16, memory_bytes=64 * GIB))
    assert (large.cores, large.memory_bytes) == (4, 8 * GIB)
