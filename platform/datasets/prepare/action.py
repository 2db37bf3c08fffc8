"""The action behind the wizard and the command: from a file to a dataset that is kept with its recipe."""

import hashlib
import importlib.metadata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from accounts.models import User
from datasets.actions import ImportReport, import_dataset
from datasets.checks import Finding, Severity
from datasets.models import DatasetVersion
from datasets.prepare.folder import prepare, write_prepared
from datasets.prepare.recipe import Recipe, RecipeError
from datasets.scratch import scratch_folder
from datasets.tables import TableReport, read_table
from datasets.tables.table import Progress, silent
from ingestion.dataset import Problem

_LIBRARIES = ("numpy", "pandas", "pyarrow", "scipy", "scikit-learn")


def prepare_dataset(
    path: Path,
    recipe: Recipe,
    *,
    owner: User,
    title: str | None = None,
    description: str = "",
    check_only: bool = False,
    table: TableReport | None = None,
    progress: Progress | None = None,
    on_kept: Callable[[DatasetVersion], None] | None = None,
) -> ImportReport:
    """Read a table, prepare it by the recipe and import what comes out; nothing is kept where there is an error.

    The version keeps the recipe, private, with the SHA-256 of the source: the same source and recipe give the
    same files, bit by bit. `table` is what was read of the file, where that was done already. Raises Refused
    (404) where there is no such file.
    """
    tell = progress or silent
    read = table or read_table(path, progress=_share(tell, 0.0, 0.3))
    if read.table is None:
        return found_report(read.errors, read.warnings)
    with scratch_folder("prepare-") as folder:
        try:
            prepared = prepare(read.table, recipe, progress=_share(tell, 0.3, 0.45))
        except RecipeError as error:
            return found_report(error.problems, read.warnings)
        write_prepared(prepared, recipe, folder / recipe.name, progress=_share(tell, 0.45, 0.6))
        return import_dataset(
            folder / recipe.name,
            owner=owner,
            title=title,
            description=description,
            check_only=check_only,
            recipe=stored_recipe(path, recipe),
            irrelevant=prepared.probes / len(prepared.features.names),
            before=found_report([], read.warnings, prepared.notes).findings,
            progress=_share(tell, 0.6, 1.0),
            on_kept=on_kept,
        )


def stored_recipe(path: Path, recipe: Recipe) -> dict[str, Any]:
    """What a version keeps of how it was made: the recipe, the source and the versions of the libraries."""
    return {
        "recipe": recipe.to_json(),
        "source": {"name": path.name, "sha256": source_sha256(path)},
        "libraries": {name: importlib.metadata.version(name) for name in _LIBRARIES},
    }


def source_sha256(path: Path) -> str:
    """SHA-256 of a file; of a folder, that of the names and the SHA-256 of its files in the order of names."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    whole = hashlib.sha256()
    for one in sorted(one for one in path.rglob("*") if one.is_file()):
        whole.update(f"{one.relative_to(path).as_posix()}\0{source_sha256(one)}\n".encode())
    return whole.hexdigest()


def _share(tell: Progress, begin: float, end: float) -> Progress:
    return lambda fraction, sentence: tell(begin + (end - begin) * fraction, sentence)


def found_report(
    errors: Sequence[Problem], warnings: Sequence[Problem], notes: Sequence[str] = ()
) -> ImportReport:
    """A report of what was found before anything could be imported."""
    report = ImportReport(ok=not errors)
    report.add(Finding.of_problem(problem, Severity.ERROR) for problem in errors)
    report.add(Finding.of_problem(problem, Severity.WARNING) for problem in warnings)
    report.add(Finding("prepare", Severity.NOTE, "", sentence) for sentence in notes)
    return report
