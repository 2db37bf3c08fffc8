"""What is exported and imported again is the same competition."""

import json
import zipfile

import pytest

from bundles.exporting import write_bundle
from bundles.importing import import_bundle
from competitions.models import Competition, Phase, Task
from tests.platform import factories
from tests.platform.bundles.importing.writing import YAML, packed, png

pytestmark = pytest.mark.django_db

RICH = """
version: 2
title: Iris
description: Three flowers.
image: logo.png
terms: terms.md
registration_auto_approve: true
enable_detailed_results: true
make_input_data_available: true
reward: A cake
contact_email: alice@example.org
docker_image: codalab/codalab-legacy:py37
pages:
- {title: Overview, file: overview.md}
- {title: Flowers, file: flowers.html}
- {title: Empty, file: empty.md}
fact_sheet:
  method:
    key: method
    type: select
    title: Which method?
    selection: [trees, nets]
    is_required: "true"
    is_on_leaderboard: "true"
  open:
    key: open
    type: checkbox
    title: Is it open?
    selection: ""
    is_required: "false"
    is_on_leaderboard: "false"
tasks:
- index: 3
  name: First
  description: The first.
  scoring_program: scoring_program
  ingestion_program: ingestion_program
  input_data: input_data
  reference_data: reference_data
  ingestion_only_during_scoring: true
- index: 5
  name: Second
  scoring_program: scoring_program
  reference_data: reference_data
phases:
- name: Development
  description: Try.
  start: 2026-01-01 09:00:00+01:00
  end: 2026-02-01 09:00:00+01:00
  max_submissions_per_day: 3
  max_submissions: 30
  execution_time_limit: 77
  tasks: [3, 5]
  public_data: input_data
  starting_kit: reference_data
- name: Break
  start: 2026-02-01 09:00:01+01:00
  end: 2026-03-01 09:00:00+01:00
  max_submissions_per_day: 0
  max_submissions: 0
  tasks: [5]
- name: Final
  start: 2026-03-02 00:00:00+00:00
  auto_migrate_to_this_phase: true
  hide_output: true
  max_submissions:
  max_submissions_per_day:
  tasks: [5]
leaderboards:
- title: Results
  key: main
  submission_rule: Force_Best
  primary_index: 1
  columns:
  - {title: Accuracy, key: accuracy, index: 0, precision: 4, hidden: true}
  - {title: Seconds, key: seconds, index: 1, sorting: asc}
  - {title: Mean, key: mean, index: 2, computation: avg, computation_indexes: ["0", "1"]}
  - {title: Rank, key: rank, index: 3, sorting: asc, computation: avg_rank, computation_indexes: ["0", "1"]}
"""
MORE = {
    "empty.md": "\n",
    "input_data/x.csv": "1,2\n",
    "ingestion_program/metadata.yaml": "command: python3 ingestion.py\n",
    "ingestion_program/ingestion.py": "print(2)\n",
}


def told(contest: Competition) -> dict[str, object]:
    """Everything that a bundle can say of a competition, but addresses and ids."""
    left_out = {"id", "slug", "competition", "created_at", "created_by", "logo", "board", "file", "round"}

    def values(row) -> dict[str, object]:
        names = [field.name for field in row._meta.concrete_fields if field.name not in left_out]
        return {name: str(getattr(row, name)) for name in names}

    phases = list(Phase.objects.filter(round__competition=contest).order_by("number"))
    tasks = list(Task.objects.filter(phase__in=phases).order_by("phase__number", "order"))
    return {
        "contest": values(contest),
        "logo": contest.logo.file.open().read() if contest.logo else None,
        "pages": [(page.title, page.body) for page in contest.pages.all()],
        "pictures": sorted(image.name for image in contest.images.all()),
        "questions": [values(question) for question in contest.questions.all()],
        "phases": [values(phase) for phase in phases],
        "files": [
            (file.kind, file.name, file.sha256) for phase in phases for file in phase.files.order_by("kind")
        ],
        "tasks": [
            (
                task.name,
                task.phase.number,
                task.overlaps,
                task.shows_input,
                task.dataset.description,
                task.dataset.current.public_sha256,
                task.dataset.current.reference_sha256,
                task.scoring_program.sha256,
                task.scoring_program.command,
                task.ingestion_program and task.ingestion_program.sha256,
            )
            for task in tasks
        ],
        "shared": len({task.dataset_id for task in tasks}),
        "programs": contest.programs.count(),
        "boards": [
            (board.key, board.title, board.rule, board.primary, [values(one) for one in board.columns.all()])
            for board in contest.column_boards.all()
        ],
    }


def test_an_export_is_imported_to_the_same_competition(tmp_path):
    alice = factories.user("alice")
    first = import_bundle(packed(tmp_path, yaml=RICH, **MORE), organizer=alice)
    assert first.ok, first.errors
    exported = tmp_path / "exported.zip"
    unsayable = write_bundle(first.competition, exported, with_solutions=True)
    assert unsayable == []
    again = import_bundle(exported, organizer=alice)
    assert again.ok, again.errors
    before, after = told(first.competition), told(again.competition)
    assert json.dumps(after, indent=1, default=str) == json.dumps(before, indent=1, default=str)


def test_a_competition_without_a_logo_comes_back_without_one(tmp_path):
    alice = factories.user("alice")
    first = import_bundle(packed(tmp_path), organizer=alice).competition
    Competition.objects.filter(pk=first.pk).update(logo=None)
    first.refresh_from_db()
    unsayable = write_bundle(first, tmp_path / "exported.zip")
    assert any("no logo" in sentence for sentence in unsayable)
    again = import_bundle(tmp_path / "exported.zip", organizer=alice)
    assert again.competition.logo is None


def test_times_are_written_as_text_with_their_offset(tmp_path):
    first = import_bundle(packed(tmp_path), organizer=factories.user("alice")).competition
    write_bundle(first, tmp_path / "exported.zip")
    with zipfile.ZipFile(tmp_path / "exported.zip") as bundle:
        assert "start: '2026-01-01 08:00:00+00:00'" in bundle.read("competition.yaml").decode()


def test_a_picture_of_a_page_keeps_its_name(tmp_path):
    path = packed(tmp_path, **{"assets/flower.png": png("red")})
    first = import_bundle(path, organizer=factories.user("alice"))
    assert "![A flower](flower.png)" in first.competition.overview


def test_reference_entries_and_labels_go_along_when_asked_for(tmp_path):
    alice = factories.user("alice")
    solution = "solutions:\n- {index: 0, name: A guess, path: solution, tasks: [0]}\n"
    path = packed(tmp_path, yaml=YAML + solution, **{"solution/guess.txt": "1\n"})
    first = import_bundle(path, organizer=alice, with_solutions=True).competition
    unsayable = write_bundle(first, tmp_path / "without.zip")
    assert any("the labels" in sentence for sentence in unsayable)
    without = zipfile.ZipFile(tmp_path / "without.zip")
    assert not any("reference" in name for name in without.namelist())
    assert import_bundle(tmp_path / "without.zip", organizer=alice).ok
    assert "solutions" not in zipfile.ZipFile(tmp_path / "without.zip").read("competition.yaml").decode()
    write_bundle(first, tmp_path / "with.zip", with_solutions=True)
    again = import_bundle(tmp_path / "with.zip", organizer=alice, with_solutions=True).competition
    assert again.entrants.get().submissions.get().sha256 == first.entrants.get().submissions.get().sha256
