"""Checks of the targets: is the metric defined, are all classes in the training part, does their order tell?"""

import math
from collections.abc import Iterator

import numpy as np

from datasets.checks.finding import Finding, Severity, listed, said
from datasets.checks.material import HIDDEN_PARTS, Material
from scoring import BadSolutionError, UndefinedMetricError, names
from scoring import score as compute_score

# Fewer rows than this of a class leave a learner nothing to hold out.
FEW_ROWS = 3
# Standard deviations that the number of changes between neighbouring rows lies below its mean under shuffling.
# One in a billion shuffled sets is that far off.
ORDERED = 6.0


def metric_defined(material: Material) -> Iterator[Finding]:
    """Refuse a dataset whose own solution makes its metric undefined; name labels that the metric leaves out."""
    facts = material.facts
    for part in HIDDEN_PARTS:
        if part not in material.parsed.solutions:
            continue
        solution, place = material.scored(part), material.solution(part)
        try:
            score = compute_score(solution, solution, task=facts.task, metric=facts.metric, stderr=False)
        except (BadSolutionError, UndefinedMetricError) as problem:
            mend = "Choose another metric, or a split in which it is defined."
            yield Finding("metric", Severity.ERROR, place, str(problem), mend)
            continue
        if score.left_out:
            left_out = said(score.left_out, "column")
            sentence = f"{names.canonical_metric(facts.metric)} is not defined on {left_out} of the targets here"
            mend = "These count nothing in the score; a split with both values in every column mends it."
            yield Finding("metric", Severity.WARNING, place, sentence, mend)


def classes_in_train(material: Material) -> Iterator[Finding]:
    """Every class or label that is scored should have training rows; a class that has hardly any is named."""
    if material.is_regression:
        return
    train = material.counts("train")
    # Reading names classes of a multi-class task that have no training row; labels and binary tasks are left.
    if material.facts.task != "multiclass.classification":
        for part in set(HIDDEN_PARTS) & set(material.parsed.targets):
            unseen = np.flatnonzero((material.counts(part) > 0) & (train == 0)).tolist()
            if unseen:
                shown = listed([material.label(index) for index in unseen])
                what = f"{said(len(unseen), 'label')} without a positive training row: {shown}"
                mend = "Nobody can learn them; move rows into the training part, or leave them out."
                yield Finding("classes", Severity.WARNING, material.solution(part), what, mend)
    rare = np.flatnonzero((train > 0) & (train < FEW_ROWS)).tolist()
    if rare:
        shown = listed([material.label(index) for index in rare])
        what = f"{said(len(rare), 'class', 'classes')} with fewer than {FEW_ROWS} training rows: {shown}"
        mend = "A learner cannot hold out a row of them; more rows or fewer classes mend it."
        yield Finding("classes", Severity.NOTE, material.solution("train"), what, mend)


def order_of_rows(material: Material) -> Iterator[Finding]:
    """Hidden rows that are sorted by their target give it away to anybody who looks at row numbers."""
    for part in HIDDEN_PARTS:
        targets = material.parsed.targets.get(part)
        if targets is None or targets.ndim == 2 or len(targets) < 10:
            continue
        if material.is_regression:
            is_ordered = abs(_rank_correlation(targets)) > 0.9
        else:
            is_ordered = _too_few_changes(targets)
        if not is_ordered:
            continue
        what = (
            f"rows of the {part} part stand near rows with a like target, so that a row's number helps to tell it"
        )
        severity, mend = Severity.WARNING, "Shuffle the rows of features and targets together."
        if material.facts.is_chronological:
            severity, mend = Severity.NOTE, "The set is in order of time, which may alone explain it."
        yield Finding("order", severity, material.solution(part), what, mend)


def _too_few_changes(classes: np.ndarray) -> bool:
    """Whether neighbours have the same class far more often than in a shuffled column."""
    rows = len(classes)
    shares = np.bincount(classes) / rows
    change = 1.0 - float((shares**2).sum())
    changes = int(np.count_nonzero(np.diff(classes)))
    spread = math.sqrt(max(rows - 1, 1) * change * (1 - change)) or 1.0
    # A few dozen rows cannot be six deviations off; there, blocks without a return to a class decide.
    in_blocks = changes + 1 == np.count_nonzero(shares) and rows >= 10 * (changes + 1)
    return bool(change > 0 and (in_blocks or (rows - 1) * change - changes > ORDERED * spread))


def _rank_correlation(values: np.ndarray) -> float:
    """Correlation of the ranks of values with their place, from -1 to 1."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return float(np.corrcoef(ranks, np.arange(len(values)))[0, 1])
