"""Standard errors: the bootstrap of the scored rows, by weights instead of copies.

A replicate is a vector of row weights (`scoring.resamples`). Scores are sorted once for all
replicates; weights come in blocks, so memory does not grow with the number of replicates. Where
weights are exponential, the metrics scale them per label to the true class sizes. The result measures
the noise of the scored rows only, not of seeds or machines.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from scoring.counts import column_counts, decisions, guessing_base, kept_columns
from scoring.entropy import class_entropy, class_losses, label_entropies, label_losses
from scoring.errors import UndefinedMetricError
from scoring.measured import EPSILON, SMALLEST_ROOM
from scoring.metrics import SIDES
from scoring.regression import varying_columns
from scoring.resamples import Resamples
from scoring.targets import Bools, Floats, Ints, Pair, Targets

# Where what is weighted is computed anew for each block, fewer and larger blocks are faster.
LARGE_BLOCK_SIZE = 2_000_000
# Rows x columns x replicates up to which AUC is recomputed exactly in each replicate; beyond it (about
# three seconds) its first-order expansion is used, which needs one pass over the rows.
EXACT_AUC_WORK = 100_000_000


def replicate_values(
    metric: str, subject: Pair | Targets, *, count: int, seed: int, units: Ints | None = None
) -> Floats:
    """Return the normalised values of `metric` in each replicate, R recomputed each time.

    Parameters
    ----------
    metric : str
        Canonical name.
    subject : Pair or Targets
        A Pair for R2 and ABS, Targets for the others.
    count : int
        Number of replicates.
    seed : int
        Of the resamples.
    units : ndarray of int, shape (P,), optional
        As `units_of` returns; a single unit leaves every replicate NaN.

    Returns
    -------
    ndarray of float64, shape (count,)
        NaN for a regression replicate whose solution has a single value.

    Examples
    --------
    >>> from scoring.targets import check_pair
    >>> pair = check_pair([1, 2, 3, 4], [1, 2, 3, 4], task="regression")
    >>> replicate_values("ABS", pair, count=3, seed=0).tolist()
    [1.0, 1.0, 1.0]
    """
    resamples = Resamples.of_subject(subject, count=count, seed=seed, units=units)
    if resamples.units is not None and resamples.units.max() == 0:
        return np.full(count, np.nan)
    if isinstance(subject, Pair):
        return (_r2 if metric == "R2" else _abs)(subject, resamples)
    return _CLASSIFICATION[metric](subject, resamples)


def standard_error(replicates: Floats) -> float | None:
    """Standard deviation of the defined replicates; None where fewer than two are defined.

    Parameters
    ----------
    replicates : ndarray of float64, shape (R,)
        NaN where a replicate is not defined.

    Examples
    --------
    >>> standard_error(np.array([0.1, 0.3, np.nan]))
    0.1414213562373095
    """
    defined = replicates[np.isfinite(replicates)]
    return float(np.std(defined, ddof=1)) if defined.size >= 2 else None


def _errors_and_deviations(pair: Pair, resamples: Resamples) -> tuple[Floats, Floats]:
    """Errors and deviations from the mean of the columns that vary, (P, C) each, in units near their spread.

    The units are powers of two, so that squares stay inside the range of a double and no digit changes.
    """
    kept = varying_columns(pair)
    truth = pair.solution[resamples.rows][:, kept]
    errors = truth - pair.prediction[resamples.rows][:, kept]
    deviations = truth - truth[0]
    exponents = np.frexp(np.abs(deviations).max(axis=0))[1]
    deviations = np.ldexp(deviations, -exponents)
    return np.ldexp(errors, -exponents), deviations - np.mean(deviations, axis=0)


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def _r2(pair: Pair, resamples: Resamples) -> Floats:
    errors, truth = _errors_and_deviations(pair, resamples)
    errors, squares = np.square(errors), np.square(truth)
    values = np.empty(resamples.count)
    samples = truth.shape[0]
    for block, weights in resamples.blocks():
        spread = weights @ squares - np.square(weights @ truth) / samples
        # A replicate of one single value has a spread of rounding errors only.
        spread[spread <= samples * EPSILON * squares.max(axis=0)] = np.nan
        values[block] = np.mean(1.0 - (weights @ errors) / spread, axis=1)
    return values


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def _abs(pair: Pair, resamples: Resamples) -> Floats:
    errors, truth = _errors_and_deviations(pair, resamples)
    errors = np.abs(errors)
    widths = np.abs(truth).max(axis=0)
    values = np.empty(resamples.count)
    samples, columns = truth.shape
    for block, weights in resamples.blocks():
        means = weights @ truth / samples
        spread = np.empty_like(means)
        for column in range(columns):
            distances = np.abs(truth[:, column] - means[:, column, np.newaxis])
            spread[:, column] = np.einsum("bp,bp->b", weights, distances)
        spread[spread <= samples * EPSILON * widths] = np.nan
        values[block] = np.mean(1.0 - (weights @ errors) / spread, axis=1)
    return values


def _column_rates(
    targets: Targets, resamples: Resamples, kept: Ints
) -> Iterator[tuple[slice, int, Floats, Floats]]:
    """Yield (replicates, column, share found among positives, share found among negatives)."""
    decided = decisions(targets)[resamples.rows]
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
    kept = kept_columns(targets, "BAC")
    base = guessing_base(targets, kept)
    values = np.zeros(resamples.count)
    if targets.exclusive:
        for block, present, true_positives, _ in _class_sums(targets, resamples):
            values[block] = np.mean(true_positives[:, kept] / present[:, kept], axis=1)
    else:
        for block, _, recall, false_share in _column_rates(targets, resamples, kept):
            values[block] += 0.5 * (recall + 1.0 - false_share) / kept.size
    return (values - base) / (1.0 - base)


def _f1(targets: Targets, resamples: Resamples) -> Floats:
    kept = kept_columns(targets, "F1")
    base = guessing_base(targets, kept)
    values = np.zeros(resamples.count)
    if targets.exclusive:
        for block, present, true_positives, found in _class_sums(targets, resamples):
            values[block] = np.mean(2.0 * true_positives[:, kept] / (present + found)[:, kept], axis=1)
    else:
        positives = column_counts(targets)[kept]
        negatives = targets.sample_count - positives
        for block, place, recall, false_share in _column_rates(targets, resamples, kept):
            true_positives = recall * positives[place]
            found = true_positives + false_share * negatives[place]
            values[block] += 2.0 * true_positives / (positives[place] + found) / kept.size
    return (values - base) / (1.0 - base)


def _class_sums(targets: Targets, resamples: Resamples) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    """Yield (replicates, present, true positive, found) weights of each class, each (b, C)."""
    decided = targets.decided[resamples.rows]
    # Within class each class keeps its size; units bring their classes with them.
    fixed = targets.one_hot_labels is not None and resamples.units is None
    hit = (
        targets.decided == targets.labels if fixed else targets.positive[np.arange(decided.size), targets.decided]
    )
    right = np.flatnonzero(hit[resamples.rows])
    positive = None if fixed else targets.positive[resamples.rows].astype(np.float64)
    sizes = column_counts(targets).astype(np.float64)
    for block, weights in resamples.blocks():
        hits = _sums_by_class(decided[right], weights[:, right], targets.column_count)
        found = _sums_by_class(decided, weights, targets.column_count)
        present = np.broadcast_to(sizes, hits.shape) if positive is None else weights @ positive
        yield block, present, hits, found


def _sums_by_class(classes: Ints, weights: Floats, class_count: int) -> Floats:
    """(b, C) sum of each replicate's weights over the rows of each class."""
    sums = [np.bincount(classes, weights=row, minlength=class_count) for row in weights]
    return np.array(sums, dtype=np.float64)


