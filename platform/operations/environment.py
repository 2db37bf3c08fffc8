"""Keep the checkout's virtual environment up to date. Runs before anything is installed: only standard library.

The launcher starts this file as a script, in isolated mode. It ends with 0 when `.venv` is ready.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
STAMP = "podium-stamp.json"
LOG = "podium-install.log"
MEND = "apt-get install python3-venv   (or your system's package with Python's venv and ensurepip)"


class CannotInstall(Exception):
    """The environment could not be made; the text says why and what to do."""


def say(text: str) -> None:
    """Print one line for the person who waits; standard output stays free for results."""
    print(text, file=sys.stderr, flush=True)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wanted_stamp(root: Path, *, development: bool) -> dict[str, str]:
    """Return what must be installed: the Python's version and a hash of each list of requirements."""
    stamp = {
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "requirements.txt": digest(root / "requirements.txt"),
    }
    if development:
        stamp["requirements-dev.txt"] = digest(root / "requirements-dev.txt")
    return stamp


def read_stamp(venv: Path) -> dict[str, str]:
    """Return what was installed by the last run that came to its end; empty when there is none."""
    try:
        stamp = json.loads((venv / STAMP).read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def is_current(venv: Path, wanted: dict[str, str]) -> bool:
    """Answer whether everything wanted is installed. More than that (the test tools) does no harm."""
    stamp = read_stamp(venv)
    return (venv / "bin" / "python").exists() and all(stamp.get(key) == value for key, value in wanted.items())


def prepare(root: Path, *, development: bool) -> bool:
    """Make `.venv` in `root` ready; returns whether anything was installed.

    Two launchers at once are safe: one installs, the other waits for its lock and then finds the work done.
    The stamp goes away before the first change and comes back after the last, so an interrupted installation
    is done again.
    """
    venv = root / ".venv"
    wanted = wanted_stamp(root, development=development)
    if is_current(venv, wanted):
        return False
    lock = os.open(root, os.O_RDONLY)  # the checkout itself is the lock: no file of ours lies about in it
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another podium is installing into .venv; waiting for it ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if is_current(venv, wanted):
            return False
        install(root, venv, wanted, development=development)
    finally:
        os.close(lock)
    return True


def install(root: Path, venv: Path, wanted: dict[str, str], *, development: bool) -> None:
    """Install the requirements into `venv`, which is made anew where it cannot be kept."""
    began = time.monotonic()
    stamp = read_stamp(venv)
    (venv / STAMP).unlink(missing_ok=True)
    if not starts(venv) or stamp.get("python", wanted["python"]) != wanted["python"]:
        say(f"Making a virtual environment in {venv} with Python {wanted['python']} ...")
        make_venv(venv)
    names = ["requirements-dev.txt"] if development else ["requirements.txt"]
    lists = [root / name for name in names]
    command = [*pip_command(venv), "install", "--progress-bar", "off"]
    for path in lists:
        command += ["--requirement", str(path)]
    total = sum(count_requirements(path) for path in lists)
    run_pip(command, venv / LOG, total)
    fresh = venv / f"{STAMP}.new"
    fresh.write_text(json.dumps(wanted, indent=1))
    fresh.replace(venv / STAMP)
    say(f"The virtual environment is ready after {time.monotonic() - began:.0f} s.")


def starts(venv: Path) -> bool:
    """Answer whether the environment's Python starts; one whose base was removed does not."""
    python = venv / "bin" / "python"
    return python.exists() and succeeds([str(python), "-I", "-c", "pass"])


def succeeds(command: list[str]) -> bool:
    """Run a short command quietly; answers whether it ended with 0."""
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def base_python() -> str:
    """The Python that an environment is made from, also when this runs inside one."""
    return getattr(sys, "_base_executable", None) or sys.executable


def make_venv(venv: Path) -> None:
    """Make an empty environment, with pip where this Python carries it, else without.

    Raises CannotInstall where the system's Python was packaged without both venv and pip.
    """
    python = base_python()
    if not succeeds([python, "-I", "-c", "import venv"]):
        raise CannotInstall(f"This Python ({python}) has no module venv. Mend it with:\n  {MEND}")
    has_ensurepip = succeeds([python, "-I", "-c", "import ensurepip; ensurepip.version()"])
    if not has_ensurepip and not outer_pip(python):
        raise CannotInstall(f"This Python ({python}) has neither ensurepip nor pip. Mend it with:\n  {MEND}")
    if venv.exists():
        shutil.rmtree(venv)
    command = [python, "-I", "-m", "venv", *([] if has_ensurepip else ["--without-pip"]), str(venv)]
    made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode:
        raise CannotInstall(f"{venv} could not be made:\n{made.stdout.strip()}\nOften this mends it:\n  {MEND}")


def outer_pip(python: str) -> bool:
    """Answer whether `python` has a pip that can install into another environment (22.3 and newer)."""
    return succeeds([python, "-m", "pip", "--python", python, "--version"])


def pip_command(venv: Path) -> list[str]:
    """Return how pip is called for this environment: its own, else the base Python's."""
    own = str(venv / "bin" / "python")
    if succeeds([own, "-I", "-c", "import pip"]):
        return [own, "-m", "pip"]
    if outer_pip(base_python()):
        return [base_python(), "-m", "pip", "--python", own]
    raise CannotInstall(f"{venv} has no pip. Remove that folder, or mend Python with:\n  {MEND}")


def count_requirements(path: Path) -> int:
    """Return how many packages a compiled list of requirements names."""
    return sum(1 for line in path.read_text().splitlines() if re.match(r"[A-Za-z0-9]", line))


class Progress:
    """One line that changes in place on a terminal, and a line now and then elsewhere."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.seen: set[str] = set()
        self.text = "asking for packages"
        self.began = time.monotonic()
        self.on_terminal = sys.stderr.isatty()
        self.said = ""

    def read(self, line: str) -> None:
        """Take note of a line of pip's output."""
        found = re.match(r"\s*(?:Collecting|Ignoring|Requirement already satisfied:) ([A-Za-z0-9._-]+)", line)
        found = found or re.match(r"\s*Processing \S*/([A-Za-z0-9._]+)-", line)
        if found:
            name = re.sub(r"[-_.]+", "-", found[1]).lower().removesuffix(":")
            self.seen.add(name)
            self.text = f"collecting {name}"
        elif line.startswith("Installing collected packages"):
            self.text = "unpacking the packages"

    def show(self, *, at_an_interval: bool = True) -> None:
        """Print the state; away from a terminal only what is news."""
        state = f"  {min(len(self.seen), self.total)} of {self.total} packages: {self.text}"
        if self.on_terminal:
            width = shutil.get_terminal_size().columns
            line = f"{state} ({time.monotonic() - self.began:.0f} s)"
            print(f"\r{line[: width - 1]:<{width - 1}}", end="", file=sys.stderr, flush=True)
        elif at_an_interval and state != self.said:
            self.said = state
            say(state)


def run_pip(command: list[str], log: Path, total: int) -> None:
    """Run pip with visible progress; its whole output goes to `log`. Raises CannotInstall when it fails."""
    say(f"Installing {total} packages (the log is {log}) ...")
    progress = Progress(total)
    done = threading.Event()

    def tick() -> None:
        pause = 0.5 if progress.on_terminal else 5.0
        while not done.wait(pause):
            progress.show()

    ticker = threading.Thread(target=tick, daemon=True)
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONHOME")}
    environment.update(PIP_USER="0", PIP_REQUIRE_VIRTUALENV="0", PIP_DISABLE_PIP_VERSION_CHECK="1")
    with log.open("w") as file:
        pip = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        ticker.start()
        try:
            assert pip.stdout is not None
            for line in pip.stdout:
                file.write(line)
                progress.read(line)
            code = pip.wait()
        finally:
            done.set()
            ticker.join()
            if pip.poll() is None:
                pip.terminate()
                pip.wait()
            if progress.on_terminal:
                say("")
    if code:
        raise CannotInstall(f"pip ended with code {code}. The end of its output:\n{tail(log)}")


def tail(path: Path, lines: int = 15) -> str:
    """Return the last lines of a text file, indented."""
    text: Iterable[str] = path.read_text(errors="replace").splitlines()[-lines:]
    return "\n".join(f"  {line}" for line in text)


def main(arguments: list[str]) -> int:
    """Prepare the environment for one of the launcher's commands; returns the exit code."""
    try:
        prepare(ROOT, development=arguments[:1] == ["test"])
    except CannotInstall as error:
        say(f"podium: {error}")
        return 1
    except PermissionError as error:
        say(f"podium: {error.filename} cannot be written; the checkout must belong to the user who starts it.")
        return 1
    except KeyboardInterrupt:
        say("podium: interrupted; the next start installs again.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
