"""Which version of a dataset new runs use, and removing versions that no run has used."""

from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError

from accounts.models import User
from accounts.refusals import Refused
from datasets import policy
from datasets.models import Dataset, DatasetVersion


def permit(by: User | None, dataset: Dataset) -> None:
    """Refuse who may not change the dataset; None is the operator."""
    if by is not None and not policy.may_edit(by, dataset):
        raise Refused("Only its owner and editors may choose and remove versions.", status=403)


def use_version(version: DatasetVersion) -> None:
    """Let new runs use this version, inside a transaction: later ones are held back, an earlier one is reached so.

    Runs that exist keep theirs; `submissions.swaps` asks who may do it and offers to bring those along.
    """
    dataset = Dataset.objects.select_for_update(no_key=True).get(pk=version.dataset_id)
    dataset.versions.filter(number__gt=version.number).update(is_held=True)
    dataset.versions.filter(pk=version.pk).update(is_held=False)
    version.is_held = False


def remove_version(version: DatasetVersion, *, by: User | None) -> None:
    """Remove a version with its files, unless a run has used it or a phase would be left without data."""
    permit(by, version.dataset)
    with transaction.atomic():
        dataset = Dataset.objects.select_for_update(no_key=True).get(pk=version.dataset_id)
        if version.is_used:
            raise Refused(f"Runs have used {version}; it stays as it is.", status=409)
        others = dataset.versions.in_use().exclude(pk=version.pk)
        if not version.is_held and not others.exists() and _has_tasks(dataset):
            mend = "Swap in another version first, or take the dataset out of the phases."
            raise Refused(f"A phase uses {version}.", status=409, mend=mend)
        stored = stored_files(version)
        try:
            version.delete()
        except ProtectedError as problem:  # a run came in between
            raise Refused(f"Runs have used {version}; it stays as it is.", status=409) from problem
        delete_afterwards(stored)


def stored_files(version: DatasetVersion) -> list[tuple[Any, str]]:
    """(storage, name) of every stored file of a version."""
    fields = (
        version.public_zip,
        version.cache_zip,
        version.valid_solution,
        version.test_solution,
        version.reference,
    )
    return [(field.storage, str(field.name)) for field in fields if field]


def _has_tasks(dataset: Dataset) -> bool:
    return bool(dataset.tasks.exists())


def delete_afterwards(stored: list[tuple[Any, str]]) -> None:
    """Delete stored files once the transaction is committed: until then they may still be needed."""
    for storage, name in stored:
        transaction.on_commit(partial(storage.delete, name), robust=True)
