"""A bundle becomes a competition, whole or not at all."""

import zipfile

import pytest

from bundles.importing import import_bundle
from competitions.models import Competition, Organizer, Phase, Task
from datasets.models import Dataset
from tests.platform import factories
from tests.platform.bundles.importing.writing import packed

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
