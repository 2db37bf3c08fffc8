"""Figures of sets of models by their errors and one complexity."""

import re
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import spearmanr

from analysis.charts import spaces as charts
from analysis.measures.spaces.comparison import PERMUTATIONS, Distance, holm, weighted_ks_test
from analysis.measures.spaces.edf import (
    ComplexityWeights,
    EmptyBinError,
    edf,
    edf_area,
    overlap,
    shared_weights,
)
from analysis.measures.spaces.samples import LEAST, buckets, powers_up_to
from analysis.measures.spaces.search import random_search
from analysis.results import Block, Cell, Column, Figure, Heading, Note, Table
from analysis.spaces.figures import LARGEST_SEARCH, SEARCH_COLUMNS, SET, Floats, banded, curve, sizes, steps_of
from analysis.spaces.modelset import Compared, Options, amount, label

MOST_POINTS = 1000  # of a scatter plot
MOST_WORK = 5_000_000  # numbers that a permutation test may shuffle
HISTOGRAM_BINS = 36  # as in the paper's figure 5
Pair = tuple[str, str]


@dataclass(frozen=True)
class Normalised:
    """What is said of sets by one complexity, and the tests of the pairs that could be made."""

    key: str
    blocks: tuple[Block, ...]
    tests: dict[Pair, Distance]


@dataclass(frozen=True)
class _Case:
    """Sets with a complexity, (n,) of each, within limits; on a logarithmic scale where that is wished."""

    key: str
    sets: list[Compared]
    complexity: list[Floats]
    limits: tuple[float, float]
    options: Options

    @property
    def title(self) -> str:
        return label(self.key)

    @property
    def slug(self) -> str:
        """The complexity in the names of files, whatever its column is called."""
        return re.sub(r"[^a-z0-9]+", "_", self.key.lower()).strip("_") or "complexity"

    def shown(self, value: float) -> float:
        """A complexity in its own unit."""
        return float(10**value) if self.options.is_log else float(value)


def normalised_blocks(
    kept: list[Compared], key: str, options: Options, *, threshold: float, largest: float
) -> Normalised:
    """Distributions normalised by a complexity with their tests, histograms, a scatter plot and buckets.

    `threshold` is the error for shares of models below it, `largest` the one up to which areas are taken.
    """
    heading = Heading(f"By {label(key)}", "What errors say apart from how large the models are.")
    having = [one.having(key, is_log=options.is_log) for one in kept if key in one.columns]
    having = [one for one in having if one.errors.size >= LEAST]
    if not having:
        return Normalised(key, (heading, Note(f"No set has 10 models with {label(key)}.", "warning")), {})
    complexity = [one.complexity(key, is_log=options.is_log) for one in having]
    low, high = _limits(complexity, key, options)
    if not low < high:
        told = f"The sets share no range of {label(key)}, so that nothing can be normalised by it."
        return Normalised(key, (heading, Note(told, "warning")), {})
    case = _Case(key, having, complexity, (low, high), options)
    blocks: list[Block] = [heading]
    tests: dict[Pair, Distance] = {}
    try:
        weights = shared_weights(complexity, options.bins, case.limits, strict=options.is_strict)
    except EmptyBinError as error:
        blocks.append(Note(f"Errors are not normalised by {case.title}: {error}", "warning"))
    else:
        blocks += [_distribution(case, weights), _summary(case, weights, threshold, largest)]
        tests = _tests(case, weights)
        if tests:
            blocks.append(_tests_table(case, tests))
        blocks.append(_search(case, weights))
    blocks += [_histogram(case), _scatter(case), _buckets(case)]
    return Normalised(key, tuple(blocks), tests)


def _limits(complexity: list[Floats], key: str, options: Options) -> tuple[float, float]:
    if key in options.limits:
        low, high = options.limits[key]
        return (float(np.log10(low)), float(np.log10(high))) if options.is_log and low > 0 else (low, high)
    return overlap(complexity)


def _distribution(case: _Case, weights: list[ComplexityWeights]) -> Figure:
    rows: list[tuple[Cell, ...]] = []
    for one, own in zip(case.sets, weights, strict=True):
        errors, shares = curve(one.errors[own.used], own.weights[own.used], most=steps_of(len(case.sets)))
        rows += [(one.name, float(e), float(share)) for e, share in zip(errors, shares, strict=True)]
    used = sum(int(one.used.sum()) for one in weights)
    total = sum(one.errors.size for one in case.sets)
    low, high = (case.shown(value) for value in case.limits)
    dropped = len(weights[0].dropped)
    told = f"Dropped for all sets, because some set has no model there: {dropped} of {case.options.bins} bins."
    warnings = (told,) if dropped else ()
    return Figure(
        key=f"distributions_by_{case.slug}",
        title=f"Distributions of errors, normalised by {case.title}",
        sentence=f"Every bin of {case.title} from {amount(low)} to {amount(high)} counts alike; {used:,} of "
        f"{total:,} models lie in the {case.options.bins - dropped} bins used.",
        spec=charts.distributions(
            [{"name": name, "error": e, "share": share} for name, e, share in rows],
            title=f"error given {case.title}",
        ),
        columns=(SET, Column("error", "Error", "number", 5), Column("share", "Weight at or below", "percent")),
        rows=tuple(rows),
        n=f"{used:,} models of {len(case.sets)} set{'s' if len(case.sets) != 1 else ''}",
        method=f"F(e) = sum w_i 1[e_i < e] with w = 1 / (k m_j) in bin j with m_j models (Radosavovic et al. "
        f"2019, section 4.2); k = {case.options.bins} bins of equal {'ratio' if case.options.is_log else 'width'} "
        "over the range that all sets reach, or the chosen one.",
        warnings=warnings,
    )


