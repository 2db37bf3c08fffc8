"""How many rows the test and validation parts get: the challenge's rule N = 50/E."""

import math
from dataclasses import dataclass

from datasets.checks.difficulty import rows_needed
from datasets.models import TaskKind
from datasets.prepare.recipe import Recipe, RecipeError
from datasets.tables.table import numbered
from ingestion.dataset import Problem

# More than these shares of the rows are never taken from learning by the rule.
LARGEST_TEST, LARGEST_VALID = 0.3, 0.15


@dataclass(frozen=True)
class Sizes:
    """Rows of each part; `minority` rows of the smallest class are in the test part, all rows for regression."""

    train: int
    valid: int
    test: int
    minority: int

    def note(self, recipe: Recipe) -> str:
        """What the size of the test part means for the error bar."""
        needed = rows_needed(recipe.expected_error)
        found = f"The test part has {numbered(self.test, 'row')}"
        if recipe.task != TaskKind.REGRESSION:
            bar = error_bar(recipe.expected_error, self.minority)
            error = f"an error of {recipe.expected_error:.1%} there is measured to ± {bar:.1%}"
            found += f", {self.minority} of its smallest class: {error}"
        if self.minority >= needed:
            return f"{found}."
        of_which = "" if recipe.task == TaskKind.REGRESSION else " of that class"
        return f"{found}. The rule N = 50/E asks for {needed}{of_which}."


def error_bar(expected_error: float, rows: int) -> float:
    """Standard error of an error rate E that is measured on N rows, sqrt(E (1 - E) / N)."""
    return math.sqrt(expected_error * (1 - expected_error) / max(1, rows))


def find_sizes(rows: int, smallest_share: float, recipe: Recipe) -> Sizes:
    """The sizes that a recipe asks for or the rule gives. Raises RecipeError where too few rows are left.

    smallest_share: share of the rows in the smallest class. The validation part gets half of the test part's
    rows, as most of the challenge's datasets have it.
    """
    wanted = rows_needed(recipe.expected_error) / max(smallest_share, 1 / max(1, rows))
    by_rule = max(1, min(math.ceil(wanted), math.floor(LARGEST_TEST * rows)))
    test = by_rule if recipe.test_rows is None else recipe.test_rows
    half = min(math.ceil(test / 2), math.floor(LARGEST_VALID * rows))
    valid = half if recipe.valid_rows is None else recipe.valid_rows
    train = rows - test - valid
    if train < 1:
        what = f"{test} test and {valid} validation rows leave {max(0, train)} of {rows} rows for training"
        raise RecipeError([Problem("test_rows", what, "Choose smaller parts.")])
    return Sizes(train, valid, test, math.floor(test * smallest_share))
