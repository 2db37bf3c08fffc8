"""Bundles that cannot be imported: every fault at once, with the place in the YAML and the mend."""

import shutil
import zipfile
from pathlib import Path

import pytest

from bundles.reading import read_bundle
from tests.bundles import packing
from tests.bundles.conftest import Read

# The place without "competition.yaml, ", the beginning of the message, and a part of the mend.
FAULTS: dict[str, list[tuple[str, str, str]]] = {
    "not_yaml": [("line ", "It is no YAML: ", "Correct this line")],
    "no_yaml": [("the archive", "There is no competition.yaml in the bundle.", "at the root of the zip")],
    "unknown_version": [("line 1: version", "The version 3 of bundles is unknown.", "version: 2 for Codabench")],
    "missing_keys": [
        ("line 1: title", "The key title is missing.", "Add title here."),
        ("line 8: tasks[0].scoring_program", "The key scoring_program is missing", "Add scoring_program"),
        ("line 12: phases[0].start", "The key start is missing.", "Add start"),
        ("line 18: leaderboards[0].columns[0].index", "The key index is missing.", "Add index"),
    ],
    "missing_files": [
        ("line 3: image", "The logo picture.png is not in the bundle.", "Put picture.png into the bundle"),
        ("line 4: terms", "The file rules.md of the page Terms is missing.", "Put rules.md"),
        ("line 7: pages[0].file", "The file start.md of the page Overview is missing.", "Put start.md"),
        (
            "line 11: tasks[0].scoring_program",
            "The scoring program nothing_here is not",
            "In its place there are:",
        ),
        ("line 12: tasks[0].reference_data", "The reference data solutions.zip is not", "lines"),
    ],
    "wrong_indexes": [
        ("line 16: phases[0].tasks", "There is no task with the index 4.", "The indexes of the tasks are: 0."),
        ("line 20: leaderboards[0].primary_index", "There is no column with the index 7.", "There are: 0, 1."),
        (
            "line 29: leaderboards[0].columns[1].computation_indexes",
            "The column mean cannot be computed of a column with the index 9.",
            "The indexes of the other columns are: 0.",
        ),
    ],
    "unreadable_dates": [
        ("line 15: phases[0].start", "start is no date: 2026-02-30.", "Write it like 2026-03-31 18:00"),
        ("line 16: phases[0].end", "end is no date: the last day of March.", "Write it like"),
    ],
    "no_command": [
        ("line 11: tasks[0].scoring_program", "The scoring program program has no command", "metadata.yaml")
    ],
    "outside": [
        ("line 4: terms", "The file /etc/hostname of the page Terms is missing.", "into the bundle"),
        (
            "line 11: tasks[0].scoring_program",
            "The scoring program ../../programs/score is not",
            "correct the path",
        ),
    ],
    "nothing_to_compute": [
        (
            "line 11: phases.1.parent_phasenumber",
            "There is no phase with the number 9.",
            "parallel parents are: none",
        ),
        (
            "line 25: leaderboard.columns.mean.computed.fields",
            "The column mean is computed of speed, which is no other column.",
            "The columns are: accuracy.",
        ),
    ],
    "labels_in_reach": [
        (
            "line 13: phases.1.ingestion_program",
            "Labels would be readable by participants' code",
            "Let the scoring program read the labels from $input/ref",
        )
    ],
    "many": [
        ("line 1: image", "The key image is missing.", "Add image"),
        ("line 6: pages[0].file", "The file pages/start.md of the page Overview is missing.", "Put start.md"),
        ("line 10: tasks[0].scoring_program", "The scoring program scorer.zip is not in the bundle.", "Put"),
        ("line 14: phases[0].start", "start is no date: soon.", "Write it like"),
        ("line 15: phases[0].tasks", "There is no task with the index 1.", "tasks are: 0."),
        ("line 20: leaderboards[0].columns[0].key", "The key key is missing.", "Add key"),
    ],
}


@pytest.mark.parametrize("name", sorted(path.name for path in packing.BROKEN.iterdir()))
def test_a_broken_bundle_says_all_that_is_wrong_and_where(read: Read, name: str) -> None:
    report = read(name, packing.BROKEN)
    assert report.contest is None and not report.ok
    shown = [(one.place.removeprefix("competition.yaml, "), one.message, one.mend) for one in report.errors]
    assert len(shown) == len(FAULTS[name]), shown
    for (place, message, mend), expected in zip(shown, FAULTS[name], strict=True):
        assert place.startswith(expected[0]), shown
        assert message.startswith(expected[1]), shown
        assert expected[2] in mend, shown


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("file: overview.md", f"file: '{'<p>Overview</p>' * 30}'", "of the page Overview is missing"),
        ("description: Send the answers, not the program.", "description: [one, two]", "must be a text"),
        ("contact_email: ask@example.org", "contact_email: {at: home}", "must be a text"),
    ],
)
def test_a_value_of_another_kind_is_an_error_at_its_line(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(packing.TRAITS / "results_only", folder)
    yaml = folder / "competition.yaml"
    assert before in yaml.read_text()
    yaml.write_text(yaml.read_text().replace(before, after))
    with read_bundle(packing.bundle(folder, tmp_path / "bundle.zip")) as report:
        assert report.contest is None
        assert [message in one.message for one in report.errors] == [True]
        assert report.errors[0].place.startswith("competition.yaml, line ")


def test_nothing_of_a_broken_bundle_stays(tmp_path: Path) -> None:
    path = packing.bundle(packing.BROKEN / "many", tmp_path / "many.zip")
    with read_bundle(path) as report:
        assert report.workspace.exists()
    assert not report.workspace.exists()


@pytest.mark.parametrize("name", ["../outside.txt", "/tmp/outside.txt", "a/../../outside.txt"])
def test_an_archive_that_climbs_out_is_refused(tmp_path: Path, name: str) -> None:
    path = packing.bundle(packing.TRAITS / "results_only", tmp_path / "climbing.zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, "outside")
    with read_bundle(path) as report:
        assert not report.ok
        assert report.errors[0].place.startswith("the archive") and report.errors[0].mend


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    path.write_text("version: 2")
    with read_bundle(path) as report:
        assert [problem.place for problem in report.errors] == ["the archive"]
