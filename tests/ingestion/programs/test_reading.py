"""What is read from outside: scores files, output folders, commands."""

import math
import os
import time
import zipfile

import pytest

from ingestion.archive import open_archive
from ingestion.programs.output import TooMuchOutput, pack
from ingestion.programs.places import BadCommand, script_folders, split_commands, variables
from ingestion.programs.scores import BadScores, parse_scores, read_scores
from ingestion.sandbox.output import open_folder


@pytest.mark.parametrize(
    ("name", "text", "scores"),
    [
        (
            "scores.json",
            '{"a": 0.5, "b": "text", "c": [1], "d": null}',
            {"a": 0.5, "b": "text", "c": [1], "d": None},
        ),
        ("scores.txt", "a: 0.5\nb:1\n", {"a": 0.5, "b": 1.0}),
        ("scores.txt", "# a comment\nset1_score : 1e-3 # why\n\n", {"set1_score": 0.001}),
        ("scores.txt", "\ufeffa: 0.5\r\nb: best\r\n", {"a": 0.5, "b": "best"}),
        ("scores.txt", '{"a": 0.5, "b": 1}', {"a": 0.5, "b": 1}),
        ("scores.txt", "a: {b: 1}\nc: 2\n", {"a": {"b": 1}, "c": 2}),
        ("scores.txt", "a:\n  b: 1\nc: 2\n", {"a": {"b": 1}, "c": 2}),
    ],
)
def test_scores_are_read_as_they_were_written(name, text, scores):
    assert parse_scores(name, text.encode()) == scores


def test_what_is_no_finite_number_stays_for_the_site_to_judge():
    assert math.isnan(parse_scores("scores.json", b'{"a": NaN}')["a"])
    assert parse_scores("scores.txt", b"a: inf\n")["a"] == math.inf


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("scores.json", b"{", "not JSON"),
        ("scores.json", b"3", "does not hold keys"),
        ("scores.json", b"{}", "without any score"),
        ("scores.json", b"[" * 100_000, "not JSON"),
        ("scores.txt", b"\xff\xfe", "not text in UTF-8"),
        ("scores.txt", b"just words", "does not hold keys"),
        ("scores.txt", b"a: [1\n", "neither lines of"),
        ("scores.json", str({f"k{n}": n for n in range(1001)}).replace("'", '"').encode(), "more than 1000 keys"),
    ],
)
def test_scores_that_cannot_be_used_are_told(name, content, words):
    with pytest.raises(BadScores, match=words):
        parse_scores(name, content)


def test_json_wins_over_text(tmp_path):
    (tmp_path / "scores.txt").write_text("a: 1")
    assert read_scores(tmp_path) == {"a": 1.0}
    (tmp_path / "scores.json").write_text('{"a": 2}')
    assert read_scores(tmp_path) == {"a": 2}


# Packing ----------------------------------------------------------------------------------------------------


def packed(folder, target, **bounds):
    descriptor = open_folder(folder)
    try:
        return pack(descriptor, target, **{"most_files": 10, "most_bytes": 1000, **bounds})
    finally:
        os.close(descriptor)


def test_what_is_packed_can_be_opened_again(tmp_path):
    folder, target = tmp_path / "out", tmp_path / "out.zip"
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "c.txt").write_text("c")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_text("x")
    found = packed(folder, target)
    assert (found.files, found.bytes, found.notes) == (2, 11, [])
    assert open_archive(target, tmp_path / "again").files == ("a/b/c.txt", "run.sh")
    assert os.access(tmp_path / "again" / "run.sh", os.X_OK)


def test_names_that_no_archive_can_hold_are_left_out_with_a_note(tmp_path):
    folder, target = tmp_path / "out", tmp_path / "out.zip"
    folder.mkdir()
    for name in (b"new\nline", b"back\\slash", b"not-utf8-\xff", b"Twice", b"twice", b"kept"):
        (folder / os.fsdecode(name)).write_text("x")
    found = packed(folder, target)
    assert zipfile.ZipFile(target).namelist() == ["Twice", "kept"] and found.left_out == 4
    open_archive(target, tmp_path / "again")


def test_more_than_may_be_taken_is_refused_also_where_it_is_sparse(tmp_path):
    folder, target = tmp_path / "out", tmp_path / "out.zip"
    folder.mkdir()
    with (folder / "sparse").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(TooMuchOutput, match="larger than 1000 bytes"):
        packed(folder, target)
    with pytest.raises(TooMuchOutput, match="more than 0 files"):
        packed(folder, target, most_files=0)


# Commands ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("layout", "kind", "command", "words"),
    [
        (2, "scoring", "python $program/s.py $input $output", "python /app/program/s.py /app/input /app/output"),
        (2, "scoring", "x $predictions $hidden $tmp", "x /app/input/res /app/input/ref /app/output"),
        (2, "ingestion", "x $input $output $ingestion_program $submission_program",
         "x /app/input_data /app/output /app/program /app/ingested_program"),
        (2, "ingestion", "x $program $predictions $shared", "x /app/program /app/output /app/shared"),
        (1, "scoring", "x $program $predictions $tmp", "x /app/program /app/input/res /app/temp"),
        (1, "ingestion", "x $program $submission_program $hidden $shared",
         "x /app/ingestion_program /app/program /app/hidden_ref /app/shared"),
        (1, "submission", "x $program $input", "x /app/program /app/input"),
        (2, "scoring", "x $input_x 'two words'", "x /app/input_x two words"),
    ],
)  # fmt: skip
def test_variables_stand_for_the_places_of_each_platform(layout, kind, command, words):
    assert " ".join(split_commands(command, variables(layout, kind))[0]) == words


def test_a_command_has_words_and_no_shell():
    assert split_commands("a && b | c\n\nd", {}) == [["a", "&&", "b", "|", "c"], ["d"]]
    for text in ("", " \n", "'unclosed"):
        with pytest.raises(BadCommand):
            split_commands(text, {})


def test_folders_of_scripts_are_found_below_the_program_alone():
    commands = [["python", "/app/program/a/s.py", "b/t.py", "/app/input/res/u.py"]]
    assert script_folders(commands, "/app/program") == ["/app/program/a", "/app/program/b"]


@pytest.mark.parametrize(
    "content",
    [b"a" + b" " * 2**19 + b"x", b"a: x" + b" " * 2**19 + b"{", b"a: 1\n- [{" + b"a: {b: 1},\n" * 80_000],
    ids=["blanks before no colon", "blanks in a value", "much YAML"],
)
def test_no_text_of_scores_holds_up_the_site(content):
    """Reading takes the one lock of the process: whoever waits for it cannot say that the run is still alive."""
    begin = time.process_time()
    with pytest.raises(BadScores):
        parse_scores("scores.txt", content + b"\n- a")
    assert time.process_time() - begin < 5


def test_folders_that_differ_by_case_alone_are_packed_so_that_the_zip_opens_again(tmp_path):
    for name in ("out/A/x.txt", "out/a/y.txt", "out/b"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    descriptor = open_folder(tmp_path / "out")
    packed = pack(descriptor, tmp_path / "packed.zip", most_files=10, most_bytes=1000)
    os.close(descriptor)
    assert packed.files == 2 and packed.left_out == 1
    assert open_archive(tmp_path / "packed.zip", tmp_path / "opened").files == ("A/x.txt", "b")
