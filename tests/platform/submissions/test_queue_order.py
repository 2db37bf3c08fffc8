"""The order in which queued runs are given out: rules by example, then any workload in simulated time."""

import datetime as dt
import heapq
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from submissions.dispatch import Line, Turn, Waiting, fair_order

START = dt.datetime(2015, 2, 15, tzinfo=dt.UTC)
LIVE, RERUN = False, True


def at(seconds: float) -> dt.datetime:
    return START + dt.timedelta(seconds=seconds)


def waiting(*rows, kind="default"):
    """Runs numbered from 0, each given as (entrant, submission, task, is a re-run); queued one after the other."""
    return [
        Waiting(number, Line(kind, rerun, entrant), submission, task, at(number))
        for number, (entrant, submission, task, rerun) in enumerate(rows)
    ]


def order(items, turns=None):
    found = {Line("default", LIVE, entrant): Turn(at(second), second) for entrant, second in (turns or {}).items()}
    return [item.run_id for item in fair_order(items, found)]


def test_entrants_take_turns_although_one_was_there_first():
    rows = waiting((1, 10, 0, LIVE), (1, 10, 1, LIVE), (1, 10, 2, LIVE), (2, 11, 0, LIVE), (2, 11, 1, LIVE))
    assert order(rows) == [0, 3, 1, 4, 2]


def test_the_first_task_of_each_submission_comes_before_the_other_tasks():
    rows = waiting((1, 10, 0, LIVE), (1, 10, 1, LIVE), (1, 11, 0, LIVE), (1, 11, 1, LIVE))
    assert order(rows) == [0, 2, 1, 3]


def test_every_dataset_has_its_turn_before_one_is_repeated():
    line = Line("default", LIVE, 1)
    rows = [Waiting(2 * repeat + task, line, 10, task, at(0), repeat) for task in (0, 1) for repeat in (0, 1)]
    assert order(rows) == [0, 1, 2, 3]


def test_live_runs_go_before_reruns():
    rows = waiting((1, 10, 0, RERUN), (2, 20, 0, LIVE), (2, 20, 1, LIVE))
    assert order(rows) == [1, 2, 0]


def test_who_had_a_turn_goes_to_the_end_also_when_that_run_is_over():
    rows = waiting((1, 10, 1, LIVE), (2, 20, 0, LIVE))
    assert order(rows) == [0, 1]
    assert order(rows, turns={1: 5}) == [1, 0]
    assert order(rows, turns={1: 6, 2: 5}) == [1, 0]


def test_a_newcomer_joins_at_the_end_and_is_before_nobody_who_waited_already():
    rows = waiting((1, 10, 1, LIVE), (2, 20, 0, LIVE), (3, 30, 0, LIVE))
    assert order(rows, turns={1: 1.5}) == [1, 0, 2]


def test_hundred_submissions_of_one_do_not_delay_the_one_of_another():
    rows = waiting(*[(1, 10 + number, 0, LIVE) for number in range(100)], (2, 999, 0, LIVE))
    assert order(rows).index(100) == 1
    assert order(rows, turns={1: 200})[0] == 100


def test_a_turn_in_one_class_of_workers_costs_nothing_in_another():
    rows = [*waiting((1, 10, 0, LIVE), (2, 20, 0, LIVE)), *waiting((1, 11, 0, LIVE), kind="gpu")]
    turns = {Line("gpu", LIVE, 1): Turn(at(9), 9)}
    assert [item.line.entrant_id for item in fair_order(rows, turns) if item.line.resource_class == "default"] == [
        1,
        2,
    ]


def test_of_two_who_had_their_turn_in_the_same_instant_the_earlier_turn_comes_first():
    rows = waiting((1, 10, 1, LIVE), (2, 20, 1, LIVE))
    turns = {Line("default", LIVE, 1): Turn(at(5), 8), Line("default", LIVE, 2): Turn(at(5), 7)}
    assert [item.run_id for item in fair_order(rows, turns)] == [1, 0]


# Simulated time.


@dataclass(frozen=True)
class Arrival:
    """A submission, or the order to run an old one again."""

    second: int
    entrant: int
    kind: str
    tasks: int
    is_rerun: bool
    lengths: tuple[int, ...]


