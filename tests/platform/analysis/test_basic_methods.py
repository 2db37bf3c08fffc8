"""Organizers let the platform run the basic methods; these are baselines, wait behind live work and go nowhere."""

import datetime as dt
import json
import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from accounts.refusals import Refused
from analysis import work
from analysis.basic.running import RemoveBasicMethods, RunBasicMethods, entries
from analysis.inputs.audience import Audience
from analysis.models import BasicEntry
from analysis.sections import BY_KEY
from competitions.models import AuditEntry, Competition, Entrant, Phase, Team
from leaderboards.models import LeaderboardRow
from submissions import dispatch, handover
from submissions.models import Run, RunState, Submission
from tests.platform import factories as make
from tests.platform.series import BAD, GOOD, enter, finish, series

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return make.phase(make.competition(), tasks=1)


def run(*phases: Phase, tuned: bool = False, **fields) -> str:
    action = RunBasicMethods(None, phases[0].competition, list(phases), tuned=tuned)
    return action.execute()


def over(phase: Phase) -> Phase:
    Phase.objects.filter(pk=phase.pk).update(closes_at=timezone.now() - dt.timedelta(minutes=1))
    phase.refresh_from_db()
    return phase


def test_every_method_runs_on_every_dataset_once(phase):
    assert run(phase) == f"5 runs of the basic methods were queued in {phase.title} (5 methods)."
    with pytest.raises(Refused, match="They have all run"):
        run(phase)
    assert run(phase, tuned=True).startswith("4 runs")
    assert BasicEntry.objects.count() == 9
    assert Run.objects.filter(state=RunState.QUEUED, image="", submission__is_kit_code=True).count() == 9
    assert AuditEntry.objects.filter(action="run_basic_methods").count() == 2


def test_a_dataset_that_came_later_is_run_by_the_submissions_that_are_there(phase):
    run(phase)
    owner = phase.competition.created_by
    phase.tasks.create(dataset=make.dataset(owner), order=7)
    assert run(phase).startswith("5 runs")
    assert BasicEntry.objects.count() == 5


def test_they_are_baselines_without_a_place_or_a_quota(phase):
    finish(enter(phase, make.user("alice")), BAD)
    run(phase)
    finish(entries(phase.competition)[0].submission, GOOD)
    rows = LeaderboardRow.objects.filter(board__phase=phase, board__part="valid")
    assert {row.rank for row in rows if row.entrant.is_baseline} == {None}
    assert rows.get(entrant__name="alice").rank == 1
    assert not Submission.objects.filter(arrival=Submission.Arrival.BASIC, uses_quota=True).exists()


def test_they_wait_behind_everybody_who_competes(phase):
    run(phase)
    late = enter(phase, make.user("alice")).runs.count()
    own = [item.waiting.submission_id for item in dispatch.queued()][:late]
    assert set(own) == {Submission.objects.get(entrant__name="alice").pk}


def test_they_are_the_same_baselines_in_every_phase(phase):
    other = make.phase(phase.competition, number=2, tasks=1)
    run(phase, other)
    assert Entrant.objects.filter(is_baseline=True).count() == 5
    assert BasicEntry.objects.count() == 10


def test_they_do_not_go_forward_by_themselves():
    made = series(timezone.now() - dt.timedelta(hours=11), datasets=1)
    run(made["Tweakathon[0]"])
    assert handover.tick() == 0
    assert not made["AutoML[1]"].submissions.exists()
    assert handover.progress(made["Tweakathon[0]"], timezone.now()).is_complete


def test_a_hidden_phase_takes_them_and_hides_them():
    made = series(timezone.now() - dt.timedelta(hours=11), datasets=1)
    run(made["AutoML[1]"])
    finish(entries(made.contest)[0].submission)
    address = f"/competitions/{made.contest.slug}/leaderboard/?phase={made['AutoML[1]'].number}"
    assert "Basic" not in Client().get(address).content.decode()
    assert work.wanted(made.contest, BY_KEY["difficulty"], Audience()).is_empty


