"""Every hostile submission in every sandbox: the right verdict, and nothing left behind."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from ingestion.budget import MIB
from ingestion.sandbox import Sandbox
from ingestion.sandbox.bubblewrap import BubblewrapSandbox
from ingestion.sandbox.docker import DockerSandbox
from ingestion.verdict import RunResult
from tests.attacks.aftermath import Levels, eventually_empty, left_of
from tests.attacks.cases import DOOR, HERE, SANDBOXES, Case, all_cases, known_keys
from tests.attacks.ground import DEFAULT_BUDGET, HIDDEN, SECRET, Ground
from tests.shared import CHECKOUT

CASES = all_cases()
GRACE = 1.0  # seconds past its deadline within which a run is over
BUSY_MACHINE = 4.0  # more of them, for a machine that others use too
LONGEST_SENTENCE = 2_500
KINDS = {"docker": DockerSandbox, "bubblewrap": BubblewrapSandbox}


class NeverStarted(Sandbox):
    """Stands where no sandbox may be reached."""

    name = DOOR

    def places(self, folders):
        raise AssertionError("an attack that the door must refuse came through it")

    run = check = places


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ground]:
    """The ground of each sandbox, made when it is first needed."""
    made: dict[str, Ground] = {}
    folders = {name: tmp_path_factory.mktemp(name) for name in (*SANDBOXES, DOOR)}

    class Grounds(dict):
        def __missing__(self, name: str) -> Ground:
            if name == DOOR:
                sandbox: Sandbox = NeverStarted()
            else:
                sandbox = KINDS[name]()
                status = sandbox.check()
                if not status.usable:
                    pytest.skip(status.sentence)
            self[name] = Ground(sandbox, folders[name], f"attacks.{name}.{os.getpid()}")
            return self[name]

    made = Grounds()
    return made


@pytest.fixture(scope="module")
def levels_at_start() -> Iterator[Levels]:
    """What the machine had before the first attack; it must have it again after the last."""
    before = Levels.now()
    yield before
    assert eventually_empty(lambda: before.complaints(Levels.now())) == []


def parameters() -> Iterator[object]:
    """Each group's attacks, and after them, where a sandbox was used, an honest submission (no case)."""
    for (group, sandbox), cases in itertools.groupby(
        sorted(CASES, key=lambda case: (case.group, case.sandbox)), lambda case: (case.group, case.sandbox)
    ):
        marks = (getattr(pytest.mark, sandbox),) if sandbox in SANDBOXES else ()
        for case in cases:
            yield pytest.param(case, sandbox, id=str(case), marks=marks)
        if sandbox in SANDBOXES:
            yield pytest.param(None, sandbox, id=f"{group}/then_an_honest_one-{sandbox}", marks=marks)


@pytest.mark.parametrize(("case", "name"), [*parameters()])
def test_an_attack_comes_to_its_verdict_and_leaves_nothing(case, name, grounds, levels_at_start):
    ground = grounds[name]
    if case is None:
        ground.honest_prints.append(ground.honest())
        assert set(ground.honest_prints) == {ground.honest_prints[0]}, "predictions are bit-identical"
        return
    before = Levels.now()
    result = ground.attack(case)
    sandbox = None if case.sandbox == DOOR else ground.sandbox
    assert eventually_empty(lambda: left_of(sandbox, ground.owner, ground.seed)) == []
    assert eventually_empty(lambda: before.complaints(Levels.now())) == []
    assert_verdict(case, result)
    assert_plain(result, ground)
    assert_ledger(case, result)
    assert_usage(case, result)
    if case.score is not None:
        assert case.score in ground.scorer_says(result)


def assert_verdict(case: Case, result: RunResult) -> None:
    """The reason, the fragment of the sentence, what was collected."""
    assert (result.reason or "ok") in case.verdicts, result
    assert case.sentence is None or case.sentence in result.told, result
    assert case.stopped is None or result.stopped == case.stopped, result
    assert case.notes is None or case.notes in " ".join(result.notes), result
    if case.predictions is not None:
        assert len({file.number for file in result.predictions}) == case.predictions, result


