"""The stored files of a version: kept at import, checked against their checksums, opened to be scored with."""

import hashlib
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import IO, Any

from django.core.files import File

from datasets.encryption import CannotDecrypt
from datasets.models import DatasetVersion
from datasets.scratch import scratch_folder
from datasets.storage import Unsealed
from ingestion.dataset import public_files, solution_files
from ingestion.dataset_pack import pack_cache, read_features
from ingestion.program.info import find_name
from ingestion.quick_zip import add_file

PIECE = 2**20
PARTS = ("valid", "test")
LONGEST_PRIVATE_INFO = 20_000


class Damaged(Exception):
    """A stored file is not what was imported."""


class Packing:
    """The zips of a dataset's folder, made beside the reading and the checks, which take as long."""

    def __init__(self, folder: Path, scratch: Path, beside: Executor) -> None:
        self._folder, self._scratch, self._beside = folder, scratch, beside
        self._target = scratch / "public.zip"
        self._stopped = Event()
        self._public: Future[dict[str, Any]] | None = None
        self._arrays: Future[Path] | None = None

    def begin(self) -> None:
        """Begin with the public files."""
        self._public = self._beside.submit(_zip_public, self._folder, self._target, self._stopped)

    def arrays(self, features: Mapping[str, Any]) -> None:
        """Begin with the arrays: what was read of the `.data` files, by part, which nobody changes any more."""
        if self._public is None:
            self.begin()  # before it: the arrays are packed with what it finds, by the same thread
        self._arrays = self._beside.submit(self._packed_with_known_digests, features)

    def _packed_with_known_digests(self, features: Mapping[str, Any]) -> Path:
        _, files = self.public_zip()
        digests = {
            part: told["sha256"]
            for name, told in files.items()
            for part in ("train", *PARTS)
            if name.endswith(f"_{part}.data")
        }
        return _packed(self._folder, features, self._scratch, digests)

    def public_zip(self) -> tuple[Path, dict[str, Any]]:
        """The finished zip of the public files, and of each its SHA-256 and size. Raises what making it raised."""
        if self._public is None:
            self.begin()
        assert self._public is not None, "it was begun"
        return self._target, self._public.result()

    def arrays_zip(self) -> Path | None:
        """The finished zip of the arrays; None where none were given."""
        return self._arrays.result() if self._arrays else None

    def stop(self) -> None:
        """Give up what is not finished; nobody wants it."""
        self._stopped.set()
        for future in (self._public, self._arrays):
            if future is not None:
                future.cancel()


@contextmanager
def packing(folder: Path) -> Iterator[Packing]:
    """Where the zips of a dataset's folder are made; what was not asked for at the end is given up."""
    with scratch_folder("dataset-") as scratch, ThreadPoolExecutor(1) as beside:
        packing = Packing(folder, scratch, beside)
        try:
            yield packing
        finally:
            packing.stop()


def keep_files(version: DatasetVersion, folder: Path, packing: Packing, *, label: str, stored: list[Any]) -> None:
    """Store the files of a dataset's folder and write on the version, which is not saved, where and what they are.

    label: what the stored zips are called. stored: gets every file that was stored, for whoever has to undo it.
    """
    zipped, checksums = packing.public_zip()
    version.public_sha256, version.public_bytes = _store(version.public_zip, zipped, f"{label}.zip", stored)
    arrays = packing.arrays_zip()
    if arrays is not None:
        _store_cache(version, arrays, label, stored)
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
    with scratch_folder("dataset-") as scratch:
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
    checks.append(("reference data", version.reference, version.reference_sha256))
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
        with scratch_folder("dataset-") as scratch:
            path = scratch / Path(name).name
            with path.open("wb") as target:
                shutil.copyfileobj(file, target, PIECE)
            yield path


def _known(version: DatasetVersion, part: str) -> str:
    """The checksum of a solution as it was imported; empty for versions from before there were any."""
    return str(version.checksums.get(f"{version.name}_{part}.solution", {}).get("sha256", ""))


def _packed(
    folder: Path, features: Mapping[str, Any], scratch: Path, digests: Mapping[str, str] | None = None
) -> Path:
    arrays = scratch / "arrays"
    arrays.mkdir()
    return pack_cache(folder, features, scratch / "cache.zip", scratch=arrays, digests=digests)


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


def _zip_public(folder: Path, target: Path, stopped: Event) -> dict[str, Any]:
    """Zip the public files under the dataset's name, half of it where it was stopped; returns what each is."""
    checksums: dict[str, Any] = {}
    files = public_files(folder)
    name = find_name(files[0].parent)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            sha256 = add_file(archive, path, f"{name}/{path.name}", is_wanted=lambda: not stopped.is_set())
            checksums[path.name] = {"sha256": sha256, "bytes": path.stat().st_size}
    return checksums
