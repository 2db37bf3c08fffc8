"""What a run costs beyond the program in it, and how fast datasets are read, each beside a rival in the same run.

    python -m benchmarks.sandbox [--quick] [--only NAME ...] [--json] [--repeat N] [--folder FOLDER]

Overhead: the time of `ingestion.runner.run` for a submission that copies ready predictions, less the time of that
copying as a bare process; the rival is the same program in a hardened container, or in bwrap, started by hand. The
model interface has a row of its own, beside a bare Python that imports numpy: that is most of what it adds.
Loading: medians of runs that take turns, each in a fresh process; seconds by the wall clock and of the processor,
and the peak of memory above the imports over the size of the arrays. The ratio is that of processor time where
both readers use one core, because a busy machine spoils the wall clock; else of the wall clock.

Nothing here asserts on time; each line says which bars were met. `--quick` shows in a minute that all of it works.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.loading import CACHE, CASES, NUMPY, OURS, PANDAS, SVMLIGHT, make_case
from benchmarks.overhead import bare, make_inputs, python_with_numpy, timed, timed_run
from ingestion.sandbox import SANDBOXES, NoSandbox, choose_sandbox

CHECKOUT = Path(__file__).resolve().parent.parent
OVERHEAD_BARS = {"docker": 0.6, "bubblewrap": 0.15, "unconfined": 0.1}
MODEL_BAR, CACHE_BAR, PEAK_BAR = 0.4, 0.05, 1.5
AGAINST = {PANDAS: 1.0, NUMPY: 1.0, SVMLIGHT: 2.0}  # how many times as fast as a rival reading must be
MIB = 2**20

Row = dict[str, Any]


def overhead_rows(name: str, repeat: int) -> Iterator[Row]:
    """The row of one sandbox, and the row of the model interface in it."""
    try:
        sandbox = choose_sandbox(name)
    except NoSandbox as error:
        yield {"row": f"run {name}", "left_out": str(error)}
        return
    with tempfile.TemporaryDirectory(prefix="podium-benchmark-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        inputs = make_inputs(folder)
        by_hand = bare(sandbox, inputs, folder)
        alone = bare(choose_sandbox("unconfined"), inputs, folder)
        taken: dict[str, list[float]] = {"run": [], "model": [], "bare": [], "alone": [], "python": []}
        for number in range(repeat + 1):
            once = {
                "run": timed_run(sandbox, inputs, "program", folder),
                "model": timed_run(sandbox, inputs, "model", folder),
                "bare": timed(by_hand),
                "alone": timed(alone),
                "python": timed(python_with_numpy),
            }
            for key, seconds in once.items() if number else ():  # the first of each warms up
                taken[key].append(seconds)
    medians = {key: statistics.median(values) for key, values in taken.items()}
    spent = medians["run"] - medians["alone"]
    yield {
        "row": f"run {name}",
        "seconds": spent,
        "rival": "by hand",
        "rival_seconds": medians["bare"],
        "ratio": spent / medians["bare"],
        "bars": [_bar(spent <= OVERHEAD_BARS[name], f"at most {OVERHEAD_BARS[name]:g} s")],
    }
    added = medians["model"] - medians["run"]
    yield {
        "row": f"run {name}, the model interface adds",
        "seconds": added,
        "rival": "import numpy",
        "rival_seconds": medians["python"],
        "ratio": added / medians["python"],
        "bars": [_bar(added <= MODEL_BAR, f"at most {MODEL_BAR:g} s")],
    }


def loading_rows(name: str, folder: Path, scale: float, repeat: int) -> Iterator[Row]:
    """Rows of one dataset: text against each rival on one core and on all, and the cache."""
    case, made = CASES[name], make_case(name, folder, scale)
    for rival in case.rivals:
        for one_core in (True, False):
            mine, theirs = _take_turns(name, (OURS, rival), made, repeat, one_core=one_core)
            clock = "processor" if one_core else "wall"
            ratio, least = theirs[clock] / mine[clock], AGAINST[rival]
            yield {
                "row": f"{case.title}, text, {'one core' if one_core else 'all cores'}",
                "seconds": mine["wall"],
                "processor": mine["processor"],
                "rival": rival + (" (scaled up from a part)" if theirs["share"] < 1 else ""),
                "rival_seconds": theirs["wall"],
                "rival_processor": theirs["processor"],
                "ratio": ratio,
                "peak": mine["peak"] / mine["size"],
                "rival_peak": theirs["peak"] / theirs["size"],
                "size": mine["size"],
                "bars": [
                    _bar(ratio >= least, f"{least:g} times as fast as {rival}"),
                    _bar(mine["peak"] <= PEAK_BAR * mine["size"], f"peak below {PEAK_BAR:g} x the arrays"),
                ],
            }
    (mine,) = _take_turns(name, (CACHE,), made, repeat, one_core=False)
    yield {
        "row": f"{case.title}, cache opened",
        "seconds": mine["wall"],
        "processor": mine["processor"],
        "peak": mine["peak"] / mine["size"],
        "size": mine["size"],
        "bars": [_bar(mine["wall"] <= CACHE_BAR, f"at most {CACHE_BAR:g} s")],
    }


def _take_turns(
    name: str, readers: tuple[str, ...], made: Path, repeat: int, *, one_core: bool
) -> list[dict[str, float]]:
    """Medians of each reader's measurements, taken in turns."""
    found: dict[str, list[dict[str, float]]] = {reader: [] for reader in readers}
    for _ in range(repeat):
        for reader in readers:
            command = [sys.executable, "-m", "benchmarks.loading", name, reader, str(made)]
            command += ["--one-core"] if one_core else []
            done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=CHECKOUT)
            found[reader].append(json.loads(done.stdout.splitlines()[-1]))
    return [{key: statistics.median(one[key] for one in taken) for key in taken[0]} for taken in found.values()]


