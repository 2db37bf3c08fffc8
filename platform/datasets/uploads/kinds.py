"""What a file that an organizer sent is: a split dataset in AutoML format, or a table that is to be prepared."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from datasets.actions import dataset_folder

TRAINING = "_train.data"


@contextmanager
def opened_dataset(path: Path) -> Iterator[Path | None]:
    """The folder of the split dataset in a zip, gone afterwards; None for everything else, which is a table.

    Raises Refused for a zip that is not opened safely.
    """
    if not _lists_training(path):
        yield None
        return
    with dataset_folder(path) as folder:
        yield folder


def _lists_training(path: Path) -> bool:
    """Whether a file is a zip with training data in it, by its list of names alone."""
    if not zipfile.is_zipfile(path):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(TRAINING) for name in archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError):
        return False  # whoever reads it as a table says what is wrong with it
