"""Running one or two programs, each in its own sandbox, with one word to stop them all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from ingestion.programs.requests import ProgramProgress
from ingestion.sandbox.base import Outcome, Sandbox, SandboxSpec, Usage
from ingestion.sandbox.shared import SharedFolder

_POLL = 0.1
_PROGRESS_INTERVAL = 0.5

Progress = Callable[[ProgramProgress], None]


@dataclass
class Job:
    """A program that runs in a sandbox. `was_dropped`: it was stopped only because another one failed."""

    spec: SandboxSpec
    sandbox: Sandbox
    outcome: Outcome | None = None
    usage: Usage = field(default_factory=Usage)
    was_dropped: bool = False
    _stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> Outcome:
        """Run to the end. Raises SandboxError."""
        self.outcome = self.sandbox.run(self.spec, stop=self._stop, on_usage=self._take)
        self.usage = self.outcome.usage
        return self.outcome

    def stop(self) -> None:
        """End the program soon."""
        self._stop.set()

    def _take(self, usage: Usage) -> None:
        self.usage = usage

    @property
    def failed(self) -> bool:
        """Whether it ended, and not well."""
        return self.outcome is not None and (self.outcome.stopped is not None or self.outcome.exit_code != 0)


class SharedFull(Exception):
    """The shared folder was overfilled."""


def run_together(
    jobs: list[Job],
    *,
    stop: threading.Event | None,
    progress: Progress | None,
    shared: SharedFolder | None = None,
) -> None:
    """Run all jobs at the same time until all have ended; when one fails, the others are stopped.

    The first job's log is the one that progress shows; the second's stands beside it. Raises SandboxError, and
    SharedFull where the shared folder holds more than it may.
    """
    told = _Teller(jobs, progress)
    overfilled = False
    with ThreadPoolExecutor(len(jobs), thread_name_prefix="podium-program") as pool:
        running: dict[Future[Outcome], Job] = {pool.submit(job.run): job for job in jobs}
        waiting = set(running)
        while waiting:
            done, waiting = wait(waiting, timeout=_POLL, return_when=FIRST_COMPLETED)
            overfilled = overfilled or (shared is not None and shared.is_over())
            if overfilled or (stop is not None and stop.is_set()):
                for future in waiting:
                    running[future].stop()
            if any(future.exception() is not None or running[future].failed for future in done):
                for future in waiting:
                    running[future].was_dropped = True
                    running[future].stop()
            told.tell()
    if shared is not None and not shared.is_sized:
        jobs[0].sandbox.give_back(shared.path, jobs[0].spec)
    for future in running:
        future.result()
    if overfilled:
        raise SharedFull


class _Teller:
    """Tells progress, not more often than somebody can read."""

    def __init__(self, jobs: list[Job], progress: Progress | None) -> None:
        self._jobs = jobs
        self._progress = progress
        self._next = 0.0

    def tell(self) -> None:
        wall = max(job.usage.wall_seconds for job in self._jobs)
        if self._progress is None or wall < self._next:
            return
        self._next = wall + _PROGRESS_INTERVAL
        first, *others = self._jobs
        self._progress(
            ProgramProgress(
                wall_seconds=wall,
                cpu_seconds=sum(job.usage.cpu_seconds for job in self._jobs),
                memory_bytes=sum(job.usage.memory_bytes for job in self._jobs),
                log_tail=first.spec.log.tail(),
                ingestion_log_tail=others[0].spec.log.tail() if others else "",
            )
        )