def _bar(is_met: bool, text: str) -> str:
    return f"{'met' if is_met else 'missed'}: {text}"


def line_of(row: Row) -> str:
    """One line of the table."""
    if "left_out" in row:
        return f"{row['row']:<52} left out: {row['left_out']}"
    cells = [f"{row['seconds']:7.3f} s"]
    cells.append(f"{row['processor']:6.2f} s cpu" if "processor" in row else f"{'':>12}")
    cells.append(f"{row['rival']:>15} {row['rival_seconds']:7.3f} s" if "rival" in row else f"{'':>25}")
    cells.append(f"{row['ratio']:6.2f}x" if "ratio" in row else f"{'':>7}")
    cells.append(f"peak {row['peak']:4.2f}x of {row['size'] / MIB:5.0f} MB" if "peak" in row else f"{'':>22}")
    return f"{row['row']:<52} {' | '.join(cells)} | {'; '.join(row['bars'])}"


def main() -> int:
    """Print the table; 0 unless the arguments are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="tiny datasets and few runs")
    parser.add_argument("--only", choices=(*SANDBOXES, *CASES), action="append", help="a part; may be repeated")
    parser.add_argument("--repeat", type=int, help="runs of each (default: 20 of a sandbox, 5 of a reader)")
    parser.add_argument("--scale", type=float, default=1.0, help="size of the datasets, 1 is that of the issue")
    parser.add_argument("--folder", type=Path, help="where made datasets are kept for the next time")
    parser.add_argument("--json", action="store_true", help="print all rows as one object in the last line")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.gettempdir()) / "podium-benchmark-data"
    scale = 0.002 if options.quick else options.scale
    rows = []
    for name in options.only or (*SANDBOXES, *CASES):
        if name in SANDBOXES:
            found = overhead_rows(name, options.repeat or (2 if options.quick else 20))
        else:
            found = loading_rows(name, folder, scale, options.repeat or (1 if options.quick else 5))
        for row in found:
            print(line_of(row), flush=True)
            rows.append(row)
    if options.json:
        print(json.dumps({"rows": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
