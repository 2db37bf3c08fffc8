"""Reading datasets beside pandas, numpy and scikit-learn; each measurement is one fresh process.

    python -m benchmarks.loading CASE READER FOLDER [--one-core]

prints one JSON object: wall and processor seconds, and the peak of memory above the imports in bytes, beside the
size of what came out. FOLDER holds what `make_case` wrote. Packages are imported before the clock starts.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scoring import peak, start_peak

SEED = 0
TEST_ROWS = 20
OURS, CACHE, PANDAS, NUMPY, SVMLIGHT = "ours", "cache", "pandas", "numpy", "svmlight"
# numpy.loadtxt takes a minute for 200 MB; it reads this share of the lines, and its time is scaled up.
SHARE_FOR_NUMPY = 0.05


@dataclass(frozen=True)
class LoadingCase:
    """One made dataset. `width`: values in a row of a dense one, entries in a row of a sparse one."""

    title: str
    layout: str
    rows: int
    columns: int
    width: int
    form: str
    rivals: tuple[str, ...]


CASES = {
    "dense": LoadingCase("dense 200 MB, six decimals", "dense", 22_000, 1000, 1000, "%.6f", (PANDAS, NUMPY)),
    "dense-whole": LoadingCase("dense 200 MB, whole numbers", "dense", 51_000, 1000, 1000, "%d", (PANDAS,)),
    "dense-full": LoadingCase("dense 200 MB, 17 digits", "dense", 10_000, 1000, 1000, "%.17g", (PANDAS,)),
    "sparse": LoadingCase("sparse, 10 M values", "sparse", 100_000, 50_000, 100, "%d:%.4g", (SVMLIGHT,)),
    "sparse-binary": LoadingCase(
        "sparse binary, 10 M indices", "sparse_binary", 100_000, 50_000, 100, "%d", (SVMLIGHT,)
    ),
}


def make_case(name: str, folder: Path, scale: float) -> Path:
    """The folder of a case with its dataset, laid out with a cache, and its svmlight form; made where absent."""
    from ingestion.dataset import prepare_input

    case = CASES[name]
    made = folder / f"{name}-{scale:g}"
    if (made / "laid" / "cache").is_dir():
        return made
    source = made / "source"
    source.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(SEED)
    rows = max(TEST_ROWS, int(case.rows * scale))
    _write_features(case, source / "made_train.data", rows, generator)
    _write_features(case, source / "made_test.data", TEST_ROWS, generator)
    (source / "made_train.solution").write_text("".join(f"{row % 2}\n" for row in range(rows)))
    (source / "made_public.info").write_text(
        f"task = 'binary.classification'\nmetric = 'auc_metric'\nfeat_num = {case.columns}\ntarget_num = 1\n"
        f"label_num = 2\ntrain_num = {rows}\ntest_num = {TEST_ROWS}\nfeat_type = 'Numerical'\n"
        f"is_sparse = {int(case.layout != 'dense')}\n"
    )
    if SVMLIGHT in case.rivals:
        with (source / "made_train.data").open() as lines, (made / "train.svm").open("w") as file:
            for line in lines:
                entries = line if case.layout == "sparse" else " ".join(f"{index}:1" for index in line.split())
                file.write(f"0 {entries.rstrip()}\n")
    prepare_input(source, made / "laid")
    return made


def _write_features(case: LoadingCase, path: Path, rows: int, generator: np.random.Generator) -> None:
    with path.open("w") as file:
        for _ in range(rows):
            if case.layout == "dense":
                drawn = (
                    generator.integers(0, 1000, case.width)
                    if case.form == "%d"
                    else generator.standard_normal(case.width)
                )
                file.write(" ".join([case.form] * case.width) % tuple(drawn.tolist()) + "\n")
                continue
            indices = np.sort(generator.choice(case.columns, case.width, replace=False)) + 1
            words: list[Any] = indices.tolist()
            if case.layout == "sparse":
                words = [word for pair in zip(words, generator.random(case.width), strict=True) for word in pair]
            file.write(" ".join([case.form] * case.width) % tuple(words) + "\n")


def reader(name: str, kind: str, made: Path) -> tuple[Callable[[], Any], float]:
    """(what reads the training part, the share of it that is read), with everything imported that it needs."""
    case, text = CASES[name], made / "source" / "made_train.data"
    if kind in (OURS, CACHE):
        import scipy.sparse  # noqa: F401

        from ingestion.program.data import Dataset
        from ingestion.program.layouts import read_features

        if kind == CACHE:
            return lambda: Dataset(made / "laid").features("train"), 1.0
        return lambda: read_features(text, case.layout, case.columns), 1.0
    if kind == PANDAS:
        import pandas

        return lambda: pandas.read_csv(text, sep=r"\s+", header=None, engine="c").to_numpy(dtype=np.float64), 1.0
    if kind == NUMPY:
        with text.open() as file:
            rows = sum(1 for _ in file)
        some = max(1, int(rows * SHARE_FOR_NUMPY))
        return lambda: np.loadtxt(text, max_rows=some), some / rows
    from sklearn.datasets import load_svmlight_file

    return lambda: load_svmlight_file(made / "train.svm", n_features=case.columns, zero_based=False)[0], 1.0


def size_of(features: Any) -> int:
    """Bytes of an array, or of the three arrays of a sparse matrix."""
    if hasattr(features, "indptr"):
        return int(features.data.nbytes + features.indices.nbytes + features.indptr.nbytes)
    return int(features.nbytes)


def measure(name: str, kind: str, made: Path) -> dict[str, float]:
    """Wall and processor seconds, peak and size in this very process."""
    read, share = reader(name, kind, made)
    before = start_peak()
    wall, processor = time.perf_counter(), time.process_time()
    features = read()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return {
        "wall": wall / share,
        "processor": processor / share,
        "peak": max(0, peak() - before),
        "size": size_of(features),
        "share": share,
    }


def main() -> int:
    """Measure once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("reader", choices=(OURS, CACHE, PANDAS, NUMPY, SVMLIGHT))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--one-core", action="store_true", help="keep this process on one core")
    options = parser.parse_args()
    if options.one_core and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(json.dumps(measure(options.case, options.reader, options.folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