@dataclass
class Simulation:
    """Workers of several classes that take the first run of the queue whenever they are idle."""

    workers: dict[str, int]
    second: int = 0
    queue: list[Waiting] = field(default_factory=list)
    turns: dict[Line, Turn] = field(default_factory=dict)
    lengths: dict[int, int] = field(default_factory=dict)
    busy: list[tuple[int, str]] = field(default_factory=list)
    starts: list[Waiting] = field(default_factory=list)
    started_at: dict[int, int] = field(default_factory=dict)
    known: int = 0

    def places(self) -> dict[int, int]:
        """What every waiting run's page shows."""
        counts: Counter[str] = Counter()
        shown = {}
        for item in fair_order(self.queue, self.turns):
            counts[item.line.resource_class] += 1
            shown[item.run_id] = counts[item.line.resource_class]
        return shown

    def arrive(self, arrival: Arrival) -> None:
        """Queue the runs of a submission."""
        line = Line(arrival.kind, arrival.is_rerun, arrival.entrant)
        submission = self.known
        for task in range(arrival.tasks):
            self.queue.append(Waiting(self.known, line, submission, task, at(self.second)))
            self.lengths[self.known] = arrival.lengths[task]
            self.known += 1

    def give_out(self) -> None:
        """Give a run to every idle worker for which there is one."""
        while True:
            idle = self.workers.copy()
            for _, kind in self.busy:
                idle[kind] -= 1
            item = next(
                (item for item in fair_order(self.queue, self.turns) if idle[item.line.resource_class]), None
            )
            if item is None:
                return
            self.queue.remove(item)
            self.starts.append(item)
            self.started_at[item.run_id] = self.second
            self.turns[item.line] = Turn(at(self.second), len(self.starts))
            heapq.heappush(self.busy, (self.second + self.lengths[item.run_id], item.line.resource_class))

    def run(self, arrivals: list[Arrival], until: float = float("inf")) -> None:
        """Let time pass until everything has been given out, or until a moment."""
        coming = sorted(arrivals, key=lambda arrival: arrival.second)
        while True:
            self.give_out()
            moments = [self.busy[0][0]] if self.busy else []
            moments += [coming[0].second] if coming else []
            if not moments or min(moments) > until or not (self.queue or coming):
                return
            self.second = max(self.second, min(moments))
            while self.busy and self.busy[0][0] <= self.second:
                heapq.heappop(self.busy)
            while coming and coming[0].second <= self.second:
                self.arrive(coming.pop(0))


WORKERS = st.fixed_dictionaries({"default": st.integers(1, 4), "gpu": st.integers(1, 2)})


@st.composite
def arrivals(draw):
    tasks = draw(st.integers(1, 5))
    return Arrival(
        second=draw(st.integers(0, 120)),
        entrant=draw(st.integers(1, 6)),
        kind=draw(st.sampled_from(["default", "default", "default", "gpu"])),
        tasks=tasks,
        is_rerun=draw(st.sampled_from([LIVE, LIVE, LIVE, RERUN])),
        lengths=tuple(draw(st.lists(st.integers(0, 40), min_size=tasks, max_size=tasks))),
    )


WORKLOADS = st.lists(arrivals(), min_size=1, max_size=30)


@settings(max_examples=150, deadline=None)
@given(workers=WORKERS, workload=WORKLOADS, moment=st.integers(0, 130))
def test_a_place_in_the_queue_is_the_number_of_runs_of_its_class_that_start_up_to_it(workers, workload, moment):
    simulation = Simulation(workers)
    simulation.run([arrival for arrival in workload if arrival.second <= moment], until=moment)
    shown, before = simulation.places(), len(simulation.starts)
    simulation.run([])
    counts: Counter[str] = Counter()
    for item in simulation.starts[before:]:
        counts[item.line.resource_class] += 1
        assert shown[item.run_id] == counts[item.line.resource_class]
    assert len(shown) == len(simulation.starts) - before


@settings(max_examples=150, deadline=None)
@given(workers=WORKERS, workload=WORKLOADS)
def test_between_two_turns_of_who_waits_everybody_else_has_one_at_most_and_nobody_starves(workers, workload):
    simulation = Simulation(workers)
    simulation.run(workload)
    assert not simulation.queue
    assert len(simulation.starts) == simulation.known == len({item.run_id for item in simulation.starts})
    by_line: dict[Line, list[int]] = defaultdict(list)
    for index, item in enumerate(simulation.starts):
        by_line[item.line].append(index)
    for line, indexes in by_line.items():
        for previous, index in zip([None, *indexes[:-1]], indexes, strict=True):
            item = simulation.starts[index]
            since = (item.queued_at - START).total_seconds()
            between = [
                other.line.entrant_id
                for place, other in enumerate(simulation.starts[:index])
                if other.line.resource_class == line.resource_class
                and other.line.is_rerun == line.is_rerun
                and other.line != line
                and simulation.started_at[other.run_id] > since
                and (previous is None or place > previous)
            ]
            assert max(Counter(between).values(), default=0) <= 1, (line, between)


@settings(max_examples=150, deadline=None)
@given(workers=WORKERS, workload=WORKLOADS)
def test_a_rerun_never_starts_while_a_live_run_of_its_class_waits(workers, workload):
    simulation = Simulation(workers)
    simulation.run(workload)
    live = [item for item in simulation.starts if not item.line.is_rerun]
    for item in simulation.starts:
        if item.line.is_rerun:
            moment = simulation.started_at[item.run_id]
            delayed = [
                other
                for other in live
                if other.line.resource_class == item.line.resource_class
                and other.queued_at <= at(moment)
                and simulation.started_at[other.run_id] > moment
            ]
            assert not delayed


@settings(max_examples=60, deadline=None)
@given(workers=WORKERS, heavy=st.integers(1, 60))
def test_an_entrant_with_any_number_of_runs_delays_each_turn_of_another_by_one_run_at_most(workers, heavy):
    simulation = Simulation(workers)
    for _ in range(heavy):
        simulation.arrive(Arrival(0, 7, "default", 1, LIVE, (3,)))
    simulation.arrive(Arrival(0, 1, "default", 5, LIVE, (2,) * 5))
    simulation.run([])
    turns: Counter[int] = Counter()
    for item in simulation.starts:
        turns[item.line.entrant_id] += 1
        assert turns[1] == 5 or turns[7] <= turns[1] + 1
