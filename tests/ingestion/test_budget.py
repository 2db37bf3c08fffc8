"""What a run may use and what a machine has."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion import budget as budget_module
from ingestion.budget import GIB, MIB, Budget, Capacity, format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8GiB", 8 * GIB),
        ("8 GB", 8_000_000_000),
        ("512M", 512 * MIB),
        ("1.5g", 3 * GIB // 2),
        ("64 kB", 64_000),
        ("1024", 1024),
        (2048, 2048),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_it_reads_sizes_as_people_write_them(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "-1GiB", "0", "8 parsecs", "1e9", "1,5GiB", "nan", "0.1"])
def test_it_refuses_what_is_no_size_in_one_sentence(text):
    with pytest.raises(ValueError, match="is not a size"):
        parse_size(text)


@given(st.integers(min_value=1, max_value=2**50))
def test_a_shown_size_reads_back_as_about_the_same(size):
    assert parse_size(format_size(size).replace("bytes", "b").replace("byte", "b")) == pytest.approx(
        size, rel=0.05
    )


def test_a_budget_survives_json():
    budget = Budget(wall_seconds=1200, cores=8, memory_bytes=56 * GIB, processes=100)
    assert Budget.from_json(budget.to_json()) == budget


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_budget_needs_a_number_of_seconds(seconds):
    with pytest.raises(ValueError, match="seconds"):
        Budget(wall_seconds=seconds)


@pytest.mark.parametrize("field", ["cores", "memory_bytes", "processes", "output_bytes"])
def test_a_budget_of_nothing_is_refused(field):
    with pytest.raises(ValueError, match=field):
        Budget(**{"wall_seconds": 10, field: 0})


def test_json_of_a_budget_with_unknown_fields_is_refused():
    with pytest.raises(ValueError, match="gpus"):
        Budget.from_json({"wall_seconds": 1, "gpus": 4})


def test_a_file_is_never_allowed_to_be_larger_than_all_output():
    assert Budget(wall_seconds=1, output_bytes=1000).file_bytes == 1000


def test_an_empty_budget_takes_all_that_a_run_gets():
    filled = Budget(wall_seconds=5).filled(Capacity(cores=4, memory_bytes=1000))
    assert (filled.cores, filled.memory_bytes) == (4, 1000)


def test_a_run_gets_most_of_the_machines_memory_and_slots_divide_it():
    machine = Capacity(cores=5, memory_bytes=1000)
    assert machine.for_a_run() == Capacity(cores=5, memory_bytes=800)
    assert machine.for_a_run(slots=2) == Capacity(cores=2, memory_bytes=400)


@pytest.mark.parametrize("slots", [0, 3])
def test_more_slots_than_cores_are_refused_in_a_sentence(slots):
    with pytest.raises(ValueError, match="slots cannot share 2 cores"):
        Capacity(cores=2, memory_bytes=1000).for_a_run(slots)


def test_filling_leaves_given_limits_alone():
    filled = Budget(wall_seconds=5, cores=1, memory_bytes=10).filled(Capacity(cores=4, memory_bytes=1000))
    assert (filled.cores, filled.memory_bytes) == (1, 10)


@pytest.mark.parametrize(
    ("budget", "fits"),
    [
        (Budget(wall_seconds=1), True),
        (Budget(wall_seconds=1, cores=2, memory_bytes=8 * GIB), True),
        (Budget(wall_seconds=1, cores=3), False),
        (Budget(wall_seconds=1, memory_bytes=8 * GIB + 1), False),
    ],
)
def test_a_worker_takes_only_what_it_can_hold(budget, fits):
    assert Capacity(cores=2, memory_bytes=8 * GIB).fits(budget) is fits


def test_this_machine_has_cores_and_memory():
    capacity = Capacity.of_this_machine()
    assert capacity.cores >= 1
    assert capacity.memory_bytes > 64 * MIB
    assert Capacity.from_json(capacity.to_json()) == capacity


def test_it_reads_limits_of_cgroup_version_2(tmp_path: Path):
    own = tmp_path / "cgroup" / "worker"
    own.mkdir(parents=True)
    (tmp_path / "self").write_text("0::/worker\n")
    (own / "memory.max").write_text("max\n")
    (own.parent / "memory.max").write_text("1073741824\n")
    (own / "cpu.max").write_text("150000 100000\n")
    folders = budget_module._cgroup_folders(tmp_path / "self", tmp_path / "cgroup")
    assert budget_module._memory_limit(folders) == GIB
    assert budget_module._cpu_quota(folders) == 1.5


def test_it_reads_limits_of_cgroup_version_1_whose_path_is_the_hosts(tmp_path: Path):
    for controller in ("memory", "cpu,cpuacct"):
        (tmp_path / "cgroup" / controller).mkdir(parents=True)
    (tmp_path / "self").write_text("4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n")
    (tmp_path / "cgroup" / "memory" / "memory.limit_in_bytes").write_text("2147483648\n")
    (tmp_path / "cgroup" / "cpu,cpuacct" / "cpu.cfs_quota_us").write_text("-1\n")
    (tmp_path / "cgroup" / "cpu,cpuacct" / "cpu.cfs_period_us").write_text("100000\n")
    folders = budget_module._cgroup_folders(tmp_path / "self", tmp_path / "cgroup")
    assert budget_module._memory_limit(folders) == 2 * GIB
    assert budget_module._cpu_quota(folders) is None
