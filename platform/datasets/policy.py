"""Who may do what with a dataset and its files, as far as the dataset tells: its owner, those it is shared with.

What pages and commands ask is `competitions.dataset_policy`, which also knows who organizes a competition that
uses the dataset, and whether a blind phase still hides it. `may_read` is the one answer about a file.
"""

from enum import IntEnum, StrEnum

from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from datasets.models import Dataset, DatasetShare

Person = User | AnonymousUser


class Access(IntEnum):
    """What a person is to a dataset, from nothing to all."""

    NONE = 0
    PUBLIC = 1  # everybody, where it is public
    USER = 2  # it is shared to be used, or a competition that the person organizes uses it
    EDITOR = 3  # shared to be changed
    OWNER = 4  # its owner, and operators


class File(StrEnum):
    """What there is to read about a version."""

    PUBLIC_CARD = "public card"  # with the metadata and the datasheet that are made of it
    PUBLIC_FILES = "public files"
    CACHE = "binary cache"
    CARD = "card"
    FINDINGS = "findings"
    PRIVATE_INFO = "private info"
    RECIPE = "recipe"
    CHECKSUMS = "checksums"
    SOLUTIONS = "solutions"


# The least that a person must be to a dataset. Solutions are not here: no page, link or call ever gives them out.
LEAST = {
    File.PUBLIC_CARD: Access.PUBLIC,
    File.PUBLIC_FILES: Access.PUBLIC,
    File.CACHE: Access.PUBLIC,
    File.CARD: Access.USER,
    File.FINDINGS: Access.USER,
    File.PRIVATE_INFO: Access.EDITOR,
    File.RECIPE: Access.EDITOR,
    File.CHECKSUMS: Access.EDITOR,
}
OF_ROLE = {DatasetShare.Role.USER: Access.USER, DatasetShare.Role.EDITOR: Access.EDITOR}


def may_read(access: Access, file: File) -> bool:
    """Whether who has this access may read the file."""
    return file in LEAST and access >= LEAST[file]


def own_access(user: Person, dataset: Dataset) -> Access:
    """What the person is to the dataset by itself; one query at most."""
    if not user.is_authenticated or not user.is_active:
        return Access.NONE
    if user.is_superuser or dataset.owner_id == user.pk:
        return Access.OWNER
    share = dataset.shares.filter(user=user).first()
    return OF_ROLE[DatasetShare.Role(share.role)] if share else Access.NONE


def may_edit(user: Person, dataset: Dataset) -> bool:
    """Whether the person may change its texts and bring, swap and remove versions."""
    return own_access(user, dataset) >= Access.EDITOR


def owns(user: Person, dataset: Dataset) -> bool:
    """Whether the person may share it, make it public and remove it."""
    return own_access(user, dataset) >= Access.OWNER
