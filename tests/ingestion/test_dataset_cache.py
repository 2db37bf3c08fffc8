"""What a worker keeps of datasets: how much, for how long, and what must not stay."""

import hashlib
import shutil

import pytest

from ingestion.dataset import prepare_input
from ingestion.dataset_cache import BLIND_IDLE_SECONDS, DatasetCache
from tests.ingestion.runs import write_tiny_dataset


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


class Site:
    """Gives out the zip of a small dataset under as many hashes as there are names."""

    def __init__(self, folder):
        write_tiny_dataset(folder / "zipped" / "tiny")
        self.zip = shutil.make_archive(str(folder / "tiny"), "zip", folder / "zipped")
        self.downloads = []

    def download(self, url, target):
        self.downloads.append(url)
        return shutil.copyfile(self.zip, target)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


@pytest.fixture
def make_cache(tmp_path, clock):
    def make(**options):
        cache = DatasetCache(tmp_path / "datasets", clock=clock, **options)
        cache.open()
        return cache

    return make


def wanted(number, *, blind=False):
    key = hashlib.sha256(str(number).encode()).hexdigest()
    return {"sha256": key, "name": "tiny", "url": f"/{number}", "blind": blind}


def use(cache, site, number, **options):
    with cache.dataset(wanted(number, **options), site.download) as folder:
        assert (folder / "tiny_train.data").is_file()


def kept(cache):
    return sorted(path.name for path in cache.folder.iterdir() if path.is_dir())


def keys(*numbers):
    return sorted(wanted(number)["sha256"] for number in numbers)


def test_a_dataset_is_fetched_once_and_kept_where_nobody_else_looks(make_cache, site):
    cache = make_cache()
    for _ in range(3):
        use(cache, site, 1)
    assert site.downloads == ["/1"]
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    assert not list(cache.folder.glob("*.zip"))


def test_the_one_that_was_not_used_for_longest_goes_first(make_cache, site, clock):
    cache = make_cache()
    use(cache, site, 1)
    one = sum(path.stat().st_size for path in (cache.folder / keys(1)[0]).rglob("*") if path.is_file())
    cache.limit = int(2.5 * one)
    for number in (2, 1, 3):
        clock.now += 60
        use(cache, site, number)
    assert kept(cache) == keys(1, 3)


def test_one_that_is_in_use_stays_although_there_is_no_room(make_cache, site):
    cache = make_cache(limit=1)
    with cache.dataset(wanted(1), site.download) as folder:
        cache.sweep()
        assert folder.is_dir()
    assert kept(cache) == []


def test_a_blind_dataset_goes_when_it_was_idle_for_a_while(make_cache, site, clock):
    cache = make_cache()
    use(cache, site, 1, blind=True)
    use(cache, site, 2)
    clock.now += BLIND_IDLE_SECONDS - 1
    cache.sweep()
    assert kept(cache) == keys(1, 2)
    clock.now += 1
    cache.sweep()
    assert kept(cache) == keys(2)
    assert not [path for path in cache.folder.iterdir() if path.name.startswith(keys(1)[0])]


def test_a_blind_dataset_goes_when_the_worker_stops(make_cache, site):
    cache = make_cache()
    use(cache, site, 1, blind=True)
    use(cache, site, 2)
    cache.close()
    assert kept(cache) == keys(2)


def test_what_a_killed_worker_left_of_a_blind_phase_goes_when_the_next_one_starts(make_cache, site):
    cache = make_cache()
    use(cache, site, 1, blind=True)
    (cache.folder / f"{'a' * 64}.new").mkdir()
    assert kept(make_cache()) == []


def test_a_dataset_that_was_open_before_and_blind_now_goes_too(make_cache, site):
    cache = make_cache()
    use(cache, site, 1)
    use(cache, site, 1, blind=True)
    cache.close()
    assert kept(cache) == []


def test_a_damaged_copy_is_found_and_fetched_anew(make_cache, site):
    cache = make_cache()
    use(cache, site, 1)
    assert cache.is_intact(wanted(1))
    path = cache.folder / keys(1)[0] / "tiny" / "tiny_valid.data"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes().replace(b"1", b"7"))
    assert not cache.is_intact(wanted(1))
    use(cache, site, 1)
    assert site.downloads == ["/1", "/1"] and cache.is_intact(wanted(1))


def test_a_kept_dataset_is_laid_out_for_each_run_without_being_read_again(make_cache, site, tmp_path, monkeypatch):
    cache = make_cache()
    use(cache, site, 1)
    monkeypatch.setattr("ingestion.dataset_input.open_tables", None)  # what reads the text
    with cache.dataset(wanted(1), site.download) as folder:
        laid = prepare_input(folder, tmp_path / "input", alias="hidden", time_budget=5, link=True)
        assert (laid / "hidden_train.data").samefile(folder / "tiny_train.data")
        assert (laid / "cache" / "train.npy").samefile(folder / "cache" / "train.npy")
        assert cache.is_intact(wanted(1))
