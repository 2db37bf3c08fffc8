"""Time and peak memory of Podium's metrics beside scikit-learn and, if given, the scorer of 2015.

    python benchmarks/scoring.py [--reference PATH] [--only NAME] [--scale 0.1] [--repeat 3]

The inputs are those of the speed table in metrics.md, and standard errors of 200 replicates. Every
measurement runs in a fresh process: the best of several runs, and the peak of memory above the inputs.
A run's time is by the wall clock, or that of the processor where it is less: the machine had other work.
Ours checks and normalises. scikit-learn gets what its function wants: for BAC the labels are found by
argmax and both tables checked for finite numbers inside the timed part. PATH is a file or folder with
the functions of the 2015 kit's libscores (Python 2 or 3). Nothing here asserts on time; the table says
which bars were met.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHECKOUT = Path(__file__).resolve().parent.parent
# Run as a file, this folder would be searched first and this file taken for the package of its name.
sys.path[:] = [
    str(CHECKOUT),
    *(entry for entry in sys.path if Path(entry or ".").resolve() != CHECKOUT / "benchmarks"),
]

from benchmarks.reference import load_reference, read_with_reference, score_with_reference  # noqa: E402

Floats = NDArray[np.float64]
Job = Callable[[], object]
# Short runs are repeated until they add up to this, so that a busy machine spoils fewer of them.
ENOUGH_SECONDS = 4.0
MOST_RUNS = 20
OURS, SKLEARN, REFERENCE = "ours", "scikit-learn", "reference"


@dataclass(frozen=True, slots=True)
class Case:
    """One row of the table.

    Attributes
    ----------
    title : str
    task, metric : str
        What is scored; an empty metric means reading files.
    rows, columns : int
    decimals : int or None
        Decimals that the predictions are rounded to.
    stderr : bool
        Whether the standard error is computed, by ours alone.
    seconds : float or None
        A bar of its own; None where the bar is to beat the others.
    """

    title: str
    task: str
    metric: str
    rows: int
    columns: int
    decimals: int | None = None
    stderr: bool = False
    seconds: float | None = None


CASES = {
    "auc-many": Case("AUC, 355 classes x 100,000", "multiclass", "AUC", 100_000, 355, seconds=5.0),
    "pac-many": Case("PAC, 355 classes x 100,000", "multiclass", "PAC", 100_000, 355),
    "bac-many": Case("BAC, 355 classes x 100,000", "multiclass", "BAC", 100_000, 355),
    "auc-ties": Case("AUC binary, 1 M, two decimals", "binary", "AUC", 1_000_000, 1, decimals=2),
    "auc-binary": Case("AUC binary, 1 M, continuous", "binary", "AUC", 1_000_000, 1),
    "auc-labels": Case("AUC multi-label 20 x 100,000", "multilabel", "AUC", 100_000, 20),
    "r2": Case("R2, 5 M", "regression", "R2", 5_000_000, 1),
    "reading": Case("reading 12,000 x 355 text, two files", "multiclass", "", 12_000, 355),
    "stderr-auc": Case("AUC binary, 20,000, standard error", "binary", "AUC", 20_000, 1, stderr=True, seconds=0.5),
    "stderr-bac": Case("BAC, 355 x 100,000, standard error", "multiclass", "BAC", 100_000, 355, stderr=True),
    "stderr-many": Case("AUC, 355 x 100,000, standard error", "multiclass", "AUC", 100_000, 355, stderr=True),
    "stderr-pac": Case("PAC, 355 x 100,000, standard error", "multiclass", "PAC", 100_000, 355, stderr=True),
    "stderr-labels": Case("AUC, 20 labels, standard error", "multilabel", "AUC", 100_000, 20, stderr=True),
    "stderr-binary": Case("AUC binary, 1 M, standard error", "binary", "AUC", 1_000_000, 1, stderr=True),
    "stderr-r2": Case("R2, 1 M, standard error", "regression", "R2", 1_000_000, 1, stderr=True),
}  # fmt: skip


def make_inputs(case: Case, scale: float) -> tuple[Floats, Floats]:
    """Solution and prediction in C order, made without more memory than they take themselves."""
    generator = np.random.default_rng(0)
    rows = max(20, int(case.rows * scale))
    columns = max(2, int(case.columns * scale)) if case.columns > 1 else 1
    solution, prediction = np.zeros((rows, columns)), np.empty((rows, columns))
    generator.random(out=prediction)
    if case.task == "regression":
        generator.standard_normal(out=solution)
        prediction += solution
        return solution, prediction
    if case.task == "multiclass":
        labels = generator.permutation(np.arange(rows) % columns)
        solution[np.arange(rows), labels] = 1.0
        prediction[np.arange(rows), labels] += 0.5
        prediction /= prediction.sum(axis=1, keepdims=True)
    else:
        solution[generator.random((rows, columns)) < 0.3] = 1.0
        prediction *= 0.8
        prediction += 0.2 * solution
    if case.decimals is not None:
        np.round(prediction, case.decimals, out=prediction)
    return solution, prediction


def sklearn_job(case: Case, solution: Floats, prediction: Floats) -> Job | None:
    """The nearest scikit-learn call, without a normalising step; None where there is none."""
    if case.stderr or not case.metric:
        return None
    from sklearn import metrics
    from sklearn.utils import assert_all_finite

    def balanced_accuracy() -> float:
        assert_all_finite(solution)
        assert_all_finite(prediction)
        return float(metrics.balanced_accuracy_score(solution.argmax(axis=1), prediction.argmax(axis=1)))

    jobs: dict[str, Job] = {
        "AUC": lambda: metrics.roc_auc_score(solution, prediction, average="macro"),
        "PAC": lambda: math.exp(-metrics.log_loss(solution, prediction)),
        "BAC": balanced_accuracy,
        "R2": lambda: metrics.r2_score(solution, prediction),
    }
    return jobs[case.metric]


def our_job(case: Case, solution: Floats, prediction: Floats) -> Job:
    """Scoring with everything that belongs to it: checks, normalising and, if asked, the standard error."""
    from scoring import score

    return lambda: score(solution, prediction, task=case.task, metric=case.metric, stderr=case.stderr)


def reading_job(case: Case, scorer: str, files: list[Path], reference: Path | None) -> Job | None:
    """Reading both files; scikit-learn has no such thing."""
    if scorer == OURS:
        from scoring.reading import read_table

        return lambda: [read_table(path) for path in files]
    if scorer == REFERENCE and reference is not None:
        functions = load_reference(reference)
        return lambda: [read_with_reference(functions, path) for path in files]
    return None


def measure(
    case: Case, scorer: str, *, scale: float, repeat: int, reference: Path | None
) -> dict[str, Any] | None:
    """Seconds and peak bytes above the inputs in this very process; None if not applicable."""
    with tempfile.TemporaryDirectory() as folder:
        solution, prediction = make_inputs(case, scale)
        job: Job | None
        if not case.metric:
            files = [Path(folder) / "x.solution", Path(folder) / "x.predict"]
            np.savetxt(files[0], solution, fmt="%d")
            np.savetxt(files[1], prediction, fmt="%.6f")
            job = reading_job(case, scorer, files, reference)
        elif scorer == OURS:
            job = our_job(case, solution, prediction)
        elif scorer == SKLEARN:
            job = sklearn_job(case, solution, prediction)
        else:
            job = reference_job(case, solution, prediction, reference)
        if job is None:
            return None
        before = start_peak()
        walls: list[float] = []
        processor: list[float] = []
        while len(walls) < repeat or (sum(walls) < ENOUGH_SECONDS and len(walls) < MOST_RUNS):
            wall, cpu = time.perf_counter(), time.process_time()
            job()
            walls.append(time.perf_counter() - wall)
            processor.append(time.process_time() - cpu)
            if scorer == REFERENCE:
                break
        return {
            "seconds": min(walls + processor),
            "peak": max(0, peak() - before),
            "input": prediction.nbytes,
        }


def reference_job(case: Case, solution: Floats, prediction: Floats, reference: Path | None) -> Job | None:
    """The scorer of 2015 with its own normalising step."""
    if reference is None or case.stderr:
        return None
    functions = load_reference(reference)
    return lambda: score_with_reference(functions, solution, prediction, task=case.task, metric=case.metric)


def _status(key: str) -> int:
    """Bytes behind a key of /proc/self/status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def start_peak() -> int:
    """Forget the peak so far, where the kernel allows it, and return the resident memory."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return _status("VmHWM")
    return _status("VmRSS")


def peak() -> int:
    """Highest resident memory since `start_peak`, in bytes."""
    return _status("VmHWM")


def measure_apart(name: str, scorer: str, options: argparse.Namespace) -> dict[str, Any] | None:
    """`measure` in a fresh process; a failure is shown and counts as not measured."""
    command = [sys.executable, __file__, "--measure", name, scorer, "--scale", str(options.scale)]
    command += ["--repeat", str(options.repeat)]
    if options.reference:
        command += ["--reference", str(options.reference)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name} by {scorer} failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    answer: dict[str, Any] | None = json.loads(done.stdout.splitlines()[-1])
    return answer


def bar_sentence(case: Case, measured: dict[str, dict[str, Any] | None]) -> str:
    """Whether the bars of metrics.md are met: faster than the others, and at most one more copy in memory."""
    ours = measured[OURS]
    if ours is None:
        return "not measured"
    missed = [
        f"slower than {name}"
        for name, other in measured.items()
        if name != OURS and other is not None and ours["seconds"] >= other["seconds"]
    ]
    if case.seconds is not None and ours["seconds"] > case.seconds:
        missed.append(f"above {case.seconds:g} s")
    # A small input's peak is that of allocators and caches, not of copies.
    if case.metric and not case.stderr and ours["peak"] > ours["input"] + 2**24:
        missed.append("more than one copy in memory")
    return "met" if not missed else "missed: " + ", ".join(missed)


def table_line(case: Case, measured: dict[str, dict[str, Any] | None]) -> str:
    """One line of the table: seconds, ratios to ours and peaks."""
    ours = measured[OURS]
    cells = []
    for name in (OURS, SKLEARN, REFERENCE):
        taken = measured.get(name)
        if taken is None:
            cells.append(f"{'-':>9} {'-':>6} {'-':>8}")
            continue
        ratio = "" if name == OURS or ours is None else f"{taken['seconds'] / ours['seconds']:.1f}x"
        cells.append(f"{taken['seconds']:8.3f}s {ratio:>6} {taken['peak'] / 2**20:6.0f}MB")
    return f"{case.title:<48} {' | '.join(cells)} | {bar_sentence(case, measured)}"


def main() -> int:
    """Print the table; 0 unless the arguments are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", type=Path, help="file or folder with the functions of libscores")
    parser.add_argument("--only", choices=CASES, action="append", help="one row of the table; may be repeated")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the inputs, 1 is that of metrics.md")
    parser.add_argument("--repeat", type=int, default=3, help="least number of runs, of which the best counts")
    parser.add_argument("--measure", nargs=2, metavar=("NAME", "SCORER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, scorer = options.measure
        taken = measure(
            CASES[name], scorer, scale=options.scale, repeat=options.repeat, reference=options.reference
        )
        print(json.dumps(taken))
        return 0
    scorers = [OURS, SKLEARN] + ([REFERENCE] if options.reference else [])
    heads = " | ".join(
        f"{name:>10} {'ratio' if name != OURS else '':>5} {'peak':>8}" for name in (OURS, SKLEARN, REFERENCE)
    )
    print(f"{'seconds, ratio to ours, memory above the inputs':<48} {heads} | bar")
    for name in options.only or CASES:
        measured = {scorer: measure_apart(name, scorer, options) for scorer in scorers}
        print(table_line(CASES[name], measured), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