def assert_plain(result: RunResult, ground: Ground) -> None:
    """One text for a participant: short, printable, about the participant's part, without any place of ours."""
    told = result.told
    assert told and not told[0].islower() and len(told) < LONGEST_SENTENCE, told
    assert result.reason != "infrastructure", result
    shown = "\n".join((told, result.log_tail, *result.notes))
    # What a program says about its attempts names what it looked for.
    shown = "\n".join(line for line in shown.splitlines() if not line.startswith(("held: ", "BREACH: ")))
    ours = (str(CHECKOUT), "podium-run-", str(ground.folder), ground.owner, "ingestion/", "site-packages/docker")
    assert [word for word in (*ours, SECRET, *map(str, HIDDEN.values())) if word in shown] == [], shown
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", shown) is None


def assert_ledger(case: Case, result: RunResult) -> None:
    """What the hostile program says about its own attempts, and what must or must not be in its log."""
    printed = result.log_path.read_text() if result.log_path else ""
    breaches = [line for line in printed.splitlines() if line.startswith("BREACH")]
    if case.cannot_hold is None:
        assert breaches == []
    else:
        assert [what for what in case.breaches if not any(what in line for line in breaches)] == [], breaches
        assert len(breaches) == len(case.breaches), breaches
    assert printed.count("held: ") >= case.held, printed
    assert [text for text in case.log if text not in printed] == [], printed[-2000:]
    assert [text for text in case.no_log if text in printed] == [], printed[-2000:]
    largest = case.budget.get("log_bytes", DEFAULT_BUDGET["log_bytes"])
    assert len(printed.encode()) < 3 * largest + 4096  # replacement characters take three bytes


def assert_usage(case: Case, result: RunResult) -> None:
    """Wall clock, processor time and memory as they were measured from outside."""
    budget = {**DEFAULT_BUDGET, **case.budget}
    deadline = float(budget["wall_seconds"])
    assert result.wall_seconds <= deadline + GRACE + BUSY_MACHINE, result
    assert result.cpu_seconds <= (result.wall_seconds + 0.5) * float(budget["cores"]) + 0.5, result
    if result.stopped == "time":
        assert result.wall_seconds >= deadline
    assert case.wall_at_most is None or result.wall_seconds <= case.wall_at_most + BUSY_MACHINE, result
    assert case.cpu_at_least is None or result.cpu_seconds >= case.cpu_at_least, result
    assert case.cpu_at_most is None or result.cpu_seconds <= case.cpu_at_most, result
    peak = case.peak_at_most or int(budget["memory_bytes"]) // MIB
    if case.sandbox == "bubblewrap" and os.geteuid() != 0:
        peak *= 4  # watched ten times a second, not bounded by the kernel; doctor says so
    assert result.peak_memory_bytes <= peak * MIB, result


@pytest.mark.parametrize("name", [pytest.param(one, marks=getattr(pytest.mark, one)) for one in SANDBOXES])
def test_two_runs_at_once_do_not_meet(name, grounds, tmp_path):
    case = next(one for one in CASES if one.name == "meets_another_run" and one.sandbox == name)
    both = [Ground(grounds[name].sandbox, tmp_path / str(n), f"{grounds[name].owner}.{n}") for n in range(2)]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda ground: ground.attack(case), both))
    for result in results:
        assert_verdict(case, result)
        assert_ledger(case, result)


def test_every_expectation_uses_known_keys_and_says_what_the_attack_is():
    paths = sorted(HERE.glob("*/*/expected.yaml"))
    assert len(paths) > 90
    for path in paths:
        values = yaml.safe_load(path.read_text())
        assert set(values) <= known_keys(), path
        assert values["what"].endswith("."), path


def test_no_folder_of_an_attack_lacks_its_expectation():
    folders = [path for path in HERE.glob("*/*") if path.is_dir() and path.name != "__pycache__"]
    assert [path for path in folders if not (path / "expected.yaml").is_file()] == []
    assert all(isinstance(path, Path) for path in folders)
