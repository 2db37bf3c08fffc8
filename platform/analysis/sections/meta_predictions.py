"""What meta-features predict: how hard a dataset is, and which basic method wins on it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.charts import meta_features as charts
from analysis.inputs.basic import METHODS, basic_scores, untuned
from analysis.inputs.meta import Known
from analysis.inputs.tables import Floats, Loaded
from analysis.measures import prediction, separation
from analysis.measures.difficulty import FOUR_BASIC
from analysis.measures.prediction import Prediction
from analysis.measures.separation import Separation
from analysis.results import Block, Column, Figure, Heading, Note, Table, rows_of
from analysis.sections.base import Tell

BARS = 15
NOTHING = "R² is not above 0: the order of the meta-features explains nothing about other datasets."


@dataclass(frozen=True)
class Learned:
    """What was learned: the blocks of the page, sentences for the headline, and the numbers by name."""

    blocks: tuple[Block, ...]
    sentences: tuple[str, ...]
    extras: dict[str, Any]


def learn(known: Known, loaded: Loaded, tell: Tell) -> Learned:
    """What the meta-features say of the winners' scores and of the best basic method."""
    tell(0.1, "Learns the winners' scores.")
    difficulty, found = of_difficulty(known)
    tell(0.6, "Looks for discriminants.")
    methods, separated = of_methods(known, loaded)
    return Learned((*difficulty, *methods), _sentences(found, separated), _extras(found, separated))


def _sentences(found: Prediction | None, separated: Separation | None) -> tuple[str, ...]:
    sentences = []
    if found is not None:
        word = "do not predict" if found.mean_r2 <= 0 else "predict"
        sentences.append(f"They {word} the winner's score (cross-validated R² {found.mean_r2:.2f}).")
    if separated is not None:
        sentences.append(
            f"Which basic method wins is told for {separated.left_out:.2f} of left-out datasets, by the most "
            f"frequent method for {separated.majority:.2f}."
        )
    return tuple(sentences)


def _extras(found: Prediction | None, separated: Separation | None) -> dict[str, Any]:
    """The numbers by name, for what is compared with them."""
    extras: dict[str, Any] = {}
    if found is not None:
        names = [found.names[index] for index in found.order()]
        extras["prediction"] = {"order": names, "r2": found.mean_r2, "n": found.n}
    if separated is not None:
        extras["separation"] = {
            "n": separated.n,
            "features": len(separated.names),
            "in_sample": separated.in_sample,
            "left_out": separated.left_out,
            "plain_in_sample": separated.plain_in_sample,
            "plain_left_out": separated.plain_left_out,
            "majority": separated.majority,
        }
    return extras


def _winners(known: Known) -> Floats:
    """The best participant's score of each dataset, NaN where there is none."""
    found = [column.participants[np.isfinite(column.participants)] for column in known.columns]
    return np.array([scores.max() if scores.size else np.nan for scores in found])


def of_difficulty(known: Known) -> tuple[list[Block], Prediction | None]:
    """The blocks about the winners' scores, and what was found where there was enough to learn from."""
    best = _winners(known)
    keep = np.flatnonzero(np.isfinite(best))
    heading = Heading(
        "Do they predict how hard a dataset is?",
        "A random forest learns the winner's score of each dataset from its meta-features.",
    )
    few = known.only(list(keep))
    found = prediction.predict(few.X, best[keep], few.features)
    if found is None:
        what = f"{len(keep)} datasets have meta-features and a participant's score"
        text = f"{what}; {prediction.FEWEST} whose scores differ are needed to learn from."
        return [heading, Note(text)], None
    return [heading, _importances(found), _fit(few.names, best[keep], found)], found


def verdict(found: Prediction) -> str:
    """What the cross-validation says, as a sentence."""
    spread = f"{found.r2.min():.2f} to {found.r2.max():.2f}"
    number = f"Cross-validated R² is {found.mean_r2:.2f} ({spread} over {len(found.r2)} repeats)"
    if found.mean_r2 <= 0:
        return f"{number}: the meta-features predict no better than the mean score."
    return f"{number}."


