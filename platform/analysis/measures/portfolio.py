"""Portfolios: few configurations of which one is good on every dataset, found greedily on other datasets.

Two rules. CANE (the class-average normalised error) adds the configuration after which the mean over datasets of
the lowest normalised error is lowest, the error of a configuration on a dataset being (best - score) / (best -
worst). A-SMFO (average sequential model-free optimisation) adds the configuration after which the summed minimum
rank is lowest. Sources: Wistuba, Schilling, Schmidt-Thieme, "Sequential model-free hyperparameter tuning" (ICDM
2015); Woźnica, Grzyb, Trafas, Biecek, "Consolidated learning: a domain-specific model-free optimization strategy
with validation on metaMIMIC benchmarks" (Machine Learning 2023).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from analysis.measures.tunability import with_worst

Floats = NDArray[np.float64]

CANE, A_SMFO = "cane", "a-smfo"


@dataclass(frozen=True)
class Portfolio:
    """The chosen configurations in their order, (K,), and how good the first k of them are together.

    `loss` (K,) is what the rule makes small; `regret` (K,) the mean over datasets of the best score less the best
    of the portfolio; `left_out` (K,) the same on a dataset on which the portfolio was not chosen, averaged over
    leaving out each in turn (NaN with fewer than three datasets).
    """

    chosen: NDArray[np.int64]
    loss: Floats
    regret: Floats
    left_out: Floats


def portfolio(scores: Floats, size: int, *, rule: str = CANE) -> Portfolio:
    """The greedy portfolio of at most `size` configurations by their scores, D x P, higher is better.

    Missing scores count as the worst of their dataset; datasets without any score are left out. Ties go to the
    earlier configuration.
    """
    filled = with_worst(scores)
    filled = filled[np.isfinite(filled).all(axis=1)]
    if not filled.size:
        nothing = np.empty(0)
        return Portfolio(np.empty(0, dtype=np.int64), nothing, nothing, nothing)
    losses = _losses(filled, rule)
    chosen, loss = greedy(losses, size)
    regrets = filled.max(axis=1, keepdims=True) - filled
    regret = np.minimum.accumulate(regrets[:, chosen], axis=1).mean(axis=0)
    return Portfolio(chosen, loss, regret, _left_out(losses, regrets, len(chosen)))


def greedy(losses: Floats, size: int) -> tuple[NDArray[np.int64], Floats]:
    """Columns that make the mean over rows of the lowest loss small, one by one, and that mean after each.

    It ends where no column lowers it any more.
    """
    lowest = np.full(len(losses), np.inf)
    chosen: list[int] = []
    after: list[float] = []
    for _ in range(min(size, losses.shape[1])):
        means = np.minimum(losses, lowest[:, None]).mean(axis=0)
        best = int(means.argmin())
        if after and means[best] >= after[-1] - 1e-12:
            break
        chosen.append(best)
        after.append(float(means[best]))
        lowest = np.minimum(lowest, losses[:, best])
    return np.array(chosen, dtype=np.int64), np.array(after)


def _losses(filled: Floats, rule: str) -> Floats:
    """What the rule averages, D x P."""
    if rule == A_SMFO:
        ranks: Floats = rankdata(-filled, axis=1, method="average")
        return ranks
    best, worst = filled.max(axis=1, keepdims=True), filled.min(axis=1, keepdims=True)
    spread = best - worst
    normalised: Floats = (best - filled) / np.where(spread > 0, spread, 1.0)
    return normalised


def _left_out(losses: Floats, regrets: Floats, size: int) -> Floats:
    """Mean regret of the first k on a dataset that was not there when they were chosen, (size,)."""
    if len(losses) < 3:
        return np.full(size, np.nan)
    found = np.empty((len(losses), size))
    for row in range(len(losses)):
        others = np.delete(losses, row, axis=0)
        chosen, _ = greedy(others, size)
        best = np.minimum.accumulate(regrets[row, chosen])
        found[row] = np.append(best, np.full(size - len(best), best[-1]))
    means: Floats = found.mean(axis=0)
    return means
