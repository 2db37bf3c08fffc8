"""A rehearsal plays a competition's course on its own clock, and touches nothing else."""

import datetime as dt

import pytest
from django.apps import apps
from django.core import mail

from accounts.models import User
from accounts.refusals import Refused
from competitions import clock as protocol_clock
from competitions import policy
from competitions.actions.tasks import AddTasks
from competitions.models import AuditEntry, Column, Competition, Organizer, Phase, Task
from datasets.models import Dataset
from submissions import deletion, dispatch, handover
from submissions.deletion import ThrowAwayRehearsal
from submissions.models import Handover, Submission
from submissions.rehearsal import made_datasets
from submissions.rehearsal.advance import AdvanceRehearsal, by_hand, catch_up, coming
from submissions.rehearsal.entrants import PLAYERS, PREFIX
from submissions.rehearsal.made_datasets import MADE, MOST_A_PHASE, WALL_SECONDS
from submissions.rehearsal.report import report
from submissions.rehearsal.start import rehearsal_of
from tests.platform import factories as make
from tests.platform.rehearsing import next_stop, rehearse, run_all
from tests.platform.series import enter, finish, series

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def quick_imports(request, monkeypatch):
    """The made datasets come in without the baselines of their check, which are tested with datasets."""
    monkeypatch.setattr("datasets.checks.best_baseline", lambda material: None)


@pytest.fixture
def contest(clock):
    """A series of which nothing has begun."""
    return series(clock.now + dt.timedelta(days=10), datasets=1).contest


def everything_but(rehearsal):
    """All columns of all rows of every table that do not belong to this rehearsal or its people."""
    of = {
        Competition: {"pk": rehearsal.pk},
        User: {"username__startswith": PREFIX},
        Dataset: {"source": MADE},
    }
    paths = {
        "competition": "competition",
        "round": "round__competition",
        "phase": "phase__round__competition",
        "submission": "submission__phase__round__competition",
        "run": "run__submission__phase__round__competition",
        "board": "board__phase__round__competition",
        "prediction": "prediction__run__submission__phase__round__competition",
        "readiness_check": "readiness_check__entrant__competition",
        "team": "team__competition",
        "question": "question__competition",
        "announcement": "announcement__competition",
    }
    found = {}
    for model in apps.get_models():
        rows = model._default_manager.all()
        if model in of:
            rows = rows.exclude(**of[model])
        else:
            names = {field.name for field in model._meta.concrete_fields}
            path = next((path for name, path in paths.items() if name in names), None)
            path = "board__competition" if model is Column else path
            if path is not None:
                rows = rows.exclude(**{path: rehearsal.pk})
            elif "dataset" in names:
                rows = rows.exclude(dataset__source=MADE)
        found[model._meta.label] = sorted(map(repr, rows.values_list()))
    return found


def test_it_is_a_copy_with_a_clock_that_only_its_organizers_see(contest):
    Organizer.objects.create(competition=contest, user=make.user("rita"), role="reviewer")
    rehearsal = rehearse(contest)
    assert [phase.title for phase in rehearsal.phases()] == [phase.title for phase in contest.phases()]
    assert [p.opens_at for p in rehearsal.phases()] == [p.opens_at for p in contest.phases()]
    assert policy.may_see(make.user("olga"), rehearsal)
    assert policy.may_see(make.user("rita"), rehearsal)
    assert not policy.may_edit(make.user("rita"), rehearsal)
    assert not policy.may_see(make.user("bob"), rehearsal)
    assert rehearsal not in policy.visible_competitions(make.user("olga"))
    Competition.objects.filter(pk=rehearsal.pk).update(visibility="public")
    rehearsal.refresh_from_db()
    assert not policy.may_see(make.user("bob"), rehearsal)


def test_no_dataset_of_the_competition_comes_along_least_of_all_a_hidden_one(contest):
    rehearsal = rehearse(contest)
    theirs = set(Task.objects.filter(phase__round__competition=contest).values_list("dataset", flat=True))
    used = Task.objects.filter(phase__round__competition=rehearsal)
    assert used.exists()
    assert not theirs & set(used.values_list("dataset", flat=True))
    assert set(used.values_list("dataset__source", flat=True)) == {MADE}
    blind = used.filter(phase__kind="automl").values_list("dataset", flat=True)
    assert not set(blind) & set(used.filter(phase__number=1).values_list("dataset", flat=True))


