"""What an organizer chose to make of a table: written down, so that it can be done again bit by bit."""

import dataclasses
import difflib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from datasets.models import Metric, TaskKind
from datasets.tables.table import Kind, Table
from ingestion.dataset import Problem
from ingestion.dataset_files import canonical_metric, canonical_task

VERSION = 1
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,79}")
MOST_PROBES = 0.9
LARGEST_SEED = 2**63 - 1


class Split(StrEnum):
    """How rows come to their parts."""

    STRATIFIED = "stratified"
    RANDOM = "random"
    GROUP = "group"
    TIME = "time"


class Categories(StrEnum):
    """What becomes of columns of categories: whole numbers from 0, or a column of 0 and 1 for each category."""

    CODES = "codes"
    ONE_HOT = "one_hot"


class Missing(StrEnum):
    """What becomes of missing values: they stay NaN, or are filled and marked in a column of their own."""

    KEEP = "keep"
    MARK = "mark"


class RecipeError(ValueError):
    """A recipe cannot be used; `problems` say why, each with what would mend it."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(" ".join(str(problem) for problem in problems))
        self.problems = problems


@dataclass(frozen=True)
class Recipe:
    """Everything that `prepare_folder` needs to know besides the table.

    name: the prefix of the files. task, metric, time_budget (seconds): for the info file. target: the columns to
    predict; empty where the file keeps the targets apart. positive: the label that counts as 1 in a binary task;
    empty for the later one in order. features: the columns to learn from; empty for all that have no other use.
    drop: columns to leave out. kinds: columns that are to be taken for another kind than they look like.

    split: how rows come to their parts, by the column `split_by` (the group, or the time; without it time is the
    order of the rows). test_rows, valid_rows: empty for the rule N = 50/E with `expected_error` as E; valid_rows 0
    for no validation part. drop_rare: classes with fewer rows are left out. is_chronological data are split by
    time and never shuffled.

    probes: the share of the features that are to be permuted copies of real ones. shuffle_rows (empty: wherever
    the split is not by time), shuffle_features, rename (no names of features and labels): what conceals the data.
    seed: decides everything that is drawn.
    """

    name: str
    task: str
    metric: str
    target: tuple[str, ...] = ()
    time_budget: float = 1200.0
    positive: str = ""
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    split: str = Split.STRATIFIED
    split_by: str = ""
    test_rows: int | None = None
    valid_rows: int | None = None
    expected_error: float = 0.1
    drop_rare: int = 0
    is_chronological: bool = False
    categories: str = Categories.CODES
    missing: str = Missing.KEEP
    probes: float = 0.0
    shuffle_rows: bool | None = None
    shuffle_features: bool = True
    rename: bool = True
    seed: int = 0

    @property
    def rows_are_shuffled(self) -> bool:
        """Whether the rows of each part come out in another order; never where they are ordered by time."""
        return not self.keeps_order and self.shuffle_rows is not False

    @property
    def keeps_order(self) -> bool:
        """Whether the order of the rows has a meaning."""
        return self.is_chronological or self.split == Split.TIME

    def to_json(self) -> dict[str, Any]:
        """The recipe as an object that JSON can hold, with the version of its form."""
        values = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}
        return {"version": VERSION, **plain, "kinds": dict(self.kinds)}

    @classmethod
    def from_json(cls, given: Any) -> "Recipe":
        """The recipe of such an object, validated. Raises RecipeError with everything that is wrong."""
        if not isinstance(given, Mapping):
            raise RecipeError([Problem("recipe", "is no JSON object")])
        known = {one.name for one in dataclasses.fields(cls)}
        problems = [
            Problem(str(key), "is no part of a recipe", "Leave it out.")
            for key in given
            if key not in known and key != "version"
        ]
        if given.get("version", VERSION) != VERSION:
            problems.append(Problem("version", f"is {given['version']!r}; this Podium knows version {VERSION}"))
        problems += [
            Problem(key, "is missing", "It has to be chosen.")
            for key in ("name", "task", "metric")
            if key not in given
        ]
        values = {key: value for key, value in given.items() if key in known}
        problems += [_wrong_type(key, value) for key, value in values.items() if not _has_type(key, value)]
        if problems:
            raise RecipeError(problems)
        for key in ("target", "features", "drop"):
            values[key] = tuple(values.get(key, ()))
        values["task"] = canonical_task(values["task"]) or values["task"]
        values["metric"] = canonical_metric(values["metric"]) or values["metric"]
        recipe = cls(**values)
        problems = recipe.problems()
        if problems:
            raise RecipeError(problems)
        return recipe

    def problems(self) -> list[Problem]:
        """What is wrong with the recipe whatever the table; each named by its field."""
        found = [
            _outside("task", self.task, TaskKind.values),
            _outside("metric", self.metric, Metric.values),
            _outside("split", self.split, list(Split)),
            _outside("categories", self.categories, list(Categories)),
            _outside("missing", self.missing, list(Missing)),
            *(_outside("kinds", kind, list(Kind), f" for {name!r}") for name, kind in self.kinds.items()),
            *self._wrong_numbers(),
            *self._contradictions(),
        ]
        return [problem for problem in found if problem is not None]

    def _wrong_numbers(self) -> list[Problem | None]:
        sizes = {"test_rows": (self.test_rows, 1), "valid_rows": (self.valid_rows, 0)}
        return [
            None
            if NAME.fullmatch(self.name)
            else Problem(
                "name",
                f"{self.name!r} cannot be the name of a dataset",
                "Use up to 80 letters, digits, dots, dashes and underscores.",
            ),
            _not_between("time_budget", self.time_budget, 1, 10_000_000),
            _not_between("expected_error", self.expected_error, 0.001, 0.5),
            _not_between("probes", self.probes, 0, MOST_PROBES),
            _not_between("seed", self.seed, 0, LARGEST_SEED),
            _not_between("drop_rare", self.drop_rare, 0, 2**53),
            *(_not_between(key, size, least, 2**53) for key, (size, least) in sizes.items() if size is not None),
        ]

    def _contradictions(self) -> list[Problem | None]:
        found: list[Problem | None] = []
        if self.split == Split.GROUP and not self.split_by:
            found.append(Problem("split_by", "is empty", "Name the column that holds the groups."))
        if self.split_by and self.split not in (Split.GROUP, Split.TIME):
            found.append(Problem("split_by", f"is not used by a {self.split} split", "Choose group or time."))
        if self.keeps_order and self.shuffle_rows:
            what = "rows whose order is their time are never shuffled"
            found.append(Problem("shuffle_rows", what, "Leave the rows in their order."))
        if self.is_chronological and self.split != Split.TIME:
            what = f"data in chronological order cannot have a {self.split} split: the past would know the future"
            found.append(Problem("split", what, "Choose time."))
        if self.split == Split.STRATIFIED and self.task in (TaskKind.REGRESSION, TaskKind.MULTILABEL):
            found.append(Problem("split", f"a {self.task} task has no classes to keep even", "Choose random."))
        is_regression = self.task == TaskKind.REGRESSION
        if (self.metric in (Metric.R2, Metric.ABS)) != is_regression and self.metric in Metric.values:
            allowed = "R2 or ABS" if is_regression else "BAC, AUC, F1 or PAC"
            found.append(Problem("metric", f"{self.metric} does not fit a {self.task} task", f"Choose {allowed}."))
        if self.positive and self.task != TaskKind.BINARY:
            found.append(Problem("positive", "is for binary tasks alone", "Leave it empty."))
        single = self.task in (TaskKind.BINARY, TaskKind.MULTICLASS)
        if single and len(self.target) > 1:
            found.append(Problem("target", f"{len(self.target)} columns are chosen, this task has one target"))
        twice = sorted(set(self.target) & set(self.features))
        found += [Problem("features", f"{name!r} is the target, and cannot be learnt from") for name in twice]
        return found


def problems_with(recipe: Recipe, table: Table) -> list[Problem]:
    """What is wrong with a recipe for this table, the recipe's own problems included."""
    found = recipe.problems()
    names = {column.name for column in table.columns}
    for key in ("target", "features", "drop"):
        for name in getattr(recipe, key):
            if name not in names:
                found.append(no_column(key, name, table))
    if recipe.split_by and recipe.split_by not in names:
        found.append(no_column("split_by", recipe.split_by, table))
    found += [no_column("kinds", name, table) for name in recipe.kinds if name not in names]
    if not recipe.target and table.target is None:
        found.append(Problem("target", "no column is chosen", "Name the column that is to be predicted."))
    if table.is_chronological and not recipe.keeps_order:
        what = "the table is in chronological order, which its info file says; its rows are never shuffled"
        found.append(Problem("split", what, "Choose time."))
    return found


