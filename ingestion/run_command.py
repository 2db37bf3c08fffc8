"""`python -m ingestion run`: one submission on one dataset, by the very code of a compute worker."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ingestion.budget import Budget, format_size
from ingestion.options import AT_FAULT, OK, OUR_FAULT, add_limits, say, stop_on_signals
from ingestion.program.data import Dataset
from ingestion.program.errors import DataError
from ingestion.runner import Progress, RunRequest, run
from ingestion.sandbox import SANDBOXES, NoSandbox, SandboxError, choose_sandbox
from ingestion.verdict import RunResult

DEFAULT_WALL_SECONDS = 1_200.0
OWNER = "command"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand `run`."""
    runs = commands.add_parser("run", help="run one submission on one dataset")
    runs.add_argument("--dataset", type=Path, required=True, metavar="DIR", help="a dataset in AutoML format")
    runs.add_argument("--submission", type=Path, required=True, metavar="ZIP_OR_DIR")
    runs.add_argument("--output", type=Path, required=True, metavar="DIR", help="where predictions go")
    runs.add_argument("--sandbox", choices=SANDBOXES, help="default: Docker where it works, else bubblewrap")
    runs.add_argument("--image", metavar="NAME", help="the Docker image; default podium-sandbox:latest")
    add_limits(runs, wall_seconds_help="default: the dataset's time_budget")
    runs.add_argument("--no-any-time", action="store_true", help="only a program that ends by itself counts")
    runs.add_argument("--load-models", action="store_true", help="use trained models that the submission holds")
    runs.add_argument("--seed", type=int, default=0, metavar="N", help="given to the program as PODIUM_SEED")
    runs.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    runs.set_defaults(call=main)


def main(options: argparse.Namespace) -> int:
    """Run, tell what became of it, and return the exit code."""
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
        say(sentence)
    budget = Budget(wall_seconds=seconds, cores=options.cores, memory_bytes=options.memory)
    say(f"Running {options.submission} on {options.dataset.name} in {sandbox.name}, at most {seconds:g} s.")
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
    return run(request, stop=stop_on_signals(), progress=_Line())


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


def _tell(result: RunResult, *, as_json: bool) -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r")
    for note in result.notes:
        say(f"Note: {note}")
    say(result.sentence)
    for file in result.predictions:
        say(f"  {file.name}  {file.seconds:.1f} s")
    if as_json:
        print(json.dumps(as_fields(result)), flush=True)


def as_fields(result: RunResult) -> dict[str, Any]:
    """The JSON fields of the command."""
    return {
        "status": result.status,
        "reason": result.reason,
        "sentence": result.told,
        "error_lines": result.error_lines.splitlines(),
        "wall_seconds": round(result.wall_seconds, 3),
        "cpu_seconds": round(result.cpu_seconds, 3),
        "peak_memory_bytes": result.peak_memory_bytes,
        "output_bytes": result.output_bytes,
        "prediction_bytes": result.prediction_bytes,
        "log_tail": result.log_tail,
        "predictions": [{"name": file.name, "seconds": round(file.seconds, 3)} for file in result.predictions],
        "notes": list(result.notes),
    }
