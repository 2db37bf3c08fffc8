"""The binary cache of a dataset as one zip beside the public one, so that no worker has to parse its text.

Made once, where the dataset is imported. It holds the arrays and an index with the digests of the text that they
were read from: `prepare_input` takes them over where the text beside them is exactly that, and else reads it.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingestion.dataset_files import dataset_folder
from ingestion.dataset_input import open_tables, text_digests
from ingestion.program.data import CACHE_FOLDER, CACHE_INDEX, CACHE_VERSION, PARTS, read_index, write_cached
from ingestion.program.info import count_of
from ingestion.quick_zip import add_file

SAMPLE = 2**20
WORTH_IT = 0.6  # of its size: random numbers hardly shrink, and unpacking them would only cost time
_NAMES = re.compile(rf"{CACHE_FOLDER}/({re.escape(CACHE_INDEX)}|[a-z]+(\.[a-z]+)?\.npy)")


class BadPack(Exception):
    """A zip that is no packed cache."""


def read_features(folder: Path) -> dict[str, Any]:
    """The features of each part, (n, feat_num) as ndarray or CSR, read from the text. Raises DataError."""
    tables, _ = open_tables(dataset_folder(folder))
    found = {}
    for part in PARTS:
        solution = tables.solution(part)
        rows = len(solution) if solution is not None else count_of(tables.info, f"{part}_num")
        features = tables.features(part, rows)
        if features is not None:
            found[part] = features
    return found


def pack_cache(
    folder: Path,
    features: Mapping[str, Any],
    target: Path,
    *,
    scratch: Path,
    digests: Mapping[str, str] | None = None,
) -> Path:
    """Write the cache of a dataset's folder as a zip and return its path.

    features: what was read from the folder's `.data` files, by part. scratch: an empty folder for the arrays,
    which are gone afterwards. digests: the SHA-256 of the `.data` files by part, where they are known already. The
    zip names neither the dataset nor its labels: the index has shapes and digests.
    """
    arrays = scratch / CACHE_FOLDER
    arrays.mkdir()
    try:
        _write_arrays(arrays, folder, features, digests)
        with zipfile.ZipFile(target, "w") as archive:
            for path in sorted(arrays.iterdir()):
                add_file(archive, path, f"{CACHE_FOLDER}/{path.name}", compressed=_shrinks(path))
    finally:
        shutil.rmtree(arrays)
    return target


def keep_cache(folder: Path, features: Mapping[str, Any]) -> bool:
    """Keep the arrays of a dataset in its own folder, so that it is not parsed again; whether they are there now.

    features: what was read from the folder's `.data` files, by part. Arrays that fit the text stay; a folder that
    cannot be written stays as it is.
    """
    folder = dataset_folder(folder)
    try:
        if read_index(folder).get("text") == text_digests(folder):
            return True
        with tempfile.TemporaryDirectory(prefix=".cache-", dir=folder) as scratch:
            arrays = Path(scratch) / CACHE_FOLDER
            arrays.mkdir()
            _write_arrays(arrays, folder, features)
            shutil.rmtree(folder / CACHE_FOLDER, ignore_errors=True)
            arrays.rename(folder / CACHE_FOLDER)  # there as a whole or not at all
    except OSError:
        return False
    return True


def _write_arrays(
    arrays: Path, folder: Path, features: Mapping[str, Any], digests: Mapping[str, str] | None = None
) -> None:
    entries = {part: write_cached(arrays, part, features[part]) for part in PARTS if part in features}
    known = digests or text_digests(dataset_folder(folder))
    # In one order, whoever computed them: the same arrays give the same bytes.
    text = {part: known[part] for part in PARTS if part in known}
    index = {"version": CACHE_VERSION, "parts": entries, "text": text}
    (arrays / CACHE_INDEX).write_text(json.dumps(index))


def _shrinks(path: Path) -> bool:
    """Whether a piece out of the middle of a file gets much smaller."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - SAMPLE) // 2)
        sample = file.read(SAMPLE)
    return len(zlib.compress(sample, 1)) < WORTH_IT * len(sample)


def unpack_cache(packed: Path, folder: Path) -> None:
    """Lay the arrays of a packed cache into a dataset's folder, all or nothing.

    Raises BadPack where it is no packed cache, OSError where it cannot be written.
    """
    try:
        with zipfile.ZipFile(packed) as archive:
            names = archive.namelist()
            if len(set(names)) != len(names) or not all(_NAMES.fullmatch(name) for name in names):
                raise BadPack("it holds other files than those of a cache")
            archive.extractall(folder)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as problem:
        shutil.rmtree(folder / CACHE_FOLDER, ignore_errors=True)
        raise BadPack(f"it cannot be unpacked: {problem}") from problem
    except OSError:
        shutil.rmtree(folder / CACHE_FOLDER, ignore_errors=True)
        raise
