"""Which meta-features predict how hard a dataset is, and whether they predict it at all.

As the chapter's section 10.5.3 (figure 10.8) does it: a random forest learns the winner's score of each dataset
from its meta-features and tells the importance of each, by impurity ("Gini"). Beside it stands what the figure
needs to be read: importance by permutation, and R2 in a repeated cross-validation, which says whether there is
anything to explain. On 30 datasets it is about 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_predict

from analysis.measures.similarity import usable

Floats = NDArray[np.float64]

FEWEST = 8  # datasets: fewer cannot be divided into folds that say anything
TREES, FOLD_TREES = 500, 50
REPEATS, FOLDS = 5, 5
SHUFFLES = 10
SEED = 0


@dataclass(frozen=True)
class Prediction:
    """Importances (k,) of the named features, and how well they predict.

    `gini` with its standard error `gini_error` over the trees; `permutation` is the loss of R2 on the same
    datasets when a feature is shuffled, with its standard deviation over the shuffles. `r2` (REPEATS,) are R2 of
    predictions for datasets that the forest did not learn from, one for each repeat; `predicted` (n,) their mean.
    """

    names: tuple[str, ...]
    gini: Floats
    gini_error: Floats
    permutation: Floats
    permutation_spread: Floats
    r2: Floats
    predicted: Floats
    n: int
    seed: int

    @property
    def mean_r2(self) -> float:
        """Over the repeats."""
        return float(self.r2.mean())

    def order(self) -> NDArray[np.int64]:
        """The features by impurity, the most important first."""
        return np.argsort(-self.gini, kind="stable")

    def is_near_tie(self, place: int) -> bool:
        """Whether the feature of a place (1 is the first) and the next differ by less than two standard errors."""
        order = self.order()
        if place >= len(order):
            return False
        one, other = order[place - 1], order[place]
        error = float(np.hypot(self.gini_error[one], self.gini_error[other]))
        return bool(self.gini[one] - self.gini[other] < 2 * error)


def predict(X: Floats, y: Floats, names: Sequence[str], *, seed: int = SEED) -> Prediction | None:
    """Importances of meta-features X (n, k) for scores y (n,); None for too few datasets or nothing to explain.

    Gaps in X become the median of the feature; features that do not vary are left out.
    """
    X, kept = usable(X, names)
    if len(y) < FEWEST or not kept or np.ptp(y) == 0:
        return None
    forest = RandomForestRegressor(TREES, random_state=seed).fit(X, y)
    by_tree = np.array([tree.feature_importances_ for tree in forest.estimators_])
    losses = _losses(forest, X, y, seed)
    folded = np.array([_out_of_fold(X, y, seed + repeat) for repeat in range(REPEATS)])
    return Prediction(
        names=kept,
        gini=np.asarray(forest.feature_importances_),
        gini_error=by_tree.std(axis=0, ddof=1) / np.sqrt(len(by_tree)),
        permutation=losses.mean(axis=1),
        permutation_spread=losses.std(axis=1),
        r2=np.array([r2_score(y, one) for one in folded]),
        predicted=folded.mean(axis=0),
        n=len(y),
        seed=seed,
    )


def _losses(forest: RandomForestRegressor, X: Floats, y: Floats, seed: int) -> Floats:
    """R2 lost when a feature is shuffled, (k, SHUFFLES).

    As `sklearn.inspection.permutation_importance`, but all shuffled copies go through the forest at once: asking
    five hundred trees for thirty rows again and again takes twenty times as long.
    """
    rng = np.random.default_rng(seed)
    n, k = X.shape
    copies = np.broadcast_to(X, (k, SHUFFLES, n, k)).copy()
    for column in range(k):
        for shuffle in range(SHUFFLES):
            copies[column, shuffle, :, column] = X[rng.permutation(n), column]
    found = forest.predict(copies.reshape(-1, k)).reshape(k, SHUFFLES, n)
    total = float(((y - y.mean()) ** 2).sum())
    base = float(r2_score(y, forest.predict(X)))
    return np.asarray(base - (1.0 - ((found - y) ** 2).sum(axis=2) / total))


def _out_of_fold(X: Floats, y: Floats, seed: int) -> Floats:
    folds = KFold(FOLDS, shuffle=True, random_state=seed)
    return np.asarray(cross_val_predict(RandomForestRegressor(FOLD_TREES, random_state=0), X, y, cv=folds))