def _importances(found: Prediction) -> Figure:
    order = [int(index) for index in found.order()]
    first = " > ".join(found.names[index] for index in order[:3])
    warnings = [NOTHING] if found.mean_r2 <= 0 else []
    if len(order) > 3 and found.is_near_tie(3):
        third, fourth = (found.names[index] for index in order[2:4])
        warnings.append(
            f"The third place is a near tie: {third} {found.gini[order[2]]:.3f}, {fourth} "
            f"{found.gini[order[3]]:.3f}, less than two standard errors apart; another seed may order them "
            f"otherwise."
        )
    error = found.gini_error
    rows = [
        {
            "feature": found.names[index],
            "order": place,
            "gini": rounded(found.gini[index]),
            "low": rounded(found.gini[index] - 2 * error[index]),
            "high": rounded(found.gini[index] + 2 * error[index]),
            "permutation": rounded(found.permutation[index]),
        }
        for place, index in enumerate(order[:BARS])
    ]
    columns = (
        Column("feature", "Meta-feature"),
        Column("gini", "By impurity", "number"),
        Column("gini_error", "Standard error over trees", "number", 4),
        Column("permutation", "By permutation", "number"),
        Column("permutation_spread", "Spread over shuffles", "number"),
    )
    return Figure(
        key="importance",
        title="Meta-features by their importance for the winner's score",
        sentence=f"The most important by impurity are {first}. {verdict(found)}",
        spec=charts.importances(rows),
        columns=columns,
        rows=rows_of(
            [found.names[index] for index in order],
            found.gini[order],
            error[order],
            found.permutation[order],
            found.permutation_spread[order],
        ),
        n=f"{found.n} datasets, {len(found.names)} meta-features that vary",
        method=(
            f"Random forest of {prediction.TREES} trees on the winner's score; gaps are filled with the median. "
            f"By impurity: the share of the variance that splits on a feature remove (Gini importance, chapter "
            f"10.5.3, figure 10.8), bars ± 2 standard errors over the trees. By permutation: the loss of R² on "
            f"the same datasets when a feature is shuffled, mean of {prediction.SHUFFLES}. R² by "
            f"{prediction.REPEATS} times {prediction.FOLDS}-fold cross-validation."
        ),
        seed=found.seed,
        warnings=tuple(warnings),
    )


def _fit(names: list[str], best: Floats, found: Prediction) -> Figure:
    rows = [
        {"dataset": name, "score": rounded(score), "predicted": rounded(guess)}
        for name, score, guess in zip(names, best, found.predicted, strict=True)
    ]
    gaps = np.abs(best - found.predicted)
    worst = int(np.argmax(gaps))
    ends = np.concatenate([best, found.predicted])
    sentence = (
        f"Predictions miss the winner's score by {gaps.mean():.2f} on average, most on {names[worst]} "
        f"({found.predicted[worst]:.2f} instead of {best[worst]:.2f}); always guessing the mean misses by "
        f"{np.abs(best - best.mean()).mean():.2f}."
    )
    return Figure(
        key="predicted-scores",
        title="Predicted and real scores of winners",
        sentence=sentence,
        spec=charts.predicted(rows, (float(ends.min()), float(ends.max()))),
        columns=(
            Column("dataset", "Dataset"),
            Column("score", "Best score", "number"),
            Column("predicted", "Predicted", "number"),
        ),
        rows=rows_of(names, best, found.predicted),
        n=f"{found.n} datasets",
        method=(
            f"Mean of {prediction.REPEATS} predictions by forests of {prediction.FOLD_TREES} trees which did not "
            f"learn from the dataset ({prediction.FOLDS}-fold cross-validation); the line is where both are equal."
        ),
        seed=found.seed,
    )


def _labels(known: Known, loaded: Loaded) -> NDArray[np.int64]:
    """The best of the four untuned basic methods on each dataset; -1 where fewer than two have a score."""
    found = []
    for column in known.columns:
        scores = untuned(basic_scores(column, loaded.boards, loaded.facts["basic"]))
        values = np.array([scores.get(method, np.nan) for method in FOUR_BASIC])
        enough = np.isfinite(values).sum() >= 2
        found.append(int(np.nanargmax(values)) if enough else -1)
    return np.array(found, dtype=np.int64)


