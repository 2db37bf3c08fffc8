"""How difficult a dataset is in itself, and how much the choice of a method matters on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FOUR_BASIC = ("knn", "nb", "rf", "sgd")  # the methods by which modelling difficulty is defined
TOO_EASY = 0.02
UNSOLVED = 0.02  # of the best score: about what guessing reaches


class Flag(Enum):
    """What an organizer should look at. The value is its word on the page."""

    EASY = "too easy"
    UNSOLVED = "unsolved"
    BASIC_WINS = "a basic method is best"


@dataclass(frozen=True)
class Difficulty:
    """The difficulty of one dataset; scores are normalised, 0 for guessing and 1 for a perfect answer.

    Values are NaN where nothing is known: without participants all but the basic ones, without basic methods
    those that compare with them.

    Attributes
    ----------
    best, median, lower, upper : float
        Best score of the participants, their median and quartiles (numpy's linear percentiles).
    intrinsic : float
        1 - `best`.
    basic : float
        Best of the four untuned basic methods, each clipped at 0.
    basic_method : str
        Which of them; empty without any.
    modelling : float
        `best` - `basic`; negative where a basic method beats every participant.
    modelling_snb : float
        `best` - the selective naive Bayes, clipped at 0.
    participants : int
        How many have a score.
    """

    best: float
    median: float
    lower: float
    upper: float
    intrinsic: float
    basic: float
    basic_method: str
    modelling: float
    modelling_snb: float
    participants: int

    @property
    def iqr(self) -> float:
        """How far the middle half of the participants spreads."""
        return self.upper - self.lower

    @property
    def flags(self) -> tuple[Flag, ...]:
        """What is remarkable: too easy (both difficulties under .02), unsolved (nobody beats guessing)."""
        found = []
        if self.intrinsic < TOO_EASY and self.modelling < TOO_EASY:
            found.append(Flag.EASY)
        if self.best < UNSOLVED:
            found.append(Flag.UNSOLVED)
        if self.modelling < 0:
            found.append(Flag.BASIC_WINS)
        return tuple(found)


def difficulty(participants: Floats, basic: Mapping[str, float]) -> Difficulty:
    """Return the difficulty of one dataset.

    Parameters
    ----------
    participants : (n,) array
        Normalised scores, NaN where one is missing.
    basic : mapping
        Scores of the untuned basic methods by their key (`knn`, `nb`, `rf`, `sgd`, and `snb`); NaN is missing.

    Source
    ------
    The chapter "Analysis of the AutoML Challenge Series 2015-2018", section 10.5.3: intrinsic difficulty is one
    minus the score of the best participant; modelling difficulty is the difference between the best participant
    and the best of four untuned basic methods, or of the selective naive Bayes.
    """
    known = participants[np.isfinite(participants)]
    lower, median, upper = np.percentile(known, [25, 50, 75]) if known.size else (np.nan,) * 3
    best = float(known.max()) if known.size else np.nan
    clipped = {method: max(score, 0.0) for method, score in basic.items() if np.isfinite(score)}
    four = {method: clipped[method] for method in FOUR_BASIC if method in clipped}
    winner = max(four, key=lambda method: four[method]) if four else ""
    level = four.get(winner, np.nan)
    return Difficulty(
        best=best,
        median=float(median),
        lower=float(lower),
        upper=float(upper),
        intrinsic=1.0 - best,
        basic=level,
        basic_method=winner,
        modelling=best - level,
        modelling_snb=best - clipped.get("snb", np.nan),
        participants=known.size,
    )


def halfway(values: Floats) -> float:
    """The median of those that are known, by which a plot is cut in quadrants; NaN without any."""
    known = values[np.isfinite(values)]
    return float(np.median(known)) if known.size else np.nan
