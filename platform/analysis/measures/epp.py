"""EPP, the Elo-based predictive power: how often one player beats another, as a difference of two numbers.

The model is Bradley and Terry's: P(i beats j) = 1 / (1 + exp(-(EPP_i - EPP_j))). A player is an entrant or a
configuration, a round a dataset, a split or a bootstrap replicate, a match two players in one round. Source:
Gosiewska, Bakała, Woźnica, Zwoliński, Biecek, "EPP: interpretable score of model predictive power"
(arXiv:1908.09213), equations 1 to 4; the model is Bradley and Terry, Biometrika 39 (1952).

Three things differ from the R package EloML, each on purpose: every match counts once (there twice, which makes
standard errors too small by the square root of 2 and doubles the deviance); a tie is half a win for both also
where it drops them; the Wald test of one difference has one degree of freedom (there two).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, log_expit, logit, xlogy
from scipy.stats import chi2

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RIDGE = 0.5  # weight of the sum of squares where there is no finite solution without it
LBFGS_STEPS = 20  # bring it near; each costs n squared
NEWTON_STEPS = 50  # end it in a few; each costs n cubed
MOST_GAP = 500.0  # between two EPPs; further apart their odds leave the range of numbers
GRADIENT = 1e-9  # relative to the number of matches, where Newton's steps end


@dataclass(frozen=True)
class Rating:
    """EPP of n players.

    `epp` (n,) is centred at its mean; `covariance` is n x n, of that; `components` (n,) numbers the strongly
    connected parts of "has beaten or tied", best first: with more than one there is no finite solution, and
    `ridge` says what was added. `deviance` counts each match once and has `freedom` degrees of freedom.
    """

    epp: Floats
    covariance: Floats
    wins: Floats  # n x n: of the row over the column, ties as halves
    deviance: float
    freedom: int
    ridge: float
    components: Ints

    @property
    def stderr(self) -> Floats:
        """Standard error of every EPP, (n,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def matches(self) -> Floats:
        """Of every pair, n x n."""
        matches: Floats = self.wins + self.wins.T
        return matches

    @property
    def is_separated(self) -> bool:
        """Whether some players always beat some others, so that without a ridge EPP would be infinite."""
        return bool(self.components.max(initial=0) > 0)

    @property
    def standardised_deviance(self) -> float:
        """(D - df) / sqrt(2 df): near 0 where the model fits, large where it does not; NaN without freedom."""
        if self.freedom < 1:
            return float("nan")
        return float((self.deviance - self.freedom) / np.sqrt(2 * self.freedom))

    def probability(self, first: int, second: int) -> float:
        """That the first beats the second in a round."""
        return float(expit(self.epp[first] - self.epp[second]))

    def difference(self, first: int, second: int) -> "Difference":
        """Between two players, tested."""
        return difference(self.epp, self.covariance, first, second)

    def stderr_against(self, reference: int) -> Floats:
        """Standard error of every player's difference to the reference, (n,)."""
        spread = np.diag(self.covariance)
        gaps = spread + spread[reference] - 2 * self.covariance[reference]
        found: Floats = np.sqrt(np.maximum(gaps, 0.0))
        return found


@dataclass(frozen=True)
class Difference:
    """A difference of two EPPs with its standard error."""

    gap: float
    stderr: float

    @property
    def probability(self) -> float:
        """That the first of the two wins a round."""
        return float(expit(self.gap))

    @property
    def odds(self) -> float:
        """How many rounds the first wins for one that it loses."""
        return float(np.exp(self.gap))

    @property
    def wald(self) -> float:
        """The test's statistic, chi-square with one degree of freedom; 0 for a player against itself."""
        return (self.gap / self.stderr) ** 2 if self.stderr > 0 else 0.0

    @property
    def p_value(self) -> float:
        """Of the test that the two are equally good."""
        return float(chi2.sf(self.wald, df=1))


def difference(epp: Floats, covariance: Floats, first: int, second: int) -> Difference:
    """Between two players."""
    block = covariance[np.ix_([first, second], [first, second])]
    variance = block[0, 0] + block[1, 1] - 2 * block[0, 1]
    return Difference(float(epp[first] - epp[second]), float(np.sqrt(max(variance, 0.0))))


def wins_in_rounds(scores: NDArray[np.floating]) -> Floats:
    """How often each player beats each other in the same round, n x n, ties as halves.

    `scores` is n x R, higher is better. A missing score (NaN) loses to every other and ties with missing ones.
    """
    filled = np.where(np.isnan(scores), -np.inf, scores)
    players, rounds = filled.shape
    above = np.zeros((players, players), dtype=np.int32)
    for column in np.ascontiguousarray(filled.T):
        above += column[:, None] > column[None, :]
    wins: Floats = above + (rounds - above - above.T) / 2
    np.fill_diagonal(wins, 0.0)
    return wins


def wins_across_rounds(scores: NDArray[np.floating]) -> Floats:
    """As `wins_in_rounds`, but every round of one player against every round of the other."""
    filled = np.sort(np.where(np.isnan(scores), -np.inf, scores), axis=1)
    players = len(filled)
    wins = np.zeros((players, players))
    for index, own in enumerate(filled):
        for other, theirs in enumerate(filled):
            below = np.searchsorted(theirs, own, side="left").sum()
            level = np.searchsorted(theirs, own, side="right").sum() - below
            wins[index, other] = below + level / 2
    np.fill_diagonal(wins, 0.0)
    return wins


def strong_components(wins: Floats) -> Ints:
    """The strongly connected part of "has beaten or tied" of each player, (n,), 0 for the best.

    The maximum of the likelihood exists if and only if there is one (Ford, 1957).
    """
    count, labels = connected_components(csr_matrix(wins > 0), directed=True, connection="strong")
    if count < 2:
        return np.zeros(len(wins), dtype=np.int64)
    # Those who have wins over all later parts come first: by the mean share of wins of a part's players.
    share = wins.sum(axis=1) / np.maximum((wins + wins.T).sum(axis=1), 1.0)
    means = np.array([share[labels == part].mean() for part in range(count)])
    places = np.empty(count, dtype=np.int64)
    places[np.argsort(-means, kind="stable")] = np.arange(count)
    found: Ints = places[labels]
    return found


def rate(wins: Floats, *, ridge: float | None = None) -> Rating:
    """The EPP of players by their n x n matrix of wins.

    Without a finite solution, and where one is asked for, `ridge` times the sum of squares is taken from the
    likelihood: it makes every EPP finite and unique, and pulls all of them towards each other.
    """
    components = strong_components(wins)
    if ridge is None:
        ridge = RIDGE if components.max(initial=0) > 0 else 0.0
    epp = _solve(wins, ridge)
    epp = epp - epp.mean() if len(epp) else epp
    covariance = covariance_of(epp, wins + wins.T, ridge)
    return Rating(epp, covariance, wins, deviance(epp, wins), _freedom(wins), ridge, components)


def deviance(epp: Floats, wins: Floats) -> float:
    """Of the model against the observed shares, each match once: 2 sum w log((w / m) / p)."""
    matches = wins + wins.T
    shares = np.divide(wins, matches, out=np.ones_like(wins), where=matches > 0)
    terms = xlogy(wins, shares) - wins * log_expit(epp[:, None] - epp[None, :])
    return float(2 * terms.sum())


def _freedom(wins: Floats) -> int:
    """Pairs that met, less the parameters: (n - 1)(n - 2) / 2 where all did."""
    return int(np.triu(wins + wins.T > 0, 1).sum()) - max(len(wins) - 1, 0)


def _solve(wins: Floats, ridge: float) -> Floats:
    """Maximise the likelihood: L-BFGS from the logits of shares of wins, then Newton steps to the last digits."""
    players = len(wins)
    if players < 2:
        return np.zeros(players)
    won, matches = wins.sum(axis=1), wins + wins.T

    def loss(epp: Floats) -> tuple[float, Floats]:
        inverse = 1.0 + np.exp(
            np.clip(epp[None, :] - epp[:, None], -MOST_GAP, MOST_GAP)
        )  # 1 / P(row beats column)
        value = float(np.vdot(wins, np.log(inverse))) + ridge * float(epp @ epp)
        gradient: Floats = (matches / inverse).sum(axis=1) - won + 2 * ridge * epp
        return value, gradient

    start = logit((won + 0.5) / (matches.sum(axis=1) + 1.0))
    # In units of each player's own information the problem is nearly round, and L-BFGS needs few steps.
    scale = np.sqrt(np.maximum(np.diag(_information(start, matches, ridge)), 1e-9))

    def scaled(values: Floats) -> tuple[float, Floats]:
        value, gradient = loss(values / scale)
        return value, gradient / scale

    found = minimize(scaled, start * scale, jac=True, method="L-BFGS-B", options={"maxiter": LBFGS_STEPS})
    epp: Floats = np.asarray(found.x) / scale
    limit = GRADIENT * max(float(matches.max(initial=0.0)), 1.0)
    for _ in range(NEWTON_STEPS):
        value, gradient = loss(epp)
        if np.abs(gradient).max() < limit:
            break
        step = cho_solve(cho_factor(_information(epp, matches, ridge)), gradient)
        while loss(epp - step)[0] > value + 1e-9 * abs(value) and np.abs(step).max() > 1e-12:
            step = step / 2
        epp = epp - step
    return epp


def _information(epp: Floats, matches: Floats, ridge: float) -> Floats:
    """The negated second derivative, n x n, made regular: the direction of equal shifts, which the likelihood does
    not know, gets the mean of the diagonal."""
    chance = expit(epp[:, None] - epp[None, :])
    weights = matches * chance * (1 - chance)
    total = weights.sum(axis=1)
    found = np.diag(total + 2 * ridge) - weights
    shift = max(float(total.mean()), 1e-9) / len(epp)
    regular: Floats = found + (shift if ridge == 0 else 0.0)
    return regular


def covariance_of(epp: Floats, matches: Floats, ridge: float) -> Floats:
    """Of centred EPPs, n x n: the inverse of the information among vectors that sum to zero."""
    players = len(epp)
    if players < 2:
        return np.zeros((players, players))
    inverse = cho_solve(cho_factor(_information(epp, matches, ridge)), np.eye(players))
    rows = inverse - inverse.mean(axis=0, keepdims=True)
    centred: Floats = rows - rows.mean(axis=1, keepdims=True)
    return centred
