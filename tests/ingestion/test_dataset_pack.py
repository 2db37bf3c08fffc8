"""The cache of a dataset as a zip: it saves the parsing, changes nothing, and is taken for nothing but that."""

import hashlib
import json
import shutil
import zipfile

import numpy as np
import pytest
import scipy.sparse

from ingestion import dataset_input
from ingestion.dataset import load_dataset, prepare_input, write_dataset
from ingestion.dataset_cache import DatasetCache
from ingestion.dataset_pack import BadPack, keep_cache, pack_cache, read_features, unpack_cache
from ingestion.program.data import CACHE_FOLDER, Dataset
from ingestion.site import SiteError


def table(folder, *, sparse=False, name="tiny"):
    random = np.random.default_rng(3)
    rows = {part: random.normal(size=(count, 5)).round(3) for part, count in (("train", 9), ("test", 4))}
    for features in rows.values():
        features[features < 0] = 0
        features[2] = 0  # an empty line where it is sparse
    return write_dataset(
        folder / name, name, task="binary.classification", metric="AUC", time_budget=5,
        train=(rows["train"], np.arange(9) % 2), test=(rows["test"], np.arange(4) % 2), sparse=sparse,
    )  # fmt: skip


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def folder(tmp_path, request):
    return table(tmp_path, sparse=request.param)


def pack(folder, tmp_path, name="cache.zip"):
    scratch = tmp_path / f"scratch of {name}"
    scratch.mkdir()
    packed = pack_cache(folder, read_features(folder), tmp_path / name, scratch=scratch)
    assert list(scratch.iterdir()) == []
    return packed


def as_array(features):
    return features.toarray() if scipy.sparse.issparse(features) else features


def no_parsing(monkeypatch):
    def refuse(*args):
        raise AssertionError("the text was parsed")

    monkeypatch.setattr(dataset_input.Tables, "features", refuse)


def test_a_packed_cache_saves_the_parsing_and_gives_the_same_input(folder, tmp_path, monkeypatch):
    plain = prepare_input(folder, tmp_path / "plain")
    unpack_cache(pack(folder, tmp_path), folder)
    no_parsing(monkeypatch)
    laid = prepare_input(folder, tmp_path / "laid")
    for part in ("train", "test"):
        assert np.array_equal(as_array(Dataset(laid).features(part)), as_array(Dataset(plain).features(part)))
    assert (laid / "tiny_public.info").read_text() == (plain / "tiny_public.info").read_text()
    assert {path.name for path in (laid / "cache").iterdir()} == {
        path.name for path in (plain / "cache").iterdir()
    }


def test_the_cache_of_another_text_is_not_taken(folder, tmp_path):
    unpack_cache(pack(folder, tmp_path), folder)
    data = folder / "tiny_test.data"
    data.write_text(data.read_text().replace("0.", "1.", 1))
    plain = table(tmp_path / "other", sparse=":" in data.read_text())
    shutil.copy(data, plain / "tiny_test.data")
    found = Dataset(prepare_input(folder, tmp_path / "laid")).features("test")
    assert np.array_equal(as_array(found), as_array(Dataset(plain).features("test")))


def test_the_same_text_gives_the_same_zip_under_any_name(tmp_path):
    packed = [pack(table(tmp_path / name, name=name), tmp_path, f"{name}.zip") for name in ("ada", "bob")]
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in packed}
    assert len(digests) == 1


def test_a_packed_cache_tells_neither_labels_nor_names(folder, tmp_path):
    with zipfile.ZipFile(pack(folder, tmp_path)) as archive:
        assert not [name for name in archive.namelist() if "solution" in name or "tiny" in name]
        index = json.loads(archive.read(f"{CACHE_FOLDER}/cache.json"))
    assert set(index) == {"version", "parts", "text"}


@pytest.mark.parametrize(
    "name", ["../outside", "cache/../../outside", "/outside", "tiny_test.solution", "cache/x.py"]
)
def test_a_zip_with_other_files_is_refused_before_anything_is_written(tmp_path, name):
    packed = tmp_path / "bad.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("cache/cache.json", "{}")
        archive.writestr(name, "x")
    (tmp_path / "inner").mkdir()
    with pytest.raises(BadPack):
        unpack_cache(packed, tmp_path / "inner")
    assert list((tmp_path / "inner").iterdir()) == []


