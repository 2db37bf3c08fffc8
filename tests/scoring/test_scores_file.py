"""Scores files: what is written, and what is read from an organizer's scoring program."""

import json

import pytest

from scoring.scores_file import BadScoresFileError, read_scores, write_scores


def test_scores_are_written_in_the_order_of_the_tasks_with_the_duration_last(tmp_path):
    write_scores(tmp_path, [1 / 3, -0.5], duration=12.3456789)
    assert (tmp_path / "scores.txt").read_text() == (
        "set1_score: 0.333333333333\nset2_score: -0.500000000000\nDuration: 12.345679\n"
    )
    assert json.loads((tmp_path / "scores.json").read_text()) == {
        "set1_score": 1 / 3,
        "set2_score": -0.5,
        "Duration": 12.3456789,
    }
    assert read_scores(tmp_path).values == {"set1_score": 1 / 3, "set2_score": -0.5}
    assert read_scores(tmp_path).duration == 12.3456789


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_not_written(tmp_path, bad):
    with pytest.raises(ValueError, match="set1_score"):
        write_scores(tmp_path, [bad], duration=1)
    assert list(tmp_path.iterdir()) == []


def test_json_wins_over_text(tmp_path):
    (tmp_path / "scores.txt").write_text("accuracy: 0.1\n")
    assert read_scores(tmp_path).values == {"accuracy": 0.1}
    (tmp_path / "scores.json").write_text('{"accuracy": 0.9}')
    assert read_scores(tmp_path).values == {"accuracy": 0.9}


def test_unknown_keys_and_words_become_notes(tmp_path):
    (tmp_path / "scores.json").write_text('{"a": 1, "b": "text", "c": [1], "d": "2.5", "e": true, "x": 3}')
    read = read_scores(tmp_path, keys={"a", "b", "c", "d", "e"})
    assert read.values == {"a": 1.0, "d": 2.5}
    assert len(read.notes) == 4
    assert "'x' has no column" in " ".join(read.notes)


def test_lines_without_a_number_in_the_text_become_notes(tmp_path):
    (tmp_path / "scores.txt").write_text("score: 0.5\nall went well\nDuration: 3\n\nname: x\n")
    read = read_scores(tmp_path)
    assert (read.values, read.duration) == ({"score": 0.5}, 3.0)
    assert len(read.notes) == 2


@pytest.mark.parametrize(
    "name, content",
    [
        ("scores.json", '{"a": NaN}'),
        ("scores.json", '{"a": 1e400}'),
        ("scores.txt", "a: nan\n"),
        ("scores.json", "[1, 2]"),
        ("scores.json", "{"),
        ("scores.json", "[" * 100_000),
        ("scores.txt", "a: 1\n" * 300_000),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_sentence(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    with pytest.raises(BadScoresFileError, match=name):
        read_scores(tmp_path)


def test_no_file_at_all_is_refused(tmp_path):
    with pytest.raises(BadScoresFileError, match=r"neither scores\.json nor scores\.txt"):
        read_scores(tmp_path)
