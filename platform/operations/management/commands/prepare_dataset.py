"""`./podium manage prepare_dataset TABLE --owner USER --target COLUMN`: from a table to a concealed dataset."""

import json
import secrets
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from datasets.models import Metric
from datasets.prepare import (
    Categories,
    Missing,
    Recipe,
    RecipeError,
    Split,
    found_report,
    no_column,
    prepare,
    prepare_dataset,
    source_sha256,
    suggest,
    write_prepared,
)
from datasets.tables import KINDS_OF_FILE, TableReport, read_table
from datasets.tables.table import Kind
from ingestion.dataset import Problem
from ingestion.dataset_files import canonical_task
from operations.commands import AT_FAULT, OK, user_named
from operations.management.commands import import_dataset

# Options that set a field of the recipe, with what argparse needs to know of each.
_FIELDS: dict[str, dict[str, Any]] = {
    "name": {"help": "the prefix of the files (default: the table's name)"},
    "task": {"metavar": "TASK", "help": "binary, multiclass, multilabel or regression (default: by the target)"},
    "metric": {"help": f"one of {', '.join(Metric.values)} (default: the usual one of the task)"},
    "time_budget": {"type": float, "metavar": "SECONDS", "help": "for each run (default: 1200)"},
    "positive": {"metavar": "LABEL", "help": "the label that counts as 1 in a binary task"},
    "features": {"nargs": "+", "metavar": "COLUMN", "help": "learn from these alone (default: all others)"},
    "drop": {"nargs": "+", "metavar": "COLUMN", "help": "leave these columns out"},
    "split": {"choices": [*map(str, Split)], "help": "how rows come to their parts"},
    "split_by": {"metavar": "COLUMN", "help": "the column of the groups or of the time"},
    "test_rows": {"type": int, "metavar": "N", "help": "rows of the test part (default: the rule N = 50/E)"},
    "valid_rows": {"type": int, "metavar": "N", "help": "rows of the validation part; 0 for none"},
    "expected_error": {"type": float, "metavar": "E", "help": "the error rate E of the rule (default: 0.1)"},
    "drop_rare": {"type": int, "metavar": "N", "help": "leave out classes with fewer rows"},
    "categories": {"choices": [*map(str, Categories)], "help": "how categories are written (default: codes)"},
    "missing": {"choices": [*map(str, Missing)], "help": "keep missing values, or fill and mark them"},
    "probes": {"type": float, "metavar": "SHARE", "help": "share of the features that are permuted copies"},
    "seed": {
        "type": int,
        "metavar": "N",
        "help": "decides all that is drawn (default: drawn and kept)",
    },
}


class Command(import_dataset.Command):
    """Prepare a dataset from a table and import it."""

    help = f"Split, encode and conceal a table ({KINDS_OF_FILE}), and import what comes out."

    def options(self, parser: CommandParser) -> None:
        """Add the options."""
        parser.add_argument("path", type=Path, metavar="TABLE", help="the table")
        parser.add_argument("--owner", metavar="USER", help="the organizer it belongs to")
        parser.add_argument("--title", help="the title that organizers see (default: its name)")
        parser.add_argument("--recipe", type=Path, metavar="FILE", help="a recipe in JSON, which options change")
        parser.add_argument("--output", type=Path, metavar="DIR", help="write the folder there, import nothing")
        parser.add_argument("--check-only", action="store_true", help="report, but keep nothing")
        parser.add_argument(
            "--target", nargs="+", metavar="COLUMN", help="what is to be predicted (default: by its usual names)"
        )
        parser.add_argument(
            "--kind", nargs="+", metavar="COLUMN=KIND", help=f"take a column for one of {', '.join(Kind)}"
        )
        for field, described in _FIELDS.items():
            parser.add_argument(f"--{field.replace('_', '-')}", **described)
        parser.add_argument("--chronological", action="store_true", help="the rows stand in the order of time")
        parser.add_argument("--keep-row-order", action="store_true", help="do not shuffle the rows of a part")
        parser.add_argument("--keep-feature-order", action="store_true", help="do not shuffle the features")
        parser.add_argument("--keep-names", action="store_true", help="publish names of features and labels")

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """Prepare, and import unless a folder or only a check was asked for."""
        path: Path = options["path"]
        if options["owner"] is None and options["output"] is None:
            raise Refused("Nobody is named who shall own the dataset.", mend="Add --owner USER, or --output DIR.")
        owner = user_named(options["owner"]) if options["output"] is None else None
        read = read_table(path)
        if read.table is None:
            return found_report(read.errors, read.warnings).to_json(), AT_FAULT
        try:
            recipe = _recipe(read, options)
            read.warnings += _other_source(path, options["recipe"])
            if owner is None:
                return _written(read, recipe, options["output"]), OK
        except RecipeError as error:
            return found_report(error.problems, read.warnings).to_json(), AT_FAULT
        report = prepare_dataset(
            path,
            recipe,
            owner=owner,
            title=options["title"],
            check_only=options["check_only"],
            table=read,
        )
        return {**report.to_json(), "recipe": recipe.to_json()}, OK if report.ok else AT_FAULT

    def explain(self, result: dict[str, Any]) -> str:
        """Return every finding on its own line, and what became of the table."""
        text = super().explain(result)
        return (
            f"{text.rpartition(chr(10))[0]}\nWritten to {result['folder']}.".strip()
            if result.get("folder")
            else text
        )


