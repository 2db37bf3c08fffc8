"""The reference scorer of 2015, its quirks included, so that published results can be recomputed.

Nothing here is meant to be right; it is meant to be the same. What each quirk is: metrics.md, "Two
conventions". The scorer adapted arrays first (`sanitize_array` for R2 and ABS, `normalize_array` for
the others), then called the metric.
"""

from collections.abc import Callable

import numpy as np

from scoring.errors import BadPredictionError, BadSolutionError, ScoringError
from scoring.measured import EPSILON, Measured
from scoring.names import MULTICLASS, REGRESSION_METRICS
from scoring.oldsort import quicksort_order
from scoring.targets import Floats

# Above this ratio of offset to spread the rounding of the reference's running mean may show in the ninth
# digit of a score of a million rows; with fewer rows it shows from 1e6 on.
_OFFSET_THAT_SHOWS = 1e4


def measure(solution: Floats, prediction: Floats, *, task: str, metric: str) -> Measured:
    """Return raw and base of one metric as the reference computed them; both may be NaN or infinite.

    Parameters
    ----------
    solution, prediction : ndarray of float64, shape (P, C)
        NaN and infinity are allowed.
    task, metric : str
        Canonical names.

    Returns
    -------
    Measured

    Raises
    ------
    BadPredictionError, BadSolutionError
        Where the reference raised: an array without any value that is not infinite.

    Examples
    --------
    >>> truth, guess = np.array([[0.0], [1.0]]), np.array([[0.9], [np.nan]])
    >>> measure(truth, guess, task="binary.classification", metric="AUC").raw
    1.0
    """
    with np.errstate(all="ignore"):
        if metric in REGRESSION_METRICS:
            truth = _sanitised(solution, BadSolutionError, "solution")
            guess = _sanitised(prediction, BadPredictionError, "prediction")
            return _regression(truth, guess, np.square if metric == "R2" else np.abs)
        truth, guess = _normalised(solution, prediction)
        exclusive = task == MULTICLASS and truth.shape[1] > 1
        return _CLASSIFICATION[metric](truth, guess, exclusive)


def value_of(measured: Measured) -> float:
    """Normalise with the reference's guard against a base of one, equation 10.2.

    Parameters
    ----------
    measured : Measured

    Examples
    --------
    >>> value_of(Measured(raw=0.75, base=0.5))
    0.5
    """
    with np.errstate(all="ignore"):
        return float((measured.raw - measured.base) / np.maximum(EPSILON, 1.0 - measured.base))


def _finite_range(table: Floats, error: type[ScoringError], what: str) -> tuple[float, float]:
    """Maximum without +inf and minimum without -inf, NaN ignored; NaN where nothing but NaN is left."""
    not_highest, not_lowest = table[table != np.inf], table[table != -np.inf]
    if not_highest.size == 0 or not_lowest.size == 0:
        raise error(f"The {what} holds nothing but infinite values of one sign, which the reference refuses.")
    return float(np.fmax.reduce(not_highest)), float(np.fmin.reduce(not_lowest))


def _sanitised(table: Floats, error: type[ScoringError], what: str) -> Floats:
    """Replace infinities by the largest or smallest other value and NaN by their middle."""
    highest, lowest = _finite_range(table, error, what)
    repaired = np.where(table == np.inf, highest, np.where(table == -np.inf, lowest, table))
    return np.where(np.isnan(repaired), (highest + lowest) / 2.0, repaired)


def _normalised(solution: Floats, prediction: Floats) -> tuple[Floats, Floats]:
    """Binarise the solution and map the prediction by the solution's range; NaN stays NaN."""
    highest, lowest = _finite_range(solution, BadSolutionError, "solution")
    if highest == lowest:
        return solution, prediction
    middle = (highest + lowest) / 2.0
    truth = np.where(solution >= middle, 1.0, np.where(solution < middle, 0.0, solution))
    guess = (prediction - lowest) / (highest - lowest)
    return truth, np.where(guess > 1.0, 1.0, np.where(guess < 0.0, 0.0, guess))


def _running_mean(values: Floats) -> float:
    """Mean of a vector by the reference's m <- m*j/(j+1) + x/(j+1), value after value, rounding and all."""
    counts = np.arange(1.0, values.size + 1.0)
    kept = (np.arange(values.size) / counts).tolist()
    added = ((1.0 / counts) * values).tolist()
    mean = 0.0
    for share, part in zip(kept, added, strict=True):
        mean = share * mean + part
    return mean


def _mean(values: Floats) -> float:
    """Mean of a column; the slow running mean only where its rounding shows."""
    mean = float(values.mean())
    if abs(mean) < _OFFSET_THAT_SHOWS * float(np.abs(values - mean).max()):
        return mean
    return _running_mean(values)


