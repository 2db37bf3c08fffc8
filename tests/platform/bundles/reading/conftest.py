"""A writer of bundles for every test of the reader."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.platform.bundles.reading.writing import Writer


@pytest.fixture
def bundle(tmp_path: Path) -> Iterator[Writer]:
    """Writes bundles and reads them."""
    writer = Writer(tmp_path)
    yield writer
    writer.close()
