"""A bundle becomes a competition, whole or not at all."""

import zipfile

import pytest

from bundles.importing import import_bundle
from competitions.models import Competition, Organizer, Phase, Task
from datasets.models import Dataset
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
