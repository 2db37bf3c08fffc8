"""Reading a benchmark that was sent, by the site's own worker, and keeping its arrays."""

import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from celery.exceptions import SoftTimeLimitExceeded
from django.core.files import File
from django.db.models import F
from django.utils import timezone

from accounts.beats import prolonged
from accounts.refusals import Refused
from analysis import bell
from analysis.benchmarks.reading import Read, read
from analysis.models import Benchmark
from datasets.scratch import scratch_folder
from ingestion.archive import Limits, RefusedArchive, open_archive
from ingestion.budget import GIB

log = logging.getLogger(__name__)

State = Benchmark.State
OUR_FAULT = "Podium could not read this because of a fault of its own; the operator finds it in the site's log."
LOST = "The site lost the reading twice, most likely for want of memory."
TOO_SLOW = "Reading this took longer than the site allows."
LIMITS = Limits(entries=1000, expanded_bytes=4 * GIB)
TABLES = (".csv", ".parquet")


def process(benchmark_id: int) -> None:
    """Read one that waits; compare-and-set decides who does."""
    won = Benchmark.objects.filter(pk=benchmark_id, state=State.WAITING).update(
        state=State.READING, tries=F("tries") + 1, sentence="Is being read.", deadline=timezone.now() + bell.LEASE
    )
    if not won:
        return
    benchmark = Benchmark.objects.get(pk=benchmark_id)
    mine = Benchmark.objects.filter(pk=benchmark.pk, state=State.READING, tries=benchmark.tries)

    def prolong() -> None:
        mine.update(deadline=timezone.now() + bell.LEASE)

    def tell(share: float, what: str) -> None:
        mine.update(share=share, sentence=what[:400])

    def fail(sentence: str) -> None:
        if mine.update(state=State.FAILED, sentence=sentence[:400], deadline=None, upload=""):
            benchmark.upload.storage.delete(benchmark.upload.name or "")  # nobody reads it again

    try:
        with prolonged(prolong, every=bell.LEASE.total_seconds() / 8, what=f"benchmark {benchmark_id}"):
            _read(benchmark, tell)
    except Refused as refused:
        fail(str(refused))
    except SoftTimeLimitExceeded:
        fail(TOO_SLOW)
    except Exception:
        log.exception("benchmark %s could not be read", benchmark_id)
        fail(OUR_FAULT)


def _read(benchmark: Benchmark, tell: Any) -> None:
    with scratch_folder("benchmark-") as folder:
        packed = folder / "upload.zip"
        with benchmark.upload.open("rb") as source, packed.open("wb") as target:
            shutil.copyfileobj(source, target, 2**20)
        found = read(tables_of(packed, folder), tell=tell, **benchmark.options)
        keep(benchmark, found, folder)


def tables_of(path: Path, folder: Path) -> list[Path]:
    """The tables that a path stands for: itself, those of a folder, those of a zip, which is opened in "
    "`folder`."""
    if path.is_dir():
        return [one for one in sorted(path.rglob("*")) if one.is_file() and one.suffix.lower() in TABLES]
    if path.suffix.lower() != ".zip":
        return [path]
    inside = folder / f"{path.stem}-files"
    inside.mkdir()
    try:
        contents = open_archive(path, inside, limits=LIMITS)
    except RefusedArchive as refusal:
        raise Refused(str(refusal)) from refusal
    found = [contents.root / name for name in contents.files]
    return [one for one in found if one.suffix.lower() in TABLES]


def keep(benchmark: Benchmark, found: Read, folder: Path) -> None:
    """Store the arrays and what is known of them; the upload is needed no more.

    Of one that waited for its reading only what was read changes, and only if nobody removed it or took it over
    since.
    """
    packed = folder / "arrays.npz"
    np.savez_compressed(packed, **found.arrays)  # type: ignore[arg-type]
    uploaded = benchmark.upload.name
    with packed.open("rb") as content:
        benchmark.content.save("arrays.npz", File(content), save=False)
    benchmark.facts = found.facts | {"bytes": packed.stat().st_size}
    benchmark.state, benchmark.sentence, benchmark.share, benchmark.deadline = State.READY, "", 1.0, None
    if benchmark.pk is None:
        benchmark.save()
        return
    mine = Benchmark.objects.filter(pk=benchmark.pk, state=State.READING, tries=benchmark.tries)
    what = {name: getattr(benchmark, name) for name in ("facts", "state", "sentence", "share", "deadline")}
    if not mine.update(content=benchmark.content.name, upload="", **what):
        benchmark.content.storage.delete(benchmark.content.name or "")
    elif uploaded:
        benchmark.upload.storage.delete(uploaded)


def reconcile() -> None:
    """Ring again for what waits, and begin anew what a worker lost."""
    now = timezone.now()
    due = Benchmark.objects.filter(deadline__lte=now)
    lost = due.filter(state=State.READING)
    lost.filter(tries__gte=bell.MOST_TRIES).update(state=State.FAILED, sentence=LOST, deadline=None)
    lost.filter(tries__lt=bell.MOST_TRIES).update(
        state=State.WAITING, sentence="Waits to be read again: its worker was lost.", deadline=now
    )
    for benchmark in due.filter(state=State.WAITING):
        bell.ring(bell.READ_BENCHMARK, benchmark.pk)
    due.filter(state=State.WAITING).update(deadline=now + bell.REPEAT)
