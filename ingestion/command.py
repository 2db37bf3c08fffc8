"""`python -m ingestion run`: one submission on one dataset, by the very code of a compute worker."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ingestion.budget import Budget, format_size, parse_size
from ingestion.program.data import Dataset
from ingestion.program.text import DataError
from ingestion.runner import Progress, RunRequest, run
from ingestion.sandbox import SANDBOXES, NoSandbox, SandboxError, choose_sandbox
from ingestion.verdict import RunResult

OK, AT_FAULT, USAGE, OUR_FAULT = 0, 1, 2, 3
DEFAULT_WALL_SECONDS = 1_200.0
OWNER = "command"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 ok, 1 the input is at fault, 2 usage, 3 our own fault."""
    options = _parser().parse_args(arguments)
    try:
        result = _run(options)
    except NoSandbox as error:
        result = RunResult("failed", "infrastructure", f"{error} Mend it with: {error.mend}".strip())
    except SandboxError as error:
        result = RunResult("failed", "infrastructure", f"The sandbox failed: {error}.")
    _tell(result, as_json=options.json)
    if result.status == "ok":
        return OK
    return OUR_FAULT if result.reason == "infrastructure" else AT_FAULT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ingestion", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="run")
    runs = commands.add_parser("run", help="run one submission on one dataset")
    runs.add_argument("--dataset", type=Path, required=True, metavar="DIR", help="a dataset in AutoML format")
    runs.add_argument("--submission", type=Path, required=True, metavar="ZIP_OR_DIR")
    runs.add_argument("--output", type=Path, required=True, metavar="DIR", help="where predictions go")
    runs.add_argument("--sandbox", choices=SANDBOXES, help="default: Docker where it works, else bubblewrap")
    runs.add_argument("--image", metavar="NAME", help="the Docker image; default podium-sandbox:latest")
    runs.add_argument("--wall-seconds", type=_seconds, metavar="N", help="default: the dataset's time_budget")
    runs.add_argument("--cores", type=_cores, metavar="N", help="default: all")
    runs.add_argument("--memory", type=_size, metavar="SIZE", help="like 8GiB; default: 80 %% of the machine's")
    runs.add_argument("--no-any-time", action="store_true", help="only a program that ends by itself counts")
    runs.add_argument("--load-models", action="store_true", help="use trained models that the submission holds")
    runs.add_argument("--seed", type=int, default=0, metavar="N", help="given to the program as PODIUM_SEED")
    runs.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    return parser


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds above zero")
    return value


def _cores(text: str) -> int:
    value = int(text)
    available = os.cpu_count() or 1
    if not 1 <= value <= available:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and the {available} cores of this machine")
    return value


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _run(options: argparse.Namespace) -> RunResult:
    problem = _missing_input(options)
    if problem:
        return RunResult("failed", "refused", problem)
    try:
        seconds = options.wall_seconds or _time_budget(options.dataset)
    except (DataError, OSError, ValueError) as error:
        text = str(error)
        return RunResult("failed", "refused", f"The dataset cannot be read: {text}.")
    sandbox = choose_sandbox(options.sandbox, image=options.image)
    for sentence in sandbox.clean_stale(OWNER):
        _say(sentence)
    budget = Budget(wall_seconds=seconds, cores=options.cores, memory_bytes=options.memory)
    _say(f"Running {options.submission} on {options.dataset.name} in {sandbox.name}, at most {seconds:g} s.")
    request = RunRequest(
        dataset=options.dataset,
        submission=options.submission,
        output=options.output,
        budget=budget,
        sandbox=sandbox,
        any_time=not options.no_any_time,
        seed=options.seed,
        load_models=options.load_models,
        image=options.image,
        owner=OWNER,
    )
    return run(request, stop=_stop_on_signals(), progress=_Line())


def _missing_input(options: argparse.Namespace) -> str | None:
    if not options.dataset.is_dir():
        return f"There is no folder {options.dataset} with a dataset."
    if not options.submission.exists():
        return f"There is no submission at {options.submission}."
    if options.output.exists() and not options.output.is_dir():
        return f"{options.output} is there and is not a folder."
    return None


def _time_budget(folder: Path) -> float:
    """The info file's time_budget in seconds, else the challenge's 1,200."""
    value = Dataset(folder).info.get("time_budget")
    return float(value) if isinstance(value, int | float) and value > 0 else DEFAULT_WALL_SECONDS


def _stop_on_signals() -> threading.Event:
    """An event that Ctrl-C and SIGTERM set, so that the run is cancelled and cleaned up."""
    stop = threading.Event()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
    return stop


class _Line:
    """Progress as one line that is written over on a terminal, and as a line every ten seconds elsewhere."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        if progress.wall_seconds < self._next:
            return
        self._next = progress.wall_seconds + (0.5 if self._is_terminal else 10.0)
        text = (
            f"{progress.wall_seconds:6.1f} s, processor {progress.cpu_seconds:.1f} s, "
            f"memory {format_size(progress.memory_bytes)}, predictions {progress.predictions_seen}"
        )
        sys.stderr.write(f"\r{text:<78}" if self._is_terminal else f"{text}\n")
        sys.stderr.flush()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _tell(result: RunResult, *, as_json: bool) -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r")
    for note in result.notes:
        _say(f"Note: {note}")
    _say(result.sentence)
    for file in result.predictions:
        _say(f"  {file.name}  {file.seconds:.1f} s")
    if as_json:
        print(json.dumps(as_fields(result)), flush=True)


def as_fields(result: RunResult) -> dict[str, Any]:
    """The JSON fields of the command."""
    return {
        "status": result.status,
        "reason": result.reason,
        "sentence": result.sentence,
        "wall_seconds": round(result.wall_seconds, 3),
        "cpu_seconds": round(result.cpu_seconds, 3),
        "peak_memory_bytes": result.peak_memory_bytes,
        "log_tail": result.log_tail,
        "predictions": [{"name": file.name, "seconds": round(file.seconds, 3)} for file in result.predictions],
        "notes": list(result.notes),
    }
