"""The meta-features of the datasets that the audience knows, as stored and as an array."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from analysis.inputs.datasets import DatasetColumn
from analysis.inputs.tables import BoardTable, Floats
from analysis.measures.meta_names import EXTRA, KNOWN
from analysis.models import MetaFeatures

Values = dict[str, float | None]


@dataclass(frozen=True)
class Described:
    """What is known of one version of a dataset: `values` by name without the extra group, and where from.

    `is_waiting` where they are still to be computed; `sentence` says why there are none.
    """

    values: Values
    is_published: bool
    is_waiting: bool
    sentence: str


def described(boards: Iterable[BoardTable]) -> dict[int, Described]:
    """By the version's id, for the datasets whose version a board tells its audience: one query.

    What is concealed has no version on a board, and so no meta-features here.
    """
    known = {dataset.version_id for board in boards for dataset in board.datasets if dataset.version_id}
    return {one.version_id: _of(one) for one in MetaFeatures.objects.filter(version__in=known)}


def _of(stored: MetaFeatures) -> Described:
    values = {name: value for name, value in stored.values.items() if not name.startswith(EXTRA)}
    is_published = stored.origin == MetaFeatures.Origin.PUBLISHED
    return Described(values, is_published, stored.is_waiting, stored.sentence)


@dataclass(frozen=True)
class Known:
    """n datasets with meta-features (n, k), their names, and the columns of their boards."""

    columns: tuple[DatasetColumn, ...]
    described: tuple[Described, ...]
    X: Floats
    features: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Of the datasets, as the audience may call them."""
        return [column.dataset.name for column in self.columns]

    def only(self, keep: list[int]) -> "Known":
        """The same of those datasets alone."""
        columns = tuple(self.columns[index] for index in keep)
        return Known(columns, tuple(self.described[index] for index in keep), self.X[keep], self.features)


def gather(columns: list[DatasetColumn], found: dict[int, Described]) -> Known:
    """The datasets that have meta-features, and these as an array, NaN where one has no value."""
    kept = [column for column in columns if values_of(column, found)]
    described = tuple(found[column.dataset.version_id or 0] for column in kept)
    names = {name for one in described for name, value in one.values.items() if value is not None}
    order = [*(name for name in KNOWN if name in names), *sorted(names - set(KNOWN))]
    X = np.full((len(kept), len(order)), np.nan)
    for row, one in enumerate(described):
        for place, name in enumerate(order):
            value = one.values.get(name)
            X[row, place] = np.nan if value is None else value
    return Known(tuple(kept), described, X, tuple(order))


def values_of(column: DatasetColumn, found: dict[int, Described]) -> Values:
    """The meta-features of a board's dataset; empty where there are none, or it is concealed."""
    one = found.get(column.dataset.version_id or 0)
    return one.values if one else {}
