"""From a table and a recipe to a folder in AutoML format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from datasets.models import TaskKind
from datasets.prepare.concealment import conceal, probe_count
from datasets.prepare.features import Features, encode
from datasets.prepare.recipe import Recipe, RecipeError, problems_with
from datasets.prepare.sizes import Sizes, find_sizes
from datasets.prepare.splits import Parts, split_rows
from datasets.prepare.targets import Targets, find_targets
from datasets.prepare.writing import write_features
from datasets.tables.table import Progress, Table, silent
from ingestion.dataset_files import METRIC_IN_INFO, expanded_solution, general_type, write_info

PARTS = ("train", "valid", "test")


@dataclass(frozen=True)
class Prepared:
    """A dataset that is ready to be written; `probes` of its features are permuted copies."""

    targets: Targets
    sizes: Sizes
    parts: Parts
    features: Features
    probes: int
    recipe_notes: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the organizer should know: what was left out, what is told, how exact the test part can be."""
        return (*self.targets.notes, *self.features.notes, *self.recipe_notes)


def prepare(table: Table, recipe: Recipe, *, progress: Progress | None = None) -> Prepared:
    """What the recipe makes of the table. Raises RecipeError with everything that does not fit."""
    tell = progress or silent
    problems = problems_with(recipe, table)
    if problems:
        raise RecipeError(problems)
    tell(0.0, "Choosing the rows of each part.")
    targets = find_targets(table, recipe)
    sizes = find_sizes(len(targets.rows), targets.smallest_share(), recipe)
    parts = split_rows(table, targets, sizes, recipe)
    # Groups and times stay whole, so that the parts may be larger than was asked for.
    train, valid, test = (len(parts.get(part, ())) for part in PARTS)
    sizes = Sizes(train, valid, test, targets.smallest_count(parts["test"]))
    tell(0.1, "Encoding the features.")
    features = encode(table, targets.rows, parts["train"], recipe)
    real = len(features.names)
    tell(0.3, "Concealing what the features are.")
    features = conceal(features, parts, recipe)
    probes = probe_count(real, recipe.probes)
    told = ("The names of the features, which are kept, tell everybody which of them are probes.",)
    notes = (*(told if probes and not recipe.rename else ()), sizes.note(recipe))
    return Prepared(targets, sizes, parts, features, probes, notes)


def prepare_folder(table: Table, recipe: Recipe, out: Path, *, progress: Progress | None = None) -> Path:
    """Write what the recipe makes of the table as a folder in AutoML format, and return its path.

    The folder `out` is made where it is absent; the same table and recipe give the same bytes. Raises RecipeError
    with everything that does not fit.
    """
    tell = progress or silent
    prepared = prepare(table, recipe, progress=lambda fraction, sentence: tell(fraction / 2, sentence))
    return write_prepared(
        prepared, recipe, out, progress=lambda fraction, sentence: tell(0.5 + fraction / 2, sentence)
    )


def write_prepared(prepared: Prepared, recipe: Recipe, out: Path, *, progress: Progress | None = None) -> Path:
    """Write the files of a prepared dataset into `out`, made where it is absent, and return it."""
    tell = progress or silent
    out.mkdir(parents=True, exist_ok=True)
    targets, features, parts = prepared.targets, prepared.features, prepared.parts
    label_num = _label_num(targets, recipe)
    target_num = 0
    for place, (part, rows) in enumerate(parts.items()):
        tell(place / len(parts), f"Writing the {part} part, {len(rows)} rows.")
        write_features(out / f"{recipe.name}_{part}.data", features.X[rows])
        y = targets.y[rows]
        column = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        solution = expanded_solution(column, y, recipe.task, label_num)
        target_num = int(solution.shape[1])
        write_features(out / f"{recipe.name}_{part}.solution", solution)
    _write_lines(out / f"{recipe.name}_feat.type", features.types)
    if not recipe.rename:
        _write_lines(out / f"{recipe.name}_feat.name", features.names)
        _write_lines(out / f"{recipe.name}_label.name", targets.labels)
    write_info(out / f"{recipe.name}_public.info", _info(prepared, recipe, target_num, label_num))
    tell(1.0, "The dataset is written.")
    return out


def _label_num(targets: Targets, recipe: Recipe) -> int:
    if recipe.task == TaskKind.REGRESSION:
        return 0
    return len(targets.labels)


def _write_lines(path: Path, words: tuple[str, ...]) -> None:
    """One word a line; line ends inside of a name become blanks."""
    path.write_text("".join(f"{' '.join(word.split())}\n" for word in words), encoding="utf-8")


def _info(prepared: Prepared, recipe: Recipe, target_num: int, label_num: int) -> dict[str, Any]:
    features, parts = prepared.features, prepared.parts
    values = features.X.data if scipy.sparse.issparse(features.X) else features.X
    return {
        "usage": "Podium dataset",
        "name": recipe.name,
        "task": recipe.task,
        "target_type": "Numerical" if recipe.task == TaskKind.REGRESSION else "Binary",
        "feat_type": general_type(features.types),
        "metric": METRIC_IN_INFO[recipe.metric],
        "time_budget": float(recipe.time_budget),
        "feat_num": len(features.names),
        "target_num": target_num,
        "label_num": label_num,
        **{f"{part}_num": len(parts[part]) if part in parts else 0 for part in PARTS},
        "has_categorical": "Categorical" in features.types,
        "has_missing": bool(np.isnan(values).any()),
        "is_sparse": bool(scipy.sparse.issparse(features.X)),
        "is_chronological_order": recipe.keeps_order,
    }
