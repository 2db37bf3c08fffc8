"""What is taken out of an output folder, and when it counts as complete."""

import os
import time

import numpy as np
import pytest

from ingestion.collect import KEPT_OF_A_CURVE, Collector, Expected, is_complete
from ingestion.sandbox.base import FileTimes

EXPECTED = Expected("iris", {"valid": 2, "test": 3}, 1)


class Box:
    """An output folder and a collector that looks at it."""

    def __init__(self, folder, **options):
        self.output, keep = folder / "output", folder / "keep"
        self.output.mkdir()
        keep.mkdir()
        self.keep = keep
        self.collector = Collector(EXPECTED, keep, options.pop("wall_seconds", 100.0), **options)
        self.descriptor = os.open(self.output, os.O_RDONLY | os.O_DIRECTORY)

    def write(self, number=None, *, valid="1\n2\n", test="1\n2\n3\n"):
        for part, text in (("valid", valid), ("test", test)):
            stem = f"iris_{part}" if number is None else f"iris_{part}_{number:03d}"
            if text is not None:
                (self.output / f"{stem}.predict").write_text(text)

    def look(self, seconds):
        self.collector.look(self.descriptor, seconds)

    def end(self, seconds, *, stopped=False):
        self.collector.last_look(self.descriptor, seconds, ended_early=stopped)
        return self.collector.predictions()


@pytest.fixture
def box(tmp_path):
    box = Box(tmp_path)
    yield box
    os.close(box.descriptor)


def numbers(predictions):
    return sorted({file.number for file in predictions}, key=lambda number: -1 if number is None else number)


def test_a_file_is_stamped_when_it_was_seen_twice_unchanged(box):
    box.write(0)
    box.look(1.0)
    box.look(2.0)
    files = box.end(9.0)
    assert {file.seconds for file in files} == {2.0}
    assert [file.name for file in files] == ["iris_valid_000.predict", "iris_test_000.predict"]


def test_a_file_that_changed_is_stamped_again(box):
    box.write(0)
    box.look(1.0)
    box.look(2.0)
    box.write(0, test="7\n8\n9.5\n")
    box.look(3.0)
    box.look(4.0)
    files = box.end(9.0)
    assert {file.seconds for file in files} == {4.0}
    assert files[1].path.read_text() == "7\n8\n9.5\n"


def test_what_was_copied_stays_when_the_program_removes_it(box):
    box.write(0)
    box.look(1.0)
    box.look(2.0)
    for path in box.output.iterdir():
        path.unlink()
    assert numbers(box.end(9.0, stopped=True)) == [0]


def test_a_file_being_written_at_the_deadline_does_not_count(box):
    box.write(0)
    box.look(1.0)
    box.look(2.0)
    box.write(1, test="1\n2\n3")
    assert numbers(box.end(2.1, stopped=True)) == [0]


def changed_ns(box, number):
    return (box.output / f"iris_test_{number:03d}.predict").stat().st_ctime_ns


def test_what_is_written_after_the_deadline_does_not_count_though_the_program_still_ran(tmp_path):
    box = Box(tmp_path, wall_seconds=2.0)
    box.write(0)
    box.look(1.0)
    box.look(1.5)
    box.write(1)
    time.sleep(0.05)  # so that the kernel gives the next files another time
    box.write(2)
    box.write(0, test="7\n7\n7\n")
    for part in ("valid", "test"):
        os.utime(box.output / f"iris_{part}_002.predict", (0, 0))  # what a program says of its files is not asked
    deadline = (changed_ns(box, 1) + changed_ns(box, 2)) // 2
    box.look(2.3)
    times = FileTimes(began_ns=deadline - int(2e9))
    box.collector.last_look(box.descriptor, 2.6, ended_early=True, times=times)
    files = box.collector.predictions()
    assert [(file.number, file.seconds) for file in files] == [(0, 1.5)] * 2 + [(1, 2.0)] * 2
    assert files[1].path.read_text() == "1\n2\n3\n"
    os.close(box.descriptor)


def test_a_last_line_without_its_newline_counts_once_it_has_settled(box):
    box.write(1, test="1\n2\n3")
    box.look(1.0)
    assert numbers(box.end(5.0, stopped=True)) == [1]