def _auc(targets: Targets, resamples: Resamples) -> Floats:
    kept = kept_columns(targets, "AUC")
    if targets.sample_count * kept.size * resamples.count > EXACT_AUC_WORK:
        return _auc_first_order(targets, resamples, kept)
    rankings = [_Ranking.of(targets.positives_of(k), targets.scores[:, k], resamples.rows) for k in kept]
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
    influence = np.zeros(targets.sample_count)
    total = 0.0
    for column in kept:
        positive = np.flatnonzero(targets.positives_of(column))
        total += _add_influence(targets.scores[:, column], positive, influence, kept.size) / kept.size
    areas = np.empty(resamples.count)
    ordered = influence[resamples.rows]
    for block, weights in resamples.blocks():
        areas[block] = total + weights @ ordered
    return 2.0 * areas - 1.0


def _add_influence(scores: Floats, positive: Ints, influence: Floats, column_count: int) -> float:
    """Add what each row's weight moves the mean over columns by; return the column's AUC.

    A row's placement is the share of the other kind below it, ties counting one half.
    """
    scores = np.ascontiguousarray(scores)  # what is gathered below lies close together then
    order = np.argsort(scores)
    ordered = scores[order]
    positive = positive[np.argsort(scores[positive])]
    high = scores[positive]
    size, others = positive.size, scores.size - positive.size
    left, right = (np.searchsorted(ordered, high, side=side) for side in SIDES)
    # The row in place i has passed the positives that begin, and those that end, at or before i.
    steps = np.bincount(np.concatenate([left, right]), minlength=scores.size + 1)
    beaten_by = np.empty(scores.size)
    beaten_by[order] = 1.0 - np.cumsum(steps)[:-1] / (2.0 * size)
    among_themselves = sum(np.searchsorted(high, high, side=side) for side in SIDES)
    above = (left + right - among_themselves) / (2.0 * others)
    area = float(np.mean(above))
    beaten_by -= area
    beaten_by /= others * column_count
    beaten_by[positive] = (above - area) / (size * column_count)
    influence += beaten_by
    return area


def _pac(targets: Targets, resamples: Resamples) -> Floats:
    return (_class_pac if targets.exclusive else _label_pac)(targets, resamples)


def _class_pac(targets: Targets, resamples: Resamples) -> Floats:
    losses = class_losses(targets)[0][resamples.rows]
    samples: Floats = np.array(targets.sample_count, dtype=np.float64)
    base: Floats = np.exp(-class_entropy(column_counts(targets) / samples))
    fixed = targets.one_hot and resamples.units is None
    positive = None if fixed else targets.positive[resamples.rows].astype(np.float64)
    values = np.empty(resamples.count)
    for block, weights in resamples.blocks():
        if positive is not None:
            samples = weights.sum(axis=1)
            base = np.exp(-class_entropy(weights @ positive / samples[:, np.newaxis]))
        raw = np.exp(-(weights @ losses) / samples)
        values[block] = (raw - base) / np.maximum(EPSILON, 1.0 - base)
    return values


def _label_pac(targets: Targets, resamples: Resamples) -> Floats:
    """Losses of positives and of negatives are averaged apart, then joined in the true proportions."""
    frequencies = column_counts(targets) / targets.sample_count
    base = float(np.mean(np.exp(-label_entropies(frequencies))))
    if 1.0 - base < SMALLEST_ROOM:
        raise UndefinedMetricError("The solution holds one class only, so PAC is undefined.")
    values = np.zeros(resamples.count)
    for block, weights in resamples.blocks(LARGE_BLOCK_SIZE):
        for column in range(targets.column_count):
            losses = label_losses(targets, column)[resamples.rows]
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
