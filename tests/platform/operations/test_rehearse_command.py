"""`./podium manage rehearse`."""

import datetime as dt
import json

import pytest
from django.core.management import call_command

from operations.management.commands import rehearse as command
from submissions.models import Run, RunState
from submissions.rehearsal.start import rehearsal_of
from submissions.transitions import end_run, settle
from tests.platform import factories as make
from tests.platform.rehearsing import run_all
from tests.platform.series import series

pytestmark = pytest.mark.django_db


@pytest.fixture
def contest(clock, monkeypatch):
    """A series, and workers that end every run while the command waits."""
    monkeypatch.setattr("datasets.checks.best_baseline", lambda material: None)
    monkeypatch.setattr(command, "wait_for_runs", run_all)
    make.worker("here")
    return series(clock.now + dt.timedelta(days=10), datasets=1).contest


def run(capsys, *arguments):
    """The object that the command prints, and its exit code."""
    try:
        call_command("rehearse", *arguments, "--json")
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    return json.loads(capsys.readouterr().out.splitlines()[-1]), code


def test_it_goes_to_a_phase_then_to_the_end_and_is_thrown_away(contest, capsys):
    result, code = run(capsys, contest.slug, "--to", "AutoML[1]")
    states = {phase["title"]: phase["state"] for phase in result["phases"]}
    assert (states["Tweakathon[0]"], states["AutoML[1]"], states["Tweakathon[1]"]) == (
        "closed",
        "open",
        "upcoming",
    )
    assert (code, result["ok"], result["rehearses"]) == (0, True, contest.slug)
    result, code = run(capsys, contest.slug)
    assert {phase["state"] for phase in result["phases"]} == {"closed", "released"}
    entrants = {part["entrant"]: part for part in result["phases"][-1]["entrants"]}
    assert entrants["Sample code"]["runs"] == {"finished": 1}
    assert entrants["Failing code"]["sentences"] == ["dataset1: It failed."]
    assert any("go forward to AutoML[2]" in event["text"] for event in result["events"])
    assert (code, result["ok"], result["problems"]) == (0, True, [])
    result, code = run(capsys, contest.slug, "--throw-away")
    assert (code, result["ok"]) == (0, True)
    assert rehearsal_of(contest) is None


def test_code_that_should_run_and_does_not_is_the_fault_of_the_competition(contest, capsys, monkeypatch):
    def fail(rehearsal):
        for one in Run.objects.filter(submission__phase__round__competition=rehearsal, state=RunState.QUEUED):
            end_run(one, RunState.FAILED, reason="timed_out", sentence="Time was up.")
            settle(one.submission)
        run_all(rehearsal)

    monkeypatch.setattr(command, "wait_for_runs", fail)
    result, code = run(capsys, contest.slug, "--to", "1")
    assert (code, result["ok"]) == (1, False)
    assert any("Linear model" in problem and "Time was up." in problem for problem in result["problems"])


def test_what_is_not_there_is_refused(contest, capsys):
    assert run(capsys, "nothing")[1] == 1
    assert run(capsys, contest.slug, "--throw-away")[1] == 1
    result, code = run(capsys, contest.slug, "--to", "Tweakathon[7]")
    assert (code, result["ok"]) == (1, False)
    assert "no phase Tweakathon[7]" in result["sentence"]
    assert rehearsal_of(contest) is None


def test_without_a_worker_nothing_is_started(clock, capsys):
    contest = series(clock.now).contest
    result, code = run(capsys, contest.slug)
    assert code == 1
    assert "No worker is connected" in result["sentence"]
    assert rehearsal_of(contest) is None
