"""Computing the meta-features of datasets, one after the other, by the site's own worker.

They are measured on the public training part alone: whoever has the files could compute the same. Who may see them
is decided where they are shown.
"""

import datetime as dt
import logging
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from accounts.beats import prolonged
from analysis import bell
from analysis.measures import meta_features as measures
from analysis.measures.meta_names import DEFINITIONS
from analysis.models import MetaFeatures
from datasets.models import DatasetVersion
from datasets.scratch import scratch_folder
from ingestion.dataset_files import feature_types
from ingestion.dataset_input import open_tables
from ingestion.program.data import CACHE_INDEX, Dataset
from ingestion.program.errors import DataError

log = logging.getLogger(__name__)

SECONDS_AT_ONCE = 20.0  # after which no further dataset is begun
# None of these names a file: whoever sees the dataset under another name may read them.
UNREADABLE = "Its training part cannot be read."
TOO_SLOW = "Measuring it took longer than the site allows."
TOO_LARGE = "The site has too little memory to measure it."
LOST = "The site lost the computation twice, most likely for want of memory."
OUR_FAULT = "Podium could not compute them because of a fault of its own; the operator finds it in the site's log."


def due() -> QuerySet[DatasetVersion]:
    """The versions that new runs use and of which nothing is known yet, the newest first."""
    newer = DatasetVersion.objects.in_use().filter(dataset=OuterRef("dataset"), number__gt=OuterRef("number"))
    wanted = DatasetVersion.objects.in_use().filter(layout=DatasetVersion.Layout.AUTOML, meta_features=None)
    return wanted.exclude(public_zip="").exclude(Exists(newer)).order_by("-pk")


def compute_due(now: dt.datetime) -> int:
    """Compute what is due, for a bounded time; returns how many. Two calls at once never take the same one."""
    until = time.monotonic() + SECONDS_AT_ONCE
    _give_up(now)
    _begin_anew(now)
    computed = 0
    while time.monotonic() < until and (row := _take(now)) is not None:
        process(row)
        computed += 1
    return computed


def _give_up(now: dt.datetime) -> None:
    lost = MetaFeatures.objects.filter(deadline__lte=now, tries__gte=bell.MOST_TRIES)
    lost.update(deadline=None, sentence=LOST)


def _begin_anew(now: dt.datetime) -> None:
    """Computed by other definitions than those of this release: once more."""
    computed = MetaFeatures.objects.filter(origin=MetaFeatures.Origin.COMPUTED, deadline=None)
    computed.exclude(definitions=DEFINITIONS).update(deadline=now, tries=0, definitions=DEFINITIONS)


def _take(now: dt.datetime) -> MetaFeatures | None:
    """The next to compute: one that a worker lost, or a new one; None where nothing is due."""
    lease = timezone.now() + bell.LEASE
    for row in MetaFeatures.objects.filter(deadline__lte=now, tries__lt=bell.MOST_TRIES).order_by("pk"):
        mine = MetaFeatures.objects.filter(pk=row.pk, deadline=row.deadline, tries=row.tries)
        if mine.update(deadline=lease, tries=F("tries") + 1):
            row.refresh_from_db()
            return row
    for version in due()[:10]:
        try:
            with transaction.atomic():
                return MetaFeatures.objects.create(
                    version=version, deadline=lease, tries=1, definitions=DEFINITIONS
                )
        except IntegrityError:  # another worker was faster, or the version was removed
            continue
    return None


def process(row: MetaFeatures) -> None:
    """Compute one that was taken, and keep what came out or why nothing did."""
    mine = MetaFeatures.objects.filter(pk=row.pk, tries=row.tries, deadline__isnull=False)

    def prolong() -> None:
        mine.update(deadline=timezone.now() + bell.LEASE)

    began = time.monotonic()
    with prolonged(prolong, every=bell.LEASE.total_seconds() / 8, what=f"meta-features {row.pk}"):
        values, sample, sentence = _outcome(row.version)
    mine.update(
        values=values,
        sample=sample[:300],
        sentence=sentence,
        deadline=None,
        seconds=time.monotonic() - began,
        made_at=timezone.now(),
    )


def _outcome(version: DatasetVersion) -> tuple[dict[str, float | None], str, str]:
    """Values, on what they were measured, and why there are none."""
    try:
        found = measure(version)
    except (DataError, zipfile.BadZipFile, zlib.error, OSError, ValueError) as problem:
        log.warning("the training part of %s cannot be measured: %s", version, problem)
        return {}, "", UNREADABLE
    except SoftTimeLimitExceeded:
        return {}, "", TOO_SLOW
    except MemoryError:
        return {}, "", TOO_LARGE
    except Exception:
        log.exception("meta-features of %s could not be computed", version)
        return {}, "", OUR_FAULT
    return found.values, found.sample, ""


def measure(version: DatasetVersion) -> measures.MetaFeatures:
    """The meta-features of a version's public training part.

    Raises DataError, BadZipFile, OSError or ValueError where that cannot be read.
    """
    with scratch_folder("dataset-") as scratch:
        folder = _laid_out(version, scratch)
        dataset, (tables, _) = Dataset(folder), open_tables(folder)
        features: Any = dataset.features("train")
        types, _ = feature_types(tables, features)
        return measures.compute(features, dataset.targets(), types, task=version.task_kind)


def _laid_out(version: DatasetVersion, scratch: Path) -> Path:
    """A folder with the public files of the training part: its arrays where the site has them, else its text."""
    texts = {f"{version.name}{suffix}" for suffix in ("_public.info", "_train.solution", "_feat.type")}
    if not version.cache_zip:
        texts.add(f"{version.name}_train.data")
    _extract(version.public_zip, scratch, lambda path: path.name in texts)
    folder = scratch / version.name
    if version.cache_zip:
        _extract(version.cache_zip, folder, lambda path: path.name == CACHE_INDEX or path.stem.startswith("train"))
    return folder


def _extract(field: Any, folder: Path, is_wanted: Callable[[Path], bool]) -> None:
    """Take the wanted files out of a stored zip that the site made."""
    with field.storage.open(str(field.name), "rb") as file, zipfile.ZipFile(file) as archive:
        for entry in archive.infolist():
            if not entry.is_dir() and is_wanted(Path(entry.filename)):
                archive.extract(entry, folder)
