"""Giving out runs as workers ask for them: turns over time, paused queues, capacity, and places that are true."""

import random

import pytest
from django.test import Client
from django.utils import timezone

from competitions.models import Phase
from submissions import dispatch, doorbell
from submissions.dispatch import next_for, queue_position, queue_positions
from submissions.models import Attempt, Run, RunState, Submission
from submissions.reconciler import lose_attempt
from tests.platform import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def bells(monkeypatch):
    """Every doorbell that would be rung, instead of ringing it."""
    rung = []
    monkeypatch.setattr(doorbell, "ring_worker", lambda run_id, queue: rung.append(run_id))
    monkeypatch.setattr(doorbell, "ring_scorer", lambda run_id: None)
    monkeypatch.setattr(doorbell, "ring_dispatcher", lambda: None)
    return rung


@pytest.fixture
def phase():
    return make.phase(make.competition(), tasks=3)


class Machine:
    """A worker that takes what it is given, and reports a failure when it is told to."""

    def __init__(self, **fields):
        self.worker, token = make.worker(**fields)
        self.headers = {"Authorization": f"Bearer {token}"}
        self.claimed = None

    def post(self, path, body):
        return Client().post(f"/worker/{path}", body, "application/json", headers=self.headers)

    def take(self):
        """Claim the run that is next for it; returns the run, or None where there is none."""
        run_id = self.post("next", {"wait_seconds": 0}).json()["run"]
        if run_id is None:
            return None
        answer = self.post(f"runs/{run_id}/claim", {})
        assert answer.status_code == 200, answer.content
        self.claimed = answer.json()
        return Run.objects.get(pk=run_id)

    def report(self, **fields):
        """End the run it holds; as failed, unless told otherwise."""
        proof = {"attempt": self.claimed["attempt"], "secret": self.claimed["secret"]}
        fields = {"status": "failed", "reason": "crashed", **fields}
        answer = self.post(f"runs/{self.claimed['run']}/report", {**proof, **fields})
        assert answer.status_code == 200, answer.content
        self.claimed = None


def test_one_worker_serves_entrants_in_turn_although_nothing_else_runs_when_it_asks(phase, clock):
    for name in ("alice", "alice", "bob"):
        make.submission(phase, make.user(name))
    machine = Machine()
    served = []
    while run := machine.take():
        served.append((run.submission.entrant.name, run.submission_id, run.order))
        clock.move(seconds=20)
        machine.report()
    first, second = Submission.objects.filter(entrant__name="alice").order_by("pk").values_list("pk", flat=True)
    third = Submission.objects.get(entrant__name="bob").pk
    assert served == [
        ("alice", first, 0),
        ("bob", third, 0),
        ("alice", second, 0),
        ("bob", third, 1),
        ("alice", first, 1),
        ("bob", third, 2),
        ("alice", first, 2),
        ("alice", second, 1),
        ("alice", second, 2),
    ]


def test_a_run_that_its_worker_gave_back_has_not_had_its_turn_but_a_lost_one_has(phase, clock):
    alice = make.submission(phase, make.user("alice")).runs.first()
    clock.move(seconds=1)
    bob = make.submission(phase, make.user("bob")).runs.first()
    machine = Machine()
    clock.move(seconds=1)
    assert machine.take() == alice
    machine.report(status="released", reason=None)
    clock.move(seconds=1)
    assert machine.take() == alice
    alice.refresh_from_db()
    lose_attempt(alice, why="Its worker was not heard any more.")
    assert machine.take() == bob


def test_a_paused_queue_gives_nothing_out_and_says_so_while_others_go_on(phase, clock, bells):
    other = make.phase(make.competition(), tasks=1)
    held = make.submission(phase, make.user("alice")).runs.first()
    clock.move(seconds=1)
    goes_on = make.submission(other, make.user("bob")).runs.first()
    phase.competition.queue_paused_at = timezone.now()
    phase.competition.save()
    machine = Machine()
    assert [queue_position(held), queue_position(goes_on)] == [None, 1]
    assert next_for(machine.worker) == goes_on.pk
    assert machine.post(f"runs/{held.pk}/claim", {}).status_code == 409
    dispatch.ring()
    assert bells == [goes_on.pk]
    held.refresh_from_db()
    assert held.sentence == "Waits: the organizers have paused the queue."

    phase.competition.queue_paused_at = None
    phase.competition.save()
    assert [queue_position(held), queue_position(goes_on)] == [1, 2]
    dispatch.ring()
    held.refresh_from_db()
    assert held.sentence == dispatch.WAITS
    assert machine.take() == held


