"""Setting up the demo: every step can be repeated and changes nothing the second time."""

import datetime as dt
import stat

import pytest
from django.utils import timezone

from accounts.models import User
from competitions.models import Competition, Phase
from datasets.models import Dataset
from operations import demo_setup
from operations.demo_setup import Demo, demo_people, first_phase, standing_entry
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


def test_the_competition_has_an_open_tweakathon_with_five_datasets_of_all_kinds(demo):
    competition = demo.competition()
    now = timezone.now()
    assert competition.title == "Round 0: Preparation"
    tweakathon, final, automl = competition.phases()
    assert tweakathon.is_open(now)
    assert (tweakathon.closes_at - now) > dt.timedelta(days=58)
    assert [final.parent, automl.parent] == [tweakathon, tweakathon]
    versions = [task.dataset.current for task in tweakathon.tasks.all()]
    assert len(versions) == 5
    assert {version.task_kind.split(".")[0] for version in versions} == {
        "binary",
        "multiclass",
        "multilabel",
        "regression",
    }
    assert all(version.has_valid_solution and version.has_test_solution for version in versions)


def test_setting_it_up_again_changes_nothing(demo, tmp_path):
    first = demo.competition()
    assert Demo(tmp_path).competition() == first
    assert (Competition.objects.count(), Phase.objects.count(), Dataset.objects.count()) == (1, 3, 5)


def test_a_demo_that_was_not_used_for_months_is_opened_again(demo):
    competition = demo.competition()
    long_ago = timezone.now() - dt.timedelta(days=300)
    competition.phases().update(opens_at=long_ago, closes_at=long_ago + dt.timedelta(days=60))
    demo.competition()
    phase = first_phase(competition)
    assert phase.is_open(timezone.now())
    assert phase.children.first().opens_at == phase.closes_at


def test_the_entries_are_code_code_and_results_and_are_submitted_once(demo):
    phase = first_phase(demo.competition())
    entries = demo.entries(phase, again=False)
    assert {name: entry.kind for name, entry in entries.items()} == {
        "participant": "code",
        "linear": "code",
        "neighbours": "results",
    }
    assert all(entry.is_kit_code for entry in entries.values())
    assert not User.objects.get(username="linear").has_usable_password()
    assert demo.entries(phase, again=True) == entries, "while one runs, another is not sent"


def finish(submission):
    Run.objects.filter(submission=submission).update(state=RunState.FINISHED)
    Submission.objects.filter(pk=submission.pk).update(state=Submission.State.FINISHED)


def test_a_finished_sample_is_sent_again_only_when_asked_and_while_quota_lasts(demo):
    phase = first_phase(demo.competition())
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