def no_column(key: str, name: str, table: Table) -> Problem:
    """What is said of a column that a table does not have, with those that it may have been meant for."""
    names = [column.name for column in table.columns]
    near = difflib.get_close_matches(name, names[:1000], n=3, cutoff=0.5) or names[:5]
    return Problem(key, f"{table.name} has no column {name!r}", f"Choose one, such as {', '.join(near)}.")


def _outside(key: str, value: str, allowed: list[Any], of: str = "") -> Problem | None:
    if value in allowed:
        return None
    return Problem(key, f"{value!r}{of} is none of {', '.join(map(str, allowed))}", "Choose one of these.")


def _not_between(key: str, value: float, least: float, most: float) -> Problem | None:
    if math.isfinite(value) and least <= value <= most:
        return None
    return Problem(key, f"is {value:g}, a number from {least:g} to {most:g} is needed")


_TYPES: dict[str, str] = {one.name: str(one.type) for one in dataclasses.fields(Recipe)}


def _has_type(key: str, value: Any) -> bool:
    kind = _TYPES[key]
    if value is None:
        return "None" in kind
    if "bool" in kind:
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if "int" in kind:
        return isinstance(value, int)
    if "float" in kind:
        return isinstance(value, int | float)
    if "tuple" in kind:
        return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
    if "Mapping" in kind:
        return isinstance(value, Mapping) and all(isinstance(one, str) for pair in value.items() for one in pair)
    return isinstance(value, str)


def _wrong_type(key: str, value: Any) -> Problem:
    kind = _TYPES[key]
    words = {
        "bool": "true or false",
        "int": "a whole number",
        "float": "a number",
        "tuple": "a list of names of columns",
        "Mapping": "an object of names and kinds",
        "str": "text",
    }
    needed = next(word for part, word in words.items() if part in kind)
    return Problem(key, f"is {type(value).__name__}, {needed} is needed")