def test_after_a_normal_end_the_score_says_what_is_wrong_with_the_rows(box):
    box.write(None, test="1\n")
    assert numbers(box.end(1.0)) == [None]


def test_all_parts_must_be_there(box):
    box.write(0)
    box.write(1, valid=None)
    assert numbers(box.end(1.0)) == [0]


def test_numbered_files_beat_unnumbered_ones(box):
    box.write(None)
    box.write(3)
    assert numbers(box.end(1.0)) == [3]


def test_a_curve_keeps_its_first_and_last_and_at_most_twenty_more(box):
    for number in range(160):
        box.write(number)
        box.look(number * 0.6)
    kept = numbers(box.end(100.0))
    assert kept[0] == 0 and kept[-1] == 159
    assert 10 < len(kept) <= KEPT_OF_A_CURVE + 1
    assert len(list(box.keep.iterdir())) == 2 * len(kept)


def test_what_the_curve_dropped_is_not_taken_again_at_a_later_time(box):
    written = {}
    for tick in range(10, 1000):
        if tick % 15 == 0:
            number = len(written)
            written[number] = tick / 10
            box.write(number)
        box.look(tick / 10)
    stamps = {file.number: file.seconds for file in box.end(100.0) if file.part == "valid"}
    assert list(stamps.values()) == sorted(stamps.values())
    assert all(stamps[number] - written[number] < 0.5 for number in stamps)


def test_without_the_any_time_rule_only_the_end_counts(tmp_path):
    box = Box(tmp_path, any_time=False)
    box.write(0)
    box.look(1.0)
    box.look(2.0)
    assert box.collector.predictions() == ()
    assert box.end(3.0, stopped=True) == ()
    assert numbers(box.end(3.0)) == [0]


def test_links_pipes_and_folders_are_refused_without_being_opened(box):
    box.write(None)
    secret = box.output.parent / "secret"
    secret.write_text("1\n2\n3\n")
    target = box.output / "iris_test.predict"
    for make in (lambda: target.symlink_to(secret), lambda: os.mkfifo(target), target.mkdir):
        target.unlink(missing_ok=True)
        make()
        assert box.end(1.0) == ()
        assert "not a regular file" in box.collector.refused[0]


def test_a_file_is_bounded_by_rows_and_columns(box):
    box.write(None, test="1\n" * 10_000)
    assert box.end(1.0) == ()
    assert "at most" in box.collector.refused[0]


def test_names_of_other_datasets_and_other_files_are_passed_over(box):
    box.write(None)
    (box.output / "iris_test1_valid.predict").write_text("1\n")
    (box.output / "scores.json").write_text("{}")
    assert [file.name for file in box.end(1.0)] == ["iris_valid.predict", "iris_test.predict"]


def test_npy_files_count_and_text_beats_them(box):
    for part, rows in EXPECTED.rows.items():
        np.save(box.output / f"iris_{part}.npy", np.ones(rows))
    assert [file.name for file in box.end(1.0, stopped=True)] == ["iris_valid.npy", "iris_test.npy"]
    box.write(None)
    assert [file.name for file in box.end(2.0)] == ["iris_valid.predict", "iris_test.predict"]


def test_of_two_spellings_of_a_number_the_longer_one_counts_and_zeros_in_front_are_no_limit(box):
    box.write(5)
    (box.output / "iris_test_5.predict").write_text("7\n7\n7\n")
    for part, text in (("valid", "1\n2\n"), ("test", "1\n2\n3\n")):
        (box.output / f"iris_{part}_{6:040d}.predict").write_text(text)
    files = box.end(1.0)
    assert {file.number: file.name for file in files if file.part == "test"} == {
        5: "iris_test_005.predict",
        6: f"iris_test_{6:040d}.predict",
    }


def test_an_npy_file_with_objects_is_not_complete(tmp_path):
    path = tmp_path / "iris_test.npy"
    np.save(path, np.array([1, "a", None], dtype=object), allow_pickle=True)
    assert not is_complete(path, EXPECTED, "test", settled=True)
