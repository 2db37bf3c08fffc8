"""Makes private, writable copies of programs in a sandbox, then becomes the program.

    python3 -I -S private.py PLAN

PLAN is JSON: `copies` [[from, to], ...], `folders` [path, ...] to make, `start` (the working directory) and
`commands` [[word, ...], ...], which run one after the other until one fails. Programs of organizers expect to
write beside themselves; what they write is gone with the sandbox.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

_NO_ROOM = 125  # as tools that start others have it: the fault is not the command's
_NOT_EXECUTABLE, _NOT_FOUND = 126, 127


def main(plan: "dict[str, list[list[str]]]") -> int:
    """Prepare, run all commands but the last, and become the last; returns only where something failed."""
    # What is written into folders that others see can be read and removed outside, whoever the worker is.
    os.umask(0)
    try:
        for folder in plan["folders"]:
            Path(str(folder)).mkdir(parents=True, exist_ok=True)
        for source, target in plan["copies"]:
            copy(source, target)
        os.chdir(str(plan["start"]))
    except OSError as error:
        print("The private copy of the program could not be made: " + str(error), file=sys.stderr, flush=True)
        return _NO_ROOM
    for command in plan["commands"][:-1]:
        try:
            code = subprocess.call(command)  # no shell: the words are taken as they are
        except OSError as error:
            return told(command[0], error)
        if code != 0:
            return 128 - code if code < 0 else code
    last = plan["commands"][-1]
    try:
        os.execvp(last[0], last)  # noqa: S606
    except OSError as error:
        return told(last[0], error)


def copy(source: str, target: str) -> None:
    """Copy a tree, also into a folder that is there, so that its owner may write everything."""
    for root, _, files in os.walk(source):
        place = Path(target) / Path(root).relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        for name in files:
            copied = Path(str(shutil.copy(str(Path(root) / name), str(place / name))))
            copied.chmod(copied.stat().st_mode | 0o600)


def told(command: str, error: OSError) -> int:
    """Print why a command did not start, as a shell would; its exit code."""
    if isinstance(error, FileNotFoundError):
        print(command + ": command not found", file=sys.stderr, flush=True)
        return _NOT_FOUND
    print(command + ": " + str(error.strerror), file=sys.stderr, flush=True)
    return _NOT_EXECUTABLE


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
