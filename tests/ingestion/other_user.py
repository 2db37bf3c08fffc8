"""Running the command as an ordinary user, from a test suite that may itself run as root."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.shared import CHECKOUT

USER = 61_234  # nobody's number; with root's help a process takes it
# In a mount namespace of its own, so that nothing changes for anybody else: a folder that only root may enter is
# covered by an empty one, in which what is needed is bound again at its place.
_OPEN_A_WAY = """
set -e
hold=$1 closed=$2 user=$3 group=$4; shift 4
needed=
while [ "$1" != -- ]; do needed="$needed $1"; shift; done; shift
number=0
for path in $needed; do
    number=$((number + 1)); mkdir -p "$hold/$number"; mount --bind "$path" "$hold/$number"
done
[ "$closed" = / ] || mount -t tmpfs -o mode=0755 podium-test "$closed"
number=0
for path in $needed; do
    number=$((number + 1)); mkdir -p "$path"; mount --bind "$hold/$number" "$path"
done
exec setpriv --reuid "$user" --regid "$user" --groups "$group" -- "$@"
"""


def closed_to_others(paths: list[Path]) -> list[Path]:
    """The topmost folders above these paths that only their owner may enter."""
    found = []
    for path in paths:
        above = [parent for parent in reversed(path.parents) if not parent.stat().st_mode & 0o001]
        found += above[:1]
    return sorted(set(found))


class OtherUser:
    """An ordinary user with a folder of its own, perhaps in one group more; as root another than who tests."""

    def __init__(self, group: int = USER) -> None:
        self.group = group
        self.folder = Path(tempfile.mkdtemp(prefix="podium-other-user-"))
        self.prefix: list[str] = []
        if os.geteuid() == 0:
            self.prefix = self._prefix()
            os.chown(self.folder, USER, USER)

    def _prefix(self) -> list[str]:
        for program in ("unshare", "setpriv"):
            if shutil.which(program) is None:
                pytest.skip(f"{program} is not installed, so that root cannot become another user")
        needed = sorted({CHECKOUT, Path(sys.prefix).resolve(), Path(os.path.realpath(sys.base_prefix))})
        closed = closed_to_others(needed)
        if len(closed) > 1:
            pytest.skip(f"{' and '.join(map(str, closed))} are closed to other users")
        hidden = [str(path) for path in needed if closed and path.is_relative_to(closed[0])]
        unshare = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _OPEN_A_WAY, "sh"]
        hold = self.folder / "hold"
        hold.mkdir()
        return [*unshare, str(hold), str(closed[0]) if closed else "/", str(USER), str(self.group), *hidden, "--"]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of this checkout's Python, as that user."""
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{CHECKOUT}{os.pathsep}{CHECKOUT / 'platform'}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
        }
        return subprocess.run(
            [*self.prefix, sys.executable, *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def ingestion_run(
        self, dataset: Path, submission: Path, *words: str, sandbox: str = "bubblewrap"
    ) -> dict[str, object]:
        """The JSON of `python -m ingestion run`."""
        output = self.folder / "output"
        fixed = ["--dataset", str(dataset), "--submission", str(submission), "--output", str(output)]
        done = self.run("-m", "ingestion", "run", *fixed, "--sandbox", sandbox, "--json", *words)
        assert done.stdout.strip(), done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    def give(self, folder: Path) -> Path:
        """A folder of this user's with the same content."""
        target = Path(shutil.copytree(folder, self.folder / folder.name, dirs_exist_ok=True))
        if os.geteuid() == 0:
            for path in (target, *target.rglob("*")):
                os.chown(path, USER, USER)
        return target

    def remove(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder)
