"""What importing a dataset costs beside reading its numbers: time and memory, each in a fresh process.

    python -m benchmarks.importing [--only CASE] [--scale 1.0] [--repeat 1] [--home FOLDER] [--json]

The two datasets of the issue: 200 MB of dense text, and 100,000 by 100,000 with 10 M stored values, both split in
three. `plain` reads the numbers of all parts with Podium's own reader and keeps nothing; `general` does the same
with the best reader that others wrote (pandas, scikit-learn). `import` is the action behind the page and the
command: reading, checks with baselines, card, cache, public zip, storage and database. `table` reads the same rows
from one file as an organizer brings it (CSV, svmlight), and `prepare` splits, encodes, conceals and imports that.

A time is by the wall clock, or that of the processor where it is less: the machine had other work. Memory is the
peak above the imports. Nothing here asserts on time; the table says which bars were met.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

CHECKOUT = Path(__file__).resolve().parent.parent
# Run as a file, this folder would be searched first and this file taken for the package of its name.
sys.path[:] = [
    str(CHECKOUT),
    str(CHECKOUT / "platform"),
    *(entry for entry in sys.path if Path(entry or ".").resolve() != CHECKOUT / "benchmarks"),
]

from benchmarks.scoring import peak, start_peak  # noqa: E402

SEED = 0
PLAIN, GENERAL, IMPORT, TABLE, PREPARE = "plain", "general", "import", "table", "prepare"
WHATS = (PLAIN, GENERAL, IMPORT, TABLE, PREPARE)
TIMES_PLAIN, GIB = 2.0, 1024**3
MEMORY_BAR = 3 * GIB


@dataclass(frozen=True)
class Case:
    """One made dataset: `width` values stand in each row."""

    title: str
    is_sparse: bool
    rows: int
    columns: int
    width: int


CASES = {
    "dense": Case("dense, 200 MB", False, 22_000, 1_000, 1_000),
    "sparse": Case("sparse, 100,000 x 100,000, 10 M values", True, 100_000, 100_000, 100),
}


# The data -------------------------------------------------------------------------------------------------------


def make_case(name: str, folder: Path, scale: float) -> Path:
    """The folder with a case: `made/` in AutoML format, and the whole as one table; made where absent."""
    case, made = CASES[name], folder / f"{name}-{scale:g}"
    if (made / "done").exists():
        return made
    (made / "made").mkdir(parents=True, exist_ok=True)
    rows = max(60, int(case.rows * scale))
    generator = np.random.default_rng(SEED)
    whole = made / ("table.svm" if case.is_sparse else "table.csv")
    parts = {"train": rows - 2 * (rows // 10), "valid": rows // 10, "test": rows // 10}
    with whole.open("w") as table:
        if not case.is_sparse:
            table.write(",".join(f"f{column}" for column in range(case.columns)) + ",class\n")
        for part, count in parts.items():
            with (
                (made / "made" / f"made_{part}.data").open("w") as data,
                (made / "made" / f"made_{part}.solution").open("w") as solution,
            ):
                for _ in range(count):
                    _write_row(case, generator, data, solution, table)
    (made / "made" / "made_feat.type").write_text("Numerical\n" * case.columns)
    (made / "made" / "made_public.info").write_text(
        "name = 'made'\ntask = 'binary.classification'\nmetric = 'auc_metric'\ntime_budget = 1200\n"
        f"feat_num = {case.columns}\ntarget_num = 1\nlabel_num = 2\nis_sparse = {int(case.is_sparse)}\n"
        + "".join(f"{part}_num = {count}\n" for part, count in parts.items())
    )
    (made / "done").touch()
    return made


def _write_row(case: Case, generator: np.random.Generator, data: Any, solution: Any, table: Any) -> None:
    values = generator.standard_normal(case.width)
    label = int(values[0] + generator.standard_normal() > 0)
    if case.is_sparse:
        indices = np.unique(generator.integers(1, case.columns + 1, case.width))
        row = " ".join(f"{i}:{v:.4g}" for i, v in zip(indices.tolist(), values.tolist(), strict=False))
        table.write(f"{label} {row}\n")
    else:
        row = " ".join(f"{value:.6f}" for value in values.tolist())
        table.write(row.replace(" ", ",") + f",{'yes' if label else 'no'}\n")
    data.write(row + "\n")
    solution.write(f"{label}\n")


# What is measured -----------------------------------------------------------------------------------------------


def job(name: str, what: str, made: Path) -> Callable[[], Any]:
    """What is measured, with everything imported that it needs."""
    case = CASES[name]
    if what == PLAIN:
        from ingestion.dataset import load_dataset

        return lambda: load_dataset(made / "made")
    if what == GENERAL:
        return _general(case, made)
    import datasets.prepare
    import datasets.tables

    _import_what_checks_use()
    table = made / ("table.svm" if case.is_sparse else "table.csv")
    if what == TABLE:
        return lambda: _in_order(datasets.tables.read_table(table))
    owner = _owner()
    if what == IMPORT:
        from datasets.actions import import_dataset

        return lambda: _in_order(import_dataset(made / "made", owner=owner))
    recipe = datasets.prepare.Recipe.from_json(
        {
            "name": "prepared",
            "task": "binary",
            "metric": "AUC",
            "target": [] if case.is_sparse else ["class"],
            "seed": 1,
        }
    )
    return lambda: _in_order(datasets.prepare.prepare_dataset(table, recipe, owner=owner))


def _import_what_checks_use() -> None:
    """scikit-learn takes seconds to import; a process that imports datasets does it once."""
    import sklearn.datasets
    import sklearn.ensemble
    import sklearn.linear_model
    import sklearn.naive_bayes
    import sklearn.neighbors  # noqa: F401


def _general(case: Case, made: Path) -> Callable[[], Any]:
    if case.is_sparse:
        from sklearn.datasets import load_svmlight_file

        return lambda: load_svmlight_file(made / "table.svm", n_features=case.columns, zero_based=False)
    import pandas

    parts = [made / "made" / f"made_{part}.data" for part in ("train", "valid", "test")]
    return lambda: [pandas.read_csv(part, sep=r"\s+", header=None, engine="c").to_numpy() for part in parts]


def _in_order(report: Any) -> Any:
    if not report.ok:
        raise SystemExit(f"it was refused: {report.errors[:3]}")
    return report


def _owner() -> Any:
    """A user in the database of this data folder, which is made where it is absent."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from accounts.models import User

    return User.objects.get_or_create(username="olga")[0]


