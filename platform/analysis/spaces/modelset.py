"""Sets of models, and how they are to be compared."""

from dataclasses import dataclass, field

import numpy as np

from analysis.measures.spaces.edf import Floats

LABELS = {
    "error": "error",
    "params": "parameters",
    "flops": "flops",
    "acts": "activations",
    "wall_seconds": "wall time (s)",
    "archive_bytes": "archive (bytes)",
    "time": "time (s)",
    "final_top1": "error of the last epoch (%)",
    "min_test_top1": "lowest error of any epoch (%)",
}
ERRORS = ("error", "final_top1", "min_test_top1", "err", "test_error", "loss")
COMPLEXITIES = ("params", "flops", "acts", "wall_seconds", "archive_bytes", "time", "complexity")


@dataclass(frozen=True)
class ModelSet:
    """Models of one kind. `columns` are (n,) numbers each, by name, NaN where a model has none.

    `source` says in words where they come from.
    """

    name: str
    columns: dict[str, Floats]
    source: str = ""

    @property
    def size(self) -> int:
        """How many models."""
        return max((len(column) for column in self.columns.values()), default=0)


@dataclass(frozen=True)
class Options:
    """How sets are compared.

    `error` is the column of errors, or with `is_score` of scores s, whose errors are 1 - s. `complexities` are
    columns to normalise by, in `bins` bins of equal width, or of equal ratio where `is_log`; where `is_strict`, an
    empty bin is refused as in the paper's notebooks instead of dropped. `limits` of a complexity, where it has
    some, replace the range that all sets reach. `threshold` and `largest` are the errors for the share below and
    the area; None leaves the choice to the data.
    """

    error: str = "error"
    is_score: bool = False
    complexities: tuple[str, ...] = ()
    bins: int = 10
    is_log: bool = False
    is_strict: bool = False
    limits: dict[str, tuple[float, float]] = field(default_factory=dict)
    threshold: float | None = None
    largest: float | None = None
    seed: int = 0


@dataclass(frozen=True)
class Compared:
    """A set as it is compared: errors (n,) without failures, which are counted, and its other columns (n,)."""

    name: str
    errors: Floats
    columns: dict[str, Floats]
    failed: int

    def complexity(self, key: str, *, is_log: bool) -> Floats:
        """A complexity, (n,), NaN where it is unknown; its decimal logarithm where that is wished."""
        values = self.columns[key]
        if not is_log:
            return values
        return np.log10(np.where(values > 0, values, np.nan))

    def having(self, key: str, *, is_log: bool) -> "Compared":
        """The models of which a complexity is known."""
        known = np.isfinite(self.complexity(key, is_log=is_log))
        columns = {name: values[known] for name, values in self.columns.items()}
        return Compared(self.name, self.errors[known], columns, self.failed)


def compared(chosen: ModelSet, options: Options) -> Compared:
    """The set with its errors as the options take them."""
    values = np.asarray(chosen.columns.get(options.error, np.full(chosen.size, np.nan)), dtype=float)
    errors = 1.0 - values if options.is_score else values
    ok = np.isfinite(errors)
    columns = {name: column[ok] for name, column in chosen.columns.items() if name != options.error}
    return Compared(chosen.name, errors[ok], columns, int((~ok).sum()))


def label(key: str) -> str:
    """A column's name for people."""
    return LABELS.get(key, key)


def amount(value: float) -> str:
    """A complexity in a sentence: whole numbers where they are large."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def usual_error(sets: list[ModelSet]) -> str:
    """The column that most likely holds the errors of all sets; without such a name the first that all have."""
    names = common_columns(sets)
    return next((name for name in ERRORS if name in names), names[0] if names else "")


def usual_complexities(sets: list[ModelSet]) -> tuple[str, ...]:
    """The columns of all sets that are complexities by their names; two at most."""
    names = common_columns(sets)
    return tuple(name for name in COMPLEXITIES if name in names)[:2]


def common_columns(sets: list[ModelSet]) -> list[str]:
    """The columns that all sets have, in the order of the first."""
    if not sets:
        return []
    return [name for name in sets[0].columns if all(name in one.columns for one in sets)]
