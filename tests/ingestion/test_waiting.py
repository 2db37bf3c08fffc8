"""The end of a process is noticed where the kernel tells it, and families end with all that came from them."""

import os
import subprocess
import sys

import pytest

from ingestion.sandbox import processes
from ingestion.sandbox.processes import Family, ends_within


@pytest.fixture
def sleeper():
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


@pytest.fixture(params=["told by the kernel", "looked for"])
def way(request, monkeypatch):
    """Both ways to wait: kernels before 5.3, and other systems, cannot tell."""
    if request.param == "looked for":
        monkeypatch.delattr(os, "pidfd_open", raising=False)


def test_a_process_that_goes_on_has_not_ended(way, sleeper):
    assert not ends_within(sleeper, 0.0)
    assert not ends_within(sleeper, 0.01)


def test_a_process_that_ends_is_seen_with_its_code(way):
    with subprocess.Popen([sys.executable, "-c", "raise SystemExit(7)"]) as process:
        assert ends_within(process, 60)
        assert process.returncode == 7
        assert ends_within(process, 60)


@pytest.mark.skipif(not processes.PROC.is_dir(), reason="only the kernel of Linux keeps the counts of what ended")
def test_what_lived_between_two_looks_is_counted_at_the_end():
    child = "import time\nwhile time.process_time() < 0.3: pass"
    source = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    with subprocess.Popen([sys.executable, "-c", source]) as parent:
        family = Family(parent.pid)
        assert family.cpu_seconds == 0
        while not ends_within(parent, 1, family.note_end):
            pass
        assert 0.3 <= family.cpu_seconds < 5


def test_the_mark_is_looked_for_only_in_processes_that_can_have_inherited_it(monkeypatch, tmp_path):
    looked_at = []
    read = Family._is_marked

    def watched(family, process):
        looked_at.append((int(process.born) >= family._oldest, read(family, process)))
        return looked_at[-1][1]

    monkeypatch.setattr(Family, "_is_marked", watched)
    # The parent ends at once, so that only the mark tells whose child the sleeper is.
    source = "import subprocess; print(subprocess.Popen(['sleep', '60']).pid, flush=True)"
    environment = {**os.environ, "MARK": "of-this-test"}
    with subprocess.Popen([sys.executable, "-c", source], env=environment, stdout=subprocess.PIPE) as parent:
        family = Family(parent.pid, "MARK=of-this-test")
        orphan = int(parent.stdout.readline())
        assert ends_within(parent, 60)
        assert orphan in {member.pid for member in family.members()}
        family.kill()
    assert not any(found for is_younger, found in looked_at if not is_younger)
    assert orphan not in processes.snapshot() or processes._is_zombie(orphan)


def test_a_family_that_is_over_is_not_looked_for_again(monkeypatch, sleeper):
    family = Family(sleeper.pid)
    family.kill()
    monkeypatch.setattr(Family, "members", None)
    family.kill()
    assert sleeper.wait(60) < 0
