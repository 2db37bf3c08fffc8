"""The comparison of sets of models: figures, tests and the sentence that sums them up."""

from collections.abc import Callable
from itertools import combinations

import numpy as np

from analysis.measures.spaces.comparison import Distance, holm, ks_test
from analysis.measures.spaces.edf import edf, edf_area
from analysis.measures.spaces.samples import AMPLE, ENOUGH, LEAST, expected_distance
from analysis.results import Block, Column, Heading, Note, Result, Table
from analysis.spaces import figures
from analysis.spaces.modelset import Compared, ModelSet, Options, compared, label
from analysis.spaces.normalised import Normalised, normalised_blocks

MOST_COMPARED = 12  # sets; more lines than that nobody tells apart

Tell = Callable[[float, str], None]  # how much is done, 0 to 1, and what is done now

PAPER = (
    "I. Radosavovic, J. Johnson, S. Xie, W.-Y. Lo and P. Dollár: On Network Design Spaces for Visual Recognition. "
    "ICCV 2019, arXiv 1905.13214."
)
REFERENCES = (
    PAPER,
    "J. Bergstra and Y. Bengio: Random Search for Hyper-Parameter Optimization. JMLR 13 (2012), 281-305.",
    "S. Holm: A Simple Sequentially Rejective Multiple Test Procedure. Scand. J. Statist. 6 (1979), 65-70.",
)
METHODS = (
    "Sets of models are compared by their distributions of errors (Radosavovic et al. 2019): the empirical "
    "distribution function F(e) = 1/n sum 1[e_i < e], the two-sample Kolmogorov-Smirnov test with exact p-values "
    "corrected after Holm, and the same normalised by complexity, where every bin of complexity carries the same "
    "weight and p-values come of permutations within bins. What random search would find has a closed form."
)


def compare(sets: list[ModelSet], options: Options, tell: Tell = lambda share, what: None) -> Result:
    """All that can be said of the sets: of one alone its distribution, of several their differences.

    Sets of fewer than 10 models with an error are named and left out, those of fewer than 100 marked.
    """
    found = [compared(one, options) for one in sets]
    kept = [one for one in found if one.errors.size >= LEAST]
    notes = _notes(found, kept)
    if not kept:
        return Result("There is no set of at least 10 models with an error.", tuple(notes))
    kept = kept[:MOST_COMPARED]
    threshold, largest = _errors_of_interest(kept, options)
    tell(0.1, "Distributions of errors")
    pairs = list(combinations(kept, 2))
    tests = [ks_test(first.errors, second.errors) for first, second in pairs]
    corrected = holm([test.p for test in tests])
    blocks: list[Block] = [
        *notes,
        _summary(kept, threshold, largest),
        figures.distribution_figure(kept, options, threshold),
    ]
    if pairs:
        blocks.append(_tests_table(pairs, tests, corrected))
    tell(0.3, "Distributions normalised by complexity")
    of_complexities: list[Normalised] = []
    for key in options.complexities:
        one = normalised_blocks(kept, key, options, threshold=threshold, largest=largest)
        of_complexities.append(one)
        blocks += one.blocks
    tell(0.8, "Random search and sample sizes")
    blocks.append(Heading("How much search, how many models", "What follows from the distributions of errors."))
    blocks += [figures.search_figure(kept), figures.sample_figure(kept, options.seed)]
    blocks += figures.good_range_tables(kept)
    headline = _headline(kept, pairs, tests, corrected, threshold, of_complexities)
    return Result(headline, tuple(blocks), METHODS, REFERENCES)


def _notes(found: list[Compared], kept: list[Compared]) -> list[Block]:
    notes: list[Block] = []
    if refused := [one for one in found if one not in kept]:
        names = ", ".join(f"{one.name} ({one.errors.size})" for one in refused)
        notes.append(Note(f"Not compared, because fewer than {LEAST} models have an error: {names}.", "warning"))
    if few := [one for one in kept if one.errors.size < ENOUGH]:
        names = ", ".join(f"{one.name} ({one.errors.size})" for one in few[:MOST_COMPARED])
        notes.append(
            Note(
                f"With fewer than {ENOUGH} models a distribution is only roughly known, with {AMPLE:,} about as "
                f"well as with all of them. Fewer have: {names}.",
                "warning",
            )
        )
    if len(kept) > MOST_COMPARED:
        notes.append(Note(f"Of {len(kept)} sets the first {MOST_COMPARED} are compared.", "warning"))
    return notes


