"""The choices that make a dataset of a table, as forms."""

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms

from datasets.models import Metric, TaskKind
from datasets.prepare import Categories, Missing, Recipe, RecipeError, Split
from datasets.tables import Kind
from ingestion.dataset import Problem

NAMED_LIKE_TARGETS = re.compile(r"target|class|label|y|outcome|response", re.IGNORECASE)
MOST_CLASSES = 20  # whole numbers with more different values are taken for amounts
METRICS = {
    TaskKind.BINARY: Metric.AUC,
    TaskKind.MULTICLASS: Metric.BAC,
    TaskKind.MULTILABEL: Metric.AUC,
    TaskKind.REGRESSION: Metric.R2,
}
SPLITS = {
    Split.STRATIFIED: "stratified: every class in its share",
    Split.RANDOM: "random",
    Split.GROUP: "by group: all rows of a group in one part",
    Split.TIME: "by time: train on the past, test on the future",
}
ENCODINGS = {Categories.CODES: "whole numbers", Categories.ONE_HOT: "a column of 0 and 1 for each category"}
GAPS = {Missing.KEEP: "stay missing", Missing.MARK: "are filled, and marked in a column of their own"}
ROLES = {"feature": "feature", "drop": "leave out"}
AS_FOUND = "as found"


def columns_of(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The columns of a table that the page can show."""
    return list(table.get("columns") or [])


def likely_target(table: Mapping[str, Any]) -> str:
    """The column that looks most like what is to be predicted: one that is named so, else the last."""
    names = [str(column["name"]) for column in columns_of(table)]
    named = [name for name in names if NAMED_LIKE_TARGETS.fullmatch(name)]
    return (named or names or [""])[-1]


def likely_task(table: Mapping[str, Any], target: Sequence[str]) -> TaskKind:
    """The task that the targets' columns suggest; what an info file said goes first."""
    if table.get("task") in TaskKind.values:
        return TaskKind(table["task"])
    chosen = [column for column in columns_of(table) if column["name"] in target]
    if len(chosen) > 1:
        is_binary = all(column["kind"] == Kind.BINARY for column in chosen)
        return TaskKind.MULTILABEL if is_binary else TaskKind.REGRESSION
    if not chosen:
        return TaskKind.MULTICLASS
    different, kind = chosen[0]["distinct"], chosen[0]["kind"]
    if different == 2:
        return TaskKind.BINARY
    if kind == Kind.NUMERICAL and (different > MOST_CLASSES or any("." in text for text in chosen[0]["examples"])):
        return TaskKind.REGRESSION
    return TaskKind.MULTICLASS


def two_labels(table: Mapping[str, Any], target: Sequence[str]) -> list[str]:
    """The two labels of a binary target in order, or none where the table does not tell them."""
    chosen = [column for column in columns_of(table) if column["name"] in target]
    examples = [str(text) for text in chosen[0]["examples"]] if len(chosen) == 1 else []
    return sorted(examples) if len(examples) == 2 == chosen[0]["distinct"] else []


def proposal(table: Mapping[str, Any], target: Sequence[str], *, name: str) -> dict[str, Any]:
    """The choices to begin with, as the form's initial values."""
    task = likely_task(table, target)
    if table.get("is_chronological"):
        split = Split.TIME
    else:
        split = Split.STRATIFIED if task in (TaskKind.BINARY, TaskKind.MULTICLASS) else Split.RANDOM
    return {
        "name": name,
        "task": task,
        "metric": METRICS[task],
        "time_budget": 1200,
        "split": split,
        "expected_error": 0.1,
        "is_chronological": bool(table.get("is_chronological")),
        "categories": Categories.CODES,
        "missing": Missing.KEEP,
        "probes": 0,
        "drop_rare": 0,
        "shuffle_features": True,
        "rename": True,
        "seed": secrets.randbelow(2**31),
    }


def usable_name(text: str) -> str:
    """A dataset's name made of a file's: letters, digits, dots, dashes and underscores."""
    stem = text.rpartition(".")[0] or text
    return re.sub(r"[^A-Za-z0-9_.\-]+", "_", stem).strip("_.-")[:80] or "dataset"


class RecipeForm(forms.Form):
    """Everything that a recipe holds but the columns, which have a table of their own on the page."""

    name = forms.CharField(max_length=80, help_text="The prefix of its files. A neutral one conceals what it is.")
    task = forms.ChoiceField(choices=TaskKind.choices)
    metric = forms.ChoiceField(choices=Metric.choices)
    positive = forms.CharField(
        required=False, label="Label that counts as 1", help_text="For a binary task; empty for the later one."
    )
    time_budget = forms.FloatField(min_value=1, label="Time budget (s)")
    split = forms.ChoiceField(choices=[(value.value, text) for value, text in SPLITS.items()])
    split_by = forms.ChoiceField(
        required=False,
        label="By the column",
        help_text="Of the group or the time; without it time is their order.",
    )
    test_rows = forms.IntegerField(required=False, min_value=1, help_text="Empty for the rule N = 50/E.")
    valid_rows = forms.IntegerField(
        required=False,
        min_value=0,
        label="Validation rows",
        help_text="Empty for half of the test rows; 0 for none.",
    )
    expected_error = forms.FloatField(
        min_value=0.001, max_value=0.5, label="Error rate E to be expected", help_text="Of a good solution."
    )
    drop_rare = forms.IntegerField(min_value=0, label="Leave out classes with fewer rows than")
    is_chronological = forms.BooleanField(
        required=False,
        label="The rows are in order of time",
        help_text="They are split by time and never shuffled.",
    )
    categories = forms.ChoiceField(
        label="Categories become", choices=[(value.value, text) for value, text in ENCODINGS.items()]
    )
    missing = forms.ChoiceField(
        label="Missing values", choices=[(value.value, text) for value, text in GAPS.items()]
    )
    probes = forms.FloatField(
        min_value=0, max_value=0.9, label="Share of probes", help_text="Copies of features with permuted values."
    )
    shuffle_features = forms.BooleanField(required=False, label="Shuffle the features")
    keep_rows = forms.BooleanField(required=False, label="Leave the rows in their order")
    rename = forms.BooleanField(required=False, label="Leave out the names of features and labels")
    seed = forms.IntegerField(min_value=0, help_text="Decides everything that is drawn.")

    sections = (
        ("What is to be learned", ("name", "task", "metric", "positive", "time_budget")),
        (
            "How rows are split",
            ("split", "split_by", "is_chronological", "expected_error", "test_rows", "valid_rows", "drop_rare"),
        ),
        ("How values are written", ("categories", "missing")),
        ("What conceals it", ("rename", "shuffle_features", "keep_rows", "probes", "seed")),
    )

    def __init__(self, data: Any, *, table: Mapping[str, Any], target: Sequence[str], **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)
        self.table, self.target = table, list(target)
        names = [str(column["name"]) for column in columns_of(table) if column["name"] not in target]
        split_by = self.fields["split_by"]
        assert isinstance(split_by, forms.ChoiceField)
        split_by.choices = [("", "none"), *((name, name) for name in names)]
        labels = two_labels(table, target)
        if labels:
            self.fields["positive"].help_text = f"{labels[0]} or {labels[1]}; empty for the later one in order."

    def parts(self) -> Iterator[tuple[str, list[forms.BoundField]]]:
        """The sections of the page with their fields."""
        for title, names in self.sections:
            yield title, [self[name] for name in names]

    def columns(self) -> list[dict[str, Any]]:
        """The columns that are no target, each with the chosen use and kind."""
        places = enumerate(columns_of(self.table))
        return [
            {
                **column,
                "place": place,
                "role": self._chosen(place, "role", "feature"),
                "as_kind": self._chosen(place, "kind", ""),
            }
            for place, column in places
            if column["name"] not in self.target
        ]

    def _chosen(self, place: int, what: str, otherwise: str) -> str:
        given = self.data if self.is_bound else self.initial
        return str(given.get(f"{what}-{place}", otherwise))

    def recipe(self) -> dict[str, Any] | None:
        """The recipe in JSON, or None where something is wrong, which the fields then say."""
        if not self.is_valid():
            return None
        chosen = dict(self.cleaned_data)
        chosen["shuffle_rows"] = False if chosen.pop("keep_rows") else None
        columns = self.columns()
        chosen["target"] = self.target
        chosen["drop"] = [column["name"] for column in columns if column["role"] == "drop"]
        chosen["kinds"] = {column["name"]: column["as_kind"] for column in columns if column["as_kind"]}
        if not self.target and not self.table.get("has_own_target"):
            self.add_error(None, "No column is chosen to be predicted.")
            return None
        try:
            return Recipe.from_json(chosen).to_json()
        except RecipeError as wrong:
            for problem in wrong.problems:
                self._tell(problem)
            return None

    def _tell(self, problem: Problem) -> None:
        text = f"{problem.message[:1].upper()}{problem.message[1:]}. {problem.mend}".strip()
        self.add_error(problem.place if problem.place in self.fields else None, text)


def initial_of(recipe: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe as the form's initial values, so that it can be changed."""
    initial = {key: value for key, value in recipe.items() if key in RecipeForm.base_fields}
    initial["keep_rows"] = recipe.get("shuffle_rows") is False
    for place, column in enumerate(columns_of(table)):
        if column["name"] in recipe.get("drop", ()):
            initial[f"role-{place}"] = "drop"
        if column["name"] in recipe.get("kinds", {}):
            initial[f"kind-{place}"] = recipe["kinds"][column["name"]]
    return initial
