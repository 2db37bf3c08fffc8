"""What a hyper-parameter does to the AUC, on every dataset."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from statsmodels.nonparametric.smoothers_lowess import lowess

from analysis.benchmarks.grid import Algorithm, Grid
from analysis.benchmarks.views.base import (
    MEMENTO,
    View,
    Wish,
    algorithm_field,
    dataset_field,
    many,
    nothing,
    rows_asked,
)
from analysis.charts import benchmarks as charts
from analysis.results import Column, Figure, Result, rows_of
from analysis.sections.base import Choice

DRAWN = 150  # points of a dataset among many; the numbers have all
KNOTS = 40  # of a drawn LOESS line
SHARE = 0.4  # of the points that LOESS looks at around each place
WIDE = 30.0  # largest by smallest value from which an axis is logarithmic
SEED = 0

Floats = NDArray[np.float64]


def fields(grid: Grid, wish: Wish) -> tuple[Choice, ...]:
    """An algorithm, one of its hyper-parameters, a dataset."""
    named = grid.named(wish.get("algorithm", "")) or grid.algorithms[0]
    parameters = tuple((name, name) for name in named.parameters)
    return (
        algorithm_field(grid),
        Choice("parameter", "Hyper-parameter", parameters),
        dataset_field(grid, all_label="every dataset"),
    )


def build(grid: Grid, wish: Wish) -> Result:
    """A picture for each dataset."""
    algorithm = grid.named(wish.get("algorithm", ""))
    if algorithm is None or wish.get("parameter") not in algorithm.parameters:
        return nothing(
            "The configurations of this algorithm have no hyper-parameters here: their file was not sent."
        )
    name = wish["parameter"]
    values, datasets = grid.parameter(algorithm, name), rows_asked(grid, wish)
    if values.dtype.kind == "U":
        return _levels(grid, algorithm, name, values, datasets)
    if len(np.unique(values[np.isfinite(values)])) < 2:
        return nothing(f"{name} has the same value in every configuration.")
    return _numbers(grid, algorithm, name, values, datasets)


def _numbers(grid: Grid, algorithm: Algorithm, name: str, values: Floats, datasets: list[int]) -> Result:
    scores = grid.means(algorithm)
    finite = values[np.isfinite(values)]
    is_log = bool(finite.min() > 0 and finite.max() / finite.min() > WIDE)
    points, lines, spans = [], [], {}
    for place in datasets:
        has = np.isfinite(values) & np.isfinite(scores[place])
        if has.sum() < 2:
            continue
        x, auc = values[has], scores[place][has]
        dataset = grid.datasets[place]
        points.append(pd.DataFrame({"dataset": dataset, "place": place, "x": x, "auc": auc}))
        knots, smooth = smoothed(x, auc, is_log=is_log)
        lines.append(pd.DataFrame({"dataset": dataset, "place": place, "x": knots, "auc": smooth}))
        spans[dataset] = float(np.ptp(smooth)) if len(smooth) else 0.0
    if not points:
        return nothing("No dataset has two scores.")
    everything = pd.concat(points, ignore_index=True)
    most = max(spans, key=lambda one: spans[one])
    sentence = (
        f"The smoothed AUC of {algorithm.name} moves by a median of {np.median(list(spans.values())):.4f} over "
        "the "
        f"range of {name}, most on dataset {most} (by {spans[most]:.4f})."
    )
    figure = Figure(
        key="sensitivity",
        title=f"AUC by {name}",
        sentence=sentence,
        spec=charts.sensitivity(
            _drawn(points), pd.concat(lines, ignore_index=True), parameter=name, is_log=is_log,
            columns=1 if len(points) == 1 else 4,
        ),
        columns=(Column("dataset", "Dataset"), Column("x", name, "number"), Column("auc", "AUC", "number", 4)),
        rows=rows_of(everything["dataset"], everything["x"], everything["auc"]),
        n=f"{many(len(everything), 'configuration')} on {many(len(points), 'dataset')}, means over "
        f"{many(len(grid.splits), 'split')}",
        seed=SEED if len(points) > 1 else None,
        method=f"LOESS (Cleveland, 1979; locally linear, {SHARE:.0%} of the points, 2 robust iterations)"
        f"{' of the logarithm' if is_log else ''}. Pictures of several datasets have {DRAWN} points drawn at "
        "random "
        "of each, whose scale is its own; lines and numbers are of all. Other hyper-parameters vary at random.",
    )  # fmt: skip
    return Result(sentence, (figure,), references=(MEMENTO,))


def smoothed(x: Floats, y: Floats, *, is_log: bool) -> tuple[Floats, Floats]:
    """LOESS at a few places over the range of x."""
    place = np.log(x) if is_log else x
    knots = np.linspace(place.min(), place.max(), KNOTS)
    # Fits closer to each other than a knot's distance are interpolated.
    found = lowess(y, place, frac=SHARE, it=2, delta=(knots[1] - knots[0]) / 2)
    found = found[np.isfinite(found[:, 1])]
    if not len(found):
        return knots[:0], knots[:0]
    return np.exp(knots) if is_log else knots, np.interp(knots, found[:, 0], found[:, 1])


def _drawn(points: list[pd.DataFrame]) -> pd.DataFrame:
    """All points of one dataset, some of each of many."""
    if len(points) == 1:
        return points[0]
    random = np.random.default_rng(SEED)
    return pd.concat([one.sample(min(DRAWN, len(one)), random_state=random) for one in points], ignore_index=True)


def _levels(grid: Grid, algorithm: Algorithm, name: str, values: NDArray[np.str_], datasets: list[int]) -> Result:
    scores = grid.means(algorithm)
    levels = [level for level in np.unique(values) if level][:12]
    rows = []
    for place in datasets:
        for level in levels:
            own = scores[place][values == level]
            own = own[np.isfinite(own)]
            if len(own):
                low, middle, high = np.percentile(own, [25, 50, 75])
                rows.append((grid.datasets[place], place, str(level), len(own), low, middle, high))
    table = pd.DataFrame(rows, columns=["dataset", "place", "level", "count", "low", "median", "high"])
    if table.empty:
        return nothing(f"No configuration has a value of {name} and a score.")
    best = table.loc[table.groupby("dataset")["median"].idxmax(), "level"].value_counts()
    sentence = (
        f"{name} {best.index[0]} has the highest median AUC of {algorithm.name} on {best.iloc[0]} of "
        f"{many(table['dataset'].nunique(), 'dataset')}."
    )
    columns = (
        Column("dataset", "Dataset"),
        Column("level", name),
        Column("count", "Configurations", "integer"),
        Column("low", "Lower quartile", "number", 4),
        Column("median", "Median", "number", 4),
        Column("high", "Upper quartile", "number", 4),
    )
    figure = Figure(
        key="sensitivity",
        title=f"AUC by {name}",
        sentence=sentence,
        spec=charts.levels(table, parameter=name),
        columns=columns,
        rows=rows_of(*(table[column.key] for column in columns)),
        n=f"{many(int(table['count'].sum()), 'pair')} of a configuration and a dataset, means over "
        f"{many(len(grid.splits), 'split')}",
        method="Quartiles of the AUC over the configurations that have the value; other hyper-parameters vary.",
    )
    return Result(sentence, (figure,), references=(MEMENTO,))


VIEW = View("sensitivity", "Sensitivity", "What does a hyper-parameter do to the AUC?", fields, build)
