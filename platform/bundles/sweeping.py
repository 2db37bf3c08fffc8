"""Files of imports and exports that were killed half way: stored, and no row says so."""

import datetime as dt
from collections.abc import Iterable

from django.core.files.storage import Storage, default_storage
from django.utils import timezone

from bundles.models import BundleExport, BundleImport, bundle_storage
from competitions.models import PhaseFile, Program

ORPHAN_AGE = dt.timedelta(hours=6)


def sweep() -> int:
    """Remove what nobody refers to any more; returns how many files that were."""
    hidden = bundle_storage()
    return (
        _sweep(hidden, "programs", Program.objects.values_list("file", flat=True))
        + _sweep(hidden, "bundles", BundleImport.objects.values_list("file", flat=True))
        + _sweep(hidden, "exports", BundleExport.objects.values_list("file", flat=True))
        + _sweep(default_storage, "phase_files", PhaseFile.objects.values_list("file", flat=True))
    )


def _sweep(storage: Storage, folder: str, names: Iterable[str]) -> int:
    try:
        there = {f"{folder}/{name}" for name in storage.listdir(folder)[1]}
    except FileNotFoundError:
        return 0
    removed, now = 0, timezone.now()
    # Listed first and looked up second: a file whose row came in between is found to have it.
    for name in there - set(names):
        try:
            is_old = now - storage.get_modified_time(name) > ORPHAN_AGE
        except FileNotFoundError:
            continue
        if is_old:
            storage.delete(name)
            removed += 1
    return removed
