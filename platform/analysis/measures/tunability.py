"""How much tuning gains over a package's defaults, and over the best single configuration of all.

Source: Probst, Boulesteix, Bischl, "Tunability: importance of hyperparameters of machine learning algorithms",
Journal of Machine Learning Research 20 (2019), section 3: the tunability of an algorithm on a dataset is the risk
of the defaults less the lowest risk of all configurations; the optimal defaults are those of the lowest mean risk.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tunability:
    """Of one algorithm on D datasets; P configurations. NaN where a dataset has no score at all.

    `best` (D,) is the highest score of a dataset, `best_at` (D,) its configuration (-1 without one). `default`
    (D,) is NaN where the defaults were not run. `single` is the configuration of the lowest mean regret,
    `regret[single]`; -1 where there is none. `spread` (D,) is the interquartile range of the scores. `missing`
    counts the scores that were not there and stand as the worst of their dataset.
    """

    best: Floats
    best_at: NDArray[np.int64]
    default: Floats
    single: int
    single_scores: Floats
    regret: Floats
    spread: Floats
    missing: int

    @property
    def gain(self) -> Floats:
        """Of tuning over the defaults, (D,)."""
        found: Floats = self.best - self.default
        return found

    @property
    def gain_over_single(self) -> Floats:
        """Of tuning on each dataset over the best single configuration, (D,)."""
        found: Floats = self.best - self.single_scores
        return found


def tunability(scores: Floats, default: int | None = None) -> Tunability:
    """Of an algorithm by its scores, D x P, higher is better; `default` is the place of the package's defaults.

    A missing score counts as the worst of its dataset; datasets without any score count in no mean.
    """
    sets, configurations = scores.shape
    nothing = np.full(sets, np.nan)
    has = np.isfinite(scores).any(axis=1) if configurations else np.zeros(sets, dtype=bool)
    if not has.any():
        return Tunability(
            nothing, np.full(sets, -1), nothing, -1, nothing, np.full(configurations, np.nan), nothing, 0
        )
    filled = with_worst(scores)
    best, best_at, spread = nothing.copy(), np.full(sets, -1), nothing.copy()
    best[has] = filled[has].max(axis=1)
    best_at[has] = filled[has].argmax(axis=1)
    low, high = np.nanpercentile(scores[has], [25, 75], axis=1)
    spread[has] = high - low
    regret = (best[has, None] - filled[has]).mean(axis=0)
    single = int(regret.argmin())
    missing = int((~np.isfinite(scores[has])).sum())
    defaults = nothing if default is None else scores[:, default].astype(float)
    return Tunability(best, best_at, defaults, single, filled[:, single], regret, spread, missing)


def with_worst(scores: Floats) -> Floats:
    """The scores with missing ones as the worst of their dataset (row); rows without any stay NaN."""
    finite = np.isfinite(scores)
    worst = np.where(finite, scores, np.inf).min(axis=1, initial=np.inf)
    worst[~finite.any(axis=1)] = np.nan
    return np.where(finite, scores, worst[:, None]).astype(float)


def pareto(cost: Floats, score: Floats) -> NDArray[np.bool_]:
    """Which points no other beats, (n,): none is cheaper or as cheap, and better. NaN is never among them."""
    finite = np.isfinite(cost) & np.isfinite(score)
    order = np.lexsort((-score, cost))
    order = order[finite[order]]
    found = np.zeros(len(cost), dtype=bool)
    if len(order):
        best_before = np.concatenate([[-np.inf], np.maximum.accumulate(score[order])[:-1]])
        found[order] = score[order] > best_before
    return found
