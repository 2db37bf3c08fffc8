"""Checks of single features: those that never change, and those that name a row instead of describing it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from datasets.checks.finding import Finding, Severity, listed, said
from datasets.checks.material import Material, filled_counts

# Below so many rows whole numbers are all different by chance.
FEWEST_ROWS = 50


def constant_features(material: Material) -> Iterator[Finding]:
    """Features with one value in the whole training part; missing values are no value."""
    train = material.parsed.features["train"]
    constant = np.flatnonzero(_is_constant(train))
    if not constant.size:
        return
    shown = listed([material.feature(column) for column in constant.tolist()])
    what = f"{said(constant.size, 'feature')} of {train.shape[1]:,} {'has' if constant.size == 1 else 'have'} one "
    what += f"value in all training rows: {shown}"
    # In sparse sets many words of the vocabulary never occur in the training part; nobody can mend that.
    severity = Severity.NOTE if material.is_sparse else Severity.WARNING
    yield Finding(
        "constant", severity, material.data("train"), what, "Nothing can be learned from them; drop them."
    )


def _is_constant(features: Any) -> np.ndarray:
    if not hasattr(features, "tocsc"):
        with np.errstate(invalid="ignore"):
            low, high = np.fmin.reduce(features, axis=0), np.fmax.reduce(features, axis=0)
        return np.asarray((low == high) | np.isnan(low))
    rows = features.shape[0]
    filled = filled_counts(features)
    # Only columns that are full can be constant at another value than 0.
    full = np.flatnonzero(filled == rows)
    constant = np.asarray(filled == 0)
    for column in full.tolist():
        values = features[:, column].data
        constant[column] = bool((values == values[0]).all())
    return constant


def identifiers(material: Material) -> Iterator[Finding]:
    """Whole numbers that are all different, or values that rise with the row: they name rows."""
    train = material.parsed.features["train"]
    if material.is_sparse or len(train) < FEWEST_ROWS:
        return
    candidates = [c for c in range(train.shape[1]) if _may_name_rows(train[:FEWEST_ROWS, c])]
    named: list[str] = []
    rising: list[str] = []
    for column in candidates:
        values = train[:, column]
        steps = np.diff(values)
        if bool((steps > 0).all() or (steps < 0).all()):
            rising.append(material.feature(column))
        elif bool((values == np.floor(values)).all()) and np.unique(values).size == len(values):
            named.append(material.feature(column))
    if named:
        what = f"{said(len(named), 'feature')} with another whole number in every row: {listed(named)}"
        mend = "If it is an identifier, drop it: it can tell where a row comes from, and nothing else."
        yield Finding("identifier", Severity.WARNING, material.data("train"), what, mend)
    if rising and not material.facts.is_chronological:
        what = f"{said(len(rising), 'feature')} that {'rises or falls' if len(rising) == 1 else 'rise or fall'} "
        what += f"with the row number: {listed(rising)}"
        mend = "Drop an identifier; for a time, say is_chronological_order = 1, or shuffle the rows."
        yield Finding("identifier", Severity.WARNING, material.data("train"), what, mend)


def _may_name_rows(values: np.ndarray) -> bool:
    """Whether the first rows let a column be an identifier, which most columns are not."""
    if bool(np.isnan(values).any()) or np.unique(values).size < len(values):
        return False
    steps = np.diff(values)
    return bool((values == np.floor(values)).all() or (steps > 0).all() or (steps < 0).all())
