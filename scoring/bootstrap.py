"""Standard errors: the bootstrap of the scored rows, by weights instead of copies.

A replicate is a vector of row weights. They depend on the solution, the seed and the number of
replicates only, so every entrant of a task meets the same resamples and differences between entrants
are paired. Within class: each class keeps its size in every replicate. Where labels
overlap (multi-label), rows cannot be drawn within each label at once; there the weights are
exponential (the Bayesian bootstrap, whose weights are never zero) and are scaled per label to the
true class sizes.

Scores are sorted once for all replicates; weights come in blocks, so memory does not grow with the
number of replicates. The result measures the noise of the scored rows only, not of seeds or machines.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from scoring import metrics
from scoring.errors import UndefinedMetricError
from scoring.names import REGRESSION_METRICS
from scoring.targets import Bools, Floats, Ints, Pair, Targets

# Weights held at once: 200,000 of 8 bytes, so that a block and its temporaries stay in the cache.
BLOCK_SIZE = 200_000
# Where what is weighted is computed anew for each block, fewer and larger blocks are faster.
LARGE_BLOCK_SIZE = 2_000_000
# Rows x columns x replicates up to which AUC is recomputed exactly in each replicate; beyond it (about
# three seconds) its first-order expansion is used, which needs one pass over the rows.
EXACT_AUC_WORK = 100_000_000


@dataclass(frozen=True, slots=True)
class Resamples:
    """Row weights of all replicates, made block by block.

    Attributes:
        rows: (P,) the row that each weight belongs to: rows sorted by stratum.
        starts, sizes: (P,) where the stratum of each sorted row begins, and its size.
        count: number of replicates.
        seed: of the generator; any non-negative integer.
        overlapping: exponential weights instead of multinomial ones.
    """

    rows: Ints
    starts: Ints
    sizes: Ints
    count: int
    seed: int
    overlapping: bool = False

    @classmethod
    def of_rows(cls, sample_count: int, *, count: int, seed: int) -> "Resamples":
        """All rows form one stratum (regression)."""
        return cls.within(np.zeros(sample_count, dtype=np.intp), count=count, seed=seed)

    @classmethod
    def within(cls, strata: Ints, *, count: int, seed: int) -> "Resamples":
        """Rows are drawn with replacement inside their stratum; `strata` is (P,) numbers from 0."""
        rows = np.argsort(strata, kind="stable")
        sizes = np.bincount(strata)
        starts = np.cumsum(sizes) - sizes
        ordered = strata[rows]
        return cls(rows, starts[ordered], sizes[ordered], count, seed)

    @classmethod
    def of_targets(cls, targets: Targets, *, count: int, seed: int) -> "Resamples":
        """Within class, or with exponential weights where labels overlap."""
        if targets.column_count == 1:
            return cls.within(targets.positive[:, 0].astype(np.intp), count=count, seed=seed)
        if targets.one_hot:
            return cls.within(targets.labels, count=count, seed=seed)
        rows = np.arange(targets.sample_count)
        return cls(rows, rows, rows, count, seed, overlapping=True)

    def blocks(self, size: int = BLOCK_SIZE) -> Iterator[tuple[slice, Floats]]:
        """Yield (which replicates, their weights (b, P)); the numbers do not depend on the block size."""
        generator = np.random.default_rng(self.seed)
        samples = self.rows.size
        height = max(1, min(self.count, size // samples))
        for first in range(0, self.count, height):
            last = min(self.count, first + height)
            if self.overlapping:
                weights = generator.standard_exponential((last - first, samples), method="inv")
            else:
                weights = self._draw(generator, last - first)
            yield slice(first, last), weights

    def _draw(self, generator: np.random.Generator, height: int) -> Floats:
        """Count how often each row is drawn, with one vectorised draw for all strata."""
        samples = self.rows.size
        drawn = generator.random((height, samples))
        drawn *= self.sizes
        places = drawn.astype(np.intp)
        # A draw just under 1 can round up to the size itself in a very large stratum.
        np.minimum(places, self.sizes - 1, out=places)
        places += self.starts + samples * np.arange(height)[:, np.newaxis]
        counts = np.bincount(places.ravel(), minlength=height * samples)
        return counts.reshape(height, samples).astype(np.float64)


def replicate_values(metric: str, subject: Pair | Targets, *, count: int, seed: int) -> Floats:
    """Return (count,) normalised values of `metric`, R recomputed in each replicate.

    A regression replicate whose solution has a single value is NaN. `subject` is a Pair for R2 and
    ABS, and Targets for the others.
    """
    if metric in REGRESSION_METRICS:
        assert isinstance(subject, Pair)
        rows = Resamples.of_rows(subject.solution.shape[0], count=count, seed=seed)
        return (_r2 if metric == "R2" else _abs)(subject, rows)
    assert isinstance(subject, Targets)
    resamples = Resamples.of_targets(subject, count=count, seed=seed)
    return _CLASSIFICATION[metric](subject, resamples)


def standard_error(replicates: Floats) -> float | None:
    """Standard deviation of the defined replicates; None where fewer than two are defined."""
    defined = replicates[np.isfinite(replicates)]
    return float(np.std(defined, ddof=1)) if defined.size >= 2 else None


def _r2(pair: Pair, resamples: Resamples) -> Floats:
    kept = metrics.varying_columns(pair)
    truth = pair.solution[resamples.rows][:, kept]
    errors = np.square(truth - pair.prediction[resamples.rows][:, kept])
    truth = truth - np.mean(truth, axis=0)
    squares = np.square(truth)
    values = np.empty(resamples.count)
    samples = truth.shape[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        for block, weights in resamples.blocks():
            spread = weights @ squares - np.square(weights @ truth) / samples
            # A replicate of one single value has a spread of rounding errors only.
            spread[spread <= samples * metrics.EPSILON * squares.max(axis=0)] = np.nan
            values[block] = np.mean(1.0 - (weights @ errors) / spread, axis=1)
    return values


def _abs(pair: Pair, resamples: Resamples) -> Floats:
    kept = metrics.varying_columns(pair)
    truth = pair.solution[resamples.rows][:, kept]
    errors = np.abs(truth - pair.prediction[resamples.rows][:, kept])
    truth = truth - np.mean(truth, axis=0)
    widths = np.abs(truth).max(axis=0)
    values = np.empty(resamples.count)
    samples = truth.shape[0]
    for block, weights in resamples.blocks():
        means = weights @ truth / samples
        spread = np.empty_like(means)
        for column in range(kept.size):
            distances = np.abs(truth[:, column] - means[:, column, np.newaxis])
            spread[:, column] = np.einsum("bp,bp->b", weights, distances)
        spread[spread <= samples * metrics.EPSILON * widths] = np.nan
        values[block] = np.mean(1.0 - (weights @ errors) / spread, axis=1)
    return values


def _column_rates(
    targets: Targets, resamples: Resamples, kept: Ints
) -> Iterator[tuple[slice, int, Floats, Floats]]:
    """Yield (replicates, column, share found among positives, share found among negatives)."""
    decided = metrics.decisions(targets)[resamples.rows]
    positive = targets.positive[resamples.rows]
    for block, weights in resamples.blocks(LARGE_BLOCK_SIZE):
        for place, column in enumerate(kept):
            truth, found = positive[:, column], decided[:, column]
            kinds = np.stack([truth, truth & found, ~truth, ~truth & found], axis=1).astype(np.float64)
            sums = weights @ kinds
            with np.errstate(invalid="ignore"):
                # F1 is kept where there are no negatives: none of them is then found.
                false_share = np.where(sums[:, 2] > 0.0, sums[:, 3] / sums[:, 2], 0.0)
            yield block, place, sums[:, 1] / sums[:, 0], false_share


def _bac(targets: Targets, resamples: Resamples) -> Floats:
    kept = metrics.kept_columns(targets, "BAC")
    base = metrics.guessing_base(targets, kept)
    values = np.zeros(resamples.count)
    if targets.exclusive:
        for block, present, true_positives, _ in _class_sums(targets, resamples):
            values[block] = np.mean(true_positives[:, kept] / present[:, kept], axis=1)
    else:
        for block, _, recall, false_share in _column_rates(targets, resamples, kept):
            values[block] += 0.5 * (recall + 1.0 - false_share) / kept.size
    return (values - base) / (1.0 - base)


def _f1(targets: Targets, resamples: Resamples) -> Floats:
    kept = metrics.kept_columns(targets, "F1")
    base = metrics.guessing_base(targets, kept)
    values = np.zeros(resamples.count)
    if targets.exclusive:
        for block, present, true_positives, found in _class_sums(targets, resamples):
            values[block] = np.mean(2.0 * true_positives[:, kept] / (present + found)[:, kept], axis=1)
    else:
        positives = metrics.column_counts(targets)[kept]
        negatives = targets.sample_count - positives
        for block, place, recall, false_share in _column_rates(targets, resamples, kept):
            true_positives = recall * positives[place]
            found = true_positives + false_share * negatives[place]
            values[block] += 2.0 * true_positives / (positives[place] + found) / kept.size
    return (values - base) / (1.0 - base)


def _class_sums(targets: Targets, resamples: Resamples) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    """Yield (replicates, present, true positive, found) weights of each class, each (b, C)."""
    decided = metrics.decided_class(targets)[resamples.rows]
    positive = targets.positive[resamples.rows]
    right = np.flatnonzero(positive[np.arange(decided.size), decided])
    sizes = metrics.column_counts(targets).astype(np.float64)
    for block, weights in resamples.blocks():
        hits = _sums_by_class(decided[right], weights[:, right], targets.column_count)
        found = _sums_by_class(decided, weights, targets.column_count)
        present = np.broadcast_to(sizes, hits.shape) if targets.one_hot else weights @ positive.astype(np.float64)
        yield block, present, hits, found


def _sums_by_class(classes: Ints, weights: Floats, class_count: int) -> Floats:
    """(b, C) sum of each replicate's weights over the rows of each class."""
    sums = [np.bincount(classes, weights=row, minlength=class_count) for row in weights]
    return np.array(sums, dtype=np.float64)