def _summary(case: _Case, weights: list[ComplexityWeights], threshold: float, largest: float) -> Table:
    columns = (
        Column("set", "Set"),
        Column("models", "Models that count", "integer"),
        Column("below", f"Below {threshold:.4g}", "percent"),
        Column("area", f"Area up to {largest:.4g}", "number", 4, "1 - weighted mean of min(1, error / largest)"),
    )
    rows = tuple(
        (
            one.name,
            int(own.used.sum()),
            float(edf(one.errors, [threshold], own.weights)[0]),
            edf_area(one.errors, largest, own.weights),
        )
        for one, own in zip(case.sets, weights, strict=True)
    )
    best = max(rows, key=lambda row: row[3])
    sentence = f"At equal {case.title} the largest area under its distribution has {best[0]} ({best[3]:.3f})."
    return Table(f"sets_by_{case.slug}", f"Sets at equal {case.title}", columns, rows, sentence)


def _search(case: _Case, weights: list[ComplexityWeights]) -> Figure:
    """Random search among the models as they are weighted."""
    rows: list[tuple[Cell, ...]] = []
    shown: list[charts.Row] = []
    last: dict[str, float] = {}
    budget = min(64, *(int(own.used.sum()) for own in weights))
    for one, own in zip(case.sets, weights, strict=True):
        chosen = powers_up_to(int(own.used.sum()), LARGEST_SEARCH)
        found = random_search(one.errors, own.weights, chosen)
        for size, mean, std in zip(found.sizes, found.mean, found.std, strict=True):
            rows.append((one.name, size, float(mean), float(std)))
            shown.append(banded(one.name, "size", size, float(mean), float(std)))
        last[one.name] = float(random_search(one.errors, own.weights, [budget]).mean[0])
    best = min(last, key=lambda name: last[name])
    return Figure(
        key=f"random_search_by_{case.slug}",
        title=f"What random search finds at equal {case.title}",
        sentence=f"The best of {budget} models, drawn so that every bin of {case.title} is as likely, has an "
        f"error of {last[best]:.4g} on average in {best}, the lowest.",
        spec=charts.bands(shown, x="size", titles=("models tried", "lowest error"), is_log=True),
        columns=SEARCH_COLUMNS,
        rows=tuple(rows),
        n=f"{sum(int(own.used.sum()) for own in weights):,} models of {len(case.sets)} "
        f"set{'s' if len(case.sets) != 1 else ''}",
        method="As without weights, with S_i the weight of the models not better than the i-th (Radosavovic et "
        "al. 2019, figure 10, in closed form).",
    )


