"""A results submission from the door to its score, with a scoring program that really runs."""

import pytest

from submissions.actions import submit
from submissions.models import RunFile, RunState
from submissions.programs import site_sandbox
from submissions.programs.scoring import score_programmed
from tests.platform import factories as make
from tests.platform.submissions.programs import contest as programmed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.bubblewrap]

SCORER = """
import os, sys
given, output = sys.argv[1:]
answers = os.path.join(given, "ref", "answers.txt")
sent = open(os.path.join(given, "res", "answer.txt")).read()
assert open(answers).read() == "the hidden answers"
print("the scorer says", sent)
with open(os.path.join(output, "scores.txt"), "w") as file:
    file.write("accuracy:" + sent + "\\n")
with open(os.path.join(output, "detailed_results.html"), "w") as file:
    file.write("<p>Details</p>")
"""


@pytest.fixture
def in_bubblewrap(monkeypatch):
    monkeypatch.setenv("PODIUM_SANDBOX", "bubblewrap")
    site_sandbox.site_sandbox.cache_clear()
    yield
    site_sandbox.site_sandbox.cache_clear()


def sent(tmp_path, source, **fields):
    contest = make.competition()
    programmed.program(contest, source=source, command="python3 $program/scoring.py $input $output")
    phase = programmed.phase(contest, **fields)
    programmed.board(contest, "accuracy")
    alice = make.user("alice")
    make.participant(contest, alice)
    archive = programmed.archive(tmp_path)
    return submit(user=alice, phase=phase, archive=archive, filename="answers.zip")


def test_a_results_submission_is_scored_in_a_sandbox_with_the_reference_data(in_bubblewrap, tmp_path):
    run = sent(tmp_path, SCORER).runs.get()
    score_programmed(run.pk)
    run.refresh_from_db()
    assert (run.state, run.sentence) == (RunState.FINISHED, "Finished.")
    assert [(score.key, score.value) for score in run.column_scores.all()] == [("accuracy", 42.0)]
    files = {file.kind: file.file.read() for file in run.files.all()}
    assert b"the scorer says 42" in files[RunFile.Kind.SCORING_LOG]
    assert files[RunFile.Kind.DETAILS] == b"<p>Details</p>"
    assert b"accuracy" in files[RunFile.Kind.SCORES]


def test_a_scoring_program_that_raises_is_at_fault_itself(in_bubblewrap, tmp_path):
    run = sent(tmp_path, "raise SystemExit('no such metric')").runs.get()
    score_programmed(run.pk)
    run.refresh_from_db()
    assert (run.state, run.reason) == (RunState.FAILED, "scoring_failed")
    assert "the scoring" in run.sentence
    assert "no such metric" not in run.sentence
    assert "no such metric" in run.program_report["scoring_lines"]
