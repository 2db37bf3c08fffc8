"""What people do with benchmarks: send, publish or hide, delete."""

import zipfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from django.core.files import File
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.refusals import Refused
from analysis import bell
from analysis.benchmarks import policy, work
from analysis.benchmarks.reading import Read, Tell, read
from analysis.models import Benchmark
from datasets.scratch import scratch_folder

MOST_BYTES = 100 * 2**20  # of a form; the command takes any size
MOST_FILES = 50
MOST_OF_ONE = 30  # benchmarks that a person may keep
SUFFIXES = (".csv", ".parquet", ".zip")
FIRST_INDEX = (0, 10**6)


def send(
    *,
    owner: User,
    title: str,
    files: Sequence[tuple[str, IO[bytes]]],
    source: str = "",
    algorithm: str = "",
    first_index: int | None = None,
    is_public: bool = False,
) -> Benchmark:
    """Keep the files of a benchmark, one zip or several tables, for the site's worker to read."""
    options = checked(owner, title, [name for name, _ in files], algorithm, first_index)
    with scratch_folder("benchmark-") as folder:
        packed = folder / "upload.zip"
        _pack(files, packed)
        with packed.open("rb") as content, transaction.atomic():
            benchmark = Benchmark(
                owner=owner,
                title=title.strip(),
                source=source.strip()[:300],
                is_public=is_public,
                options=options,
                sentence="Waits for the site's worker.",
                deadline=timezone.now() + bell.REPEAT,
            )
            benchmark.upload.save("upload.zip", File(content), save=False)
            benchmark.save()
            transaction.on_commit(lambda: bell.ring(bell.READ_BENCHMARK, benchmark.pk), robust=True)
    return benchmark


def import_files(
    *,
    owner: User,
    title: str,
    paths: Sequence[Path],
    source: str = "",
    algorithm: str = "",
    first_index: int | None = None,
    is_public: bool = False,
    tell: Tell = lambda *_: None,
) -> Benchmark:
    """Read a benchmark's files here and keep it: for the command. Folders and zips stand for what is in them."""
    options = checked(owner, title, [path.name for path in paths if path.is_file()], algorithm, first_index)
    with scratch_folder("benchmark-") as folder:
        tables = [table for path in paths for table in work.tables_of(path, folder)]
        found: Read = read(tables, algorithm=options["algorithm"], first_index=first_index, tell=tell)
        benchmark = Benchmark(
            owner=owner, title=title.strip(), source=source.strip()[:300], is_public=is_public, options=options
        )
        work.keep(benchmark, found, folder)
    return benchmark


def checked(
    owner: User, title: str, names: Sequence[str], algorithm: str, first_index: int | None
) -> dict[str, Any]:
    """How it is to be read; Refused where the person may not, or something is missing or of the wrong kind."""
    if not policy.may_send(owner):
        mend = "Ask the operator for the permission to make competitions."
        raise Refused("Only organizers may send benchmarks.", status=403, mend=mend)
    if Benchmark.objects.filter(owner=owner).count() >= MOST_OF_ONE:
        raise Refused(f"You keep {MOST_OF_ONE} benchmarks already.", status=409, mend="Delete one first.")
    if not title.strip() or len(title.strip()) > 120:
        raise Refused("A benchmark has a title of at most 120 letters.")
    if len(names) > MOST_FILES:
        raise Refused(f"A benchmark has at most {MOST_FILES} files.", mend="Send them in one zip.")
    wrong = [name for name in names if not name.lower().endswith(SUFFIXES)]
    if wrong:
        raise Refused(f"{wrong[0]} is neither CSV nor Parquet nor a zip of them.")
    if first_index is not None and not FIRST_INDEX[0] <= first_index <= FIRST_INDEX[1]:
        raise Refused("The first configuration is a number from 0 to a million.")
    return {"algorithm": algorithm.strip()[:60] or "model", "first_index": first_index}


def _pack(files: Sequence[tuple[str, IO[bytes]]], target: Path) -> None:
    """One zip as it came; several files as one zip."""
    if not files:
        raise Refused("No file was sent.", mend="Choose the files of the results and of the parameters.")
    if len(files) == 1 and files[0][0].lower().endswith(".zip"):
        with target.open("wb") as out:
            while block := files[0][1].read(2**20):
                out.write(block)
        return
    if any(name.lower().endswith(".zip") for name, _ in files):
        raise Refused("Send one zip, or tables, but not both.")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for number, (name, file) in enumerate(files):
            plain = Path(name).name.replace("\\", "_") or f"table{number}.csv"
            if plain in packed.namelist():
                raise Refused(f"Two files have the name {plain}.")
            with packed.open(plain, "w", force_zip64=True) as out:
                while block := file.read(2**20):
                    out.write(block)


def publish(benchmark: Benchmark, *, user: User, is_public: bool) -> None:
    """Let everybody see it, or nobody else any more."""
    _check_change(benchmark, user)
    Benchmark.objects.filter(pk=benchmark.pk).update(is_public=is_public)


def delete(benchmark: Benchmark, *, user: User) -> None:
    """Remove it and its files."""
    _check_change(benchmark, user)
    with transaction.atomic():
        Benchmark.objects.filter(pk=benchmark.pk).delete()
        for file in (benchmark.upload, benchmark.content):
            if file:
                transaction.on_commit(partial(file.storage.delete, file.name or ""), robust=True)


def _check_change(benchmark: Benchmark, user: User) -> None:
    if not policy.may_change(user, benchmark):
        raise Refused("Only its owner may change a benchmark.", status=403)
