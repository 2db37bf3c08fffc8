"""Files that organizers name: found where they are, inside the bundle only."""

import pytest

from bundles.reading.contest import PageSource
from bundles.reading.report import BundleReport
from tests.platform.bundles.reading.test_version2 import contest_of, warned
from tests.platform.bundles.reading.writing import (
    ONE,
    PROGRAM,
    TWO,
    USUAL_ONE,
    USUAL_TWO,
    Writer,
    below,
    changed,
)


def all_of(files: dict[str, object], yaml: str) -> dict[str, object]:
    return {"competition.yaml": yaml, **files}


def test_a_wrapping_folder_and_junk_are_no_fault(bundle: Writer) -> None:
    junk = {"__MACOSX/x/._competition.yaml": "x", "x/.DS_Store": "x", "x/._logo.png": "x", "x/notes.yaml": "a: 1"}
    report = bundle.read({**below("x", all_of(USUAL_TWO, TWO)), **junk})
    assert contest_of(report).title == "Iris" and not report.warnings


def test_a_folder_beside_other_files_is_stepped_into_with_a_warning(bundle: Writer) -> None:
    report = bundle.read({**below("inner", all_of(USUAL_TWO, TWO)), "README.txt": "x"})
    assert contest_of(report).title == "Iris" and warned(report, "in the folder inner")


@pytest.mark.parametrize("name", ["competition.yml", "Competition.yaml", "my_competition.yaml"])
def test_the_yaml_may_have_a_near_name(bundle: Writer, name: str) -> None:
    report = bundle.read({name: TWO, **USUAL_TWO})
    assert contest_of(report).title == "Iris"


def test_places_name_the_file_as_it_is_called(bundle: Writer) -> None:
    report = bundle.read({"competition.yml": TWO.replace("title: Iris", "titel: Iris"), **USUAL_TWO})
    assert report.errors[0].place == "competition.yml, line 2: title"


def test_a_folder_stands_for_its_zip_and_a_zip_for_its_folder(bundle: Writer) -> None:
    zipped = changed(TWO, ("reference_data: reference_data", "reference_data: reference_data.zip"))
    report = bundle.two(zipped)
    assert contest_of(report).tasks[0].reference_data and warned(report, "reference_data.zip is not in the bundle")
    unzipped = changed(ONE, ("scoring_program: scoring_program.zip", "scoring_program: scoring_program/"))
    assert contest_of(bundle.one(unzipped)).tasks[0].scoring_program.command


def test_upper_and_lower_case_count_only_where_both_are_there(bundle: Writer) -> None:
    assert contest_of(bundle.two(changed(TWO, ("image: logo.png", "image: Logo.PNG")))).logo


def test_a_path_of_another_server_finds_the_only_file_of_its_name(bundle: Writer) -> None:
    yaml = changed(
        ONE,
        (
            "reference_data: reference_data.zip",
            "reference_data: !!python/unicode 'datasets/None/6f5f/reference_data.zip'",
        ),
    )
    report = bundle.one(yaml)
    assert contest_of(report).tasks[0].reference_data
    assert warned(report, "reference_data.zip was taken")


@pytest.mark.parametrize(
    "written", ["../x", "/etc/passwd", "reference_data/../../x", "..", "C:\\x", "a\\..\\..\\x"]
)
def test_nothing_outside_the_bundle_is_found(bundle: Writer, written: str) -> None:
    report = bundle.two(changed(TWO, ("reference_data: reference_data", f"reference_data: '{written}'")))
    assert report.contest is None and "not in the bundle" in report.errors[0].message


def test_the_version_shows_in_the_keys_where_its_line_is_missing_or_wrong(bundle: Writer) -> None:
    missing = bundle.two(changed(TWO, ("version: 2\n", "")))
    assert missing.version == "2" and warned(missing, "no version")
    wrong = bundle.one("version: 2\n" + ONE.lstrip())
    assert wrong.version == "1.5" and warned(wrong, "keys are those of version 1.5")
    assert bundle.two(changed(TWO, ("version: 2", "version: '2'"))).version == "2"
    assert bundle.one("version: 1.5\n" + ONE.lstrip()).version == "1.5"


def page_of(report: BundleReport) -> PageSource:
    return contest_of(report).pages[0]


def test_links_of_pages_lead_to_the_files_of_the_bundle(bundle: Writer) -> None:
    html = (
        '<img src="{{ASSET_BASE_URL}}/plot.png"><a href="data/a b.csv#top">x</a><img src=assets/plot.png>'
        '<a href="https://else.example/plot.png">y</a><img src="missing.png"><img src="../../etc/passwd">'
    )
    page = page_of(bundle.one(files={"overview.html": html, "assets/plot.png": "p", "data/a b.csv": "d"}))
    assert '<img src="bundle:assets/plot.png"><a href="bundle:data/a%20b.csv">x</a>' in page.text
    assert '<a href="bundle:data/a%20b.csv">x</a><img src="bundle:assets/plot.png">' in page.text
    assert 'href="https://else.example/plot.png"' in page.text and 'src="missing.png"' in page.text
    assert sorted(page.assets) == ["assets/plot.png", "data/a%20b.csv"]
    assert all(path.is_file() for path in page.assets.values())


def test_links_of_markdown_are_found_beside_the_page_and_at_the_root(bundle: Writer) -> None:
    markdown = '![plot](plot.png "A plot") [logo](logo.png) [ref]: x\n\n[ref]: plot.png\n<img src="plot.png">'
    yaml = changed(TWO, ("file: overview.md", "file: pages/overview.md"))
    page = page_of(bundle.two(yaml, {"pages/overview.md": markdown, "pages/plot.png": "p"}))
    assert page.text.startswith('![plot](bundle:pages/plot.png "A plot") [logo](bundle:logo.png)')
    assert "[ref]: bundle:pages/plot.png" in page.text and '<img src="bundle:pages/plot.png">' in page.text


def test_a_page_in_the_text_of_windows_is_read(bundle: Writer) -> None:
    report = bundle.two(files={"overview.md": "Prüfung".encode("cp1252")})
    assert page_of(report).text == "Prüfung" and warned(report, "UTF-8")


def test_an_empty_page_is_warned_of(bundle: Writer) -> None:
    assert warned(bundle.two(files={"overview.md": " \n"}), "is empty")


def test_programs_for_python_2_and_those_that_install_are_warned_of(bundle: Writer) -> None:
    files = {"scoring_program/score.py": "print 'hello'\n", "scoring_program/run.sh": "pip install pandas\n"}
    report = bundle.two(files=files)
    assert contest_of(report).tasks[0].scoring_program.is_python2
    assert warned(report, "Python 2") and warned(report, "installs packages")


def test_a_program_may_lie_in_a_folder_of_its_zip(bundle: Writer) -> None:
    report = bundle.one(files={"scoring_program.zip": below("scoring", PROGRAM)})
    assert contest_of(report).tasks[0].scoring_program.command
    assert "competition.yaml" not in USUAL_ONE


def test_a_logo_under_an_address_is_left_out_and_never_fetched(bundle: Writer) -> None:
    report = bundle.two(changed(TWO, ("image: logo.png", "image: https://logos.example/logo.svg")))
    assert contest_of(report).logo is None and warned(report, "nothing is fetched")
