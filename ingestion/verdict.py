"""What became of a run, in one word from the fixed list and in plain sentences.

The order is one of honesty: what the platform did comes first, then what the kernel counted, then what the program
told by its exit code. A fault of ours is never given as the participant's.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ingestion.budget import Budget, format_duration, format_size
from ingestion.collect import CollectedPrediction, Collector
from ingestion.sandbox.base import Outcome, Stopped

Status = Literal["ok", "failed"]
_LINES_OF_ERROR = 6
_SIGKILL_CODE = 128 + 9


@dataclass(frozen=True)
class Verdict:
    """ok or failed; the reason (a note where ok); the sentence; and what the platform stopped the run for.

    error_lines: the last lines that the program printed, where they may tell why it failed. They are the
    program's words, kept apart from the sentence, which is ours.
    """

    status: Status
    reason: str | None
    sentence: str
    stopped: Stopped | None = None
    error_lines: str = ""


@dataclass(frozen=True)
class RunResult:
    """Everything that is known about a finished run. Seconds and bytes; usage is 0 where nothing ran.

    output_bytes: what the output place held in the end; prediction_bytes: what was collected of it.
    """

    status: Status
    reason: str | None
    sentence: str
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    log_tail: str = ""
    predictions: tuple[CollectedPrediction, ...] = ()
    log_path: Path | None = None
    notes: tuple[str, ...] = ()
    stopped: Stopped | None = None
    error_lines: str = ""
    output_bytes: int = 0

    @property
    def prediction_bytes(self) -> int:
        """The size of all collected prediction files."""
        return sum(file.bytes for file in self.predictions)

    @property
    def told(self) -> str:
        """The sentence with the program's own last lines behind it, for places that show one text."""
        return f"{self.sentence} Its last lines: {self.error_lines}" if self.error_lines else self.sentence

    @property
    def usage(self) -> str:
        """What the run used, in a sentence."""
        return (
            f"It took {self.wall_seconds:,.1f} s and {self.cpu_seconds:,.1f} s of processor time, used "
            f"{format_size(self.peak_memory_bytes)} of memory at most, and left "
            f"{format_size(self.output_bytes)} of output, {format_size(self.prediction_bytes)} of it predictions."
        )


def judge(
    outcome: Outcome,
    collector: Collector,
    budget: Budget,
    *,
    log_tail: str,
    output_bytes: int,
    any_time: bool = True,
) -> Verdict:
    """The verdict on a run whose sandbox worked. `output_bytes` is the size that the output place had."""
    predictions = collector.predictions()
    words = last_lines(log_tail)
    if outcome.stopped == "cancelled":
        return Verdict("failed", "cancelled", "The run was cancelled.", "cancelled")
    if outcome.stopped == "time":
        return _timed_out(outcome, predictions, budget, any_time)
    if outcome.memory_killed:
        return _out_of_memory(outcome, predictions, budget, words, any_time)
    if outcome.exit_code != 0:
        if outcome.output_full:
            return Verdict(
                "failed", "output_too_large", f"{_full(outcome, budget, output_bytes)}.", error_lines=words
            )
        return Verdict("failed", "crashed", described_end(outcome, budget), error_lines=words)
    if predictions:
        return Verdict("ok", None, f"The program ended by itself and left {_count(predictions)}.")
    if outcome.output_full:
        full = _full(outcome, budget, output_bytes)
        return Verdict("failed", "output_too_large", f"{full}, and no complete prediction was among them.")
    return _without_predictions(collector, words)


def _full(outcome: Outcome, budget: Budget, output_bytes: int) -> str:
    """What the output folder held and what it may hold, without the full stop."""
    limit = f"{format_size(output_bytes)} in {budget.output_files} files"
    if outcome.output_bytes > output_bytes:
        return f"The program wrote at least {format_size(outcome.output_bytes)}; the limit is {limit}"
    held = f"{format_size(outcome.output_bytes)} in {_files(outcome.output_files)}"
    return f"The output folder was full: a run may write {limit}, and it held {held}"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def _timed_out(
    outcome: Outcome, predictions: tuple[CollectedPrediction, ...], budget: Budget, any_time: bool
) -> Verdict:
    limit = f"The program was stopped at its time limit of {format_duration(budget.wall_seconds)}"
    if predictions and any_time:
        sentence = f"{limit}; {_count(predictions)} completed before that count."
        return Verdict("ok", "timed_out", sentence, "time")
    reached = f" It had reached {_processes(budget)}." if outcome.processes_full else ""
    if not any_time:
        sentence = f"{limit}; in this phase a program must end by itself.{reached}"
        return Verdict("failed", "timed_out", sentence, "time")
    return Verdict("failed", "timed_out", f"{limit} and had no complete predictions by then.{reached}", "time")


