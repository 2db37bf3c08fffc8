"""`python -m ingestion check-traits`: a submission on a small made dataset of every trait, as a grid of ticks."""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ingestion.options import AT_FAULT, OK, OUR_FAULT, add_limits, say, stop_on_signals
from ingestion.readiness import (
    DEFAULT_SECONDS,
    ReadinessRequest,
    Row,
    check_traits,
    most_seconds,
    trial_budget,
    why_not_checked,
)
from ingestion.readiness_grid import Grid, details, summary, where
from ingestion.sandbox import SANDBOXES, NoSandbox, Sandbox, SandboxError, choose_sandbox
from ingestion.traits import TRAITS

OWNER = "command"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand `check-traits`."""
    checks = commands.add_parser(
        "check-traits", help="run one submission briefly on a small made dataset of every trait"
    )
    checks.add_argument("--submission", type=Path, required=True, metavar="ZIP_OR_DIR")
    checks.add_argument("--output", type=Path, metavar="DIR", help="where logs go; default: a new folder in /tmp")
    checks.add_argument("--sandbox", choices=SANDBOXES, help="default: Docker where it works, else bubblewrap")
    checks.add_argument("--image", metavar="NAME", help="the Docker image; default podium-sandbox:latest")
    add_limits(checks, wall_seconds_help=f"for each dataset; default {DEFAULT_SECONDS:g}")
    checks.add_argument("--seed", type=int, default=0, metavar="N", help="of the datasets and the program")
    checks.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    checks.set_defaults(call=main)


def main(options: argparse.Namespace) -> int:
    """Check, print the grid, and return the exit code: 0 ready, 1 the submission is at fault, 3 our own fault."""
    problem = why_not_checked(options.submission)
    if problem:
        return _refused(problem, AT_FAULT, as_json=options.json)
    try:
        sandbox = choose_sandbox(options.sandbox, image=options.image)
        for sentence in sandbox.clean_stale(OWNER):
            say(sentence)
    except NoSandbox as error:
        return _refused(f"{error} Mend it with: {error.mend}".strip(), OUR_FAULT, as_json=options.json)
    except SandboxError as error:
        return _refused(f"The sandbox failed: {error}.", OUR_FAULT, as_json=options.json)
    rows, output = checked(options, sandbox)
    if options.json:
        print(json.dumps(as_fields(rows, output)), flush=True)
    return exit_code(rows)


def checked(options: argparse.Namespace, sandbox: Sandbox) -> tuple[list[Row], Path]:
    """Check by the options of a command and print everything for people; returns the rows and where logs are."""
    wall_seconds = options.wall_seconds or DEFAULT_SECONDS
    output = options.output or Path(tempfile.mkdtemp(prefix="podium-traits-"))
    minutes = math.ceil(most_seconds(wall_seconds) / 60)
    say(
        f"Trying {options.submission} on {len(TRAITS)} small datasets in {sandbox.name}, at most "
        f"{wall_seconds:g} s each: at most {minutes} min in all."
    )
    grid = Grid(sys.stderr if options.json else sys.stdout)
    grid.head()
    request = ReadinessRequest(
        submission=options.submission,
        output=output,
        budget=trial_budget(wall_seconds, cores=options.cores, memory_bytes=options.memory),
        sandbox=sandbox,
        image=getattr(options, "image", None),
        seed=options.seed,
        owner=OWNER,
    )
    rows = check_traits(
        request, stop=stop_on_signals(), on_start=grid.begin, progress=grid.progress, on_row=grid.row
    )
    grid.clear()
    for line in [*details(rows), "", summary(rows)]:
        print(line, file=grid.stream, flush=True)
    say(where(output))
    return rows, output


def as_fields(rows: Sequence[Row], output: Path) -> dict[str, object]:
    """The JSON fields of a check."""
    return {
        "ok": is_ready(rows),
        "sentence": summary(rows),
        "rows": [{**row.to_json(), "log_tail": row.log_tail, "log": _text(row.log_path)} for row in rows],
        "output": str(output),
    }


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def is_ready(rows: Sequence[Row]) -> bool:
    """Whether every trait was tried and passed."""
    return len(rows) == len(TRAITS) and all(row.ok for row in rows)


def exit_code(rows: Sequence[Row]) -> int:
    """0 ready, 3 where this machine failed on a trait, else 1."""
    if any(row.reason == "infrastructure" for row in rows):
        return OUR_FAULT
    return OK if is_ready(rows) else AT_FAULT


def _refused(sentence: str, code: int, *, as_json: bool) -> int:
    say(sentence)
    if as_json:
        print(json.dumps({"ok": False, "sentence": sentence, "rows": []}), flush=True)
    return code
