"""From a table to a fair, concealed dataset: a recipe, what it makes of a table, and keeping that."""

from datasets.prepare.action import found_report, prepare_dataset, source_sha256, stored_recipe
from datasets.prepare.folder import Prepared, prepare, prepare_folder, write_prepared
from datasets.prepare.recipe import Categories, Missing, Recipe, RecipeError, Split, no_column, problems_with
from datasets.prepare.suggestion import suggest

__all__ = [
    "Categories",
    "Missing",
    "Prepared",
    "Recipe",
    "RecipeError",
    "Split",
    "found_report",
    "no_column",
    "prepare",
    "prepare_dataset",
    "prepare_folder",
    "problems_with",
    "source_sha256",
    "stored_recipe",
    "suggest",
    "write_prepared",
]