def _tests(case: _Case, weights: list[ComplexityWeights]) -> dict[Pair, Distance]:
    found = {}
    for (a, one), (b, other) in combinations(enumerate(case.sets), 2):
        count = one.errors.size + other.errors.size
        permutations = max(99, min(PERMUTATIONS, MOST_WORK // count))
        found[one.name, other.name] = weighted_ks_test(
            (one.errors, other.errors),
            (weights[a], weights[b]),
            seed=case.options.seed,
            permutations=permutations,
        )
    return found


def _tests_table(case: _Case, tests: dict[Pair, Distance]) -> Table:
    corrected = holm([test.p for test in tests.values()])
    columns = (
        Column("first", "Set"),
        Column("second", "Other set"),
        Column("distance", "D", "number", 4, "The largest gap between the normalised distributions."),
        Column("at", "At error", "number", 4),
        Column("p", "p", "number", 4, "By permutations within bins of complexity."),
        Column("holm", "p (Holm)", "number", 4),
    )
    rows = tuple(
        (*pair, test.statistic, test.at, test.p, float(p))
        for (pair, test), p in zip(tests.items(), corrected, strict=True)
    )
    different = int((corrected < 0.05).sum())
    sentence = (
        f"At equal {case.title} {different} of {len(rows)} pairs differ at the level of 5 %, corrected after Holm "
        f"(permutations, seed {case.options.seed})."
    )
    return Table(f"tests_by_{case.slug}", f"Tests normalised by {case.title}", columns, rows, sentence)


def _histogram(case: _Case) -> Figure:
    edges = _edges(np.concatenate(case.complexity))
    rows: list[tuple[Cell, ...]] = []
    for one, values in zip(case.sets, case.complexity, strict=True):
        counts = np.histogram(values, edges)[0]
        for index, count in enumerate(counts):
            low, high = case.shown(edges[index]), case.shown(edges[index + 1])
            rows.append((one.name, low, high, int(count), float(count / values.size)))
    medians = ", ".join(
        f"{amount(case.shown(float(np.median(values))))} in {one.name}"
        for one, values in list(zip(case.sets, case.complexity, strict=True))[:4]
    )
    keys = ("name", "low", "high", "count", "share")
    return Figure(
        key=f"histogram_of_{case.slug}",
        title=f"How large the models are: {case.title}",
        sentence=f"The median of {case.title} is {medians}.",
        spec=charts.histogram(
            [dict(zip(keys, row, strict=True)) for row in rows],
            title=case.title,
            count="share of the models",
            is_log=case.options.is_log,
        ),
        columns=(
            SET,
            Column("low", "From", "number", 4),
            Column("high", "To", "number", 4),
            Column("count", "Models", "integer"),
            Column("share", "Share", "percent"),
        ),
        rows=tuple(rows),
        n=sizes(case.sets),
        method=f"Counts in {HISTOGRAM_BINS} bins over all sets (Radosavovic et al. 2019, figure 5).",
    )


def _edges(values: Floats) -> Floats:
    """Of bins of equal width, (b + 1,); one bin where all values are nearly the same, which numpy cannot part."""
    try:
        return np.histogram_bin_edges(values, HISTOGRAM_BINS)
    except ValueError:
        return np.array([values.min(), np.nextafter(values.max(), np.inf)])


def _scatter(case: _Case) -> Figure:
    random = np.random.default_rng(case.options.seed)
    each = MOST_POINTS // len(case.sets)
    rows: list[tuple[Cell, ...]] = []
    ranks = []
    for one, values in zip(case.sets, case.complexity, strict=True):
        size = one.errors.size
        chosen = np.sort(random.choice(size, min(size, each), replace=False))
        rows += [(one.name, case.shown(values[row]), float(one.errors[row])) for row in chosen]
        ranks.append(f"{_told_correlation(values, one.errors)} in {one.name}")
    total = sum(one.errors.size for one in case.sets)
    drawn = len(rows) < total
    return Figure(
        key=f"errors_by_{case.slug}",
        title=f"Errors by {case.title}",
        sentence=f"The rank correlation of errors with {case.title} is {', '.join(ranks[:4])}.",
        spec=charts.scatter(
            [{"name": name, "complexity": c, "error": e} for name, c, e in rows],
            x="complexity",
            titles=(case.title, "error"),
            is_log=case.options.is_log,
        ),
        columns=(SET, Column("complexity", case.title, "number", 4), Column("error", "Error", "number", 5)),
        rows=tuple(rows),
        n=f"{len(rows):,} of {total:,} models, drawn at random" if drawn else sizes(case.sets),
        seed=case.options.seed if drawn else None,
        method="One point a model; Spearman's rank correlation is of all of them.",
    )


def _told_correlation(first: Floats, second: Floats) -> str:
    if np.unique(first).size < 2 or np.unique(second).size < 2:
        return "not defined"
    return f"{float(spearmanr(first, second).statistic):.2f}"


def _buckets(case: _Case) -> Figure:
    rows: list[tuple[Cell, ...]] = []
    shown: list[charts.Row] = []
    best: dict[int, tuple[float, str]] = {}
    for one, values in zip(case.sets, case.complexity, strict=True):
        for index, found in enumerate(buckets(one.errors, values, case.options.bins, case.limits)):
            if found.count:
                low, high = case.shown(found.low), case.shown(found.high)
                rows.append((one.name, low, high, found.count, found.mean, found.std))
                middle = case.shown((found.low + found.high) / 2)
                shown.append(banded(one.name, "place", middle, found.mean, found.std))
                best[index] = min(best.get(index, (found.mean, one.name)), (found.mean, one.name))
    return Figure(
        key=f"buckets_by_{case.slug}",
        title=f"Mean error in buckets of {case.title}",
        sentence=f"The lowest mean error of a bucket has {_leaders([name for _, name in best.values()])}.",
        spec=charts.bands(shown, x="place", titles=(case.title, "error"), is_log=case.options.is_log),
        columns=(
            SET,
            Column("low", "From", "number", 4),
            Column("high", "To", "number", 4),
            Column("count", "Models", "integer"),
            Column("mean", "Mean error", "number", 5),
            Column("std", "Standard deviation", "number", 5),
        ),
        rows=tuple(rows),
        n=sizes(case.sets),
        method="Mean and two population standard deviations of the errors in buckets of complexity (Radosavovic "
        "et al. 2019, figure 15); buckets without models are left out.",
    )


def _leaders(names: list[str]) -> str:
    """Who leads in how many buckets, given the leaders of all."""
    counts = {name: names.count(name) for name in dict.fromkeys(names)}
    return ", ".join(f"{name} in {count} of {len(names)}" for name, count in counts.items())
