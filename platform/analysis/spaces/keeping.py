"""What a person sent to be compared: kept for them alone, and deleted when they wish."""

from typing import IO

import numpy as np
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import User
from accounts.refusals import Refused
from analysis.models import Population
from analysis.results import plain
from analysis.spaces.modelset import ModelSet
from analysis.spaces.reading import UnreadableSetError, read_sets
from competitions.policy import Person

MOST_BYTES = 24 * 2**20
MOST_KEPT = 50  # sets of one person
MOST_NUMBERS = 2_000_000  # of all of them: models x columns


def own_sets(user: Person) -> QuerySet[Population]:
    """The sets that the person sent; nobody else sees them."""
    return Population.objects.filter(owner=user) if user.is_authenticated else Population.objects.none()


def keep(user: User, file: IO[bytes], filename: str, name: str = "") -> list[Population]:
    """Keep the sets of a file. `name` stands for that of a single set.

    Raises
    ------
    Refused
        Where the file cannot be read, is too large, or there would be too many.
    """
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        mend = "The command analyse_spaces reads larger ones."
        raise Refused(f"A file may have at most {MOST_BYTES // 2**20} MiB.", status=413, mend=mend)
    try:
        found = read_sets(content, filename)
    except UnreadableSetError as error:
        raise Refused(str(error)) from error
    _check_room(user, found)
    named = [name.strip()] if name.strip() and len(found) == 1 else [one.name for one in found]
    with transaction.atomic():
        return [
            Population.objects.create(
                owner=user,
                name=title[:120],
                source=filename[:200],
                columns=plain({key: values.tolist() for key, values in one.columns.items()}),
                size=one.size,
            )
            for title, one in zip(named, found, strict=True)
        ]


def _check_room(user: User, found: list[ModelSet]) -> None:
    kept = own_sets(user)
    if kept.count() + len(found) > MOST_KEPT:
        raise Refused(f"You may keep at most {MOST_KEPT} sets.", status=409, mend="Delete some of them first.")
    numbers = sum(one.size * len(one.columns) for one in found)
    numbers += sum(one.size * len(one.columns) for one in kept)
    if numbers > MOST_NUMBERS:
        mend = "Delete some of them first, or leave columns out that are not needed."
        raise Refused(f"Your sets may hold at most {MOST_NUMBERS:,} numbers together.", status=409, mend=mend)


def delete(user: Person, population_id: int) -> None:
    """Delete one of the person's own sets; one of others is as if there were none."""
    own_sets(user).filter(pk=population_id).delete()


def as_set(kept: Population) -> ModelSet:
    """A kept set for comparing."""
    columns = {key: np.array(values, dtype=float) for key, values in kept.columns.items()}
    return ModelSet(kept.name, columns, kept.source)
