"""Learning curves: the area under them, the score at a fixed time, and what came after the time was over.

A curve is the score of the predictions that a run had complete, over the seconds since its clock started. Between
two predictions the score of the earlier one stands; before the first it is 0.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
T0 = 60.0  # seconds; AutoDL's
STEP, TRAPEZOID = "step", "trapezoid"


@dataclass(frozen=True)
class Variant:
    """A way to compute the area under a learning curve. `t0` is in seconds; None takes the time budget itself;
    infinity makes time linear.
    """

    key: str
    label: str
    t0: float | None
    rule: str = STEP


VARIANTS = (
    Variant("log_t0_60_step", "log time, t0 = 60 s", T0),
    Variant("log_t0_T_step", "log time, t0 = T", None),
    Variant("linear_step", "linear time", float("inf")),
    Variant("log_t0_60_trapezoid", "log time, t0 = 60 s, trapezoids", T0, TRAPEZOID),
)


def scaled_time(seconds: ArrayLike, budget: float, t0: float | None = T0) -> Floats:
    """Return times on the scale of the area, from 0 at the start to 1 at the end of the budget.

    Parameters
    ----------
    seconds : (m,), since the clock started; what lies beyond the budget is above 1
    budget : T in seconds
    t0 : seconds that weigh as much as all that come before; None for T, infinity for linear time

    Notes
    -----
    t~ = log(1 + t / t0) / log(1 + T / t0): Liu et al. 2021, "Winning solutions and post-challenge analyses of the
    ChaLearn AutoDL challenge 2019", equation 2; linear is its limit for t0 to infinity.
    """
    times = np.asarray(seconds, dtype=np.float64)
    scale = budget if t0 is None else t0
    if np.isinf(scale):
        return times / budget
    return np.asarray(np.log1p(times / scale) / np.log1p(budget / scale), dtype=np.float64)


def ordered(seconds: ArrayLike, scores: ArrayLike) -> tuple[Floats, Floats]:
    """Return the points of a curve by time, each (m,); those without a score are left out."""
    times, values = np.asarray(seconds, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    known = np.isfinite(times) & np.isfinite(values)
    if not known.all():
        times, values = times[known], values[known]
    if len(times) > 1 and (np.diff(times) < 0).any():
        order = np.argsort(times, kind="stable")
        times, values = times[order], values[order]
    return times, values


def area(
    seconds: ArrayLike, scores: ArrayLike, budget: float, *, t0: float | None = T0, rule: str = STEP
) -> float:
    """Return the area under a learning curve up to the end of the budget (ALC).

    Parameters
    ----------
    seconds, scores : (m,), in any order; predictions beyond the budget are ignored, as are those without a score
    budget : T in seconds
    t0 : as in `scaled_time`
    rule : `step` keeps each score until the next one, `trapezoid` joins the points

    Returns
    -------
    Score times share of the time: s where the score is s from the very start, 0 without any prediction. Where
    scores are negative it is, too.

    Notes
    -----
    As AutoDL's starting kit has it (LearningCurve.get_alc): the curve begins in (0, 0), and the last score holds
    to the end.
    """
    return _area(*_within(seconds, scores, budget), budget, t0, rule)


def _within(seconds: ArrayLike, scores: ArrayLike, budget: float) -> tuple[Floats, Floats]:
    """The points of a curve by the end of the budget, by time."""
    times, values = ordered(seconds, scores)
    count = int(np.searchsorted(times, budget, side="right"))
    return times[:count], values[:count]


def _area(times: Floats, values: Floats, budget: float, t0: float | None, rule: str) -> float:
    if not len(times):
        return 0.0
    points = np.concatenate(([0.0], scaled_time(np.maximum(times, 0.0), budget, t0), [1.0]))
    if rule == TRAPEZOID:
        return float(np.trapezoid(np.concatenate(([0.0], values, values[-1:])), points))
    return float(np.dot(values, np.diff(points)[1:]))


def areas(seconds: ArrayLike, scores: ArrayLike, budget: float) -> dict[str, float]:
    """Return the area in every variant, by its key."""
    times, values = _within(seconds, scores, budget)
    return {one.key: _area(times, values, budget, one.t0, one.rule) for one in VARIANTS}


def score_at(seconds: ArrayLike, scores: ArrayLike, moment: float) -> float:
    """Return the score of the last prediction complete by a moment; NaN before the first."""
    times, values = ordered(seconds, scores)
    early = values[times <= moment]
    return float(early[-1]) if len(early) else float("nan")


@dataclass(frozen=True)
class Beyond:
    """What a curve did after the budget was over. Scores; `gain` is relative, NaN where the score was not above 0.

    `doubled_at` is the time in budgets at which the score was twice that at the end of the budget, NaN if never.
    """

    at_budget: float
    at_end: float
    end_seconds: float
    gain: float
    doubled_at: float


def beyond(seconds: ArrayLike, scores: ArrayLike, budget: float) -> Beyond | None:
    """Return what came after the budget; None where no prediction did.

    A curve without any score by the end of the budget had 0 there.
    """
    times, values = ordered(seconds, scores)
    late = times > budget
    if not late.any():
        return None
    at_budget = float(values[~late][-1]) if (~late).any() else 0.0
    at_end = float(values[-1])
    if at_budget <= 0:
        return Beyond(at_budget, at_end, float(times[-1]), float("nan"), float("nan"))
    twice = times[late & (values >= 2 * at_budget)]
    doubled = float(twice[0]) / budget if len(twice) else float("nan")
    return Beyond(at_budget, at_end, float(times[-1]), at_end / at_budget - 1, doubled)
