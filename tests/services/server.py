"""A real server process for tests: as a user without rights, on a free port, ended with everything it started."""

import contextlib
import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
PATIENCE = 60.0
TRIES = 3  # another program may take a free port before the server does


class DidNotStart(AssertionError):
    """The server ended, or did not answer in time; the text holds the end of its log."""


def free_port() -> int:
    """A port of 127.0.0.1 that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def without_rights(name: str) -> dict[str, Any]:
    """What makes `subprocess` run as the user `name`, else as nobody; empty when this is not root anyway."""
    if os.getuid() != 0:
        return {}
    for user in (name, "nobody"):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(user)
            return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    raise AssertionError("this machine has no user without rights")


@contextlib.contextmanager
def folder_for(name: str) -> Iterator[Path]:
    """A folder of its own below the temporary folder, which the server's user owns; gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f"podium-{name}-"))
    try:
        who = without_rights(name)
        if who:
            os.chown(folder, who["user"], who["group"])
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _die_with_parent() -> None:
    # A suite that is killed must not leave its servers behind.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Server:
    """One running process. `stop_signal` asks it to end in good order."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        user: str,
        folder: Path,
        environ: dict[str, str] | None = None,
        stop_signal: signal.Signals = signal.SIGTERM,
    ) -> None:
        self.log = folder / f"{Path(command[0]).name}.log"
        self.stop_signal = stop_signal
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=folder,
                env={
                    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
                    "LANG": "C.UTF-8",
                    "HOME": str(folder),
                    **(environ or {}),
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent,
                **without_rights(user),
            )

    def wait_until(self, answers: Callable[[], object]) -> None:
        """Wait until `answers` neither raises OSError or its like nor returns something false."""
        end = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(Exception):
                if answers():
                    return
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise DidNotStart(
                    f"{self.process.args!r} does not serve:\n{self.log.read_text(errors='replace')[-3000:]}"
                )
            time.sleep(0.05)

    def stop(self) -> None:
        """End the process, and what it started if that does not end by itself."""
        if self.process.poll() is None:
            self.process.send_signal(self.stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
        # The group is the server's own: its number was the number of the process.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextlib.contextmanager
def running(start: Callable[[], Server]) -> Iterator[Server]:
    """A started server, tried again on another port where one was taken meanwhile; stopped afterwards."""
    for left in reversed(range(TRIES)):
        try:
            server = start()
            break
        except DidNotStart:
            if not left:
                raise
    try:
        yield server
    finally:
        server.stop()
