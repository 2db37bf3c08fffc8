"""Several slots on one machine: runs at the same time have processors and memory of their own."""

import os
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from ingestion.budget import Capacity
from ingestion.sandbox.cpus import take_share
from tests.ingestion.runs import Runner, usable_sandbox

SANDBOXES = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("bubblewrap", marks=pytest.mark.bubblewrap),
]
TELL = """
import subprocess
print("may use", sorted(os.sched_getaffinity(0)))
without = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
print("nproc", subprocess.run(["nproc"], env=without, capture_output=True, text=True).stdout)
print("threads", os.environ["OMP_NUM_THREADS"], flush=True)
time.sleep(1)
predict()
"""


def told(result):
    """The processors that a program may use, what nproc says inside, and the number of threads it is told."""
    assert result.status == "ok", result
    text = result.log_path.read_text()
    cpus = {int(word) for word in re.search(r"may use \[(.*?)\]", text)[1].split(",")}
    return cpus, int(re.search(r"nproc (\d+)", text)[1]), int(re.search(r"threads (\d+)", text)[1])


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two slots need two processors")
@pytest.mark.parametrize("name", SANDBOXES)
def test_two_slots_at_once_have_disjoint_processors(name, tmp_path):
    sandbox = usable_sandbox(name)
    each = Capacity.of_this_machine().for_a_run(slots=len(os.sched_getaffinity(0)))
    shares = [
        take_share(cores=each.cores, memory=each.memory_bytes, of_memory=2 * each.memory_bytes, folder=tmp_path)
        for _ in range(2)
    ]
    runners = [Runner(sandbox, tmp_path / f"slot-{number}") for number in range(2)]
    with ThreadPoolExecutor(2) as pool:
        results = list(
            pool.map(
                lambda pair: pair[0].program(TELL, cpus=pair[1].cpus, seconds=60),
                zip(runners, shares, strict=True),
            )
        )
    seen = [told(result) for result in results]
    assert [(len(cpus), nproc, threads) for cpus, nproc, threads in seen] == [(1, 1, 1)] * 2
    assert seen[0][0].isdisjoint(seen[1][0])
    assert [",".join(map(str, sorted(cpus))) for cpus, _, _ in seen] == [share.cpus for share in shares]
    for share in shares:
        share.release()


@pytest.mark.bubblewrap
def test_without_control_groups_processors_are_held_all_the_same(tmp_path, monkeypatch):
    from ingestion.sandbox import cgroups

    def refused(*arguments):
        raise OSError("no control groups here")

    monkeypatch.setattr(cgroups, "make_group", refused)
    last = max(os.sched_getaffinity(0))
    cpus, nproc, _ = told(Runner(usable_sandbox("bubblewrap"), tmp_path).program(TELL, cpus=str(last)))
    assert (cpus, nproc) == ({last}, 1)
