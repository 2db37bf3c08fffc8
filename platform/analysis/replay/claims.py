"""What the chapter prints of the replayed challenge, and what this site makes of the published scores.

Every claim is answered from a section's own result, so that a page which shows another number says so itself.
Section numbers are those of "Analysis of the AutoML Challenge Series 2015-2018".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from analysis.inputs.boards import Loaded
from analysis.replay.reading import Numbers, rows_by
from analysis.results import Result

DATASETS = 30
PREDICTORS = ("LandmarkDecisionTree", "Landmark1NN", "SkewnessMin")
YES, NO = "yes", "no"
Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Found:
    """What came out here, and whether that is what was printed."""

    here: str
    agrees: bool


@dataclass(frozen=True)
class Claim:
    """A statement of the chapter. `find` answers it; None where the section is not about all that it needs."""

    key: str
    section: str
    where: str
    text: str
    printed: str
    find: Callable[[Loaded, Result, Facts], Found | None]
    remark: str = ""  # what a reader should know beside the numbers


def _difficulties(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    rows = rows_by(result, "difficulty", "dataset")
    if len(rows) < DATASETS:
        return None
    told, agrees = [], True
    for name, intrinsic, four, snb in (("madeline", 0.22, 0.21, 0.60), ("dilbert", 0.063, 0.927, 0.477)):
        row = rows[name]
        found = (row["intrinsic"], row["modelling"], row["modelling_snb"])
        told.append("{}: {:.3g}, {:.3g} and {:.3g}".format(name, *found))
        agrees &= all(abs(one - other) < 5e-4 for one, other in zip(found, (intrinsic, four, snb), strict=True))
        agrees &= row["intrinsic"] < _median([one["intrinsic"] for one in rows.values()])
    return Found("; ".join(told), agrees)


def _median(values: list[float]) -> float:
    return float(np.median(values))


def _rounds(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    rows = rows_by(result, "difficulty", "dataset")
    if len(rows) < DATASETS:
        return None
    of_round: dict[int, list[float]] = {}
    for row in rows.values():
        of_round.setdefault(int(row["round"]), []).append(float(row["intrinsic"]))
    medians = {number: _median(values) for number, values in sorted(of_round.items())}
    easiest = min(medians, key=lambda number: medians[number]) == 0
    news = float(rows["newsgroups"]["intrinsic"])
    middle = _median(list(medians.values()))
    agrees = easiest and news > max(v for k, v in medians.items() if k == 0) and medians[3] < middle
    agrees &= min(medians[4], medians[5]) > max(medians[0], medians[1], medians[3])
    told = ", ".join(f"{value:.2f}" for value in medians.values())
    return Found(f"medians of rounds 0 to 5: {told}; newsgroups {news:.2f}", agrees)


def _ratio(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    rows = rows_by(result, "difficulty", "dataset")
    ratios = facts.get("ratios", {})
    names = [name for name in rows if name in ratios]
    if len(names) < DATASETS:
        return None
    found = spearmanr([ratios[name] for name in names], [rows[name]["median"] for name in names])
    return Found(f"Spearman {found.statistic:+.2f} on {len(names)} datasets", bool(abs(found.statistic) > 0.36))


def _tuning(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    rows = rows_by(result, "tuning", "method")
    total = rows.get("all together")
    if total is None or total["pairs"] + total["missing"] < 100:
        return None
    counts = [int(total[key]) for key in ("pairs", "better", "equal", "worse", "failed", "missing")]
    told = "{} pairs: {} better, {} equal, {} worse; {} tuned scores at most 0, {} missing".format(*counts)
    usual = counts[1] > counts[0] / 2
    return Found(told, usual and counts[3] > 0 and counts[4] + counts[5] > 0)


def _gains(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    own = _beyond(result)
    if len(own) < DATASETS:
        return None
    small = [name for name, row in own.items() if row["gain"] is not None and row["gain"] <= 0.2]
    large = [name for name, row in own.items() if row["gain"] is not None and row["gain"] > 1]
    none = [name for name, row in own.items() if row["gain"] is None]
    told = f"{len(small)} of {len(own)} gain at most 20%; more than double: {', '.join(sorted(large))}"
    told += f"; no score above 0 at the limit: {', '.join(sorted(none))}"
    return Found(told, len(small) == len(own) / 2 and len(large) > 0)


def _beyond(result: Result) -> dict[Any, Numbers]:
    """What the curves of aad_freiburg gain after the budget, by dataset."""
    return rows_by(result, "beyond", "dataset", entrant="aad_freiburg")


def _wallis(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    row = _beyond(result).get("wallis")
    if row is None or row["doubled_at"] is None:
        return None
    factor = float(row["doubled_at"])
    return Found(f"{factor:.1f} times the limit, clock from the first prediction", abs(factor - 3) < 0.5)


def _starts(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    pairs = []
    for dataset in result.extras.get("datasets", []):
        ends = {curve["name"]: _ends(curve) for curve in dataset["curves"]}
        if {"abhishek", "aad_freiburg"} <= ends.keys():
            pairs.append((ends["abhishek"], ends["aad_freiburg"]))
    if len(pairs) < DATASETS:
        return None
    starts = sum(one[0] > other[0] for one, other in pairs)
    last = sum(other[1] > one[1] for one, other in pairs)
    told = f"abhishek starts higher on {starts} of {len(pairs)}, aad_freiburg ends higher on {last}"
    return Found(told, min(starts, last) > 2 * len(pairs) / 3)


def _ends(curve: Mapping[str, Any]) -> tuple[float, float]:
    """The first and the last score of a curve."""
    scores = [*curve["scores"], *curve.get("late_scores", [])]
    return scores[0], scores[-1]


def _error_bars(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    known = {dataset.name for board in loaded.boards for dataset in board.datasets}
    bars = facts.get("error_bars", {}).get("madeline")
    if "madeline" not in known or not bars:
        return None
    told = f"{bars['spread']:.4f} by the authors' recipe; the standard error is {bars['stderr']:.4f}"
    return Found(told, abs(bars["spread"] - bars["published"]) < 0.005)


def _test_sizes(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    rows = rows_by(result, "error_bars", "dataset")
    if len(rows) < DATASETS:
        return None
    known = [row for row in rows.values() if row["is_enough"] is not None]
    enough = sum(row["is_enough"] for row in known)
    told = f"{enough} of {len(known)} classification sets have at least 50/E test rows"
    return Found(told, enough == len(known) > 0)


def _importance(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    found = result.extras.get("prediction")
    if not found or found["n"] < DATASETS:
        return None
    told = f"{', '.join(found['order'][:3])}; cross-validated R² {found['r2']:.2f}"
    return Found(told, tuple(found["order"][:3]) == PREDICTORS)


def _separation(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    found = result.extras.get("separation")
    if not found or found["n"] < DATASETS:
        return None
    told = (
        "in sample {plain_in_sample:.2f}; of datasets left out {plain_left_out:.2f}, with shrinkage {left_out:.2f}"
    )
    told += "; always the most frequent method {majority:.2f}"
    return Found(told.format(**found), found["plain_in_sample"] > 0.99)


def _left_out(loaded: Loaded, result: Result, facts: Facts) -> Found | None:
    found = result.extras.get("separation")
    if not found or found["n"] < DATASETS:
        return None
    best = max(found["plain_left_out"], found["left_out"])
    return Found(
        f"{best:.2f} at best, {found['majority']:.2f} for always the most frequent method",
        best > found["majority"],
    )


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "error_bars",
        "standings",
        "tables of errors",
        "The error bar of aad_freiburg on Madeline.",
        ".04",
        _error_bars,
        "The recipe is the standard deviation of 100 scores on a tenth of the test rows each, about three "
        "standard errors. The predictions are those within the budget.",
    ),
    Claim(
        "test_sizes",
        "standings",
        "10.7",
        "The test sets are large enough by the rule N = 50/E.",
        "in words",
        _test_sizes,
        "E should be the error of the smallest class, for which scores of each class are needed; here it is one "
        "minus the best balanced accuracy.",
    ),
    Claim(
        "difficulty",
        "difficulty",
        "10.5.3",
        "Madeline and Dilbert are easy in themselves and depend much on the method.",
        "in words",
        _difficulties,
        "Intrinsic difficulty, then modelling difficulty against the best of four basic methods and against the "
        "selective naive Bayes.",
    ),
    Claim(
        "rounds",
        "difficulty",
        "10.5.3",
        "Round 0 is the easiest but for Newsgroups; round 3 is rather easy; the last two rounds are hard.",
        "in words",
        _rounds,
        "Round 2 is the hardest by this measure.",
    ),
    Claim(
        "ratio",
        "difficulty",
        "10.5.6",
        "The number of training samples over that of features predicts the median performance best.",
        "in words",
        _ratio,
        "The entries of the challenge itself were not published; these are the systems that were run again.",
    ),
    Claim(
        "importance",
        "meta_features",
        "10.5.3",
        "The best predictors of difficulty are LandmarkDecisionTree, Landmark1NN and SkewnessMin.",
        "these three, in this order",
        _importance,
        "The chapter prints no cross-validated value. At or below 0 the forest predicts no better than the mean, "
        "so the order says little; the third place is a near tie.",
    ),
    Claim(
        "separation",
        "meta_features",
        "10.5.5",
        "Linear discriminant analysis separates the datasets by the basic method that wins.",
        "figure 10.10",
        _separation,
        "The picture is of the datasets that the discriminants were made of.",
    ),
    Claim(
        "left_out",
        "meta_features",
        "10.5.5",
        "The separation also holds for datasets that the discriminants were not made of.",
        "not looked at",
        _left_out,
        "Left out one by one, with shrinkage and without.",
    ),
    Claim(
        "tuning",
        "tuning",
        "10.5.4",
        "Tuning usually helps, not always, and it fails on large data.",
        "in words",
        _tuning,
    ),
    Claim(
        "gains",
        "curves",
        "10.6",
        "After the time limit, about half of the datasets gain at most 20%; some more than double.",
        "about half",
        _gains,
    ),
    Claim(
        "wallis",
        "curves",
        "10.6",
        "On Wallis the score doubles at three times the limit.",
        "3 times",
        _wallis,
        "When the run began was not published, so its clock starts with its first prediction.",
    ),
    Claim(
        "starts",
        "curves",
        "10.5.6",
        "Abhishek starts better, aad_freiburg ends better.",
        "in words",
        _starts,
    ),
)
