"""Figures of sets of models by their errors alone."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.charts import spaces as charts
from analysis.measures.spaces.edf import edf, uniform_weights
from analysis.measures.spaces.samples import (
    AMPLE,
    ENOUGH,
    expected_distance,
    powers_up_to,
    sample_size_study,
)
from analysis.measures.spaces.search import good_ranges, lower_minimum_probability, random_search
from analysis.results import Block, Cell, Column, Figure, Table
from analysis.spaces.modelset import Compared, Options, label

Floats = NDArray[np.float64]

MOST_STEPS = 1500  # of all curves of a figure together
LARGEST_SEARCH = 4096  # models, as in the paper's notebooks
TRIALS = 50
MOST_PARAMETERS = 12  # whose good ranges are told
LARGEST_STUDY = 20_000  # models from which samples are drawn

SET = Column("name", "Set")
SEARCH_COLUMNS = (
    SET,
    Column("size", "Models tried", "integer"),
    Column("mean", "Mean of the lowest error", "number", 5),
    Column("std", "Standard deviation", "number", 5),
)


def curve(errors: ArrayLike, weights: ArrayLike | None = None, *, most: int) -> tuple[Floats, Floats]:
    """The steps of an EDF: the errors at which it rises, and its value just above each; at most so many."""
    values = np.asarray(errors, dtype=float)
    shares = uniform_weights(values.size) if weights is None else np.asarray(weights, dtype=float)
    order = np.argsort(values, kind="stable")
    ordered, reached = values[order], np.cumsum(shares[order])
    ends = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    if ends.size > most:
        ends = ends[np.unique(np.linspace(0, ends.size - 1, most).round().astype(int))]
    return ordered[ends], np.minimum(reached[ends], 1.0)


def steps_of(count: int) -> int:
    """How many steps each of so many curves may have."""
    return max(60, MOST_STEPS // max(1, count))


def sizes(kept: list[Compared]) -> str:
    """The n of a figure in words."""
    total = sum(one.errors.size for one in kept)
    return f"{total:,} models of {len(kept)} set{'s' if len(kept) != 1 else ''}"


def banded(name: str, key: str, place: float, mean: float, std: float) -> charts.Row:
    """A mean with its band as `charts.bands` wants it."""
    return {"name": name, key: place, "mean": mean, "low": mean - 2 * std, "high": mean + 2 * std}


def distribution_figure(kept: list[Compared], options: Options, threshold: float) -> Figure:
    """EDFs of the errors as they are."""
    rows: list[tuple[Cell, ...]] = []
    for one in kept:
        errors, shares = curve(one.errors, most=steps_of(len(kept)))
        rows += [(one.name, float(e), float(share)) for e, share in zip(errors, shares, strict=True)]
    title = f"1 - {label(options.error)}" if options.is_score else label(options.error)
    shown = [{"name": name, "error": e, "share": share} for name, e, share in rows]
    told = ", ".join(f"{100 * float(edf(one.errors, [threshold])[0]):.0f} % of {one.name}" for one in kept[:4])
    optimistic = options.error == "min_test_top1"
    warning = (
        "The lowest error of any epoch was chosen on the test set: it is lower than what the models reach on "
        "other data. Prefer the error of the last epoch where the file has it."
    )
    return Figure(
        key="distributions",
        title="Distributions of errors",
        sentence=f"Under the error {threshold:.4g} are {told}.",
        spec=charts.distributions(shown, title=title, threshold=threshold),
        columns=(SET, Column("error", "Error", "number", 5), Column("share", "Share at or below", "percent")),
        rows=tuple(rows),
        n=sizes(kept),
        method="F(e) = 1/n sum 1[e_i < e] (Radosavovic et al. 2019, equation 1). Every step is drawn, or of many "
        "evenly chosen ones.",
        warnings=(warning,) if optimistic else (),
    )


def search_figure(kept: list[Compared]) -> Figure:
    """The best of m models by random search."""
    rows: list[tuple[Cell, ...]] = []
    shown = []
    for one in kept:
        chosen = powers_up_to(one.errors.size, LARGEST_SEARCH)
        found = random_search(one.errors, sizes=chosen)
        for size, mean, std in zip(found.sizes, found.mean, found.std, strict=True):
            rows.append((one.name, size, float(mean), float(std)))
            shown.append(banded(one.name, "size", size, float(mean), float(std)))
    budget = min(64, *(one.errors.size for one in kept))
    means = {one.name: float(random_search(one.errors, sizes=[budget]).mean[0]) for one in kept}
    best = min(means, key=lambda name: means[name])
    return Figure(
        key="random_search",
        title="What random search finds",
        sentence=f"The best of {budget} random models has an error of {means[best]:.4g} on average in {best}, "
        "the lowest of all sets."
        if len(kept) > 1
        else f"The best of {budget} random models has an error of {means[best]:.4g} on average.",
        spec=charts.bands(shown, x="size", titles=("models tried", "lowest error"), is_log=True),
        columns=SEARCH_COLUMNS,
        rows=tuple(rows),
        n=sizes(kept),
        method="E[min of m] = sum_i e_(i) (S_i^m - S_(i+1)^m), S_i = share of models not better than the i-th, "
        "drawn with replacement; the band is two standard deviations wide on each side (Radosavovic et al. 2019, "
        "section 4.3, in closed form).",
    )


def sample_figure(kept: list[Compared], seed: int) -> Figure:
    """How far samples are from the whole set, and what theory says of samples of anything."""
    rows: list[tuple[Cell, ...]] = []
    random = np.random.default_rng(seed)
    for one in kept[:6]:
        errors = one.errors
        if errors.size > LARGEST_STUDY:
            errors = random.choice(errors, LARGEST_STUDY, replace=False)
        study = sample_size_study(errors, powers_up_to(errors.size // 2), trials=TRIALS, seed=seed)
        rows += [(one.name, size, float(d)) for size, d in zip(study.sizes, study.measured, strict=True)]
    largest = max(one.errors.size for one in kept)
    theory = "expected of endlessly many models"
    rows += [(theory, size, expected_distance(size)) for size in powers_up_to(2 * max(largest, AMPLE))]
    shown = [{"name": name, "size": size, "distance": d} for name, size, d in rows if d]
    smallest = min(kept, key=lambda one: one.errors.size)
    size = int(smallest.errors.size)
    chance = lower_minimum_probability(AMPLE, ENOUGH)
    return Figure(
        key="sample_sizes",
        title="Is the sample large enough?",
        sentence=f"A sample as large as {smallest.name}, of {size} models, lies D = {expected_distance(size):.3f} "
        f"away from its whole space on average; one of {ENOUGH} models {expected_distance(ENOUGH):.3f}, one of "
        f"{AMPLE:,} {expected_distance(AMPLE):.3f}.",
        spec=charts.sample_sizes(shown, guides=(ENOUGH, AMPLE)),
        columns=(SET, Column("size", "Models", "integer"), Column("distance", "D", "number", 4)),
        rows=tuple(rows),
        n=f"{TRIALS} samples of each size, without replacement",
        seed=seed,
        method="Mean D of samples to their set, at most of half its size, beside 0.8687 / sqrt(n), the mean of "
        f"Kolmogorov's distribution (Radosavovic et al. 2019, section 4.4). That the best of {AMPLE:,} models "
        f"beats the best of {ENOUGH} has probability n / (n + m) = {chance:.3f} in any space.",
    )


def _short(value: float) -> str:
    """A number of any size, whole where it is large: the rows of one column are of different kinds."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def good_range_tables(kept: list[Compared]) -> list[Block]:
    """The hyper-parameters of the best models, of every set that has some."""
    rows: list[tuple[Cell, ...]] = []
    for one in kept:
        varied = {
            name: values for name, values in one.columns.items() if np.unique(values[np.isfinite(values)]).size > 1
        }
        chosen = dict(list(varied.items())[:MOST_PARAMETERS])
        for found in good_ranges(one.errors, chosen):
            all_values = chosen[found.name]
            limits = (found.low, found.median, found.high, np.nanmin(all_values), np.nanmax(all_values))
            rows.append((one.name, label(found.name), *(_short(float(value)) for value in limits)))
    if not rows:
        return []
    columns = (
        SET,
        Column("column", "Column"),
        Column("low", "2.5 %", "number", 4),
        Column("median", "Median", "number", 4),
        Column("high", "97.5 %", "number", 4),
        Column("least", "Lowest of all", "number", 4),
        Column("most", "Highest of all", "number", 4),
    )
    sentence = (
        "What the best of a quarter of the models, drawn with replacement, has in 95 of 100 cases. A range much "
        "narrower than all values says where good models are."
    )
    return [Table("good_ranges", "Where the best models are", columns, tuple(rows), sentence)]