def test_nobody_puts_a_dataset_of_the_library_into_it(contest):
    rehearsal = rehearse(contest)
    dataset = contest.phases().get(title="AutoML[1]").tasks.first().dataset
    first = rehearsal.phases()[0]
    with pytest.raises(Refused, match="made datasets alone"):
        AddTasks(by=make.user("olga"), contest=rehearsal, datasets=[dataset], phases=[first]).execute()


def test_what_a_run_may_take_is_bounded(contest):
    Phase.objects.filter(round__competition=contest).update(wall_seconds=7000, cores=8, memory_bytes=2**36)
    for _ in range(MOST_A_PHASE):
        Task.objects.create(phase=contest.phases().first(), dataset=make.dataset(contest.created_by))
    rehearsal = rehearse(contest)
    for phase in rehearsal.phases():
        assert phase.tasks.count() <= MOST_A_PHASE
        for task in phase.tasks.all():
            budget = task.budget()
            assert (budget.wall_seconds, budget.cores, budget.memory_bytes) == (WALL_SECONDS, None, None)


def test_made_datasets_are_of_the_same_kind_and_metric(contest, clock):
    olga = make.user("olga")
    phase = contest.phases().first()
    phase.tasks.all().delete()
    kinds = [("multilabel.classification", "F1"), ("regression", "ABS")]
    for order, (kind, metric) in enumerate(kinds):
        Task.objects.create(phase=phase, dataset=make.dataset(olga, task_kind=kind, metric=metric), order=order)
    rehearsal = rehearse(contest)
    versions = [task.dataset.current for task in rehearsal.phases().first().tasks.all()]
    assert [(version.task_kind, version.metric) for version in versions] == kinds


def test_a_competition_under_way_is_rehearsed_from_its_beginning(clock):
    past = series(clock.now - dt.timedelta(days=3), datasets=1).contest
    rehearsal = rehearse(past)
    first = rehearsal.phases().first()
    assert first.opens_at == clock.now
    assert first.submissions.count() == len(PLAYERS)


def test_only_organizers_start_one_and_there_is_one_at_a_time(contest):
    with pytest.raises(Refused, match="Only organizers"):
        rehearse(contest, by=make.user("bob"))
    rehearsal = rehearse(contest)
    with pytest.raises(Refused, match="has a rehearsal already"):
        rehearse(contest)
    with pytest.raises(Refused, match="no rehearsal of its own"):
        rehearse(rehearsal)
    with pytest.raises(Refused, match="no phase with a dataset"):
        rehearse(make.competition("empty"))


def test_a_start_that_fails_leaves_no_dataset_behind(contest, monkeypatch):
    def broken(rehearsal):
        raise RuntimeError("broken")

    monkeypatch.setattr("submissions.rehearsal.start.take_part", broken)
    with pytest.raises(RuntimeError):
        rehearse(contest)
    assert not Dataset.objects.filter(source=MADE).exists()
    assert rehearsal_of(contest) is None


def test_a_start_that_was_killed_leaves_datasets_that_are_swept_away_later(contest, clock):
    made_datasets.stand_ins(contest, contest.created_by)
    made_datasets.sweep()
    assert Dataset.objects.filter(source=MADE).exists()
    clock.move(hours=3)
    rehearsal = rehearse(contest)
    clock.move(hours=3)
    made_datasets.sweep()
    left = set(Dataset.objects.filter(source=MADE).values_list("pk", flat=True))
    assert left == set(made_datasets.stand_ins_of(rehearsal))


def test_its_clock_stays_in_the_calendar_because_everybodys_hand_overs_read_it(contest):
    rehearsal = rehearse(contest)
    far = dt.timedelta(days=9 * 365)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("submissions.rehearsal.advance.LAST", protocol_clock.now(rehearsal) + far / 2)
        with pytest.raises(Refused, match="does not go that far"):
            AdvanceRehearsal(by=None, rehearsal=rehearsal, to=protocol_clock.now(rehearsal) + far).execute()


