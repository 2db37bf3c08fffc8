"""Olga may send datasets, Alice may not."""

import io
from pathlib import Path

import pytest

from datasets.uploads import bell, receiving
from tests.platform import factories as make
from tests.platform.datasets.test_import import small


@pytest.fixture(autouse=True)
def rung(monkeypatch, django_capture_on_commit_callbacks) -> list[int]:
    """The uploads that the doorbell was rung for; no broker is asked."""
    ids: list[int] = []
    monkeypatch.setattr(bell, "ring", ids.append)
    return ids


@pytest.fixture
def olga(db):
    make.competition("contest")
    return make.user("olga")


def zipped(folder: Path, **changed) -> bytes:
    """The small dataset as a zip."""
    files = {f"tiny/{path.name}": path.read_bytes() for path in small(folder, **changed).iterdir()}
    return make.zip_bytes(files)


def sent(olga, content: bytes, filename: str = "tiny.zip", **fields):
    """An upload that has arrived as a whole."""
    upload = receiving.begin(olga, filename=filename, size=len(content), **fields)
    return receiving.receive_whole(upload, io.BytesIO(content))
