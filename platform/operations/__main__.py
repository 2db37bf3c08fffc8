"""`python -m operations demo | up | worker | test | doctor | images`: what the launcher calls."""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ingestion.image_names import RECIPES, USUAL_IMAGES
from operations.parts import ROOT, common_environment
from operations.terminal import say

OK, AT_FAULT, USAGE, OUR_FAULT = 0, 1, 2, 3
INTERRUPTED = 130
SLOTS = "how many runs share this machine at once (default: PODIUM_SLOTS or 1)"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the launcher's commands."""
    top = argparse.ArgumentParser(prog="./podium", allow_abbrev=False)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="start everything with a demo competition")
    demo.add_argument("--once", action="store_true", help="end after the leaderboard instead of serving")
    demo.add_argument("--port", type=port_number, help="where the site listens (default: PODIUM_PORT or 8000)")
    demo.add_argument("--slots", type=slot_count, metavar="N", help=SLOTS)
    demo.set_defaults(run=run_demo)

    up = commands.add_parser("up", help="start the site, its worker and a compute worker")
    up.add_argument("--port", type=port_number, help="where the site listens (default: PODIUM_PORT or 8000)")
    up.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: this machine only)")
    up.add_argument("--no-compute", action="store_true", help="no compute worker on this machine")
    up.add_argument("--slots", type=slot_count, metavar="N", help=SLOTS)
    up.set_defaults(run=run_up)

    worker = commands.add_parser("worker", help="start a compute worker")
    worker.add_argument("--name", help="how the site calls it (default: this machine's name)")
    worker.add_argument("--slots", type=slot_count, metavar="N", help=SLOTS)
    worker.set_defaults(run=run_worker)

    test = commands.add_parser("test", help="run the test suite", add_help=False)
    test.set_defaults(run=run_test)

    doctor = commands.add_parser("doctor", help="say what is there and what is missing")
    doctor.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    doctor.set_defaults(run=run_doctor)

    images = commands.add_parser("images", help="build the sandbox images")
    which = images.add_mutually_exclusive_group()
    which.add_argument("--name", choices=tuple(RECIPES), help="which one (default: sandbox and bundles)")
    which.add_argument("--all", action="store_true", help="every image that Podium has a recipe for")
    images.add_argument("--base", metavar="IMAGE", help="build upon this image, which has the right Python")
    images.add_argument("--from-debian", action="store_true", help="make the base from Debian's packages")
    images.add_argument(
        "--python", type=Path, metavar="PATH", help="with --name autosklearn: the Python 3.9 to lay into its base"
    )
    images.set_defaults(run=run_images)
    return top


def port_number(text: str) -> int:
    """Read a port. Raises the error that argparse shows."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, a whole number from 1 to 65535")
    return int(text)


def slot_count(text: str) -> int:
    """Read a number of slots. Raises the error that argparse shows."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of slots: 1, 2, 3 ...")
    return int(text)


def run_demo(options: argparse.Namespace) -> int:
    """Start the demo; with --once it ends after the leaderboard."""
    from operations.demo import demo

    return demo(port=options.port, once=options.once, slots=options.slots)


def run_up(options: argparse.Namespace) -> int:
    """Start an installation and keep it running."""
    from operations.serving import up

    return up(port=options.port, host=options.host, compute=not options.no_compute, slots=options.slots)


def run_worker(options: argparse.Namespace) -> int:
    """Start a compute worker and keep it running."""
    from operations.serving import worker

    return worker(name=options.name, slots=options.slots)


# No test names a group, so each is given out by itself, to whichever process is free.
WHOLE_SUITE = ["-n", "2", "--dist", "loadgroup", "--no-loadscope-reorder"]


def run_test(arguments: list[str]) -> int:
    """Run pytest in the checkout, on a data folder of its own and without the operator's services."""
    environment = common_environment()
    for name in (
        "BROKER_URL",
        "COMPUTE_BROKER_URL",
        "S3_BUCKET",
        "EMAIL_URL",
        "PODIUM_URL",
        "PODIUM_WORKER_TOKEN",
    ):
        environment.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="podium-test-") as folder:
        environment["PODIUM_HOME"] = str(Path(folder) / "home")
        # The whole suite in two processes; tests/conftest.py says in which order.
        command = [sys.executable, "-m", "pytest", *(arguments or WHOLE_SUITE)]
        return subprocess.run(command, cwd=ROOT, env=environment).returncode


def run_doctor(options: argparse.Namespace) -> int:
    """Look at everything Podium needs and say how to mend what is missing."""
    from operations.doctor import doctor

    return doctor(as_json=options.json)


def run_images(options: argparse.Namespace) -> int:
    """Build one sandbox image, the usual ones, or all of them."""
    from ingestion.images import ImageError, build_image

    if options.all and (options.base or options.python):
        say("podium: --base and --python belong to one image; name it with --name.")
        return USAGE
    names = list(RECIPES) if options.all else [options.name] if options.name else USUAL_IMAGES
    if options.python and not all(RECIPES[name].python for name in names):
        say("podium: --python is for --name autosklearn; the sandbox takes its Python from its base.")
        return USAGE
    try:
        for name in names:
            build_image(
                name,
                base=options.base,
                from_debian=options.from_debian,
                python=options.python,
                progress=say,
            )
    except ImageError as error:
        say(f"podium: {error}")
        if error.mend:
            say(error.mend)
        return AT_FAULT
    return OK


def guarded(run: Callable[[], int]) -> int:
    """Run a command; what a person can mend becomes one line, everything else keeps its trace."""
    from ingestion.sandbox import NoSandbox
    from operations.ports import NoFreePort
    from operations.supervisor import AlreadyRunning, Failing, StopAsked
    from operations.worker_start import CannotStart

    try:
        return run()
    except NoSandbox as error:
        say(f"podium: {error}")
        if error.mend:
            say(f"Mend it: {error.mend}")
        return AT_FAULT
    except (AlreadyRunning, CannotStart, NoFreePort, Failing, TimeoutError) as error:
        say(f"podium: {error}")
        return AT_FAULT
    except (StopAsked, KeyboardInterrupt):
        say("podium: interrupted.")
        return INTERRUPTED


def main(arguments: list[str]) -> int:
    """Run one command; returns its exit code."""
    # What a sandbox runs as another user must be readable for it. What is private lies in a folder of mode 0700.
    os.umask(0o022)
    if arguments[:1] == ["test"]:
        return guarded(lambda: run_test(arguments[1:]))
    options = parser().parse_args(arguments)
    return guarded(lambda: options.run(options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
