"""Folders of the site for a moment."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings


@contextmanager
def scratch_folder(prefix: str) -> Iterator[Path]:
    """A folder among the uploads, private as they are; gone afterwards, and swept where its process was killed."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=settings.FILE_UPLOAD_TEMP_DIR))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