def _regression(truth: Floats, guess: Floats, distance: Callable[[Floats], Floats]) -> Measured:
    error = distance(truth - guess).mean(axis=0)
    means = np.array([_mean(column) for column in truth.T])
    spread = distance(truth - means).mean(axis=0)
    return Measured(float(np.mean(1.0 - error / spread)), 0.0)


def _decided(scores: Floats, exclusive: bool) -> Floats:
    decided = np.zeros(scores.shape)
    if exclusive:
        decided[np.arange(scores.shape[0]), scores.argmax(axis=1)] = 1.0
    else:
        decided[scores >= 0.5] = 1.0
    return decided


def _counts(truth: Floats, decided: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """True negatives, false positives, true positives, false negatives of each column."""
    return (
        ((1.0 - truth) * (1.0 - decided)).sum(axis=0),
        ((1.0 - truth) * decided).sum(axis=0),
        (truth * decided).sum(axis=0),
        (truth * (1.0 - decided)).sum(axis=0),
    )


def _guessing_base(truth: Floats, exclusive: bool) -> float:
    return 1.0 / truth.shape[1] if exclusive else 0.5


def _bac(truth: Floats, guess: Floats, exclusive: bool) -> Measured:
    true_neg, false_pos, true_pos, false_neg = _counts(truth, _decided(guess, exclusive))
    true_pos = np.maximum(EPSILON, true_pos)
    rates = true_pos / np.maximum(EPSILON, true_pos + false_neg)
    if not exclusive:
        true_neg = np.maximum(EPSILON, true_neg)
        rates = 0.5 * (rates + true_neg / np.maximum(EPSILON, true_neg + false_pos))
    return Measured(float(np.mean(rates)), _guessing_base(truth, exclusive))


def _f1(truth: Floats, guess: Floats, exclusive: bool) -> Measured:
    _, false_pos, true_pos, false_neg = _counts(truth, _decided(guess, exclusive))
    present = np.maximum(EPSILON, true_pos + false_neg)
    found = np.maximum(EPSILON, true_pos + false_pos)
    true_pos = np.maximum(EPSILON, true_pos)
    recall, precision = true_pos / present, true_pos / found
    scores = recall * precision / (0.5 * np.maximum(EPSILON, recall + precision))
    return Measured(float(np.mean(scores)), _guessing_base(truth, exclusive))


def _auc(truth: Floats, guess: Floats, exclusive: bool) -> Measured:
    areas = [_column_auc(truth[:, k], guess[:, k]) for k in range(truth.shape[1])]
    return Measured(float(np.mean(areas)), 0.5)


def _column_auc(truth: Floats, guess: Floats) -> float:
    """Area by ranks: 0 without positives (integer division by zero in Python 2).

    Without negatives the ranks are divided by zero: NaN, or infinity where a constant solution kept
    NaN or infinite entries, which are of neither kind.
    """
    positive, negative = truth == 1.0, truth < 1.0
    if not positive.any():
        return 0.0
    ranks = _tied_ranks(guess)
    count = int(positive.sum())
    above = ranks[positive].sum() - count * (count + 1) // 2
    return float(above / np.float64(count * int(negative.sum())))


def _tied_ranks(values: Floats) -> Floats:
    """Average ranks from 1; NaN values rank highest and are never tied."""
    several_nan = np.count_nonzero(np.isnan(values)) > 1
    order = quicksort_order(values) if several_nan else np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.append(starts, values.size))
    ranks = np.empty(values.size)
    ranks[order] = np.repeat(starts + (lengths + 1) / 2.0, lengths)
    return ranks


def _pac(truth: Floats, guess: Floats, exclusive: bool) -> Measured:
    fractions = truth.sum(axis=0) / truth.shape[0]
    bounded = np.maximum(EPSILON, fractions)
    if exclusive:
        own = np.zeros(truth.shape)
        own[np.arange(truth.shape[0]), truth.argmax(axis=1)] = 1.0
        shares = guess / np.maximum(EPSILON, guess.sum(axis=1, keepdims=True))
        shares = np.minimum(1.0 - EPSILON, np.maximum(EPSILON, shares))
        loss = np.array([-(own * np.log(shares)).mean(axis=0).sum()])
        base_loss = np.array([-(fractions * np.log(bounded / bounded.sum())).sum()])
    else:
        scores = np.minimum(1.0 - EPSILON, np.maximum(EPSILON, guess))
        loss = -(truth * np.log(scores) + (1.0 - truth) * np.log(1.0 - scores)).mean(axis=0)
        others = 1.0 - fractions
        base_loss = -(fractions * np.log(bounded) + others * np.log(np.maximum(EPSILON, others)))
    return Measured(float(np.mean(np.exp(-loss))), float(np.mean(np.exp(-base_loss))))


_CLASSIFICATION: dict[str, Callable[[Floats, Floats, bool], Measured]] = {
    "BAC": _bac,
    "F1": _f1,
    "AUC": _auc,
    "PAC": _pac,
}
