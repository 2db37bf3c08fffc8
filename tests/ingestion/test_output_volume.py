"""The copy of an output volume that the engine holds: what a program says of its files cannot break it."""

import io
import os
import tarfile
import threading
import time
from types import SimpleNamespace

import pytest

from ingestion.sandbox.base import Looker, OutputChanging
from ingestion.sandbox.docker_output import _Volume

pytest.importorskip("docker")


class Engine:
    """Answers the archive call with what the volume holds: (name, content or None of a folder, time of change)."""

    def __init__(self):
        self.api = self
        self.files = []
        self.breaks_off_at = None

    def get_archive(self, container, path):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, content, changed in self.files:
                entry = tarfile.TarInfo(f"output/{name}")
                entry.mtime = changed
                if content is None:
                    entry.type = tarfile.DIRTYPE
                    archive.addfile(entry)
                else:
                    entry.size = len(content)
                    archive.addfile(entry, io.BytesIO(content))
        return [buffer.getvalue()[: self.breaks_off_at]], {}


@pytest.fixture
def engine():
    return Engine()


@pytest.fixture
def layout(request):
    """None, as for a participant's run; a test may say that its program has places of its own."""
    return getattr(request, "param", None)


@pytest.fixture
def mirrored(engine, tmp_path, layout):
    spec = SimpleNamespace(folders=SimpleNamespace(scratch=tmp_path), output_bytes=2**20, layout=layout)
    volume = _Volume(engine, "podium-output-test", spec)
    volume._helper = SimpleNamespace(id="helper")

    def refresh():
        volume.refresh()
        return {path.name: path.read_bytes() for path in (tmp_path / "mirror").iterdir() if path.is_file()}

    yield refresh
    os.close(volume.descriptor)


@pytest.mark.parametrize("changed", [2**63, -(2**62), 0, 1e300])
def test_a_time_of_change_that_no_file_can_bear_is_no_fault_of_ours(engine, mirrored, changed):
    engine.files = [("iris_test.predict", b"1\n", changed)]
    assert mirrored() == {"iris_test.predict": b"1\n"}


def test_a_file_rewritten_within_a_second_and_of_the_same_size_is_taken_as_it_is_now(engine, mirrored):
    engine.files = [("iris_test.predict", b"1\n", 1_000)]
    mirrored()
    engine.files = [("iris_test.predict", b"2\n", 1_000)]
    assert mirrored() == {"iris_test.predict": b"2\n"}


def test_a_file_that_stays_as_it_was_keeps_the_mark_by_which_it_is_known(engine, mirrored, tmp_path):
    engine.files = [("iris_test.predict", b"1\n", 1_000)]
    mirrored()
    before = (tmp_path / "mirror" / "iris_test.predict").stat()
    mirrored()
    after = (tmp_path / "mirror" / "iris_test.predict").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_an_archive_that_breaks_off_because_a_file_grows_is_no_end_of_the_run(engine, mirrored):
    engine.files = [("iris_test.predict", b"1\n" * 4_000, 1_000)]
    engine.breaks_off_at = 2_000
    with pytest.raises(OutputChanging):
        mirrored()
    engine.breaks_off_at = None
    assert mirrored() == {"iris_test.predict": b"1\n" * 4_000}


def test_a_look_that_came_while_files_changed_is_made_good_by_a_later_one():
    looked = threading.Event()
    refreshed = iter([OutputChanging("now"), OutputChanging("and now")])

    def refresh():
        problem = next(refreshed, None)
        if problem is not None:
            raise problem

    watcher = SimpleNamespace(look=lambda *_: looked.set(), last_look=lambda *_, **__: None)
    looker = Looker(watcher, 0, time.monotonic(), refresh=refresh)
    assert looked.wait(60)
    looker.finish(1.0, ended_early=False)


@pytest.mark.parametrize("layout", [None, "its own"], indirect=True)
def test_folders_are_looked_into_for_programs_with_places_of_their_own(engine, mirrored, tmp_path, layout):
    engine.files = [("deep/er", None, 1_000), ("deep/er/a.txt", b"a", 1_000), ("../out.txt", b"o", 1_000)]
    engine.files.insert(0, ("deep", None, 1_000))
    assert mirrored() == {}
    found = sorted(path.relative_to(tmp_path / "mirror").as_posix() for path in (tmp_path / "mirror").rglob("*"))
    assert found == (["deep", "deep/er", "deep/er/a.txt"] if layout else ["deep"])
    engine.files = [("deep", b"a file now", 2_000)]
    assert mirrored() == {"deep": b"a file now"}
