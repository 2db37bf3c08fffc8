"""Runs as plain processes with all rights of this user: for a participant's own machine and own code only."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import replace

from ingestion.budget import format_size
from ingestion.sandbox.base import (
    Folders,
    Looker,
    Measurement,
    Outcome,
    Places,
    Sandbox,
    SandboxSpec,
    SandboxStatus,
    Usage,
    watch_over,
)
from ingestion.sandbox.output import OUTPUT_FOLDER, open_folder, use_of
from ingestion.sandbox.processes import Family, PipeReader, ends_within, shared_out_memory_of

TEMPORARY_FOLDER = "tmp"
MARK = "PODIUM_RUN_MARK"
IS_LINUX = sys.platform.startswith("linux")


class UnconfinedSandbox(Sandbox):
    """Wall clock and memory are watched and the whole family is ended; nothing keeps it from files or network."""

    name = "unconfined"
    protects_input = False

    def places(self, folders: Folders) -> Places:
        """The folders themselves: nothing is mounted anywhere else."""
        return Places(
            input_data=str(folders.input_data),
            submission=str(folders.submission),
            program=str(folders.program),
            output=str(folders.scratch / OUTPUT_FOLDER),
            temporary=str(folders.scratch / TEMPORARY_FOLDER),
            python=sys.executable,
        )

    def check(self) -> SandboxStatus:
        """Always usable, and always said what it is."""
        sentence = "Without a sandbox a program has all rights of this user; only for code of your own."
        return SandboxStatus(self.name, True, sentence)

    def run(
        self,
        spec: SandboxSpec,
        *,
        stop: threading.Event,
        on_usage: Callable[[Usage], None] | None = None,
    ) -> Outcome:
        """Run a program as a family of processes that ends with its first."""
        output, temporary = spec.folders.scratch / OUTPUT_FOLDER, spec.folders.scratch / TEMPORARY_FOLDER
        output.mkdir()
        temporary.mkdir()
        descriptor = open_folder(output)
        mark = uuid.uuid4().hex
        environment = {**spec.environment, "PATH": os.environ.get("PATH", os.defpath), MARK: mark}
        environment["TMPDIR"] = str(temporary)
        started = time.monotonic()
        try:
            process = subprocess.Popen(
                spec.command,
                cwd=spec.folders.submission,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            os.close(descriptor)
            spec.log.feed(f"{spec.command[0]}: {error.strerror}\n".encode())
            return Outcome(exit_code=127, stopped=None, usage=Usage())
        program = _Program(process, mark)
        try:
            reader = PipeReader(process.stdout, spec.log)  # type: ignore[arg-type]
            looker = Looker(spec.watcher, descriptor, started)
            watched = watch_over(
                program,
                spec,
                started=started,
                stop=stop,
                on_usage=on_usage,
                memory_limit=spec.memory_bytes,
            )
            program.kill()
            reader.finish()
            ended_early = watched.stopped is not None or process.returncode != 0
            looker.finish(watched.usage.wall_seconds, ended_early=ended_early)
            if watched.stopped == "memory":
                spec.log.feed(f"\n[stopped at {format_size(watched.usage.memory_bytes)} of memory]\n".encode())
            use = use_of(descriptor, spec, bounded_by_mount=False)
            return Outcome(
                exit_code=None if watched.stopped else _shell_code(process.returncode),
                stopped=watched.stopped,
                usage=replace(watched.usage, cpu_seconds=program.cpu_seconds),
                memory_killed=watched.memory_killed,
                output_full=use.is_full,
                output_bytes=use.bytes,
                output_files=use.files,
            )
        finally:
            program.kill()
            process.wait()
            os.close(descriptor)


def _shell_code(code: int) -> int:
    """128 + n for a program that signal n ended, as a shell tells it."""
    return 128 - code if code < 0 else code


class _Program:
    """The family of a started process, as `watch_over` sees it."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str) -> None:
        self._process = process
        self._family = Family(process.pid, f"{MARK}={mark}")
        self._peak = 0

    def wait(self, seconds: float) -> bool:
        return ends_within(self._process, seconds, self._family.note_end)

    def kill(self) -> None:
        self._family.kill()

    @property
    def cpu_seconds(self) -> float:
        return self._family.cpu_seconds

    def measure(self) -> Measurement | None:
        members = self._family.members()
        memory = sum(member.resident_bytes for member in members)
        if memory > self._peak and IS_LINUX:
            # Resident memory holds libraries, and shared pages once for each process; what is told must be exact.
            memory = shared_out_memory_of(member.pid for member in members)
        self._peak = max(self._peak, memory)
        return Measurement(cpu_seconds=self._family.cpu_seconds, memory_bytes=memory)