def of_methods(known: Known, loaded: Loaded) -> tuple[list[Block], Separation | None]:
    """The blocks about the best basic method, and what was found where there was enough to learn from."""
    heading = Heading(
        "Do they tell which basic method wins?",
        "Linear discriminants for the best of four untuned basic methods; landmarks are left out, because they "
        "are what such methods reach.",
    )
    labels = _labels(known, loaded)
    keep = np.flatnonzero(labels >= 0)
    few = known.only(list(keep))
    found = separation.separate(few.X, labels[keep], few.features)
    if found is None:
        text = (
            f"{len(keep)} datasets have meta-features and scores of basic methods; {separation.FEWEST} with at "
            f"least two different best methods are needed. Organizers can let the platform run the basic methods."
        )
        return [heading, Note(text)], None
    names = [METHODS[FOUR_BASIC[label]] for label in labels[keep]]
    return [heading, _scatter(few.names, names, found), _stability(found)], found


def judgement(found: Separation) -> str:
    """Out of sample beside the majority, as a sentence."""
    right, most = round(found.left_out * found.n), round(found.majority * found.n)
    if found.beats_majority:
        verdict = "so they tell it a little better than chance"
        verdict = verdict if found.left_out - found.majority < 0.15 else "so they tell it better than chance"
    else:
        verdict = "so they do not tell which method wins"
    return (
        f"Left out one by one, {right} of {found.n} datasets are told ({found.left_out:.2f}); always naming the "
        f"most frequent method tells {most} ({found.majority:.2f}), {verdict}."
    )


def _scatter(datasets: list[str], methods: list[str], found: Separation) -> Figure:
    rows = [
        {"dataset": name, "method": method, "first": rounded(point[0]), "second": rounded(point[1])}
        for name, method, point in zip(datasets, methods, found.points, strict=True)
    ]
    warnings = []
    if found.is_shrunk:
        warnings.append(
            f"{len(found.names)} meta-features for {found.n} datasets: discriminants without shrinkage tell "
            f"{found.plain_in_sample:.2f} of the datasets that they were made of, and {found.plain_left_out:.2f} "
            f"of those left out. A clean separation in a picture says nothing."
        )
    if not found.beats_majority:
        warnings.append("Left-out datasets are told no better than by always naming the most frequent method.")
    return Figure(
        key="discriminants",
        title="Datasets by the basic method that wins",
        sentence=f"In sample {found.in_sample:.2f} of the datasets are told. {judgement(found)}",
        spec=charts.discriminants(rows, sorted(set(methods))),
        columns=(
            Column("dataset", "Dataset"),
            Column("method", "Best basic method"),
            Column("first", "First discriminant", "number"),
            Column("second", "Second discriminant", "number"),
        ),
        rows=rows_of(datasets, methods, found.points[:, 0], found.points[:, 1]),
        n=f"{found.n} datasets, {len(found.names)} meta-features without landmarks",
        method=(
            "Linear discriminant analysis of standardised meta-features, gaps filled with the median, "
            + ("covariance shrunk by Ledoit and Wolf's rule" if found.is_shrunk else "without shrinkage")
            + "; accuracy by leaving out one dataset at a time (chapter 10.5.5, figure 10.10)."
        ),
        seed=None,
        warnings=tuple(warnings),
    )


def _stability(found: Separation) -> Table:
    order = np.argsort(found.rank_middle, kind="stable")
    first = int(order[0])
    sentence = (
        f"{found.names[first]} has the middle rank {found.rank_middle[first]:.0f} of {len(found.names)} over "
        f"{separation.BOOTSTRAPS} bootstraps of the datasets (seed {found.seed}), between "
        f"{found.rank_low[first]:.0f} and {found.rank_high[first]:.0f} in nine of ten."
    )
    columns = (
        Column("feature", "Meta-feature"),
        Column("weight", "Weight", "number"),
        Column("rank", "Middle rank", "number", 0),
        Column("rank_low", "5%", "number", 0),
        Column("rank_high", "95%", "number", 0),
        Column("often", f"Among the first {separation.TOP}", "percent", 0),
    )
    rows = rows_of(
        [found.names[index] for index in order],
        found.weights[order],
        found.rank_middle[order],
        found.rank_low[order],
        found.rank_high[order],
        found.often[order],
    )
    return Table("discriminant-features", "How stable the order of the meta-features is", columns, rows, sentence)


def rounded(value: float) -> float | None:
    """A number of a picture, which needs no more digits; None where there is none."""
    return round(float(value), 4) if np.isfinite(value) else None