def _auc(targets: Targets, resamples: Resamples) -> Floats:
    kept = metrics.kept_columns(targets, "AUC")
    if targets.sample_count * kept.size * resamples.count > EXACT_AUC_WORK:
        return _auc_first_order(targets, resamples, kept)
    rankings = [_Ranking.of(targets.positive[:, k], targets.scores[:, k], resamples.rows) for k in kept]
    areas = np.zeros(resamples.count)
    for block, weights in resamples.blocks():
        for ranking in rankings:
            areas[block] += ranking.areas(weights) / kept.size
    return 2.0 * areas - 1.0


@dataclass(frozen=True, slots=True)
class _Ranking:
    """One column, sorted once: where each sorted row finds its weight, its kind, and where ties begin."""

    places: Ints
    positive: Floats
    tie_starts: Ints | None

    @classmethod
    def of(cls, positive: Bools, scores: Floats, rows: Ints) -> "_Ranking":
        ordered = scores[rows]
        order = np.argsort(ordered, kind="stable")
        ordered = ordered[order]
        new = np.concatenate(([True], ordered[1:] != ordered[:-1]))
        starts = None if new.all() else np.flatnonzero(new)
        return cls(order, positive[rows[order]].astype(np.float64), starts)

    def areas(self, weights: Floats) -> Floats:
        """(b,) weighted areas: weight of negatives below each positive, ties counting one half."""
        high = weights[:, self.places]
        low = high * (1.0 - self.positive)
        high *= self.positive
        if self.tie_starts is not None:
            low = np.add.reduceat(low, self.tie_starts, axis=1)
            high = np.add.reduceat(high, self.tie_starts, axis=1)
        below = np.cumsum(low, axis=1)
        total = below[:, -1].copy()
        low *= 0.5
        below -= low
        area = np.einsum("bp,bp->b", high, below)
        return np.asarray(area / (total * high.sum(axis=1)))


