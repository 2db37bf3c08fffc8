"""One child process of the supervisor: started in its own group, ended with everything it started."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

LOG_LIMIT = 20 * 2**20
LOGS_KEPT = 3
PR_SET_PDEATHSIG = 1
QUICK_DEATH_SECONDS = 60.0
LONGEST_PAUSE = 30.0


@dataclass(frozen=True)
class Part:
    """What to run: a name for people, a command, its whole environment, and where its output goes.

    final_code: the exit code after which it is not started again.
    """

    name: str
    command: tuple[str, ...]
    environment: dict[str, str]
    log: Path
    pass_fds: tuple[int, ...] = ()
    folder: Path | None = None
    grace: float = 10.0
    final_code: int | None = None


@dataclass
class Child:
    """A part that is kept alive. All methods are called from the thread that starts the processes."""

    part: Part
    process: "subprocess.Popen[bytes] | None" = None
    started_at: float = 0.0
    restart_at: float | None = None
    quick_deaths: int = 0
    last_code: int | None = None
    log_offset: int = field(default=0, repr=False)

    def start(self) -> None:
        """Start the process in a session of its own, so that a terminal's Ctrl-C does not reach it."""
        rotate(self.part.log)
        self.part.log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.part.log.open("ab") as log:
            self.log_offset = log.tell()
            self.process = subprocess.Popen(
                self.part.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.part.environment,
                cwd=self.part.folder,
                pass_fds=self.part.pass_fds,
                start_new_session=True,
                preexec_fn=_die_with_parent(),
            )
        self.started_at = time.monotonic()
        self.restart_at = None

    @property
    def is_running(self) -> bool:
        """Whether the process was started and its end was not seen yet."""
        return self.process is not None

    def poll(self) -> int | None:
        """Return the exit code once, when the process has ended; then nothing of its group is left.

        The group is killed before the process is reaped: until then its number cannot be given to anybody
        else, so no stranger's process can be hit.
        """
        if self.process is None:
            return None
        ended = os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        self._signal_group(signal.SIGKILL)
        self.last_code = self.process.wait()
        self.process = None
        return self.last_code

    def ask_to_end(self) -> None:
        """Send TERM to the process itself; servers end their own children in good order."""
        if self.process is not None:
            self.process.terminate()

    def kill(self) -> None:
        """Kill the process and its group, and wait until it is gone."""
        if self.process is None:
            return
        self._signal_group(signal.SIGKILL)
        self.last_code = self.process.wait()
        self.process = None

    def plan_restart(self) -> float:
        """After a death: decide when to start again. Returns the pause: 1, 2, 4 ... 30 seconds."""
        lived = time.monotonic() - self.started_at
        self.quick_deaths = self.quick_deaths + 1 if lived < QUICK_DEATH_SECONDS else 1
        pause = min(LONGEST_PAUSE, 2.0 ** (self.quick_deaths - 1))
        self.restart_at = time.monotonic() + pause
        return pause

    def last_words(self, lines: int = 12) -> str:
        """Return the end of what it wrote since it was last started."""
        try:
            with self.part.log.open("rb") as log:
                end = log.seek(0, os.SEEK_END)
                log.seek(max(min(self.log_offset, end), end - 20_000))
                text = log.read().decode(errors="replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def _signal_group(self, number: int) -> None:
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)


def _die_with_parent() -> Callable[[], None] | None:
    """Return what a new process must call so that the kernel ends it when its parent is killed.

    Only Linux has this; elsewhere a killed supervisor leaves its children to be stopped by hand.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def in_the_child() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return in_the_child


def rotate(log: Path, limit: int = LOG_LIMIT) -> None:
    """Move a log that has grown past `limit` aside, keeping the last three.

    The file is copied and emptied, not renamed: a running process goes on writing into the file it has open,
    and it is open for appending.
    """
    try:
        if log.stat().st_size <= limit:
            return
    except FileNotFoundError:
        return
    for number in range(LOGS_KEPT - 1, 0, -1):
        older = log.with_name(f"{log.name}.{number}")
        if older.exists():
            older.replace(log.with_name(f"{log.name}.{number + 1}"))
    shutil.copyfile(log, log.with_name(f"{log.name}.1"))
    os.truncate(log, 0)
