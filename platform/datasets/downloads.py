"""Public files of a dataset under the name by which people know it."""

import hashlib
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Any

from django.conf import settings

from datasets.models import DatasetVersion
from ingestion.dataset_files import write_info
from ingestion.program.info import FLAG_KEYS, read_info

# What the info file tells under another name, as a run sees it; other keys, and names of features, could tell
# what the data are.
TOLD = ("name", "task", "target_type", "feat_type", "metric", "time_budget", *FLAG_KEYS)
NAMES = "_feat.name", "_label.name"
INFO = "_public.info"


def public_archive(version: DatasetVersion, name: str) -> IO[bytes]:
    """The zip of the public files, open for reading, with every file named `name`.

    Under another name than the dataset's own it is made once and kept in the data folder.
    """
    if name == version.name or version.layout == DatasetVersion.Layout.FILES:
        file: IO[bytes] = version.public_zip.open("rb")
        return file
    folder = settings.PODIUM_HOME / "renamed_datasets"
    folder.mkdir(mode=0o700, exist_ok=True)
    key = hashlib.sha256(f"{version.pk} {version.public_sha256} {version.name} {name}".encode()).hexdigest()
    kept: Path = folder / f"{key[:32]}.zip"
    if not kept.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            # Made beside its place and moved, so that a reader never sees half of it.
            fresh = Path(scratch) / "renamed.zip"
            with version.public_zip.open("rb") as source:
                _rename(source, fresh, old=version.name, new=name, scratch=Path(scratch))
            fresh.replace(kept)
    return kept.open("rb")


def _rename(source: Any, target: Path, *, old: str, new: str, scratch: Path) -> None:
    with zipfile.ZipFile(source) as given, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        for entry in given.infolist():
            suffix = Path(entry.filename).name.removeprefix(old)
            if entry.is_dir() or suffix in NAMES:
                continue
            fresh = zipfile.ZipInfo(f"{new}/{new}{suffix}", date_time=(2015, 1, 1, 0, 0, 0))
            fresh.compress_type = zipfile.ZIP_DEFLATED
            if suffix == INFO:
                made.writestr(fresh, _info(given.read(entry), new, scratch))
            else:
                with given.open(entry) as reader, made.open(fresh, "w", force_zip64=True) as writer:
                    shutil.copyfileobj(reader, writer, 2**20)


def _info(content: bytes, name: str, scratch: Path) -> bytes:
    path = scratch / "public.info"
    path.write_bytes(content)
    info = read_info(path)
    told = {key: value for key, value in info.items() if key in TOLD or key.endswith("_num")}
    write_info(path, {**told, "name": name})
    return path.read_bytes()
