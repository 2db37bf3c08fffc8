"""What was run: done, failed and missing cells of every dataset and algorithm."""

import pandas as pd

from analysis.benchmarks.grid import Grid
from analysis.benchmarks.views.base import MEMENTO, View, Wish, many
from analysis.charts import benchmarks as charts
from analysis.results import Block, Column, Figure, Result, Table, rows_of


def build(grid: Grid, wish: Wish) -> Result:
    """The matrix, and a line for each algorithm."""
    table = matrix(grid)
    done, failed, left = (int(table[name].sum()) for name in ("done", "failed", "left"))
    total = max(done + failed + left, 1)
    sentence = (
        f"{done / total:.1%} of {many(total, 'cell')} are there, {failed:,} failed and {left:,} were never run; a "
        "cell is a dataset, an algorithm, a configuration and a split."
    )
    blocks: tuple[Block, ...] = (_figure(grid, table, sentence), _algorithms(grid, table))
    return Result(sentence, blocks, references=(MEMENTO,))


def matrix(grid: Grid) -> pd.DataFrame:
    """A row for each dataset and algorithm: done, failed and left cells, and the share that is done."""
    rows = []
    for algorithm in grid.algorithms:
        done, failed = grid.counts(algorithm)
        whole = len(algorithm.index) * len(grid.splits)
        for place, dataset in enumerate(grid.datasets):
            left = whole - int(done[place]) - int(failed[place])
            share = int(done[place]) / whole
            rows.append((dataset, algorithm.name, place, int(done[place]), int(failed[place]), left, share))
    return pd.DataFrame(rows, columns=["dataset", "algorithm", "place", "done", "failed", "left", "share"])


def _figure(grid: Grid, table: pd.DataFrame, sentence: str) -> Figure:
    columns = (
        Column("dataset", "Dataset"),
        Column("algorithm", "Algorithm"),
        Column("done", "Done", "integer"),
        Column("failed", "Failed", "integer"),
        Column("left", "Never run", "integer"),
    )
    return Figure(
        key="coverage",
        title="What was run",
        sentence=sentence,
        spec=charts.coverage(table),
        columns=columns,
        rows=rows_of(*(table[column.key] for column in columns)),
        n=f"{many(len(grid.datasets), 'dataset')}, {many(len(grid.algorithms), 'algorithm')}, "
        f"{many(len(grid.splits), 'split')}",
        method="A cell is done where it has an AUC, failed where it was run without one. Every configuration of "
        "an algorithm that any dataset has is expected of all datasets, on every split.",
    )


def _algorithms(grid: Grid, table: pd.DataFrame) -> Table:
    summed = table.groupby("algorithm")[["done", "failed", "left"]].sum()
    names = [one.name for one in grid.algorithms]
    columns = (
        Column("algorithm", "Algorithm"),
        Column("configurations", "Configurations", "integer"),
        Column("parameters", "Hyper-parameters"),
        Column("done", "Done", "integer"),
        Column("failed", "Failed", "integer"),
        Column("left", "Never run", "integer"),
    )
    rows = rows_of(
        names,
        [len(one.index) for one in grid.algorithms],
        [", ".join(one.parameters) or "not given" for one in grid.algorithms],
        *(summed[column].loc[names] for column in ("done", "failed", "left")),
    )
    return Table("algorithms", "Algorithms", columns, rows)


VIEW = View("coverage", "Coverage", "What was run, and what is missing?", lambda grid, wish: (), build)
