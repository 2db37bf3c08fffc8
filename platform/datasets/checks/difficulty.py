"""Is the test part large enough for the errors that matter, and is the task neither solved nor hopeless?

A test set can tell an error E when it holds N = 50/E rows of the class in question: the error bar is then 14% of
E (50 errors, 1/sqrt(50)). Rule and difficulty after the chapter, sections 10.3.2 and 10.4.
"""

import math
from collections.abc import Iterator

from datasets.checks.baselines import Baseline
from datasets.checks.finding import Finding, Severity, said
from datasets.checks.material import HIDDEN_PARTS, Material

ERRORS_NEEDED = 50
RELATIVE_BAR = 1 / math.sqrt(ERRORS_NEEDED)
TOO_EASY = 0.98
# A score that is not so many standard errors above guessing could be guessing.
ABOVE_GUESSING = 2.0
LARGEST_ERROR = 0.5  # guessing between two classes: no test set needs to tell a larger one


def rows_needed(error: float) -> int:
    """Rows of a class that a part needs to tell an error (0 to 1) of that class: N = 50/E."""
    return math.ceil(ERRORS_NEEDED / error - 1e-9)


def error_told(rows: int) -> float:
    """The smallest error (0 to 1) that so many rows of a class tell with an error bar of 14% of it."""
    return min(1.0, ERRORS_NEEDED / max(1, rows))


def size_of_parts(material: Material, baseline: Baseline | None) -> Iterator[Finding]:
    """The rule N = 50/E for the smallest class of each hidden part, or for all rows of a regression."""
    for part in HIDDEN_PARTS:
        if part not in material.parsed.solutions:
            continue
        place = material.solution(part)
        if material.is_regression:
            yield from _size_of_regression(material, part, place, baseline)
            continue
        counts = material.counts(part)
        present = counts[counts > 0]
        if not present.size:
            continue
        rows = int(present.min())
        told = error_told(rows)
        label = "label" if material.facts.task == "multilabel.classification" else "class"
        if told > LARGEST_ERROR:
            what = f"the smallest {label} has {said(rows, 'row')} here; by N = 50/E not even an error of 50% is "
            what += f"told with an error bar of 14%, which needs {rows_needed(LARGEST_ERROR)} rows"
        else:
            what = (
                f"the smallest {label} has {said(rows, 'row')} here; by N = 50/E that tells errors of {told:.1%} "
            )
            what += "and more with an error bar of 14%"
        needed = _needed(baseline, part)
        is_small = told > LARGEST_ERROR or (needed is not None and rows < needed)
        if needed is not None and baseline is not None and baseline.rare_error is not None and needed > rows:
            what += f"; a quick baseline errs on {baseline.rare_error:.1%} of it, which asks for {needed:,} rows"
        mend = (
            "A larger part, or a split that gives this class more rows, makes ranks steadier." if is_small else ""
        )
        severity = Severity.WARNING if is_small and part == "test" else Severity.NOTE
        yield Finding("size", severity, place, what, mend)


def _needed(baseline: Baseline | None, part: str) -> int | None:
    """Rows of the smallest class that the baseline's error asks for; None where nothing is known of it."""
    if baseline is None or baseline.part != part or not baseline.rare_error:
        return None
    return rows_needed(min(baseline.rare_error, LARGEST_ERROR))


def _size_of_regression(material: Material, part: str, place: str, baseline: Baseline | None) -> Iterator[Finding]:
    rows = len(material.parsed.solutions[part])
    what = f"{said(rows, 'row')}"
    if baseline is not None and baseline.part == part:
        what += f"; the expected error bar of a score is ±{error_bar(baseline, rows):.3f}"
    is_small = rows < rows_needed(LARGEST_ERROR)
    mend = f"At least {rows_needed(LARGEST_ERROR)} rows make ranks steadier." if is_small else ""
    severity = Severity.WARNING if is_small and part == "test" else Severity.NOTE
    yield Finding("size", severity, place, what, mend)


def error_bar(baseline: Baseline, rows: int) -> float:
    """The expected standard error of a score on so many rows: the baseline's, which shrinks with their root."""
    return baseline.stderr * math.sqrt(baseline.rows / max(1, rows))


def too_easy_or_hard(material: Material, baseline: Baseline | None) -> Iterator[Finding]:
    """What quick baselines reach, and whether that leaves anything to win, or to learn."""
    if baseline is None:
        return
    rows = len(material.parsed.solutions[baseline.part])
    place = material.solution(baseline.part)
    metric = material.facts.metric
    reached = f"{baseline.method} without tuning reaches {metric} {baseline.value:.3f} (0 is guessing, 1 perfect)"
    bar = f"the expected error bar on the {baseline.part} part is ±{error_bar(baseline, rows):.3f}"
    if baseline.value >= TOO_EASY:
        sentence = f"too easy: {reached}; there is hardly anything to win"
        mend = "Look for a feature that gives the target away, or choose a harder target."
        yield Finding("baseline", Severity.WARNING, place, sentence, mend)
    elif baseline.value <= ABOVE_GUESSING * baseline.stderr:
        sentence = f"too hard: the best of the quick baselines, {reached}, is no better than guessing"
        mend = "See whether features and targets are in the same order, and whether there is anything to learn."
        yield Finding("baseline", Severity.WARNING, place, sentence, mend)
    else:
        yield Finding("baseline", Severity.NOTE, place, f"{reached}; {bar}")
