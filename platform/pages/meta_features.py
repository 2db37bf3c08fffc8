"""The meta-features of a dataset on its card, and which datasets that the viewer may see are most like it."""

from dataclasses import dataclass

import numpy as np
from django.db.models import Q
from django.utils import timezone

from analysis.measures.meta_names import EXTRA, GROUPS, KNOWN
from analysis.measures.similarity import distances, nearest
from analysis.models import MetaFeatures
from analysis.sections.meta_features import spaced
from competitions import dataset_policy
from datasets.models import Dataset, DatasetVersion
from datasets.policy import File
from pages.datasets import ShownDataset

NEIGHBOURS = 5
MOST_COMPARED = 200  # of the datasets that the viewer may see, the newest


@dataclass(frozen=True)
class Group:
    """Some meta-features: names in words, and values in few digits."""

    title: str
    lines: list[tuple[str, str]]


@dataclass(frozen=True)
class Panel:
    """What the card shows: `alike` are other datasets with their distance from 0 to 1, the nearest first."""

    stored: MetaFeatures
    groups: list[Group]
    alike: list[tuple[Dataset, float]]

    @property
    def compared(self) -> bool:
        """Whether there was another dataset to compare it with."""
        return bool(self.alike)


def panel(shown: ShownDataset) -> Panel | None:
    """The panel for who may see the card; None where nothing was tried yet. Five queries at most."""
    if shown.version is None or not shown.may_read(File.PUBLIC_CARD):
        return None
    stored = MetaFeatures.objects.filter(version=shown.version).first()
    if stored is None:
        return None
    return Panel(stored, groups_of(stored), _alike(shown, stored) if stored.values else [])


def groups_of(stored: MetaFeatures) -> list[Group]:
    """The values in their groups; those without a value are left out."""
    known = {name: value for name, value in stored.values.items() if value is not None}
    groups = [Group(title, _lines(known, names)) for title, names in GROUPS]
    others = tuple(name for name in known if name not in KNOWN and not name.startswith(EXTRA))
    extra = tuple(name for name in known if name.startswith(EXTRA))
    groups += [Group("Others", _lines(known, others)), Group("Extra group, by pymfe", _lines(known, extra))]
    return [group for group in groups if group.lines]


def _lines(known: dict[str, float], names: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(_words(name), _digits(known[name])) for name in names if name in known]


def _words(name: str) -> str:
    return name.removeprefix(EXTRA) if name.startswith(EXTRA) else spaced(name)


def _digits(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:,.4g}"


def _alike(shown: ShownDataset, stored: MetaFeatures) -> list[tuple[Dataset, float]]:
    """The nearest of those that the viewer may see by themselves: own, shared, organized with, or public."""
    others = _others(shown)
    rows = [stored, *others]
    names = [name for name in KNOWN if stored.values.get(name) is not None]
    values = np.array([[_number(row.values.get(name)) for name in names] for row in rows])
    distance = distances(values.reshape(len(rows), len(names)))
    order = nearest(distance, count=NEIGHBOURS)[0]
    return [(others[place - 1].version.dataset, float(distance[0, place])) for place in order]


def _others(shown: ShownDataset) -> list[MetaFeatures]:
    own = dataset_policy.library(shown.user)
    public = dataset_policy.public_datasets(timezone.now())
    visible = Q(dataset__in=own.values("pk")) | Q(dataset__in=public.values("pk"))
    versions = DatasetVersion.objects.in_use().filter(visible).exclude(dataset=shown.dataset)
    found = MetaFeatures.objects.filter(version__in=versions.values("pk")).exclude(values={})
    newest: dict[int, MetaFeatures] = {}
    for one in found.select_related("version__dataset").order_by("-version__number", "-pk")[:MOST_COMPARED]:
        newest.setdefault(one.version.dataset_id, one)
    return list(newest.values())


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)
