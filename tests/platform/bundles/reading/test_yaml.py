"""The YAML of strangers: what is taken, what is refused, and where problems are."""

from pathlib import Path

import pytest

from bundles.reading.nodes import LARGEST_FILE, MOST_ENTRIES, Notebook, Section, UnreadableYaml, parse
from bundles.reading.report import BundleReport


def read(text: str | bytes) -> tuple[Section, BundleReport]:
    report = BundleReport(workspace=Path("nowhere"))
    data = text if isinstance(text, bytes) else text.encode()
    return parse(data, Notebook(report)), report


def test_a_key_given_twice_counts_as_it_is_last_with_a_warning_at_its_line() -> None:
    top, report = read("title: one\nimage: x\ntitle: two\n")
    assert top.text("title") == "two"
    assert report.warnings[0].place == "competition.yaml, line 3: title"


def test_tags_are_text_and_build_nothing() -> None:
    top, _ = read("a: !!python/unicode 'x.zip'\nb: !!python/object/apply:os.system ['id']\nc: !new 5\n")
    assert top.text("a") == "x.zip"
    assert top.values["b"].texts() == ["id"]
    assert top.integer("c", 0) == 5


def test_words_stay_words_where_yaml_sees_truth_or_time() -> None:
    top, _ = read("title: on\nkey: 10:30\nother: 1_000\n")
    assert top.text("title") == "on"
    assert top.text("key") == "10:30"
    assert top.integer("other", 0) == 1000


@pytest.mark.parametrize(("written", "meant"), [("True", True), ('"true"', True), ("'no'", False), ("0", False)])
def test_truth_values_may_stand_in_quotes(written: str, meant: bool) -> None:
    top, report = read(f"flag: {written}\n")
    assert top.boolean("flag", not meant) is meant
    assert not report.warnings


def test_what_is_no_truth_value_is_the_default_with_a_warning() -> None:
    top, report = read("flag: perhaps\n")
    assert top.boolean("flag", True) is True
    assert report.warnings[0].place == "competition.yaml, line 1: flag"


def test_merged_keys_count_less_than_those_written() -> None:
    top, report = read("base: &base {a: 1, b: 2}\nphase:\n  <<: *base\n  b: 3\n")
    phase = top.section("phase")
    assert phase is not None
    assert (phase.integer("a", 0), phase.integer("b", 0)) == (1, 3)
    assert not report.warnings


def test_a_typing_error_in_a_key_is_warned_of_with_the_key_that_was_meant() -> None:
    top, report = read("max_submision: 3\nxyzzy: 1\n")
    top.check_keys(["max_submissions", "name"])
    assert report.warnings[0].mend == "Did you mean max_submissions?"
    assert "xyzzy" in report.warnings[1].message


def test_bytes_of_windows_are_read_with_a_warning_and_a_mark_of_order_is_no_character() -> None:
    top, report = read("title: Prüfung\n".encode("cp1252"))
    assert top.text("title") == "Prüfung"
    assert "UTF-8" in report.warnings[0].message
    assert read("title: x\n".encode("utf-8-sig"))[0].text("title") == "x"
    assert read("title: x\n".encode("utf-16"))[0].text("title") == "x"


def test_many_aliases_cost_nothing() -> None:
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    top, _ = read("\n".join(lines) + "\n")
    assert len(top.values) == 30


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("title: a\n  - index: 1\n", 2),
        ("title: [a\n", 2),
        ("title: a\n\tb: 1\n", 2),
        ("- a\n- b\n", 1),
        ("", 1),
        ("a: *nothing\n", 1),
    ],
)
def test_what_is_no_mapping_is_refused_at_its_line(text: str, line: int) -> None:
    with pytest.raises(UnreadableYaml) as refused:
        read(text)
    assert refused.value.line == line


@pytest.mark.parametrize(
    "text",
    ["a: &a [*a]\n", "a: " + "[" * 60 + "]" * 60 + "\n", "a: " + "[" * 5000, "a: \x00", "x" * (LARGEST_FILE + 1)],
)
def test_what_holds_itself_or_goes_too_deep_or_is_too_large_is_refused(text: str) -> None:
    with pytest.raises(UnreadableYaml):
        read(text)


def test_aliases_become_no_million_entries() -> None:
    top, report = read("a: &a {x: 1}\nphases: [" + "*a, " * 600 + "]\n")
    assert len(top.sections("phases")) == MOST_ENTRIES
    assert "more than 500" in report.errors[0].message and report.errors[0].place.endswith("line 2: phases")


def test_merges_of_merges_are_refused() -> None:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 15)]
    top, _ = read("\n".join(lines) + "\n")
    with pytest.raises(UnreadableYaml):
        top.section("a14")