def _out_of_memory(
    outcome: Outcome,
    predictions: tuple[CollectedPrediction, ...],
    budget: Budget,
    words: str,
    any_time: bool,
) -> Verdict:
    limit = f"the memory limit of {format_size(budget.memory_bytes or 0)}"
    advice = _needed(outcome, budget)
    if outcome.exit_code == 0 and predictions:
        sentence = f"A process of the program was ended at {limit}; the program itself ended and left predictions."
        return Verdict("ok", "out_of_memory", sentence + advice)
    ended = f"The program was ended because it reached {limit}"
    if predictions and any_time:
        sentence = f"{ended}; {_count(predictions)} completed before that count.{advice}"
        return Verdict("ok", "out_of_memory", sentence, "memory")
    if outcome.exit_code == 0:
        ended = f"A process of the program was ended because it reached {limit}"
    sentence = f"{ended}, and there are no complete predictions.{advice}"
    stopped: Stopped | None = None if outcome.exit_code == 0 else "memory"
    return Verdict("failed", "out_of_memory", sentence, stopped, words)


def _needed(outcome: Outcome, budget: Budget) -> str:
    """How much it needed, where that was seen past the limit; under a limit of the kernel nobody sees that."""
    needed, limit = format_size(outcome.usage.peak_memory_bytes), format_size(budget.memory_bytes or 0)
    is_over = outcome.usage.peak_memory_bytes > (budget.memory_bytes or 0)
    return f" It needed at least {needed}; the limit is {limit}." if is_over and needed != limit else ""


def described_end(outcome: Outcome, budget: Budget, program: str = "The program") -> str:
    """How a program ended that did not end well, in a sentence about `program`."""
    code = outcome.exit_code or 0
    if code == _SIGKILL_CODE:
        how = f"{program} was ended by signal SIGKILL, which came from itself"
    elif 128 < code <= 128 + 64:
        how = f"{program} was ended by {_signal_name(code - 128)}"
    elif code == 127:
        how = f"{program}'s command was not found (exit code 127)"
    elif code == 126:
        how = f"{program}'s command could not be executed (exit code 126)"
    else:
        how = f"{program} ended with exit code {code}"
    if outcome.processes_full:
        how += f", after it reached {_processes(budget)}"
    if outcome.temporary_full:
        how += ", after its /tmp or /dev/shm was full"
    return f"{how}."


def _processes(budget: Budget) -> str:
    return f"the limit of {budget.processes} processes and threads"


def _signal_name(number: int) -> str:
    try:
        return f"signal {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"


def _without_predictions(collector: Collector, words: str) -> Verdict:
    if collector.refused:
        reason = "bad_predictions" if " at most " in collector.refused[0] else "no_predictions"
        return Verdict("failed", reason, f"Nothing was collected: {'; '.join(collector.refused[:3])}.")
    expected = collector.expected
    missing = collector.missing()
    if len(missing) < len(expected.rows):
        what = f"predictions for the {' and '.join(missing)} part" if missing else "the same number for all parts"
        sentence = f"The program ended by itself, but did not leave {what}."
    else:
        names = " and ".join(f"{expected.name}_{part}.predict" for part in expected.rows)
        sentence = f"The program ended by itself, but left no predictions: {names} are expected."
    return Verdict("failed", "no_predictions", sentence, error_lines=words)


def last_lines(log_tail: str) -> str:
    """The last lines that the program printed, without empty ones."""
    lines = [line for line in log_tail.splitlines() if line.strip()][-_LINES_OF_ERROR:]
    return "\n".join(lines)[-1_500:]


def _count(predictions: Iterable[CollectedPrediction]) -> str:
    count = len({file.number for file in predictions})
    return "predictions" if count == 1 else f"{count} sets of predictions"
