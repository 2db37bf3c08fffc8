"""From an uploaded zip to a rank, over HTTP, with real worker processes and a real sandbox."""

import json
import os
import signal
import time

import pytest

from tests.end_to_end import models
from tests.end_to_end.installation import SLUG, Installation, Person, zipped

pytestmark = pytest.mark.services

SANDBOXES = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]
CODE = """
import json, sys
from django.utils import timezone
from submissions.models import Submission
from submissions.public import run_view
from operations.management.commands.submit import result_of
found = Submission.objects.get(pk=int({number}))
result = result_of(found)
for run, line in zip(found.runs.order_by('order'), result['runs']):
    line['attempts'] = run.attempt_number
    line['sentence'] = run.sentence
    line['log_tail'] = run.log_tail
    line['uses_quota'] = found.uses_quota
print(json.dumps(result))
"""


@pytest.fixture(params=SANDBOXES)
def site(request) -> Installation:
    return request.getfixturevalue(f"{request.param}_site")


@pytest.fixture
def newcomer(site):
    """A participant with a name of their own, so that tests do not meet."""
    return Person(site, f"alice{time.monotonic_ns()}").register().join()


def state_of(site: Installation, number: int) -> dict:
    """What the database holds of a submission."""
    return json.loads(site.python("manage.py", "shell", "--no-imports", "-c", CODE.format(number=number)))


def ended(site: Installation, number: int, seconds: float = 150.0) -> dict:
    """Wait until a submission has ended; returns what the database holds of it."""
    end = time.monotonic() + seconds
    while True:
        state = state_of(site, number)
        if state["state"] != "active":
            return state
        assert time.monotonic() < end, f"{state}\n{site.logs()}"
        time.sleep(0.5)


def test_register_join_upload_wait_and_read_the_leaderboard(site, newcomer):
    number = newcomer.accepted(zipped({"model.py": models.LEAST_SQUARES}))
    state = ended(site, number)
    assert state["state"] == "finished", (state, site.logs())
    assert [run["state"] for run in state["runs"]] == ["finished", "finished"]
    for run in state["runs"]:
        assert run["scores"]["valid"]["value"] > 0.6
        assert run["scores"]["test"]["value"] > 0.6

    detail = newcomer.get(f"/competitions/{SLUG}/submissions/{number}/")
    assert detail.status_code == 200
    value = f"{state['runs'][0]['scores']['valid']['value']:.4f}"
    assert value in detail.text
    hidden = f"{state['runs'][0]['scores']['test']['value']:.4f}"
    assert hidden != value, state
    assert hidden not in detail.text

    board = Person(site).get(f"/competitions/{SLUG}/leaderboard/")
    assert newcomer.name in board.text
    assert value in board.text
    lines = Person(site).get(f"/competitions/{SLUG}/leaderboard.csv").text.splitlines()
    assert lines[0].startswith("place,entrant,mean rank,mean score")
    assert any(newcomer.name in line and line.split(",")[0].isdigit() for line in lines[1:])


def test_an_answer_in_time_counts_although_the_program_had_to_be_stopped(site, newcomer):
    state = ended(site, newcomer.accepted(zipped({"model.py": models.NEVER_ENDING})))
    assert state["state"] == "finished", (state, site.logs())
    for run in state["runs"]:
        assert run["reason"] == "timed_out"
        assert run["scores"]["valid"]["value"] > 0.6


@pytest.mark.parametrize(
    ("files", "reason", "words"),
    [
        ({"model.py": models.SYNTAX_ERROR}, "crashed", "SyntaxError"),
        ({"model.py": models.CRASHING}, "crashed", "out of ideas"),
        ({"model.py": models.WRONG_SHAPE}, None, "7"),
        (models.SILENT, "no_predictions", ""),
    ],
    ids=["syntax error", "crash", "wrong shape", "no predictions"],
)
def test_a_program_that_fails_gets_a_sentence_that_says_why(site, newcomer, files, reason, words):
    state = ended(site, newcomer.accepted(zipped(files)))
    assert state["state"] == "failed", state
    for run in state["runs"]:
        assert run["state"] == "failed"
        assert run["reason"] in ([reason] if reason else ["bad_predictions", "crashed"])
        assert words in run["sentence"] + run["log_tail"]
        assert run["scores"] == {}


def test_results_are_scored_as_they_are(site, newcomer):
    rows = {"valid": 100, "test": 200}
    files = {
        f"{name}_{part}.predict": "".join(f"{row % 2}\n" for row in range(rows[part]))
        for name in ("circle", "slope")
        for part in rows
    }
    state = ended(site, newcomer.accepted(zipped(files)), seconds=60)
    assert state["state"] == "finished", (state, site.logs())
    assert all(abs(run["scores"]["valid"]["value"]) < 1.5 for run in state["runs"])


def test_a_run_whose_worker_is_killed_is_given_out_again_and_finishes(site, newcomer):
    number = newcomer.accepted(zipped({"model.py": models.SLOW}))
    end = time.monotonic() + 90
    while "running" not in [run["state"] for run in state_of(site, number)["runs"]]:
        assert time.monotonic() < end, site.logs()
        time.sleep(0.2)
    workers = site.processes("-m ingestion.worker")
    assert len(workers) >= 1
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    state = ended(site, number, seconds=180)
    assert state["state"] == "finished", (state, site.logs())
    assert max(run["attempts"] for run in state["runs"]) == 2
    assert all(run["scores"]["valid"]["value"] > 0.6 for run in state["runs"])
