"""How sure EPP are with rounds, not matches, as what is independent: all matches of a round share its scores."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import rankdata
from scipy.stats import t as student

from analysis.measures.epp import Difference, covariance_of, difference

Floats = NDArray[np.float64]

FEWEST_ROUNDS = 5  # from which their own spread is taken as known
Z = 1.96  # of a 95 % interval with matches as units


@dataclass(frozen=True)
class ByRounds:
    """Errors with rounds, not matches, as what is independent: the wider ones, where there are enough rounds."""

    epp: Floats
    covariance: Floats
    rounds: int

    @classmethod
    def of(cls, scores: Floats, epp: Floats, ridge: float) -> "ByRounds":
        """Of players in rounds, n x R."""
        return cls(epp, covariance_by_rounds(scores, epp, ridge), scores.shape[1])

    @property
    def is_known(self) -> bool:
        """Whether there are rounds enough to estimate a spread from them."""
        return self.rounds >= FEWEST_ROUNDS

    @property
    def stderr(self) -> Floats:
        """Of every EPP, NaN where it is not known."""
        spread: Floats = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return spread if self.is_known else np.full(len(self.epp), np.nan)

    @property
    def quantile(self) -> float:
        """Of a 95 % interval: Student's t with R - 1 degrees of freedom."""
        return float(student.ppf(0.975, max(self.rounds - 1, 1)))

    def interval(self, first: int, second: int) -> tuple[float, float]:
        """Of the chance that the first beats the second."""
        gap = difference(self.epp, self.covariance, first, second)
        return interval_of(gap, self.quantile)

    def p_value(self, first: int, second: int) -> float:
        """Of the test that both are equally good; 1 where it is not known."""
        gap = difference(self.epp, self.covariance, first, second)
        if not self.is_known or not gap.stderr > 0:
            return 1.0
        return float(2 * student.sf(abs(gap.gap) / gap.stderr, self.rounds - 1))


def interval_of(gap: Difference, quantile: float) -> tuple[float, float]:
    """The 95 % interval of a chance, from that of the difference."""
    return float(expit(gap.gap - quantile * gap.stderr)), float(expit(gap.gap + quantile * gap.stderr))


def covariance_by_rounds(scores: NDArray[np.floating], epp: Floats, ridge: float) -> Floats:
    """Of centred EPPs, n x n, with rounds rather than matches as what is independent; NaN with one round.

    All matches of a round share its scores, so that with many players the inverse of the information claims far
    too much. This is the sandwich of Liang and Zeger (Biometrika 73, 1986): the inverse of the information around
    the spread of the rounds' own gradients, with the factor R / (R - 1). `scores` is n x R, as for
    `wins_in_rounds`.
    """
    players, rounds = scores.shape
    if rounds < 2:
        return np.full((players, players), np.nan)
    filled = np.where(np.isnan(scores), -np.inf, scores)
    won = rankdata(filled, axis=0, method="average") - 1  # in each round, ties as halves
    chance = expit(epp[:, None] - epp[None, :])
    gradients = won - (chance.sum(axis=1) - np.diag(chance))[:, None]
    matches = rounds * (1.0 - np.eye(players))
    bread = covariance_of(epp, matches, ridge)
    half = bread @ gradients
    found: Floats = half @ half.T * rounds / (rounds - 1)
    return found
