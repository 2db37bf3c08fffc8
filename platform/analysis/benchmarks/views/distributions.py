"""The distributions of errors of algorithms over their configurations."""

import itertools

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.benchmarks.grid import Grid
from analysis.benchmarks.populations import errors_of
from analysis.benchmarks.views.base import MEMENTO, View, Wish, dataset_field, many, nothing
from analysis.charts import benchmarks as charts
from analysis.measures.spaces.comparison import holm, ks_test
from analysis.measures.spaces.edf import edf
from analysis.results import Block, Column, Figure, Note, Result, Table, rows_of

FEWEST, FEW = 10, 100
DRAWN = 200  # steps of a drawn distribution
METHOD = (
    "EDF: the share of an algorithm's configurations whose error, 1 - AUC, is below each value. KS: the largest "
    "gap "
    "D between two of them, with the p of the two-sample Kolmogorov-Smirnov test, corrected after Holm for the "
    "number "
    "of pairs (Radosavovic et al., 2019, section 3)."
)
REFERENCES = (
    MEMENTO,
    "Radosavovic, I., Johnson, J., Xie, S., Lo, W.-Y., Dollár, P.: On network design spaces for visual "
    "recognition. "
    "IEEE/CVF International Conference on Computer Vision, 2019.",
)


def build(grid: Grid, wish: Wish) -> Result:
    """The distributions, and which of them differ."""
    populations = {
        name: errors for name, errors in errors_of(grid, wish.get("dataset", "")) if len(errors) >= FEWEST
    }
    if not populations:
        return nothing(f"No algorithm has {FEWEST} configurations with an AUC.")
    steps = []
    for name, errors in populations.items():
        places = np.unique(np.quantile(errors, np.linspace(0, 1, DRAWN)))
        places = np.append(places, np.nextafter(places[-1], np.inf))
        steps.append(pd.DataFrame({"algorithm": name, "error": places, "share": edf(errors, places)}))
    table = pd.concat(steps, ignore_index=True)
    medians = {name: float(np.median(errors)) for name, errors in populations.items()}
    best = min(medians, key=lambda name: medians[name])
    sentence = f"{best} has the lowest median error of its configurations, {medians[best]:.4f}."
    figure = Figure(
        key="edf",
        title="Errors of the algorithms' configurations",
        sentence=sentence,
        spec=charts.distributions(table, names=list(populations)),
        columns=(
            Column("algorithm", "Algorithm"),
            Column("error", "Error", "number", 4),
            Column("share", "Share below", "percent"),
        ),
        rows=rows_of(table["algorithm"], table["error"], table["share"]),
        n=", ".join(f"{name} {len(errors):,}" for name, errors in populations.items()) + " configurations",
        method=METHOD,
        warnings=tuple(
            f"{name} has fewer than {FEW} configurations." for name, one in populations.items() if len(one) < FEW
        ),
    )
    left_out = len(grid.algorithms) - len(populations)
    blocks: list[Block] = [figure]
    if left_out:
        text = f"{many(left_out, 'algorithm')} with fewer than {FEWEST} configurations are left out."
        blocks.append(Note(text))
    if len(populations) > 1:
        blocks.append(_tests(populations))
    return Result(sentence, tuple(blocks), METHOD, REFERENCES)


def _tests(populations: dict[str, NDArray[np.float64]]) -> Table:
    pairs = list(itertools.combinations(populations, 2))
    found = [ks_test(populations[first], populations[second]) for first, second in pairs]
    corrected = holm([one.p for one in found])
    columns = (
        Column("first", "Algorithm"),
        Column("second", "and"),
        Column("statistic", "D", "number"),
        Column("p", "p", "number", 4),
        Column("corrected", "p (Holm)", "number", 4),
    )
    rows = rows_of(
        [first for first, _ in pairs],
        [second for _, second in pairs],
        [one.statistic for one in found],
        [one.p for one in found],
        corrected,
    )
    differ = int((corrected < 0.05).sum())
    sentence = f"{differ} of {many(len(pairs), 'pair')} differ at the level of 5 %."
    return Table("ks", "Which distributions differ", columns, rows, sentence)


VIEW = View(
    "edf",
    "Distributions",
    "Whose configurations have lower errors?",
    lambda grid, wish: (dataset_field(grid, all_label="means over all datasets"),),
    build,
)
