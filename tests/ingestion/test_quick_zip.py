"""A zip that is made quickly holds what was put into it, whoever compresses."""

import hashlib
import zipfile

import numpy as np
import pytest

from ingestion import quick_zip
from ingestion.quick_zip import PIECE, add_file


@pytest.fixture(params=["igzip", "zlib"])
def compressor(request, monkeypatch):
    if request.param == "zlib":
        monkeypatch.setattr(quick_zip, "isal_zlib", None)
    return request.param


@pytest.fixture
def text(tmp_path):
    rows = np.random.default_rng(4).normal(size=(30_000, 5)).round(4)
    path = tmp_path / "numbers.data"
    np.savetxt(path, rows, fmt="%.4f")
    assert path.stat().st_size > PIECE
    return path


@pytest.mark.parametrize("compressed", [True, False])
def test_what_comes_out_is_what_was_put_in(text, tmp_path, compressor, compressed):
    with zipfile.ZipFile(tmp_path / "made.zip", "w") as archive:
        told = add_file(archive, text, "set/numbers.data", compressed=compressed)
    assert told == hashlib.sha256(text.read_bytes()).hexdigest()
    with zipfile.ZipFile(tmp_path / "made.zip") as archive:
        assert archive.testzip() is None
        assert archive.read("set/numbers.data") == text.read_bytes()
        entry = archive.getinfo("set/numbers.data")
    assert entry.file_size == text.stat().st_size
    assert (entry.compress_size < 0.6 * entry.file_size) == compressed


def test_the_same_file_gives_the_same_bytes_whenever_it_is_packed(text, tmp_path, compressor):
    made = []
    for name in ("one.zip", "two.zip"):
        text.touch()
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            add_file(archive, text, "numbers.data")
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]


def test_an_empty_file_and_one_that_nobody_wants_any_more(text, tmp_path, compressor):
    empty = tmp_path / "empty"
    empty.touch()
    with zipfile.ZipFile(tmp_path / "made.zip", "w") as archive:
        add_file(archive, empty, "empty")
        add_file(archive, text, "given up", is_wanted=lambda: False)
    with zipfile.ZipFile(tmp_path / "made.zip") as archive:
        assert (archive.read("empty"), archive.read("given up")) == (b"", b"")


def test_igzip_is_what_the_site_uses():
    assert quick_zip.isal_zlib is not None