def _written(read: TableReport, recipe: Recipe, folder: Path) -> dict[str, Any]:
    """The report of a table whose dataset was written to a folder. Raises RecipeError."""
    assert read.table is not None
    prepared = prepare(read.table, recipe)
    write_prepared(prepared, recipe, folder)
    report = found_report([], read.warnings, prepared.notes)
    return {**report.to_json(), "recipe": recipe.to_json(), "folder": str(folder)}


def _recipe(read: TableReport, options: dict[str, Any]) -> Recipe:
    """The recipe of the file or a suggestion, with the options in it. Raises RecipeError."""
    assert read.table is not None
    target = tuple(options["target"] or ())
    unknown = [name for name in target if name not in {column.name for column in read.table.columns}]
    if unknown:
        raise RecipeError([no_column("target", name, read.table) for name in unknown])
    if options["recipe"]:
        values = _from_file(options["recipe"])
    else:
        values = suggest(read.table, target=target, task=canonical_task(options["task"])).to_json()
    if target:
        values["target"] = list(target)
    if not options["recipe"]:
        values["seed"] = secrets.randbelow(2**31)  # whoever has the table could repeat a seed that is known
    for field in _FIELDS:
        if options[field] is not None:
            values[field] = options[field]
    values["kinds"] = {**values.get("kinds", {}), **_kinds(options["kind"] or [])}
    if options["chronological"]:
        values |= {"is_chronological": True, "split": str(Split.TIME)}
    if options["keep_row_order"]:
        values["shuffle_rows"] = False
    if options["keep_feature_order"]:
        values["shuffle_features"] = False
    if options["keep_names"]:
        values["rename"] = False
    return Recipe.from_json(values)


def _from_file(path: Path) -> dict[str, Any]:
    """The object in a file; what a version keeps of its making is taken too."""
    found = _json(path)
    if isinstance(found, dict) and isinstance(found.get("recipe"), dict):
        found = found["recipe"]
    if not isinstance(found, dict):
        raise RecipeError([Problem(path.name, "is no JSON object")])
    return found


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RecipeError([Problem(path.name, f"cannot be read as JSON: {error}")]) from error


def _other_source(path: Path, recipe: Path | None) -> list[Problem]:
    """A warning where the recipe of a version was written for another file: what comes out is another dataset."""
    found = _json(recipe) if recipe else {}
    source = found.get("source") if isinstance(found, dict) else None
    if recipe is None or not isinstance(source, dict) or source.get("sha256") == source_sha256(path):
        return []
    what = f"was kept with another file than {path.name}: the dataset is not the same one again"
    return [Problem(recipe.name, what, f"Give the file with the SHA-256 {source.get('sha256')}.")]


def _kinds(given: list[str]) -> dict[str, str]:
    pairs = [one.rpartition("=") for one in given]
    wrong = [one for one, (name, _, _) in zip(given, pairs, strict=True) if not name]
    if wrong:
        raise RecipeError([Problem("--kind", f"{wrong[0]!r} is not COLUMN=KIND")])
    return {name: kind for name, _, kind in pairs}
