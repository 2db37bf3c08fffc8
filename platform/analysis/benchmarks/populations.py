"""The algorithms of a benchmark as populations of configurations, to be compared by their errors."""

import numpy as np
from numpy.typing import NDArray

from analysis.benchmarks.grid import Grid

Floats = NDArray[np.float64]


def errors_of(grid: Grid, dataset: str = "") -> list[tuple[str, Floats]]:
    """Name of each algorithm, and 1 - AUC of its configurations: on a dataset, or the mean over all of them."""
    return [(name, columns["error"]) for name, columns in populations_of(grid, dataset)]


def populations_of(grid: Grid, dataset: str = "") -> list[tuple[str, dict[str, Floats]]]:
    """Name of each algorithm, and equally long columns for its configurations: error, and time where there is one.

    Of all datasets, the configurations that have a score on each of them count, by their means; a configuration
    without a score, or without a time where times are there, is left out.
    """
    rows = [grid.datasets.index(dataset)] if dataset in grid.datasets else list(range(len(grid.datasets)))
    found = []
    for algorithm in grid.algorithms:
        columns = {"error": 1.0 - grid.means(algorithm)[rows].mean(axis=0)}
        if "time" in grid.measures:
            columns["time"] = grid.means(algorithm, "time")[rows].mean(axis=0)
        has = np.all([np.isfinite(column) for column in columns.values()], axis=0)
        found.append((algorithm.name, {name: column[has] for name, column in columns.items()}))
    return found
