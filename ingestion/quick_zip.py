"""Zips of large files, written at the speed of their reading.

Text of numbers goes through zlib at some 80 MB a second, so that packing a dataset took longer than reading and
checking it. ISA-L's igzip (the package `isal`) is three times as fast as zlib's quickest level, and its files are
smaller. Any unzip reads them. Where the package is not installed, zlib serves.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

try:
    from isal import isal_zlib
except ImportError:  # a participant's machine
    isal_zlib = None  # type: ignore[assignment]

FIXED_DATE = (2015, 1, 1, 0, 0, 0)  # the same files give the same bytes
PIECE = 2**20
_LEVEL = 1
_RAW = -zlib.MAX_WBITS  # a deflate stream without a header, as zips hold it


def add_file(
    archive: zipfile.ZipFile,
    path: Path,
    name: str,
    *,
    compressed: bool = True,
    is_wanted: Callable[[], bool] = lambda: True,
) -> str:
    """Add a file under a name and return its SHA-256, in hexadecimal digits.

    Half of it is added where `is_wanted` says meanwhile that nobody needs it any more.
    """
    digest = hashlib.sha256()
    entry = zipfile.ZipInfo(name, date_time=FIXED_DATE)
    entry.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    entry._compresslevel = _LEVEL  # type: ignore[attr-defined]  # no other way for one entry
    with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as sink:
        if compressed and isal_zlib is not None:
            # zipfile has no place for another compressor; this one has zlib's interface.
            _replace_compressor(sink)
        while is_wanted() and (piece := source.read(PIECE)):
            sink.write(piece)
            digest.update(piece)
    return digest.hexdigest()


def _replace_compressor(sink: Any) -> None:
    if getattr(sink, "_compressor", None) is not None:
        sink._compressor = isal_zlib.compressobj(_LEVEL, zlib.DEFLATED, _RAW)