def _auc_first_order(targets: Targets, resamples: Resamples, kept: Ints) -> Floats:
    """Replicates of the mean AUC by its first-order expansion in the weights (DeLong's placements)."""
    samples = targets.sample_count
    influence = np.zeros(samples)
    total = 0.0
    for column in kept:
        positive = targets.positive[:, column]
        scores = targets.scores[:, column]
        high, low = np.sort(scores[positive]), np.sort(scores[~positive])
        above = _placements(low, scores[positive])
        beaten = 1.0 - _placements(high, scores[~positive])
        area = float(np.mean(above))
        total += area / kept.size
        influence[positive] += (above - area) / (high.size * kept.size)
        influence[~positive] += (beaten - area) / (low.size * kept.size)
    areas = np.empty(resamples.count)
    ordered = influence[resamples.rows]
    for block, weights in resamples.blocks():
        areas[block] = total + weights @ ordered
    return 2.0 * areas - 1.0


def _placements(others: Floats, scores: Floats) -> Floats:
    """Share of sorted `others` below each score, ties counting one half."""
    below = np.searchsorted(others, scores, side="left") + np.searchsorted(others, scores, side="right")
    return below / (2.0 * others.size)


def _pac(targets: Targets, resamples: Resamples) -> Floats:
    return (_class_pac if targets.exclusive else _label_pac)(targets, resamples)


