"""Files of other datasets and versions on this site: what a new dataset must not repeat of them, or give away."""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db.models import QuerySet

from accounts.models import User
from datasets.checks import Finding, Severity
from datasets.checks.duplicates import TELLING_SHARE, row_hashes
from datasets.checks.leaks import BITS, MEND, information
from datasets.models import DatasetVersion
from ingestion.dataset import PUBLIC_SUFFIXES, Parsed
from ingestion.dataset_pack import BadPack, unpack_cache
from ingestion.program.data import CACHE_FOLDER, read_cached, read_index
from ingestion.program.errors import DataError

MOST_VERSIONS = 3  # earlier ones whose rows are compared, the newest first
HIDDEN_SUFFIXES = ("_valid.solution", "_test.solution")


def always_reachable() -> list[Path]:
    """What every participant gets, whatever the competition: the data of the starting kit."""
    samples = settings.ROOT / "starting_kit" / "sample_data"
    return [samples] if samples.is_dir() else []


def known_leaks(solutions: Mapping[str, Path], parsed: Parsed, owner: User) -> Iterator[Finding]:
    """An error for each hidden solution (file by part) that is a public file of a version of any dataset.

    Datasets of other organizers are not named.
    """
    told = {part: path for part, path in solutions.items() if _tells(parsed, part)}
    wanted = {_sha256(path): (part, path) for part, path in told.items()}
    for version, file in _versions_with(wanted, PUBLIC_SUFFIXES):
        part, path = wanted[str(version.checksums[file]["sha256"])]
        is_own = version.dataset.owner_id == owner.pk
        where = f"{file} of {version.dataset.slug}, version {version.number}" if is_own else "a public file"
        whose = "" if is_own else " of another organizer's dataset"
        sentence = f"the targets of the {part} part stand in {where}{whose} on this site (the same file)"
        yield Finding("leak", Severity.ERROR, path.name, sentence, MEND)


def given_away(train_solution: Path, parsed: Parsed, owner: User) -> Iterator[Finding]:
    """A warning where the training targets are hidden ones of another dataset or version of the same owner.

    Of other people's hidden solutions nothing is said: an answer would confirm a guess.
    """
    if not _tells(parsed, "train"):
        return
    wanted = {_sha256(train_solution): train_solution}
    for version, file in _versions_with(wanted, HIDDEN_SUFFIXES):
        if version.dataset.owner_id == owner.pk:
            sentence = f"these are the hidden targets {file} of {version.dataset.slug}, version {version.number}"
            mend = "Whoever gets this dataset knows them; wait until they are no longer scored."
            yield Finding("leak", Severity.WARNING, train_solution.name, sentence, mend)


def _versions_with(
    wanted: Mapping[str, object], suffixes: tuple[str, ...]
) -> Iterator[tuple[DatasetVersion, str]]:
    """Each version that has a file of a kind with one of the hashes, and the name of the file."""
    if not wanted:
        return
    versions = DatasetVersion.objects.exclude(checksums={}).select_related("dataset")
    for version in versions.only("name", "number", "checksums", "dataset__owner_id", "dataset__slug"):
        for file, entry in version.checksums.items():
            if file.endswith(suffixes) and entry.get("sha256") in wanted:
                yield version, file


def rows_given_before(parsed: Parsed, earlier: QuerySet[DatasetVersion], place: str) -> Iterator[Finding]:
    """A warning where test rows are training rows of an earlier version: its targets were given to people.

    Rows are compared whatever the order of their features, which may have been shuffled anew. What agrees by
    chance, the own training part tells.
    """
    if "test" not in parsed.features:
        return
    columns = parsed.features["train"].shape[1]
    newest = earlier.filter(feat_num=columns).exclude(cache_zip="").order_by("-number")[:MOST_VERSIONS]
    versions = list(newest)
    if not versions:
        return
    test = row_hashes(parsed.features["test"], in_any_order=True)
    by_chance = _share_in(test, row_hashes(parsed.features["train"], in_any_order=True))
    for version in versions:
        share = _share_in(test, _train_hashes(version))
        if share - by_chance >= TELLING_SHARE:
            what = f"{share:.1%} of the rows stand in the training part of version {version.number}, "
            sentence = f"{what}whose targets were given out"
            mend = "Keep the split of that version, or use it nowhere where people had it."
            yield Finding("leak", Severity.WARNING, place, sentence, mend)


def _share_in(rows: np.ndarray, others: np.ndarray) -> float:
    return float((np.isin(rows, others) & (rows != 0)).mean()) if len(rows) else 0.0


def _train_hashes(version: DatasetVersion) -> np.ndarray:
    """The hashes of the training rows of a stored version, from its binary cache; none where that is damaged."""
    with tempfile.TemporaryDirectory(prefix="dataset-", dir=settings.FILE_UPLOAD_TEMP_DIR) as scratch:
        folder, packed = Path(scratch), Path(scratch) / "cache.zip"
        try:
            with version.cache_zip.open("rb") as source, packed.open("wb") as target:
                shutil.copyfileobj(source, target, 2**20)
            unpack_cache(packed, folder)
            index = read_index(folder)["parts"]
            train = read_cached(folder / CACHE_FOLDER, "train", index["train"])
            return row_hashes(train, in_any_order=True)
        except (OSError, BadPack, DataError, KeyError):
            return np.zeros(0, dtype=np.uint64)


def _tells(parsed: Parsed, part: str) -> bool:
    """Whether a solution is long enough that it is no other's by chance."""
    solution = parsed.solutions.get(part)
    return solution is not None and max(information(column) for column in solution.T) >= BITS


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