def test_its_clock_goes_forward_only_and_a_second_click_goes_no_further(contest):
    rehearsal = rehearse(contest)
    olga, now = make.user("olga"), protocol_clock.now(rehearsal)
    seen = rehearsal.clock_offset
    AdvanceRehearsal(by=olga, rehearsal=rehearsal, to=now + dt.timedelta(days=1), seen=seen).execute()
    assert protocol_clock.now(rehearsal) >= now + dt.timedelta(days=1)
    with pytest.raises(Refused, match="meanwhile"):
        AdvanceRehearsal(by=olga, rehearsal=rehearsal, to=now + dt.timedelta(days=2), seen=seen).execute()
    with pytest.raises(Refused, match="forward only"):
        AdvanceRehearsal(by=olga, rehearsal=rehearsal, to=now).execute()
    with pytest.raises(Refused, match="twenty years"):
        AdvanceRehearsal(by=olga, rehearsal=rehearsal, to=now + dt.timedelta(days=9000)).execute()
    with pytest.raises(Refused, match="Only organizers"):
        AdvanceRehearsal(by=make.user("bob"), rehearsal=rehearsal, to=now + dt.timedelta(days=3)).execute()
    with pytest.raises(Refused, match="its clock is ours"):
        AdvanceRehearsal(by=olga, rehearsal=contest, to=now + dt.timedelta(days=3)).execute()


def test_the_whole_series_is_played_through_every_hand_over(contest):
    rehearsal = rehearse(contest)
    assert "Tweakathon[0] opens" in next_stop(rehearsal)
    run_all(rehearsal)
    assert "go forward to AutoML[1]" in next_stop(rehearsal)
    run_all(rehearsal)
    outcomes = Handover.objects.filter(phase__round__competition=rehearsal, phase__title="AutoML[1]")
    by_name = dict(outcomes.values_list("entrant__name", "outcome"))
    assert by_name == {
        "Sample code": "migrated",
        "Linear model": "migrated",
        "Results only": "no_code",
        "Failing code": "migrated",
    }
    assert "Tweakathon[1] opens" in next_stop(rehearsal)
    run_all(rehearsal)
    later = rehearsal.phases().get(title="Tweakathon[1]")
    assert later.submissions.filter(arrival="carried").count() == 3
    assert later.submissions.get(arrival="uploaded").entrant.name == "Sample code"
    while coming(rehearsal, protocol_clock.now(rehearsal)):
        next_stop(rehearsal)
        run_all(rehearsal)
    found = report(rehearsal)
    assert found.to_json()["ok"], found.problems
    assert {phase.state for phase in found.phases} <= {"closed", "released"}
    assert Handover.objects.filter(phase__title="AutoML[2]", outcome="migrated").count() == 3


def test_a_jump_to_a_later_phase_stops_at_everything_in_between(contest):
    rehearsal = rehearse(contest)
    later = rehearsal.phases().get(title="Tweakathon[1]")
    AdvanceRehearsal(by=make.user("olga"), rehearsal=rehearsal, to=later.opens_at).execute()
    told = AuditEntry.objects.filter(competition=rehearsal, action="clock").count()
    assert told == 3  # the first opening, the first close, the second opening
    assert rehearsal.phases().first().submissions.count() == len(PLAYERS)
    run_all(rehearsal)
    for _ in range(2):  # into the blind phase, and out of it
        catch_up(rehearsal)
        run_all(rehearsal)
    assert later.submissions.filter(arrival="carried").count() == 3
    clicks = AuditEntry.objects.filter(competition=rehearsal, action="advance_rehearsal", user__isnull=False)
    assert clicks.count() == 1


