"""A bundle becomes a competition, whole or not at all."""

import time
import zipfile

import pytest

from bundles.importing import import_bundle
from competitions import pictures
from competitions.actions.clone import Clone
from competitions.actions.pages import LONGEST_TEXT
from competitions.actions.publishing import Publish
from competitions.models import Competition, Organizer, Phase, PhaseFile, Task
from competitions.models.programs import program_storage
from datasets.models import Dataset
from submissions.deletion import DeleteCompetition
from submissions.deletion import finish_all as finish_deletions
from tests.platform import factories
from tests.platform.bundles.importing.writing import YAML, packed

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return factories.user("alice")


def test_a_bundle_becomes_a_draft_of_its_organizer(tmp_path, alice):
    report = import_bundle(packed(tmp_path), organizer=alice)
    assert report.ok, report.errors
    made = Competition.objects.get(slug=report.slug)
    assert made.state == Competition.State.DRAFT
    assert made.organizers.get().role == Organizer.Role.OWNER
    assert made.rules == "Be fair."
    assert made.logo is not None
    phase = Phase.objects.get(round__competition=made)
    assert phase.opens_at.isoformat() == "2026-01-01T08:00:00+00:00"
    task = Task.objects.get(phase=phase)
    assert task.scoring_program.command == "python3 score.py $input $output"
    assert task.scoring_program.layout == 2
    version = task.dataset.current
    assert version.layout == "files"
    with zipfile.ZipFile(version.reference.open()) as reference:
        assert reference.read("labels.txt") == b"1\n"
    board = made.column_boards.get()
    assert [column.key for column in board.columns.all()] == ["accuracy"]
    assert made.audit.get().action == "import_bundle"


def test_a_dry_run_keeps_nothing(tmp_path, alice):
    report = import_bundle(packed(tmp_path), organizer=alice, dry_run=True)
    assert report.ok
    assert report.slug == "iris"
    assert not Competition.objects.exists()
    assert not Dataset.objects.exists()


def with_image(image: str) -> str:
    """The small bundle, asking for an image."""
    return YAML + f"docker_image: {image}\n"


def test_a_public_image_with_python_3_is_the_built_in_one_without_a_question(tmp_path, alice):
    report = import_bundle(packed(tmp_path, yaml=with_image("codalab/codalab-legacy:py37")), organizer=alice)
    assert not report.questions
    assert Phase.objects.get().image == ""


def test_an_unknown_image_is_asked_for_and_the_built_in_one_taken_meanwhile(tmp_path, alice):
    report = import_bundle(packed(tmp_path, yaml=with_image("lab/gpu:3")), organizer=alice)
    assert report.ok
    assert [question.key for question in report.questions] == ["image:lab/gpu:3"]
    assert any("lab/gpu:3" in warning.message for warning in report.warnings)
    assert Phase.objects.get().image == ""


def test_an_image_is_mapped_to_an_installed_one(tmp_path, alice):
    path = packed(tmp_path, yaml=with_image("lab/gpu:3"))
    report = import_bundle(path, organizer=alice, image_map={"lab/gpu:3": "podium-sandbox"})
    assert not any("lab/gpu:3" in warning.message for warning in report.warnings)
    assert Phase.objects.get().image == "podium-sandbox:latest"


def test_an_image_that_the_operator_does_not_allow_stops_the_import(tmp_path, alice):
    path = packed(tmp_path, yaml=with_image("lab/gpu:3"))
    report = import_bundle(path, organizer=alice, image_map={"lab/gpu:3": "stranger/image:1"})
    assert not report.ok
    assert not Competition.objects.exists()
    assert "built-in" in report.errors[0].mend


SOLUTION = """
solutions:
- index: 0
  name: A guess
  path: solution
  tasks: [0]
"""


def test_solutions_run_as_reference_entries_when_asked_for(tmp_path, alice):
    path = packed(tmp_path, yaml=YAML + SOLUTION, **{"solution/guess.txt": "1\n"})
    report = import_bundle(path, organizer=alice, with_solutions=True)
    assert not report.warnings
    submission = report.competition.entrants.get().submissions.get()
    assert submission.entrant.is_baseline
    assert submission.entrant.name == "A guess"
    assert not submission.uses_quota
    assert submission.runs.count() == 1