def measure(name: str, what: str, made: Path) -> dict[str, float]:
    """Seconds and peak bytes in this very process."""
    if what not in (PLAIN, GENERAL):
        import django

        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        django.setup()
    run = job(name, what, made)
    before = start_peak()
    wall, processor = time.perf_counter(), time.process_time()
    kept = run()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    del kept
    return {"seconds": min(wall, processor), "wall": wall, "peak": max(0, peak() - before)}


def measure_apart(name: str, what: str, made: Path, repeat: int) -> dict[str, float]:
    """The quickest of several runs, each in a fresh process with a data folder of its own."""
    found = []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory(prefix="importing-") as home:
            command = [sys.executable, "-m", "benchmarks.importing", "--measure", name, what, str(made)]
            done = subprocess.run(
                command,
                env={**os.environ, "PODIUM_HOME": home},
                cwd=CHECKOUT,
                capture_output=True,
                text=True,
                check=False,
            )
        if done.returncode:
            raise SystemExit(f"{name} {what} failed:\n{done.stderr[-2000:]}")
        found.append(json.loads(done.stdout.strip().splitlines()[-1]))
    return min(found, key=lambda one: float(one["seconds"]))


def table_of(results: dict[str, dict[str, dict[str, float]]]) -> str:
    """The results as lines of text, with the bars that they met."""
    lines = []
    for name, found in results.items():
        lines.append(CASES[name].title)
        slower = max(found[what]["seconds"] for what in (PLAIN, GENERAL) if what in found)
        for what, one in found.items():
            line = f"  {what:8} {one['seconds']:7.1f} s {one['peak'] / GIB:6.2f} GiB"
            if what == IMPORT:
                met = one["seconds"] <= TIMES_PLAIN * found[PLAIN]["seconds"]
                met_general = one["seconds"] <= TIMES_PLAIN * slower
                line += f"   twice plain: {_said(met)}, twice the slower reader: {_said(met_general)}"
            if what in (IMPORT, TABLE, PREPARE):
                line += f"   under 3 GiB: {_said(one['peak'] < MEMORY_BAR)}"
            lines.append(line)
    return "\n".join(lines)


def _said(met: bool) -> str:
    return "met" if met else "not met"


def main() -> int:
    """Measure all, or once within this process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CASES, action="append", help="this case alone")
    parser.add_argument("--what", choices=WHATS, action="append", help="this measurement alone")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the rows")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--home", type=Path, help="keep the made data here, and use them again")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--measure", nargs=3, metavar=("CASE", "WHAT", "MADE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, what, made = options.measure
        print(json.dumps(measure(name, what, Path(made))))
        return 0
    with tempfile.TemporaryDirectory(prefix="importing-data-") as temporary:
        home = options.home or Path(temporary)
        results = {}
        for name in options.only or CASES:
            made = make_case(name, home, options.scale)
            whats = [what for what in WHATS if not options.what or what in options.what or what == PLAIN]
            results[name] = {what: measure_apart(name, what, made, options.repeat) for what in whats}
    print(json.dumps(results) if options.json else table_of(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
