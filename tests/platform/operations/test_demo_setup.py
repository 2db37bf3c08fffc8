"""Setting up the demo: every step can be repeated and changes nothing the second time."""

import stat

import pytest
from django.utils import timezone

from accounts.models import User
from competitions.models import Competition, Phase
from competitions.protocol_check import check_competition
from datasets.models import Dataset, DatasetVersion
from operations import demo_setup
from operations.demo_series import AUTOML_1, AUTOML_2, FINAL_0, FINAL_1, TWEAKATHON_0, TWEAKATHON_1, DemoSeries
from operations.demo_setup import Demo, demo_people, standing_entry
from submissions.models import Run, RunState, Submission
from tests.platform import factories

pytestmark = pytest.mark.django_db


def test_people_get_random_passwords_that_only_the_owner_of_the_folder_reads(tmp_path):
    logins = demo_people(tmp_path)
    assert [login.username for login in logins] == ["organizer", "participant", "admin"]
    assert len({login.password for login in logins}) == 3
    assert all(User.objects.get(username=login.username).check_password(login.password) for login in logins)
    assert stat.S_IMODE((tmp_path / "demo.json").stat().st_mode) == 0o600
    assert User.objects.get(username="admin").is_superuser
    assert not User.objects.get(username="organizer").is_superuser


def test_starting_again_keeps_the_logins(tmp_path):
    assert demo_people(tmp_path) == demo_people(tmp_path)


def test_a_new_database_gets_the_kept_passwords(tmp_path):
    before = demo_people(tmp_path)
    User.objects.all().delete()
    assert demo_people(tmp_path) == before


def test_a_lost_file_gives_new_passwords_that_work(tmp_path):
    before = demo_people(tmp_path)
    (tmp_path / "demo.json").unlink()
    after = demo_people(tmp_path)
    assert before != after
    assert all(User.objects.get(username=login.username).check_password(login.password) for login in after)


def test_a_password_that_its_owner_has_changed_is_left_alone(tmp_path):
    demo_people(tmp_path)
    participant = User.objects.get(username="participant")
    participant.set_password("chosen by myself")
    participant.save()
    login = next(login for login in demo_people(tmp_path) if login.username == "participant")
    assert login.password is None
    participant.refresh_from_db()
    assert participant.check_password("chosen by myself")


@pytest.fixture
def demo(tmp_path):
    demo_people(tmp_path)
    return Demo(tmp_path)


def test_the_series_begins_with_an_open_tweakathon_and_covers_all_kinds_of_task(demo):
    competition = demo.competition()
    first, final, blind, second, last, unseen = competition.phases()
    assert [phase.title for phase in (first, final, blind, second, last, unseen)] == [
        "Tweakathon[0]",
        "Final[0]",
        "AutoML[1]",
        "Tweakathon[1]",
        "Final[1]",
        "AutoML[2]",
    ]
    assert first.is_open(timezone.now())
    assert [phase.parent for phase in (final, blind, second, last, unseen)] == [
        first,
        first,
        blind,
        second,
        second,
    ]
    assert first.tasks.count() == 3
    every = DatasetVersion.objects.all()
    assert {version.task_kind.split(".")[0] for version in every} == {
        "binary",
        "multiclass",
        "multilabel",
        "regression",
    }
    assert all(version.has_valid_solution and version.has_test_solution for version in every)
    assert check_competition(list(competition.phases()), now=timezone.now()) == []


def test_the_blind_datasets_are_none_that_were_shown_and_have_no_name_yet(demo):
    first, _, blind, second, *_ = demo.competition().phases()
    shown = {task.dataset_id for task in first.tasks.all()}
    hidden = [task.dataset_id for task in blind.tasks.all()]
    assert len(hidden) == 3
    assert not shown & set(hidden)
    assert hidden == [task.dataset_id for task in second.tasks.all()]
    assert [task.name for task in blind.tasks.all()] == ["dataset1", "dataset2", "dataset3"]


def test_setting_it_up_again_changes_nothing(demo, tmp_path):
    first = demo.competition()
    assert Demo(tmp_path).competition() == first
    assert (Competition.objects.count(), Phase.objects.count(), Dataset.objects.count()) == (1, 6, 8)


