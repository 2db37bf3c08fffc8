"""A benchmark as it is given away: MementoML's columns, a table of configurations by algorithm, a manifest."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.benchmarks.grid import Algorithm, Grid

RESULTS = "MementoML.csv"
COLUMNS = {"acc": "acc", "auc": "auc", "time": "time"}
DIGITS = "%.7g"  # as many as are kept


def archive(grid: Grid, about: dict[str, Any]) -> Iterator[bytes]:
    """The zip, piece by piece. `about` is what the manifest says beside what is in the files."""
    out = _Pieces()
    digest = hashlib.sha256()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as packed:
        with packed.open(RESULTS, "w", force_zip64=True) as file:
            for text in records(grid):
                digest.update(text)
                file.write(text)
                yield out.taken()
        for algorithm in grid.algorithms:
            if algorithm.parameters:
                packed.writestr(f"parameters_{plain(algorithm.name)}.csv", parameters(grid, algorithm))
        manifest = about | {
            "datasets": list(grid.datasets),
            "splits": list(grid.splits),
            "algorithms": {one.name: len(one.index) for one in grid.algorithms},
            "sha256": {RESULTS: digest.hexdigest()},
        }
        packed.writestr("manifest.json", json.dumps(manifest, indent=1))
    yield out.taken()


def records(grid: Grid) -> Iterator[bytes]:
    """The records as CSV, those of a dataset and an algorithm at a time; failed cells have an empty auc."""
    present = [measure for measure in COLUMNS if measure in grid.measures]
    yield (",".join(["dataset", "model", "param_index", "row_index", *present]) + "\n").encode()
    for algorithm in grid.algorithms:
        values = {measure: grid.values(algorithm, measure) for measure in present}
        for place, dataset in enumerate(grid.datasets):
            own = {measure: every[place] for measure, every in values.items()}
            was_run = np.any([np.isfinite(one) for one in own.values()], axis=0)
            configuration, split = np.nonzero(was_run)
            if not len(configuration):
                continue
            table = pd.DataFrame(
                {
                    "dataset": dataset,
                    "model": algorithm.name,
                    "param_index": algorithm.index[configuration],
                    "row_index": np.array(grid.splits)[split],
                    **{measure: one[configuration, split] for measure, one in own.items()},
                }
            )
            yield table.to_csv(index=False, header=False, float_format=DIGITS, lineterminator="\n").encode()


def parameters(grid: Grid, algorithm: Algorithm) -> str:
    """The configurations of an algorithm as CSV."""
    columns = {name: grid.parameter(algorithm, name) for name in algorithm.parameters}
    table = pd.DataFrame({"param_index": algorithm.index, **columns})
    text: str = table.to_csv(index=False, lineterminator="\n")
    return text


def plain(name: str) -> str:
    """A name that every file system takes."""
    return (
        "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)[:60].strip(".")
        or "model"
    )


class _Pieces(io.RawIOBase):
    """Takes what a zip writes and gives it out in pieces."""

    def __init__(self) -> None:
        self.held = bytearray()

    def writable(self) -> bool:
        """That it takes bytes; a zip then asks for no other place in it."""
        return True

    def write(self, content: Any) -> int:
        """Hold some more."""
        self.held += content
        return len(content)

    def taken(self) -> bytes:
        """What is held, which is held no more."""
        content = bytes(self.held)
        self.held.clear()
        return content
