"""Training time against quality: which configurations no other beats in both."""

import numpy as np
import pandas as pd

from analysis.benchmarks.grid import Grid
from analysis.benchmarks.views.base import (
    MEMENTO,
    View,
    Wish,
    algorithm_field,
    chosen,
    dataset_field,
    many,
    nothing,
    rows_asked,
)
from analysis.charts import benchmarks as charts
from analysis.measures.tunability import pareto
from analysis.results import Column, Figure, Result, rows_of
from analysis.sections.base import Choice

DRAWN = 2500
SEED = 0


def fields(grid: Grid, wish: Wish) -> tuple[Choice, ...]:
    """Algorithms and a dataset."""
    return algorithm_field(grid, with_all=True), dataset_field(grid, all_label="means over all datasets")


def build(grid: Grid, wish: Wish) -> Result:
    """All configurations, and the front."""
    if "time" not in grid.measures:
        return nothing("The results have no training times.")
    table = _table(grid, wish)
    table = table[np.isfinite(table["time"]) & np.isfinite(table["auc"]) & (table["time"] > 0)]
    if table.empty:
        return nothing("No configuration has both a training time and an AUC.")
    table = table.assign(front=pareto(table["time"].to_numpy(), table["auc"].to_numpy()))
    front = table[table["front"]].sort_values("time")
    fast, best = front.iloc[0], front.iloc[-1]
    verb = "is" if len(front) == 1 else "are"
    sentence = (
        f"{many(len(front), 'configuration')} of {len(table):,} {verb} beaten by none in both: from "
        f"{fast['algorithm']} {fast['configuration']} ({fast['time']:.3g} s, AUC {fast['auc']:.4f}) to "
        f"{best['algorithm']} {best['configuration']} ({best['time']:.3g} s, AUC {best['auc']:.4f})."
    )
    drawn = table if len(table) <= DRAWN else table.sample(DRAWN, random_state=SEED)
    columns = (
        Column("algorithm", "Algorithm"),
        Column("configuration", "Configuration"),
        Column("time", "Seconds", "number"),
        Column("auc", "AUC", "number", 4),
        Column("front", "Beaten by none"),
    )
    figure = Figure(
        key="time_and_auc",
        title="Training time and AUC",
        sentence=sentence,
        spec=charts.time_and_quality(drawn.drop(columns="front"), front.drop(columns="front")),
        columns=columns,
        rows=rows_of(*(table[column.key] for column in columns)),
        n=f"{many(len(table), 'configuration')}, means over {many(len(grid.splits), 'split')}"
        + (f", {DRAWN:,} of them drawn" if len(drawn) < len(table) else ""),
        seed=SEED if len(drawn) < len(table) else None,
        method="Pareto front: no other configuration is as fast and better. Over all datasets, means of the "
        "AUC and geometric means of the times of configurations that were run on each of them. Times are those "
        "published, of the machines that were used.",
    )
    return Result(sentence, (figure,), references=(MEMENTO,))


def _table(grid: Grid, wish: Wish) -> pd.DataFrame:
    datasets, found = rows_asked(grid, wish), []
    for algorithm in chosen(grid, wish):
        time, auc = grid.means(algorithm, "time")[datasets], grid.means(algorithm)[datasets]
        with np.errstate(divide="ignore", invalid="ignore"):
            seconds = np.exp(np.log(time).mean(axis=0))
        names = [str(index) for index in algorithm.index]
        found.append(
            pd.DataFrame(
                {"algorithm": algorithm.name, "configuration": names, "time": seconds, "auc": auc.mean(axis=0)}
            )
        )
    return pd.concat(found, ignore_index=True)


VIEW = View("time", "Time and quality", "What does a better AUC cost in training time?", fields, build)
