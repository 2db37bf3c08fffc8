"""What the commands of `ingestion` and of the starting kit have in common: limits, signals, exit codes."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading

from ingestion.budget import parse_size

OK, AT_FAULT, USAGE, OUR_FAULT = 0, 1, 2, 3  # exit codes


def say(text: str) -> None:
    """Print a sentence for people, beside what a program may read from standard output."""
    print(text, file=sys.stderr, flush=True)


def seconds(text: str) -> float:
    """A number of seconds above zero, as the type of an argument."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds above zero")
    return value


def cores(text: str) -> int:
    """A number of cores that this machine has, as the type of an argument."""
    available = os.cpu_count() or 1
    if not text.isdecimal() or not 1 <= int(text) <= available:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and the {available} cores of this machine")
    return int(text)


def size(text: str) -> int:
    """Bytes meant by a text like `8GiB`, as the type of an argument."""
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def add_limits(parser: argparse.ArgumentParser, *, wall_seconds_help: str) -> None:
    """Add --wall-seconds, --cores and --memory; each is None where it is not given."""
    parser.add_argument("--wall-seconds", type=seconds, metavar="N", help=wall_seconds_help)
    parser.add_argument("--cores", type=cores, metavar="N", help="default: all")
    parser.add_argument("--memory", type=size, metavar="SIZE", help="like 8GiB; default: 80 %% of the machine's")


def stop_on_signals() -> threading.Event:
    """An event that Ctrl-C and SIGTERM set, so that what runs is stopped and cleaned up."""
    stop = threading.Event()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
    return stop
