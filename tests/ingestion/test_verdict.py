"""Which word and which sentence a run gets, for each way in which it can end."""

import os

import pytest

from ingestion.budget import GIB, MIB, Budget
from ingestion.collect import Collector, Expected
from ingestion.sandbox.base import Outcome, Usage
from ingestion.verdict import judge

BUDGET = Budget(wall_seconds=60, cores=2, memory_bytes=2 * GIB)


@pytest.fixture
def verdict_of(tmp_path):
    """The verdict on an outcome, with or without a complete prediction."""

    def verdict_of(*, predicted, any_time=True, log_tail="", budget=BUDGET, **outcome):
        output, keep = tmp_path / "output", tmp_path / "keep"
        output.mkdir()
        keep.mkdir()
        if predicted:
            (output / "iris_test.predict").write_text("1\n")
        collector = Collector(Expected("iris", {"test": 1}, 1), keep, 60.0, any_time=any_time)
        descriptor = os.open(output, os.O_RDONLY)
        collector.last_look(descriptor, 1.0, ended_early=False)
        os.close(descriptor)
        fields = {"exit_code": 0, "stopped": None, "usage": Usage(), **outcome}
        options = {"log_tail": log_tail, "output_bytes": 64 * MIB, "any_time": any_time}
        return judge(Outcome(**fields), collector, budget, **options)

    return verdict_of


STOPPED = {"exit_code": None, "stopped": "time"}
KILLED = {"exit_code": 137, "memory_killed": True}
CHILD_KILLED = {"exit_code": 0, "memory_killed": True}
FULL = {"exit_code": 1, "output_full": True}


@pytest.mark.parametrize(
    ("outcome", "predicted", "status", "reason", "stopped"),
    [
        ({}, True, "ok", None, None),
        ({}, False, "failed", "no_predictions", None),
        (STOPPED, True, "ok", "timed_out", "time"),
        (STOPPED, False, "failed", "timed_out", "time"),
        (KILLED, True, "ok", "out_of_memory", "memory"),
        (KILLED, False, "failed", "out_of_memory", "memory"),
        (CHILD_KILLED, True, "ok", "out_of_memory", None),
        (CHILD_KILLED, False, "failed", "out_of_memory", None),
        (FULL, True, "failed", "output_too_large", None),
        (FULL, False, "failed", "output_too_large", None),
        ({"output_full": True}, True, "ok", None, None),
        ({"output_full": True}, False, "failed", "output_too_large", None),
        ({"exit_code": 1}, True, "failed", "crashed", None),
        ({"exit_code": 137}, False, "failed", "crashed", None),
        ({"exit_code": None, "stopped": "cancelled"}, True, "failed", "cancelled", "cancelled"),
    ],
)
def test_each_end_has_its_word(verdict_of, outcome, predicted, status, reason, stopped):
    verdict = verdict_of(predicted=predicted, **outcome)
    assert (verdict.status, verdict.reason, verdict.stopped) == (status, reason, stopped)
    assert verdict.sentence.endswith(".")


def test_without_the_any_time_rule_a_stop_is_a_failure(verdict_of):
    verdict = verdict_of(predicted=True, any_time=False, **STOPPED)
    assert (verdict.status, verdict.reason) == ("failed", "timed_out")


def test_without_the_any_time_rule_the_end_of_memory_is_one_too(verdict_of):
    assert verdict_of(predicted=True, any_time=False, **KILLED).status == "failed"


def test_the_limit_that_bit_is_named(verdict_of):
    assert "60 seconds" in verdict_of(predicted=False, **STOPPED).sentence


def test_the_memory_that_bit_is_named(verdict_of):
    assert "2 GiB" in verdict_of(predicted=False, **KILLED).sentence


def test_the_programs_last_lines_stand_apart_from_the_sentence(verdict_of):
    verdict = verdict_of(predicted=False, exit_code=3, log_tail="one\n\ntwo")
    assert verdict.sentence == "The program ended with exit code 3."
    assert verdict.error_lines == "one\ntwo"


def test_a_limit_of_processes_is_named(verdict_of):
    sentence = verdict_of(predicted=False, exit_code=1, processes_full=True).sentence
    assert "512 processes and threads" in sentence


def test_a_signal_is_named(verdict_of):
    assert "SIGSEGV" in verdict_of(predicted=False, exit_code=139).sentence


def test_memory_past_the_limit_is_told_with_both_figures(verdict_of):
    used = Usage(peak_memory_bytes=int(2.6 * GIB))
    told = verdict_of(predicted=True, exit_code=None, stopped="memory", memory_killed=True, usage=used)
    assert "needed at least 2.6 GiB; the limit is 2 GiB" in told.sentence


def test_memory_that_the_kernel_held_is_told_with_the_limit_alone(verdict_of):
    told = verdict_of(predicted=True, **KILLED, usage=Usage(peak_memory_bytes=2 * GIB))
    assert "2 GiB" in told.sentence and "at least" not in told.sentence


def test_a_duration_is_told_as_people_say_it(verdict_of):
    sentence = verdict_of(predicted=True, budget=Budget(wall_seconds=1200, memory_bytes=GIB), **STOPPED).sentence
    assert sentence.startswith("The program was stopped at its time limit of 20 minutes; predictions completed")


def test_output_that_nothing_held_back_is_told_with_both_figures(verdict_of):
    told = verdict_of(predicted=False, **FULL, output_bytes=200 * MIB).sentence
    assert told == "The program wrote at least 200 MiB; the limit is 64 MiB in 10000 files."


def test_a_full_output_folder_is_told_with_what_it_held(verdict_of):
    told = verdict_of(predicted=False, **FULL, output_bytes=64 * MIB, output_files=1).sentence
    assert told.endswith("a run may write 64 MiB in 10000 files, and it held 64 MiB in 1 file.")


def test_a_full_place_for_temporary_files_is_named(verdict_of):
    assert "/tmp" in verdict_of(predicted=False, exit_code=1, temporary_full=True).sentence


def test_a_program_that_was_stopped_at_its_deadline_is_told_that_it_had_no_processes_left(verdict_of):
    assert "512 processes" in verdict_of(predicted=False, **STOPPED, processes_full=True).sentence
