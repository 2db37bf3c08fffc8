"""Bundles of this folder, packed and read."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bundles.reading import BundleReport, read_bundle
from tests.bundles import packing
from tests.platform.clock import clock  # noqa: F401

Read = Callable[..., BundleReport]


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Read]:
    """The report of one bundle, by its name; what was unpacked is removed afterwards."""
    with ExitStack() as opened:

        def reading(name: str, folder: Path = packing.TRAITS, **options: object) -> BundleReport:
            path = packing.bundle(folder / name, tmp_path / f"{name}.zip")
            return opened.enter_context(read_bundle(path, **options))

        yield reading
