"""What the platform adds to a run, beside the same program in a container or sandbox that is started by hand."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ingestion.budget import GIB, MIB, Budget
from ingestion.dataset import write_dataset
from ingestion.runner import RunRequest, run
from ingestion.sandbox import Sandbox

ROWS = 100
_PROGRAM = "cp $1/valid.ready $2/made_valid.predict && cp $1/test.ready $2/made_test.predict\n"
_MODEL = """
class Model:
    def fit(self, X, y):
        pass

    def predict(self, X):
        return [0.5] * X.shape[0]
"""


def make_inputs(folder: Path) -> dict[str, Path]:
    """A small dataset; a submission that copies ready predictions; a model that predicts one number."""
    generator = np.random.default_rng(0)
    features, targets = generator.random((ROWS, 10)), np.arange(ROWS) % 2
    made = (features, targets)
    dataset = write_dataset(
        folder / "made", "made", task="binary", metric="AUC", time_budget=60, train=made, valid=made, test=made
    )
    program, model = folder / "program", folder / "model"
    program.mkdir()
    model.mkdir()
    (program / "metadata").write_text("command: sh $program/run.sh $program $output\n")
    (program / "run.sh").write_text(_PROGRAM)
    for part in ("valid", "test"):
        (program / f"{part}.ready").write_text("0.5\n" * ROWS)
    (model / "model.py").write_text(_MODEL)
    return {"dataset": dataset, "program": program, "model": model}


def timed_run(sandbox: Sandbox, inputs: dict[str, Path], kind: str, folder: Path) -> float:
    """Seconds from the call to the result, with everything prepared, collected and removed."""
    request = RunRequest(
        dataset=inputs["dataset"],
        submission=inputs[kind],
        output=folder / "output",
        budget=Budget(wall_seconds=60, cores=1, memory_bytes=GIB // 2, output_bytes=64 * MIB),
        sandbox=sandbox,
        owner="benchmark",
    )
    begin = time.perf_counter()
    result = run(request, stop=threading.Event())
    seconds = time.perf_counter() - begin
    if result.status != "ok":
        raise RuntimeError(f"a run in {sandbox.name} failed: {result.sentence} {result.log_tail}")
    return seconds


# By hand --------------------------------------------------------------------------------------------------------


def bare(sandbox: Sandbox, inputs: dict[str, Path], folder: Path) -> Callable[[], object]:
    """The same program started by hand: in a hardened container, in bwrap, or as a process."""
    output = folder / "bare"
    output.mkdir(exist_ok=True)
    output.chmod(0o777)
    program = inputs["program"]
    if sandbox.name == "docker":
        return lambda: _bare_container(sandbox, program, output)
    if sandbox.name == "bubblewrap":
        command = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all"]
        command += ["--die-with-parent", "--new-session", "--bind", str(output), str(output)]
        return lambda: _process([*command, "sh", str(program / "run.sh"), str(program), str(output)])
    return lambda: _process(["sh", str(program / "run.sh"), str(program), str(output)])


def _process(command: list[str]) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def python_with_numpy() -> None:
    """A bare process with this Python, which imports numpy and ends."""
    _process([sys.executable, "-c", "import numpy"])


def _bare_container(sandbox: Any, program: Path, output: Path) -> None:
    from docker.types import Mount

    container = sandbox.client.containers.create(
        sandbox.image,
        entrypoint=["sh", "/program/run.sh", "/program", "/output"],
        command=[],
        network_mode="none",
        read_only=True,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        user="65534:65534",
        mem_limit=GIB // 2,
        memswap_limit=GIB // 2,
        pids_limit=64,
        tmpfs={"/tmp": "size=64m"},  # noqa: S108  # a place in the container
        mounts=[
            Mount("/program", str(program), type="bind", read_only=True),
            Mount("/output", str(output), type="bind"),
        ],
    )
    try:
        container.start()
        if container.wait()["StatusCode"] != 0:
            raise RuntimeError("the container that was started by hand failed")
    finally:
        container.remove(force=True)


def timed(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin
