"""A tiny dataset, tiny submissions and one call that runs them, for tests of sandboxes."""

import os
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ingestion.budget import MIB, Budget
from ingestion.runner import RunRequest, run
from ingestion.sandbox import Sandbox, choose_sandbox
from ingestion.sandbox.bubblewrap import BubblewrapSandbox
from ingestion.sandbox.docker import DockerSandbox
from ingestion.verdict import RunResult

VALID_ROWS, TEST_ROWS = 3, 4
OWNER = f"tests.{os.getpid()}"  # of this process alone: others may test on this machine at the same time

# The start of every submission that is plain Python: no package is imported, so that a run takes a moment.
HELPERS = f"""
import os, sys, time
OUT = sys.argv[1]
def predict(number=None):
    for part, rows in (("valid", {VALID_ROWS}), ("test", {TEST_ROWS})):
        stem = f"tiny_{{part}}" + ("" if number is None else f"_{{number:03d}}")
        with open(f"{{OUT}}/.{{stem}}", "w") as file:
            file.write("0.5\\n" * rows)
        os.replace(f"{{OUT}}/.{{stem}}", f"{{OUT}}/{{stem}}.predict")
"""


def write_tiny_dataset(folder: Path) -> Path:
    """A binary task of 6, 3 and 4 rows, with all of its labels."""
    folder.mkdir(parents=True)
    for part, rows in (("train", 6), ("valid", VALID_ROWS), ("test", TEST_ROWS)):
        (folder / f"tiny_{part}.data").write_text("".join(f"{row} {row % 2}\n" for row in range(rows)))
        (folder / f"tiny_{part}.solution").write_text("".join(f"{row % 2}\n" for row in range(rows)))
    (folder / "tiny_public.info").write_text(
        "name = 'tiny'\ntask = 'binary.classification'\nmetric = 'auc_metric'\ntime_budget = 30\n"
        "feat_num = 2\ntarget_num = 1\nlabel_num = 2\ntrain_num = 6\nvalid_num = 3\ntest_num = 4\n"
    )
    (folder / "tiny_private.info").write_text("title = 'a secret description'\n")
    return folder


def write_program(folder: Path, source: str) -> Path:
    """A submission whose metadata runs `main.py` with the helpers in front of its source."""
    folder.mkdir(parents=True)
    (folder / "metadata").write_text("command: python3 $program/main.py $output $input\n")
    (folder / "main.py").write_text(HELPERS + textwrap.dedent(source))
    return folder


def write_model(folder: Path, source: str) -> Path:
    """A submission with a model.py."""
    folder.mkdir(parents=True)
    (folder / "model.py").write_text(textwrap.dedent(source))
    return folder


def usable_sandbox(name: str) -> Sandbox:
    """The sandbox of this name; skips the test with the reason where it does not work."""
    sandbox = {"docker": DockerSandbox, "bubblewrap": BubblewrapSandbox}.get(name)
    if sandbox is None:
        return choose_sandbox(name)
    made = sandbox()
    status = made.check()
    if not status.usable:
        pytest.skip(status.sentence)
    return made


class Runner:
    """Runs programs and models on the tiny dataset in one sandbox."""

    def __init__(self, sandbox: Sandbox, folder: Path, owner: str = OWNER) -> None:
        self.sandbox = sandbox
        self.owner = owner
        self.folder = folder
        self.dataset = write_tiny_dataset(folder / "tiny")
        self._runs = 0

    def program(self, source: str, **options: object) -> RunResult:
        """The result of a program."""
        return self.submission(lambda folder: write_program(folder, source), **options)

    def model(self, source: str, **options: object) -> RunResult:
        """The result of a model.py."""
        return self.submission(lambda folder: write_model(folder, source), **options)

    def submission(
        self,
        write: Callable[[Path], Path],
        *,
        seconds: float = 10.0,
        memory: int = 192 * MIB,
        stop: threading.Event | None = None,
        progress: Callable[..., None] | None = None,
        any_time: bool = True,
        alias: str | None = None,
        cpus: str | None = None,
        told_seconds: float | None = None,
        **budget: int,
    ) -> RunResult:
        """The result of a submission that `write` puts into a folder."""
        self._runs += 1
        here = self.folder / f"run-{self._runs}"
        limits = {"output_bytes": 8 * MIB, "output_files": 200, "processes": 32, "log_bytes": 64 * 1024, **budget}
        request = RunRequest(
            dataset=self.dataset,
            submission=write(here / "submission"),
            output=here / "output",
            budget=Budget(wall_seconds=seconds, cores=1, memory_bytes=memory, **limits),
            sandbox=self.sandbox,
            any_time=any_time,
            alias=alias,
            owner=self.owner,
            cpus=cpus,
            told_seconds=told_seconds,
        )
        return run(request, stop=stop, progress=progress)