def _class_pac(targets: Targets, resamples: Resamples) -> Floats:
    losses = metrics.class_losses(targets)[0][resamples.rows]
    samples: Floats = np.array(targets.sample_count, dtype=np.float64)
    base: Floats = np.exp(-metrics.class_entropy(metrics.column_counts(targets) / samples))
    positive = None if targets.one_hot else targets.positive[resamples.rows].astype(np.float64)
    values = np.empty(resamples.count)
    for block, weights in resamples.blocks():
        if positive is not None:
            samples = weights.sum(axis=1)
            base = np.exp(-metrics.class_entropy(weights @ positive / samples[:, np.newaxis]))
        raw = np.exp(-(weights @ losses) / samples)
        values[block] = (raw - base) / np.maximum(metrics.EPSILON, 1.0 - base)
    return values


def _label_pac(targets: Targets, resamples: Resamples) -> Floats:
    """Losses of positives and of negatives are averaged apart, then joined in the true proportions."""
    frequencies = metrics.column_counts(targets) / targets.sample_count
    base = float(np.mean(np.exp(-metrics.label_entropies(frequencies))))
    if 1.0 - base < metrics.SMALLEST_ROOM:
        raise UndefinedMetricError("The solution holds one class only, so PAC is undefined.")
    values = np.zeros(resamples.count)
    for block, weights in resamples.blocks(LARGE_BLOCK_SIZE):
        for column in range(targets.column_count):
            losses = metrics.label_losses(targets, column)[resamples.rows]
            truth = targets.positive[resamples.rows, column]
            kinds = np.stack([truth, truth * losses, ~truth, ~truth * losses], axis=1)
            sums = weights @ kinds
            with np.errstate(invalid="ignore"):
                of_positives = np.where(sums[:, 0] > 0.0, sums[:, 1] / sums[:, 0], 0.0)
                of_negatives = np.where(sums[:, 2] > 0.0, sums[:, 3] / sums[:, 2], 0.0)
            share = frequencies[column]
            values[block] += np.exp(-(share * of_positives + (1.0 - share) * of_negatives))
    return (values / targets.column_count - base) / (1.0 - base)


_CLASSIFICATION: dict[str, Callable[[Targets, Resamples], Floats]] = {
    "BAC": _bac,
    "AUC": _auc,
    "F1": _f1,
    "PAC": _pac,
}
