"""The datasets of a rehearsal: small, made from a seed, of the same kind of task as those they stand for.

The datasets of the competition never come into its rehearsal, whoever owns them: the clock of a rehearsal runs
ahead, and would reveal hidden ones.
"""

import dataclasses
import datetime as dt
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from competitions.models import Competition, Phase
from datasets.actions import import_dataset
from datasets.models import Dataset, DatasetVersion, TaskKind
from datasets.scratch import scratch_folder
from datasets.versions import delete_afterwards, stored_files
from ingestion.traits import Trait, trait_named, write_trait

MOST_A_PHASE = 2  # datasets; more would only take longer
WALL_SECONDS = 12.0
TRAITS: dict[str, str] = {
    TaskKind.BINARY: "dense",
    TaskKind.MULTICLASS: "multiclass",
    TaskKind.MULTILABEL: "multilabel",
    TaskKind.REGRESSION: "regression",
}
SLUG = "rehearsed"
MADE = "Made by Podium for a rehearsal, and removed with it."
STARTED_WITHIN = dt.timedelta(hours=2)  # from the first dataset of a rehearsal to its phases


def rehearsed_datasets(competition: Competition) -> list[Dataset]:
    """The datasets of a competition that get a stand-in: the first ones of each phase, in the order of use."""
    found: dict[int, Dataset] = {}
    for phase in competition.phases().prefetch_related("tasks__dataset__versions"):
        for task in list(phase.tasks.all())[:MOST_A_PHASE]:
            found.setdefault(task.dataset_id, task.dataset)
    return list(found.values())


def stand_ins(competition: Competition, owner: User) -> dict[int, Dataset]:
    """Make a dataset for each that the rehearsal needs, by the id of the one for which it stands."""
    tag = secrets.token_hex(2)
    made: dict[int, Dataset] = {}
    with _removed_on_failure(made), scratch_folder("rehearsal-") as scratch:
        for number, dataset in enumerate(rehearsed_datasets(competition), start=1):
            made[dataset.pk] = _stand_in(dataset.current, f"{SLUG}{number}x{tag}", number, owner, scratch)
    return made


@contextmanager
def _removed_on_failure(made: dict[int, Dataset]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        remove([dataset.pk for dataset in made.values()])
        raise


def _stand_in(version: DatasetVersion | None, name: str, number: int, owner: User, scratch: Path) -> Dataset:
    trait = _trait_for(version, name)
    folder = write_trait(trait, scratch / name, seed=number, time_budget=WALL_SECONDS)
    kind = TaskKind(trait.task).label
    report = import_dataset(folder, owner=owner, title=f"Demo dataset {number}: {kind}", description=MADE)
    if report.dataset is None:
        problems = "; ".join(f"{problem.place}: {problem.message}" for problem in report.errors)
        raise RuntimeError(f"the demo dataset {name} is not in order: {problems}")
    Dataset.objects.filter(pk=report.dataset.pk).update(source=MADE)
    return report.dataset


def _trait_for(version: DatasetVersion | None, name: str) -> Trait:
    """The made dataset of the same kind of task, with the same metric."""
    trait = trait_named(TRAITS[version.task_kind] if version else "dense")
    metric = version.metric.lower() if version else trait.metric
    return dataclasses.replace(trait, name=name, metric=metric)


def stand_ins_of(competition: Competition) -> list[int]:
    """The ids of the made datasets that a rehearsal uses."""
    made = Dataset.objects.filter(slug__startswith=SLUG, source=MADE)
    tasks = Phase.objects.filter(round__competition=competition).values("tasks__dataset")
    return list(made.filter(pk__in=tasks).values_list("pk", flat=True))


def remove(ids: list[int]) -> None:
    """Remove made datasets with their files, but for those that somebody has put into another phase."""
    with transaction.atomic():
        for dataset in Dataset.objects.filter(pk__in=ids, source=MADE, tasks=None):
            stored = [file for version in dataset.versions.all() for file in stored_files(version)]
            dataset.delete()
            delete_afterwards(stored)


def sweep() -> None:
    """Remove made datasets of which no rehearsal came, because the site was stopped while it began."""
    old = Dataset.objects.filter(created_at__lt=timezone.now() - STARTED_WITHIN)
    remove(list(old.filter(slug__startswith=SLUG, source=MADE, tasks=None).values_list("pk", flat=True)))