def test_a_run_that_no_living_worker_can_hold_has_no_place_and_holds_nobody_up(phase, clock):
    huge = make.submission(phase, make.user("alice")).runs.first()
    Run.objects.update(budget_json={**huge.budget_json, "cores": 64})
    clock.move(seconds=1)
    small = make.submission(phase, make.user("bob")).runs.first()
    machine = Machine(cores=2)
    assert [queue_position(huge), queue_position(small)] == [None, 1]
    assert machine.take() == small


def test_places_are_counted_for_each_class_of_workers_and_shown_while_no_worker_lives(phase):
    gpu = make.phase(phase.competition, resource_class="gpu", tasks=1)
    alice = make.submission(phase, make.user("alice")).runs.first()
    bob = make.submission(gpu, make.user("bob")).runs.first()
    Run.objects.filter(pk=bob.pk).update(resource_class="gpu")
    assert [queue_position(alice), queue_position(bob)] == [1, 1]
    machine = Machine(resource_class="gpu")
    assert [queue_position(alice), queue_position(bob)] == [1, 1]
    assert machine.take() == bob
    assert machine.take() is None


def test_a_blind_run_goes_to_a_trusted_worker_while_another_takes_the_next(phase, clock):
    blind = make.phase(phase.competition, kind=Phase.Kind.AUTOML, parent=phase, tasks=1)
    hidden = make.submission(blind, make.user("alice")).runs.first()
    clock.move(seconds=1)
    shown = make.submission(phase, make.user("bob")).runs.first()
    assert Machine(is_trusted=False).take() == shown
    assert Machine(is_trusted=True).take() == hidden


def test_the_doorbells_ring_in_the_order_in_which_workers_would_ask(phase, clock, bells):
    for name in ("alice", "alice", "bob", "charlie"):
        make.submission(phase, make.user(name))
        clock.move(seconds=1)
    machines = [Machine() for _ in range(4)]
    places = queue_positions(list(Run.objects.all()))
    dispatch.ring()
    assert [places[pk] for pk in bells] == [1, 2, 3, 4]
    assert [machine.take().pk for machine in machines] == bells


@pytest.mark.parametrize("seed", range(4))
def test_in_simulated_time_the_place_on_the_page_is_the_number_of_starts_up_to_the_run(phase, clock, seed):
    chance = random.Random(seed)
    gpu = make.phase(phase.competition, resource_class="gpu", tasks=2)
    machines = [Machine(), Machine(), Machine(resource_class="gpu")]
    people = [make.user(name) for name in ("alice", "bob", "charlie", "dora")]
    checked = 0
    for _ in range(6):
        for _ in range(chance.randint(0, 4)):
            where = chance.choice([phase, phase, gpu])
            made = make.submission(where, chance.choice(people))
            made.runs.update(
                queued_at=clock.now, resource_class=where.resource_class, is_rerun=chance.random() < 0.25
            )
            clock.move(seconds=1)
        started = {"default": [], "gpu": []}
        shown = queue_positions(list(Run.objects.filter(state=RunState.QUEUED)))
        for _ in range(chance.randint(2, 12)):
            machine = chance.choice(machines)
            clock.move(seconds=chance.randint(0, 30))
            if machine.claimed:
                machine.report()
            elif run := machine.take():
                started[run.resource_class].append(run.pk)
        for runs in started.values():
            checked += len(runs)
            assert [shown[pk] for pk in runs] == list(range(1, len(runs) + 1))
    assert checked > 5
    assert Attempt.objects.count() == checked
