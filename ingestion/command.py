"""Run a submission as a compute worker does, on one dataset or on a small one of every trait."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ingestion import run_command, traits_command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 ok, 1 the input is at fault, 2 usage, 3 our own fault."""
    options = _parser().parse_args(arguments)
    return int(options.call(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m ingestion", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="run | check-traits")
    run_command.add_parser(commands)
    traits_command.add_parser(commands)
    return parser