def test_solutions_wait_otherwise(tmp_path, alice):
    path = packed(tmp_path, yaml=YAML + SOLUTION, **{"solution/guess.txt": "1\n"})
    assert not import_bundle(path, organizer=alice).competition.entrants.exists()


def test_nothing_is_left_of_an_import_that_fails_half_way(tmp_path, alice, monkeypatch):
    stored = []

    def fail(contest, competition):
        stored.extend(Task.objects.values_list("scoring_program__file", flat=True))
        raise RuntimeError("the disk is full")

    monkeypatch.setattr("bundles.importing.action.save_boards", fail)
    with pytest.raises(RuntimeError):
        import_bundle(packed(tmp_path), organizer=alice)
    assert not Competition.objects.exists()
    assert stored
    assert not any(program_storage().exists(name) for name in stored)


def test_an_imported_competition_can_be_published(tmp_path, alice):
    made = import_bundle(packed(tmp_path), organizer=alice).competition
    Publish(alice, made).execute()
    made.refresh_from_db()
    assert made.state == Competition.State.PUBLISHED


def test_an_imported_competition_can_be_deleted_with_its_files(
    tmp_path, alice, django_capture_on_commit_callbacks
):
    yaml = YAML.replace("  tasks: [0]\n", "  tasks: [0]\n  public_data: reference_data\n")
    made = import_bundle(packed(tmp_path, yaml=yaml), organizer=alice).competition
    program, offered = made.programs.get().file, PhaseFile.objects.get().file
    DeleteCompetition(alice, made, made.slug).execute()
    with django_capture_on_commit_callbacks(execute=True):
        finish_deletions()
    assert not Competition.objects.exists()
    assert not program.storage.exists(program.name)
    assert not offered.storage.exists(offered.name)


def test_a_clone_has_programs_and_boards_of_its_own(tmp_path, alice):
    alice.is_superuser = True
    alice.save()
    made = import_bundle(packed(tmp_path), organizer=alice).competition
    action = Clone(alice, made, title="Again", slug="again")
    action.execute()
    task = Task.objects.get(phase__round__competition=action.made)
    assert task.scoring_program.competition == action.made
    assert [column.key for column in action.made.column_boards.get().columns.all()] == ["accuracy"]
    assert action.made.logo.competition == action.made


def test_a_bundle_reaches_no_workers_that_its_organizer_may_not_ask_for(tmp_path, alice):
    """The name of a queue is a foreign id like any other."""
    path = packed(tmp_path, yaml=YAML + "queue: 0d1c7f7e-61e4-4a43-9f3b-111111111111\n")
    key = "queue:0d1c7f7e-61e4-4a43-9f3b-111111111111"
    refused = import_bundle(path, organizer=alice, answers={key: "secret-gpus"})
    assert "secret-gpus" in refused.errors[0].message
    assert not Competition.objects.exists()
    assert import_bundle(path, organizer=alice, answers={key: "default"}).ok


@pytest.mark.parametrize("unit", ["<head ", "<!--", "<!doctype ", "[\n", "[a]("])
@pytest.mark.parametrize("name", ["flowers.html", "overview.md"])
def test_no_page_holds_up_the_site(tmp_path, alice, unit, name):
    begin = time.process_time()
    report = import_bundle(packed(tmp_path, **{name: unit * (2**20 // len(unit))}), organizer=alice)
    assert report.ok
    assert time.process_time() - begin < 10
    longest = max(len(page.body) for page in Competition.objects.get().pages.all())
    assert longest < 2 * LONGEST_TEXT


def test_a_picture_of_a_page_that_is_too_large_is_not_even_read(tmp_path, alice, monkeypatch):
    monkeypatch.setattr(pictures, "LARGEST_FILE", 10)
    monkeypatch.setattr(pictures, "encoded", None)
    report = import_bundle(packed(tmp_path), organizer=alice)
    assert any("too large" in warning.message for warning in report.warnings)


def test_a_queue_of_another_server_is_asked_for_among_the_classes_of_workers(tmp_path, alice):
    factories.worker("fast", resource_class="gpu")
    path = packed(tmp_path, yaml=YAML + "queue: 4dfcd1a2-1111-2222-3333-444455556666\n")
    report = import_bundle(path, organizer=alice, dry_run=True)
    (question,) = report.questions
    assert [choice.value for choice in question.choices] == ["", "gpu"]
    made = import_bundle(path, organizer=alice, answers={question.key: "gpu"}).competition
    assert made.phases().get().resource_class == "gpu"