def test_a_demo_of_an_earlier_version_gets_the_phases_that_it_lacks(demo):
    competition = demo.competition()
    competition.phases().filter(number__gte=5).delete()
    competition.phases().filter(number=4).delete()
    competition.phases().get(number=3).tasks.all().delete()
    assert demo.competition() == competition
    assert competition.phases().count() == 6
    assert competition.phases().get(number=3).tasks.count() == 3


def test_a_demo_that_was_not_used_for_months_is_opened_again(demo):
    series = DemoSeries(demo.competition())
    series.pass_time(TWEAKATHON_1)
    series.pass_time(AUTOML_2)
    assert series[TWEAKATHON_1].has_ended(timezone.now())
    demo.competition()
    assert series[TWEAKATHON_1].is_open(timezone.now())
    assert not series[FINAL_1].has_begun(timezone.now())
    assert not any(task.revealed_at for task in series[AUTOML_2].tasks.all())


def test_the_entries_are_code_code_and_results_and_are_submitted_once(demo):
    phase = DemoSeries(demo.competition())[TWEAKATHON_0]
    entries = demo.entries(phase, again=False)
    assert {name: entry.kind for name, entry in entries.items()} == {
        "participant": "code",
        "linear": "code",
        "neighbours": "results",
    }
    assert all(entry.is_kit_code for entry in entries.values())
    assert not User.objects.get(username="linear").has_usable_password()
    assert demo.entries(phase, again=True) == entries, "while one runs, another is not sent"


def test_the_series_plays_to_its_middle_by_the_same_steps_as_a_real_one(demo):
    series = DemoSeries(demo.competition())
    for entry in demo.entries(series[TWEAKATHON_0], again=False).values():
        finish(entry)
    series.pass_time(TWEAKATHON_0)
    blind = series.handed_over(AUTOML_1)
    assert set(blind) == {"participant", "linear"}
    assert series.without_code(AUTOML_1) == ["neighbours"]
    assert set(series.handed_over(FINAL_0)) == {"participant", "linear", "neighbours"}
    for entry in blind.values():
        finish(entry)
    series.pass_time(AUTOML_1)
    carried = series.handed_over(TWEAKATHON_1)
    assert {name: entry.arrival for name, entry in carried.items()} == {
        "participant": "carried",
        "linear": "carried",
    }
    assert series[TWEAKATHON_1].is_open(timezone.now())
    assert all(task.revealed_at for task in series[AUTOML_1].tasks.all())
    entries = demo.entries(series[TWEAKATHON_1], again=False)
    assert {name: entry.kind for name, entry in entries.items()} == {"linear": "code", "neighbours": "results"}
    assert not any(entry.origin_id for entry in entries.values()), "a carried entry is no new one"
    assert series.was_played()
    again = demo.entries(series[TWEAKATHON_1], again=True)
    assert again["participant"].origin_id is None


def finish(submission):
    runs = Run.objects.filter(submission=submission).exclude(state=RunState.FINISHED)
    runs.update(state=RunState.FINISHED, ended_at=timezone.now())
    Submission.objects.filter(pk=submission.pk).update(state=Submission.State.FINISHED, ended_at=timezone.now())


def test_a_finished_sample_is_sent_again_only_when_asked_and_while_quota_lasts(demo):
    phase = DemoSeries(demo.competition())[TWEAKATHON_0]
    for entry in demo.entries(phase, again=False).values():
        finish(entry)
    first = demo.entries(phase, again=False)["participant"]
    second = demo.entries(phase, again=True)["participant"]
    assert second != first
    finish(second)
    Phase.objects.filter(pk=phase.pk).update(daily_quota=2)
    phase.refresh_from_db()
    assert demo.entries(phase, again=True)["participant"] == second
    assert demo.entries(phase, again=True)["linear"].number == 1


def test_an_entry_with_a_failed_run_does_not_stand():
    phase = factories.phase(factories.competition())
    alice = factories.user("alice")
    made = factories.submission(phase, alice, state=Submission.State.FINISHED, is_kit_code=True)
    finish(made)
    assert standing_entry(phase, alice) == made
    made.runs.filter(order=1).update(state=RunState.FAILED)
    assert standing_entry(phase, alice) is None


def test_passwords_have_no_letters_that_look_alike():
    assert not set("il1o0") & set(demo_setup.LETTERS)
