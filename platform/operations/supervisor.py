"""Starts the parts of an installation, keeps them alive, and stops exactly what it started."""

import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType

from operations.processes import Child, Part, rotate

TICK_SECONDS = 0.2
DEATHS_TO_REPORT = 3
REPORT_AGAIN_EVERY = 20
ROTATE_EVERY = 60.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopAsked(BaseException):
    """Ctrl-C, or a signal that asks to stop. Like KeyboardInterrupt, ordinary handlers let it pass."""


class AlreadyRunning(Exception):
    """Another instance holds the data folder."""


class Failing(Exception):
    """A part dies again and again."""


class HomeLock:
    """Held while an instance runs on a data folder; the kernel lets go of it however the instance ends."""

    def __init__(self, path: Path, what: str) -> None:
        self.path = path
        self.what = what
        self.descriptor: int | None = None

    def take(self) -> None:
        """Take the lock, or raise AlreadyRunning with the sentence that says who has it."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 500).decode(errors="replace").strip() or "another process"
            os.close(descriptor)
            raise AlreadyRunning(
                f"{self.what} already runs on {self.path.parent}: {holder}. Stop it first, or set PODIUM_HOME to "
                "another folder."
            ) from None
        self.descriptor = descriptor
        self.describe(f"process {os.getpid()}")

    def describe(self, holder: str) -> None:
        """Write down who holds it, for the next one who asks."""
        assert self.descriptor is not None
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, holder.encode(), 0)

    def release(self) -> None:
        """Let go; the file stays, because removing a lock file is how two processes get one each."""
        if self.descriptor is not None:
            os.ftruncate(self.descriptor, 0)
            os.close(self.descriptor)
            self.descriptor = None


class Supervisor:
    """Used as a context: on leaving it, however that happens, everything it started has ended."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.children: list[Child] = []
        self._stopping = False
        self._hurry = False
        self._deferring = False
        self._asked: str | None = None
        self._handlers: dict[int, object] = {}
        self._rotated_at = time.monotonic()

    def __enter__(self) -> "Supervisor":
        for number in SIGNALS:
            if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
                continue  # nohup asked for this
            self._handlers[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop()
        finally:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)  # type: ignore[arg-type]

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._stopping:
            self._hurry = True  # asked twice: do not wait for anybody's good order
            return
        self._asked = signal.Signals(number).name
        if not self._deferring:
            self._obey()

    def _obey(self) -> None:
        if self._asked and not self._stopping:
            self._stopping = True
            raise StopAsked(self._asked)

    @contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """Hold a signal back while a process is started or reaped, so that none is lost track of."""
        self._deferring = True
        try:
            yield
        finally:
            self._deferring = False
        self._obey()

    def start(self, part: Part) -> Child:
        """Start a part and keep it alive from now on."""
        child = Child(part)
        with self._undisturbed():
            self.children.append(child)
            child.start()
        return child

    def tick(self) -> None:
        """Look after the children once: report deaths, start again what is due, keep logs small."""
        now = time.monotonic()
        with self._undisturbed():
            for child in list(self.children):
                code = child.poll()
                if code is not None and code == child.part.final_code:
                    self._give_up(child)
                elif code is not None:
                    self._report_death(child, code)
                elif child.restart_at is not None and now >= child.restart_at:
                    child.start()
        if now - self._rotated_at > ROTATE_EVERY:
            self._rotated_at = now
            for child in self.children:
                rotate(child.part.log)

    def _report_death(self, child: Child, code: int) -> None:
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        pause = child.plan_restart()
        self.say(f"The {child.part.name} {how}; starting it again in {pause:.0f} s.")
        if child.quick_deaths == DEATHS_TO_REPORT or child.quick_deaths % REPORT_AGAIN_EVERY == 0:
            self.say(
                f"The {child.part.name} has died {child.quick_deaths} times in a row. "
                f"The end of {child.part.log}:\n{child.last_words()}"
            )

    def _give_up(self, child: Child) -> None:
        """Starting it again would mend nothing: say why, and end where nothing else is left to look after."""
        self.children.remove(child)
        why = (child.last_words(1) or f"see {child.part.log}").strip()
        self.say(f"The {child.part.name} ended and is not started again: {why}")
        if not self.children:
            raise Failing(f"the {child.part.name} cannot work: {why}")

    def check(self) -> None:
        """Raise Failing when a part has died so often that waiting for it has no sense."""
        for child in self.children:
            if child.quick_deaths >= DEATHS_TO_REPORT:
                raise Failing(f"the {child.part.name} does not stay alive; see {child.part.log}")

    def wait(self, seconds: float) -> None:
        """Let time pass while looking after the children."""
        end = time.monotonic() + seconds
        while True:
            self.tick()
            left = end - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(TICK_SECONDS, left))

    def serve(self) -> None:
        """Look after the children until a signal asks to stop."""
        while True:
            self.wait(60.0)

    def stop(self) -> None:
        """End every child, the last started first: TERM, and after its grace KILL for its whole group."""
        self._stopping = True
        for child in reversed(self.children):
            child.restart_at = None
            child.ask_to_end()
            end = time.monotonic() + child.part.grace
            while child.is_running and child.poll() is None:
                if self._hurry or time.monotonic() > end:
                    child.kill()
                    break
                time.sleep(0.05)
        self.children.clear()