def test_a_damaged_zip_leaves_nothing(folder, tmp_path):
    packed = pack(folder, tmp_path)
    content = bytearray(packed.read_bytes())
    content[60:120] = bytes(60)
    packed.write_bytes(content)
    (tmp_path / "inner").mkdir()
    with pytest.raises(BadPack):
        unpack_cache(packed, tmp_path / "inner")
    assert not (tmp_path / "inner" / CACHE_FOLDER).exists()


def test_arrays_that_were_kept_are_loaded_in_place_of_the_text(folder, monkeypatch):
    parsed = load_dataset(folder)
    assert keep_cache(folder, {"train": parsed.train.X, "test": parsed.test.X})
    kept = (folder / CACHE_FOLDER / "cache.json").stat().st_ino
    no_parsing(monkeypatch)
    loaded = load_dataset(folder)
    for part in ("train", "test"):
        assert np.array_equal(as_array(getattr(loaded, part).X), as_array(getattr(parsed, part).X))
    assert keep_cache(folder, {"train": loaded.train.X, "test": loaded.test.X})
    assert (folder / CACHE_FOLDER / "cache.json").stat().st_ino == kept, "what fits is not written again"
    assert not list(folder.glob(".cache-*"))


def test_arrays_of_a_text_that_was_changed_are_not_loaded_and_are_replaced(folder):
    parsed = load_dataset(folder)
    keep_cache(folder, {"train": parsed.train.X, "test": parsed.test.X})
    data = folder / "tiny_test.data"
    data.write_text(data.read_text().replace("0.", "7.", 1))
    changed = load_dataset(folder)
    assert as_array(changed.test.X).max() >= 7
    assert keep_cache(folder, {"train": changed.train.X, "test": changed.test.X})
    assert np.array_equal(as_array(load_dataset(folder).test.X), as_array(changed.test.X))


def test_a_folder_that_cannot_be_written_stays_as_it_is(folder, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.TemporaryDirectory", refuse)
    assert not keep_cache(folder, read_features(folder))
    assert not (folder / CACHE_FOLDER).exists()


class Site:
    """Gives out the two zips of a dataset; what it calls the cache may be something else."""

    def __init__(self, tmp_path, folder):
        self.files = {
            "/data": shutil.make_archive(str(tmp_path / "tiny"), "zip", folder.parent, folder.name),
            "/cache": pack(folder, tmp_path),
        }
        self.asked = []

    def download(self, url, target):
        self.asked.append(url)
        if self.files[url] is None:
            raise SiteError("A downloaded file is not the one that the site announced.")
        return shutil.copyfile(self.files[url], target)


WANTED = {"sha256": "5" * 64, "name": "tiny", "url": "/data", "cache": {"url": "/cache", "sha256": "6" * 64}}


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path, table(tmp_path / "site"))


@pytest.fixture
def cache(tmp_path):
    cache = DatasetCache(tmp_path / "kept")
    cache.open()
    return cache


def test_a_worker_takes_the_arrays_of_the_site_and_parses_nothing(site, cache, tmp_path, monkeypatch):
    no_parsing(monkeypatch)
    with cache.dataset(WANTED, site.download) as kept:
        laid = prepare_input(kept, tmp_path / "input", alias="hidden", link=True)
        assert Dataset(laid).features("train").shape == (9, 5)
    assert cache.is_intact(WANTED)
    assert site.asked == ["/data", "/cache"]
    assert not list((tmp_path / "kept").glob("*.zip"))


@pytest.mark.parametrize("content", [None, b"no zip", b""])
def test_a_worker_reads_the_text_where_the_arrays_are_no_good(site, cache, tmp_path, content):
    if content is None:
        site.files["/cache"] = None
    else:
        site.files["/cache"].write_bytes(content)
    with cache.dataset(WANTED, site.download) as kept:
        assert Dataset(kept).features("train").shape == (9, 5)
    assert cache.is_intact(WANTED)


def test_a_worker_reads_the_text_where_the_arrays_are_those_of_another(site, cache, tmp_path):
    other = table(tmp_path / "another", sparse=True)
    site.files["/cache"] = pack(other, tmp_path, "another.zip")
    with cache.dataset(WANTED, site.download) as kept:
        assert not scipy.sparse.issparse(Dataset(kept).features("train"))


def test_a_site_without_arrays_asks_for_nothing_more(site, cache):
    with cache.dataset({key: WANTED[key] for key in ("sha256", "name", "url")}, site.download):
        pass
    assert site.asked == ["/data"]