def _errors_of_interest(kept: list[Compared], options: Options) -> tuple[float, float]:
    """The error for shares of models below it, and the one up to which areas are taken."""
    pooled = np.concatenate([one.errors for one in kept])
    threshold = float(np.median(pooled)) if options.threshold is None else options.threshold
    largest = float(pooled.max()) if options.largest is None else options.largest
    return threshold, largest if largest > 0 else 1.0


def _summary(kept: list[Compared], threshold: float, largest: float) -> Table:
    columns = (
        Column("set", "Set"),
        Column("models", "Models", "integer"),
        Column("failed", "Failed", "integer", title="Without an error; they are not in the distributions."),
        Column("lowest", "Lowest error", "number", 4),
        Column("median", "Median", "number", 4),
        Column("mean", "Mean", "number", 4),
        Column("below", f"Below {threshold:.4g}", "percent"),
        Column(
            "area", f"Area up to {largest:.4g}", "number", 4, "1 - mean of min(1, error / largest): more is better"
        ),
    )
    rows = tuple(
        (
            one.name,
            int(one.errors.size),
            one.failed,
            float(one.errors.min()),
            float(np.median(one.errors)),
            float(one.errors.mean()),
            float(edf(one.errors, [threshold])[0]),
            edf_area(one.errors, largest),
        )
        for one in kept
    )
    best = max(rows, key=lambda row: float(row[-1]))
    failed = sum(one.failed for one in kept)
    sentence = (
        f"The largest area under its distribution has {best[0]} ({best[-1]:.3f}); {failed} models have no error."
    )
    return Table("sets", "Sets of models", columns, rows, sentence)


def _tests_table(
    pairs: list[tuple[Compared, Compared]], tests: list[Distance], corrected: figures.Floats
) -> Table:
    columns = (
        Column("first", "Set"),
        Column("second", "Other set"),
        Column("distance", "D", "number", 4, "The largest gap between the two distributions."),
        Column("at", "At error", "number", 4),
        Column("p", "p", "number", 4, "Two-sided; exact for up to 10,000 models."),
        Column("holm", "p (Holm)", "number", 4, "Corrected for the number of comparisons."),
    )
    rows = tuple(
        (first.name, second.name, test.statistic, test.at, test.p, float(p))
        for (first, second), test, p in zip(pairs, tests, corrected, strict=True)
    )
    different = int((corrected < 0.05).sum())
    sentence = f"{different} of {len(rows)} pairs differ at the level of 5 %, corrected after Holm."
    return Table("tests", "Kolmogorov-Smirnov tests", columns, rows, sentence)


def told_p(p: float) -> str:
    """A p-value in a sentence; below what numbers can tell, as a bound."""
    return "p < 1e-16" if p < 1e-16 else f"p = {p:.2g}"


def _headline(
    kept: list[Compared],
    pairs: list[tuple[Compared, Compared]],
    tests: list[Distance],
    corrected: figures.Floats,
    threshold: float,
    of_complexities: list[Normalised],
) -> str:
    if not pairs:
        only = kept[0]
        share = float(edf(only.errors, [threshold])[0])
        size = int(only.errors.size)
        return (
            f"{100 * share:.0f} % of the {size} models of {only.name} have an error under {threshold:.4g}; a "
            f"sample of so many lies D = {expected_distance(size):.3f} away from its whole space on average."
        )
    most = max(range(len(pairs)), key=lambda index: tests[index].statistic)
    first, second = pairs[most]
    test, p = tests[most], float(corrected[most])
    shares = [100 * float(edf(one.errors, [threshold])[0]) for one in (first, second)]
    verb = (
        f"{first.name} and {second.name} differ"
        if p < 0.05
        else (f"That {first.name} and {second.name} differ is not certain")
    )
    told = (
        f"{verb}, D = {test.statistic:.3f}, {told_p(p)}; {shares[0]:.0f} % of {first.name} and {shares[1]:.0f} % "
        f"of {second.name} are under the error {threshold:.4g}"
    )
    gaps = [
        f"after normalising by {label(one.key)} the gap is {gap.statistic:.3f} ({told_p(gap.p)})"
        for one in of_complexities
        if (gap := one.tests.get((first.name, second.name))) is not None
    ]
    return "; ".join([told, *gaps]) + "."