def test_rehearsals_and_phases_without_datasets_take_none(phase):
    empty = make.phase(phase.competition, tasks=0, number=2)
    with pytest.raises(Refused, match="cannot run"):
        run(empty)
    Competition.objects.filter(pk=phase.competition.pk).update(
        rehearses=make.competition("original"), clock_offset=dt.timedelta(0)
    )
    with pytest.raises(Refused, match="not in its rehearsal"):
        run(Phase.objects.get(pk=phase.pk))


def test_removing_leaves_nothing_but_the_log(phase):
    alice = enter(phase, make.user("alice"))
    run(phase)
    finish(entries(phase.competition)[0].submission)
    told = RemoveBasicMethods(None, phase.competition, [phase]).execute()
    assert told.startswith("5 submissions")
    assert list(Submission.objects.all()) == [alice]
    assert not Entrant.objects.filter(is_baseline=True).exists() and not Team.objects.exists()
    assert not LeaderboardRow.objects.filter(entrant__is_baseline=True).exists()
    assert run(phase).startswith("5 runs")


def test_what_runs_is_stopped_and_goes_when_it_has_ended(phase):
    run(phase)
    first = Run.objects.first()
    Run.objects.filter(pk=first.pk).update(state=RunState.RUNNING)
    assert "1 submission" in RemoveBasicMethods(None, phase.competition, [phase]).execute()
    first.refresh_from_db()
    assert first.cancel_asked
    assert list(Submission.objects.all()) == [first.submission]


def test_the_difficulty_page_measures_against_them(phase):
    finish(enter(phase, make.user("alice")), GOOD)
    run(phase)
    for entry in entries(phase.competition):
        if entry.method == "snb":
            finish(entry.submission, BAD)
        elif entry.method != "knn":
            finish(entry.submission, GOOD)
    over(phase)
    result = work.compute_now(phase.competition, BY_KEY["difficulty"], Audience())
    table = result.named("difficulty")
    row = dict(zip([one.key for one in table.columns], table.rows[0], strict=True))
    assert row["participants"] == 1
    assert row["modelling"] == pytest.approx(0.0)
    assert row["modelling_snb"] == pytest.approx(row["best"])


def test_editors_run_and_remove_them_from_the_studio_after_a_preview(phase):
    owner, address = Client(), f"/competitions/{phase.competition.slug}/manage/basic-methods/"
    owner.force_login(phase.competition.created_by)
    assert "5 runs missing" in owner.get(address).content.decode()
    sent = {"phase": str(phase.number)}
    shown = owner.post(address + "run/", sent).content.decode()
    assert "at most" in shown and not BasicEntry.objects.exists()
    owner.post(address + "run/", {**sent, "confirm": "yes"})
    assert BasicEntry.objects.count() == 5
    owner.post(address + "remove/", {**sent, "confirm": "yes"})
    assert not BasicEntry.objects.exists()
    assert owner.post(address + "run/", {"phase": "99"}).status_code == 404


def test_the_command_runs_what_is_missing(phase):
    out = StringIO()
    call_command("run_basic_methods", phase.competition.slug, "--tuned", "--json", stdout=out)
    result = json.loads(out.getvalue().splitlines()[-1])
    assert result["ok"] and len(result["submissions"]) == 9
    with pytest.raises(SystemExit):
        call_command("run_basic_methods", phase.competition.slug, "--phase", "1", "--json", stdout=out)


def test_each_dataset_is_ticked_once_where_its_difficulty_is_measured():
    made = series(timezone.now() - dt.timedelta(hours=11), datasets=1)
    owner = Client()
    owner.force_login(made.contest.created_by)
    page = owner.get(f"/competitions/{made.contest.slug}/manage/basic-methods/").content.decode()
    ticked = re.findall(r'name="phase" value="(\d+)" checked', page)
    wanted = ("Final[0]", "AutoML[1]", "AutoML[2]")
    assert ticked == [str(made[title].number) for title in wanted]
