"""Bundles with faults: every fault is reported at once, with its place and its mend."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bundles.reading import BundleReport
from bundles.reading.context import Context
from bundles.reading.files import BundleFiles
from bundles.reading.nodes import Notebook, UnreadableYaml, parse
from bundles.reading.programs import Sources
from bundles.reading.version1 import Version1
from bundles.reading.version2 import Version2
from tests.platform.bundles.reading.test_version1 import BOARDS, PARALLEL
from tests.platform.bundles.reading.writing import ONE, TWO, Writer, added, changed


def errors(report: BundleReport) -> list[tuple[str, str]]:
    """Places and messages; a report with errors has no contest and a mend for each."""
    assert report.contest is None and not report.ok
    assert all(problem.mend for problem in report.errors)
    return [(problem.place, problem.message) for problem in report.errors]


def test_all_faults_of_a_bundle_are_in_one_report(bundle: Writer) -> None:
    yaml = changed(
        TWO,
        ("title: Iris\n", ""),
        ("image: logo.png", "image: nothing.png"),
        ("file: overview.md", "file: pages/overview.md.txt"),
        ("reference_data: reference_data", "reference_data: no_such_folder/"),
        ("start: 2026-01-01 09:00:00+01:00", "start: soon"),
        ("tasks: [0]", "tasks: [0, 3]\n  max_submision: 3"),
    )
    report = bundle.two(yaml)
    found = errors(report)
    places = [place for place, _ in found]
    assert places == [
        "competition.yaml, line 2: title",
        "competition.yaml, line 3: image",
        "competition.yaml, line 7: pages[0].file",
        "competition.yaml, line 12: tasks[0].reference_data",
        "competition.yaml, line 15: phases[0].start",
        "competition.yaml, line 17: phases[0].tasks",
    ]
    assert ("competition.yaml, line 15: phases[0].start", "start is no date: soon.") in found
    assert ("competition.yaml, line 17: phases[0].tasks", "There is no task with the index 3.") in found
    assert report.warnings[0].mend == "Did you mean max_submissions?"
    assert report.as_json()["errors"][0]["mend"]


@pytest.mark.parametrize("key", ["title", "image", "terms", "tasks", "phases", "leaderboards"])
def test_a_required_key_of_version_2_is_missed(bundle: Writer, key: str) -> None:
    report = bundle.two(TWO.replace(f"\n{key}:", f"\nx_{key}:"))
    assert f"The key {key} is missing." in [message for _, message in errors(report)]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("  name: Classify\n", "tasks[0].name"),
        ("  scoring_program: scoring_program\n", "tasks[0].scoring_program"),
        ("  start: 2026-01-01 09:00:00+01:00\n", "phases[0].start"),
        ("  tasks: [0]\n", "phases[0].tasks"),
        ("  key: main\n", "leaderboards[0].key"),
        ("    key: accuracy\n", "leaderboards[0].columns[0].key"),
        ("    index: 0\n", "leaderboards[0].columns[0].index"),
    ],
)
def test_a_required_key_inside_is_missed_at_its_place(bundle: Writer, line: str, path: str) -> None:
    assert any(place.endswith(f": {path}") for place, _ in errors(bundle.two(changed(TWO, (line, "")))))


@pytest.mark.parametrize("key", ["title", "phases", "leaderboard"])
def test_a_required_key_of_version_1_is_missed(bundle: Writer, key: str) -> None:
    report = bundle.one(ONE.replace(f"\n{key}:", f"\nx_{key}:"))
    assert f"The key {key} is missing." in [message for _, message in errors(report)]


@pytest.mark.parametrize(
    ("version", "change", "message"),
    [
        (
            2,
            ("scoring_program: scoring_program", "scoring_program: scorer.zip"),
            "scorer.zip is not in the bundle",
        ),
        (2, ("terms: terms.md", "terms: rules.md"), "The file rules.md of the page Terms is missing"),
        (2, ("- index: 0\n  name: Classify", "- index: 1\n  name: Classify"), "no task with the index 0"),
        (2, ("  key: main\n", "  key: main\n  primary_index: 4\n"), "no column with the index 4"),
        (
            2,
            ("    index: 0\n", "    index: 0\n    computation: avg\n    computation_indexes: [0, 8]\n"),
            "cannot be computed of a column with the index 8",
        ),
        (2, ("    index: 0\n", "    index: 0\n    computation: avg\n"), "computation_indexes is missing"),
        (2, ("version: 2", "version: 7"), "The version 7 of bundles is unknown"),
        (2, ("scoring_program: scoring_program", "scoring_program: ../../etc"), "../../etc is not in the bundle"),
        (2, ("scoring_program: scoring_program", "scoring_program: [a, b]"), "must be named by one text"),
        (
            1,
            ("scoring_program: scoring_program.zip", "scoring_program: none.zip"),
            "none.zip is not in the bundle",
        ),
        (1, ("overview: overview.html", "overview: over.html"), "over.html of the page Overview is missing"),
        (1, ("start_date: 2026-01-01", "start_date: 2026-31-31"), "start_date is no date"),
        (
            1,
            ("start_date: 2026-01-01", "start_date: 2026-01-01\n    parent_phasenumber: 9"),
            "no phase with the number 9",
        ),
        (
            1,
            ("label: Accuracy", "label: Accuracy\n      computed: {operation: Avg, fields: 'x, accuracy'}"),
            "is computed of x, which is no other column",
        ),
    ],
)
def test_a_fault_stops_the_import(bundle: Writer, version: int, change: tuple[str, str], message: str) -> None:
    report = bundle.two(changed(TWO, change)) if version == 2 else bundle.one(changed(ONE, change))
    assert any(message in found for _, found in errors(report)), report.errors


def test_a_program_without_a_command_is_an_error(bundle: Writer) -> None:
    report = bundle.two(files={"scoring_program/metadata.yaml": None})
    assert "has no command" in errors(report)[0][1]
    assert "metadata" in report.errors[0].mend


def test_broken_yaml_is_told_with_its_line(bundle: Writer) -> None:
    report = bundle.two(changed(TWO, ("- name: Development", "- name: Development\n   start: 1")))
    assert errors(report)[0][0] == "competition.yaml, line 16"


def test_a_zip_in_the_bundle_that_is_none_is_an_error(bundle: Writer) -> None:
    report = bundle.one(files={"reference_data.zip": "no zip"})
    assert "reference_data.zip is no zip" in errors(report)[0][1]


def test_an_empty_folder_is_an_error(bundle: Writer) -> None:
    yaml = changed(TWO, ("reference_data: reference_data", "reference_data: reference_data/inside"))
    assert "not in the bundle" in errors(bundle.two(yaml))[0][1]


def test_what_is_no_zip_is_told(bundle: Writer, tmp_path: Path) -> None:
    from bundles.reading import read_bundle

    path = tmp_path / "bundle.zip"
    path.write_bytes(b"nothing")
    with read_bundle(path) as report:
        assert errors(report) == [("the archive", "The file is not a zip.")]
        workspace = report.workspace
    assert not workspace.exists()


def test_an_entry_that_leads_outside_is_told(bundle: Writer) -> None:
    report = bundle.two(files={"../outside.txt": "x"})
    assert errors(report)[0][0] == "the archive, entry ../outside.txt"


def test_a_bundle_without_its_yaml_is_told(bundle: Writer) -> None:
    assert "no competition.yaml" in errors(bundle.read({"a.txt": "x"}))[0][1]


_PIECES = [
    "",
    "null",
    "[]",
    "{}",
    "-1",
    "x",
    "[1, {a: b}]",
    "{a: [b]}",
    "99999999999999999999",
    ".nan",
    "*RESULTS",
]


def _mutants(yaml: str) -> Iterator[str]:
    """The YAML without each of its lines, and with each value replaced by every odd piece."""
    lines = yaml.strip().splitlines()
    for number, line in enumerate(lines):
        yield "\n".join(lines[:number] + lines[number + 1 :])
        key, colon, _ = line.partition(":")
        if colon:
            for piece in _PIECES:
                yield "\n".join([*lines[:number], f"{key}: {piece}", *lines[number + 1 :]])


@pytest.mark.parametrize(
    ("yaml", "reader"), [(TWO, Version2), (ONE, Version1), (BOARDS, Version1), (PARALLEL, Version1)]
)
def test_no_fault_of_one_line_is_a_fault_of_ours(
    bundle: Writer, yaml: str, reader: type[Version1] | type[Version2]
) -> None:
    report = bundle.two() if reader is Version2 else bundle.one(yaml, {"ingest.zip": {"metadata": "command: x"}})
    root = report.workspace / "files"
    for mutant in _mutants(yaml):
        fresh = BundleReport(workspace=report.workspace)
        notes = Notebook(fresh)
        files = BundleFiles(root=root, yaml=root / "competition.yaml", notes=notes)
        context = Context(files, Sources(files, {}, report.workspace / "packed"), {})
        try:
            contest = reader(parse(mutant.encode(), notes), context).read()
        except UnreadableYaml:
            continue
        assert (contest is None) == bool(fresh.errors), mutant


def test_a_contest_without_faults_tells_none(bundle: Writer) -> None:
    report = bundle.two(added(TWO, "forum_enabled: false\n"))
    assert report.ok and report.as_json()["errors"] == []


def test_metadata_that_lies_too_deep_is_named(bundle: Writer) -> None:
    metadata = "command: python3 score.py\n"
    files = {"scoring_program/metadata.yaml": None, "scoring_program/inner/metadata.yml": metadata}
    report = bundle.two(files=files)
    assert "inner/metadata.yml is not read" in report.errors[0].mend