def test_advancing_changes_no_row_of_another_competition(contest, clock):
    other = series(clock.now)
    finish(enter(other["Tweakathon[0]"], make.user("alice")))
    enter(other["Tweakathon[0]"], make.user("bob"))
    rehearsal = rehearse(contest)
    before = everything_but(rehearsal)
    for _ in range(3):  # submissions, a hand-over, datasets that are revealed and entries that are carried over
        next_stop(rehearsal)
        run_all(rehearsal)
        handover.tick()
    after = everything_but(rehearsal)
    assert {label for label in after if after[label] != before[label]} == set()
    assert rehearsal.phases().filter(title="Tweakathon[1]", submissions__arrival="carried").exists()
    assert not mail.outbox


def test_what_organizers_do_by_hand_waits_for_them(clock):
    made = series(clock.now + dt.timedelta(days=1), datasets=1)
    Phase.objects.filter(round__competition=made.contest, kind="automl").update(
        reveal="by_hand", release="by_hand"
    )
    rehearsal = rehearse(made.contest)
    for _ in range(3):
        next_stop(rehearsal)
        run_all(rehearsal)
    assert {action.name for action in by_hand(rehearsal)} == {"reveal", "release"}
    refused = AuditEntry.objects.filter(competition=rehearsal, action="refused_entry")
    assert refused.count() == 1
    assert "once its datasets are revealed" in refused.get().text
    for action in by_hand(rehearsal):
        action.execute()
    assert not by_hand(rehearsal)
    catch_up(rehearsal)
    assert rehearsal.phases().get(title="Tweakathon[1]").submissions.filter(arrival="uploaded").count() == 1


def test_a_phase_that_takes_results_alone_says_what_it_refused(clock):
    made = series(clock.now, datasets=1, accepts="results")
    rehearsal = rehearse(made.contest)
    phase = rehearsal.phases().first()
    assert [one.entrant.name for one in phase.submissions.all()] == ["Results only"]
    told = AuditEntry.objects.filter(competition=rehearsal, action="refused_entry")
    assert told.count() == 3
    catch_up(rehearsal)
    assert told.count() == 3


def test_it_is_thrown_away_with_its_datasets_and_starts_again(contest):
    rehearsal = rehearse(contest)
    next_stop(rehearsal)
    run_all(rehearsal)
    ThrowAwayRehearsal(by=make.user("olga"), contest=rehearsal).execute()
    assert rehearsal_of(contest) is None
    again = rehearse(contest)
    deletion.finish_all()
    assert not Competition.objects.filter(pk=rehearsal.pk).exists()
    used = Task.objects.filter(phase__round__competition=again).values("dataset")
    assert set(Dataset.objects.filter(source=MADE)) == set(Dataset.objects.filter(pk__in=used))
    assert Submission.objects.filter(phase__round__competition=again).count() == 0


def test_its_runs_wait_until_live_ones_have_started(contest, clock):
    live = series(clock.now, datasets=1)
    rehearsal = rehearse(contest)
    next_stop(rehearsal)
    clock.move(minutes=1)
    late = enter(live["Tweakathon[0]"], make.user("alice"))
    order = [item.waiting.submission_id for item in dispatch.queued()]
    assert order[0] == late.pk
    assert len(order) == 4


def test_workers_that_serve_the_competition_alone_rehearse_it_and_stay(contest):
    own, _ = make.worker("own")
    own.competitions.set([contest])
    rehearsal = rehearse(contest)
    assert set(own.competitions.all()) == {contest, rehearsal}
    ThrowAwayRehearsal(by=make.user("olga"), contest=rehearsal).execute()
    deletion.finish_all()
    own.refresh_from_db()
    assert own.revoked_at is None
    assert list(own.competitions.all()) == [contest]


def test_nobody_can_log_in_as_a_simulated_entrant(contest, client):
    rehearse(contest)
    people = User.objects.filter(username__startswith=PREFIX)
    assert people.count() == len(PLAYERS)
    assert not any(person.is_active or person.has_usable_password() or person.email for person in people)


def test_the_report_takes_the_same_queries_however_much_there_is(contest, django_assert_max_num_queries):
    rehearsal = rehearse(contest)
    for _ in range(2):
        next_stop(rehearsal)
        run_all(rehearsal)
    with django_assert_max_num_queries(14):
        report(rehearsal)
