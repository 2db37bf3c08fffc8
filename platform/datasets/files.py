"""The stored files of a version: kept at import, checked against their checksums, opened to be scored with."""

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files import File

from datasets.encryption import CannotDecrypt
from datasets.models import DatasetVersion
from datasets.storage import Unsealed
from ingestion.dataset import public_files, solution_files
from ingestion.dataset_pack import pack_cache, read_features

PIECE = 2**20
PARTS = ("valid", "test")
FIXED_DATE = (2015, 1, 1, 0, 0, 0)  # so that the same files give the same bytes
LONGEST_PRIVATE_INFO = 20_000


class Damaged(Exception):
    """A stored file is not what was imported."""


def keep_files(
    version: DatasetVersion,
    folder: Path,
    *,
    label: str,
    features: Mapping[str, Any] | None = None,
    stored: list[Any],
) -> None:
    """Store the files of a dataset's folder and write on the version, which is not saved, where and what they are.

    label: what the stored files are called. features: what was read of the `.data` files, by part; without it
    there is no binary cache. stored: gets every file that was stored, for whoever has to undo it.
    """
    with scratch_folder() as scratch, ThreadPoolExecutor(1) as beside:
        packing = beside.submit(_packed, folder, features, scratch) if features else None
        zipped = _zip_public(folder, version.name, scratch / "public.zip")
        version.public_sha256, version.public_bytes = _store(version.public_zip, zipped, f"{label}.zip", stored)
        if packing:
            _store_cache(version, packing.result(), label, stored)
    checksums = {path.name: _described(path) for path in public_files(folder)}
    for part, path in solution_files(folder).items():
        _store(version.solution(part), path, path.name, stored)
        checksums[path.name] = _described(path)
    version.checksums = checksums
    private = folder / f"{version.name}_private.info"
    if private.exists():
        text = private.read_text(errors="replace").replace("\0", "")
        version.private_info = text[:LONGEST_PRIVATE_INFO]


def build_cache(version: DatasetVersion) -> None:
    """Make the binary cache of a stored version from its public files, and save it."""
    stored: list[Any] = []
    with scratch_folder() as scratch:
        public = version.public_zip
        with public.storage.open(str(public.name), "rb") as file, zipfile.ZipFile(file) as archive:
            archive.extractall(scratch / "text")
        folder = scratch / "text" / version.name
        _store_cache(version, _packed(folder, read_features(folder), scratch), version.dataset.slug, stored)
    version.save(update_fields=["cache_zip", "cache_sha256", "cache_bytes"])


def damages(version: DatasetVersion) -> list[str]:
    """What is wrong with the stored files of a version, one sentence each; reads all of them."""
    found = []
    checks = [("public files", version.public_zip, version.public_sha256)]
    if version.cache_zip:
        checks.append(("binary cache", version.cache_zip, version.cache_sha256))
    checks += [(f"solution of {part}", version.solution(part), _known(version, part)) for part in PARTS]
    for what, file, sha256 in checks:
        if not file:
            continue
        try:
            with file.storage.open(str(file.name), "rb") as opened:
                is_right = not sha256 or _sha256(opened) == sha256
        except (OSError, CannotDecrypt) as problem:
            found.append(f"The {what} of {version} cannot be read: {problem}")
        else:
            if not is_right:
                found.append(f"The {what} of {version} are not what was imported: their SHA-256 differs.")
    return found


@contextmanager
def solution_path(version: DatasetVersion, part: str, name: str) -> Iterator[Path]:
    """A path to the plain text of a solution under a given name; gone afterwards.

    An encrypted one is given in memory where the system can do that. Raises Damaged where the text is not the one
    that was imported, and CannotDecrypt where no key opens it.
    """
    field = version.solution(part)
    with field.storage.open(field.name, "rb") as file:
        known = _known(version, part)
        if known and _sha256(file) != known:
            raise Damaged(f"The solution of {part} of {version} is not the one that was imported.")
        file.seek(0)
        in_memory = file.path if isinstance(file, Unsealed) else None
        if in_memory is not None:
            yield in_memory
            return
        with scratch_folder() as scratch:
            path = scratch / Path(name).name
            with path.open("wb") as target:
                shutil.copyfileobj(file, target, PIECE)
            yield path


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder of the site for a moment."""
    folder = Path(tempfile.mkdtemp(prefix="dataset-", dir=settings.FILE_UPLOAD_TEMP_DIR))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _known(version: DatasetVersion, part: str) -> str:
    """The checksum of a solution as it was imported; empty for versions from before there were any."""
    return str(version.checksums.get(f"{version.name}_{part}.solution", {}).get("sha256", ""))


def _packed(folder: Path, features: Mapping[str, Any], scratch: Path) -> Path:
    arrays = scratch / "arrays"
    arrays.mkdir()
    return pack_cache(folder, features, scratch / "cache.zip", scratch=arrays)


def _store_cache(version: DatasetVersion, packed: Path, label: str, stored: list[Any]) -> None:
    version.cache_sha256, version.cache_bytes = _store(version.cache_zip, packed, f"{label}.zip", stored)


def _store(field: Any, path: Path, name: str, stored: list[Any]) -> tuple[str, int]:
    """Store a file in a field of a version that is not saved; returns its SHA-256 and size."""
    with path.open("rb") as file:
        sha256 = _sha256(file)
        file.seek(0)
        field.save(name, File(file), save=False)
    stored.append(field)
    return sha256, path.stat().st_size


def _described(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return {"sha256": _sha256(file), "bytes": path.stat().st_size}


def _sha256(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while piece := file.read(PIECE):
        digest.update(piece)
    return digest.hexdigest()


def _zip_public(folder: Path, name: str, target: Path) -> Path:
    """Zip the public files; quickly, because nothing of an import takes longer."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(public_files(folder)):
            entry = zipfile.ZipInfo(f"{name}/{path.name}", date_time=FIXED_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry._compresslevel = 1  # type: ignore[attr-defined]  # no other way for one entry
            with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as sink:
                shutil.copyfileobj(source, sink, PIECE)
    return target
