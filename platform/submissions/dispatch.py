"""Which queued runs go to the workers now, and which place the others have.

Order: live runs before re-runs; entrants in turn (round-robin, not first-come); within an entrant the first
task of every submission before any submission's other tasks, so that code which fails says so early.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from ingestion.budget import format_size
from submissions import doorbell
from submissions.models import Attempt, Run, RunState, Worker
from submissions.models.runs import AT_WORKER
from submissions.models.worker import living_workers

log = logging.getLogger(__name__)

WAITS = "Waits for a worker."


@dataclass(frozen=True)
class Waiting:
    """What the order of the queue depends on."""

    run_id: int
    entrant_id: int
    task_order: int
    submission_id: int
    is_rerun: bool


def fair_order(waiting: Iterable[Waiting], active: Counter[int]) -> list[Waiting]:
    """Return the queue in the order in which runs are given out.

    `active` counts the runs that each entrant has at workers now: whoever has more waits longer. Ties go to
    the earlier submission. Pure.
    """
    by_entrant: dict[int, list[Waiting]] = defaultdict(list)
    for item in waiting:
        by_entrant[item.entrant_id].append(item)
    keyed: list[tuple[tuple[int, ...], Waiting]] = []
    for entrant, items in by_entrant.items():
        items.sort(key=lambda item: (item.is_rerun, item.task_order > 0, item.submission_id, item.task_order))
        for turn, item in enumerate(items, start=active[entrant]):
            keyed.append(((int(item.is_rerun), turn, item.submission_id, item.task_order), item))
    keyed.sort(key=lambda pair: pair[0])
    return [item for _, item in keyed]


def queue() -> list[Run]:
    """All queued runs in the order in which they are given out, with what dispatch needs to know of them."""
    runs = Run.objects.filter(state=RunState.QUEUED).select_related(
        "submission__entrant", "task__phase__round__competition"
    )
    by_id = {run.pk: run for run in runs}
    return [by_id[item.run_id] for item in fair_order(_waiting(by_id.values()), _active())]


def _waiting(runs: Iterable[Run]) -> list[Waiting]:
    return [Waiting(run.pk, run.submission.entrant_id, run.order, run.submission_id, run.is_rerun) for run in runs]


def _active() -> Counter[int]:
    at_work = Run.objects.filter(state__in=AT_WORKER).annotate(entrant=F("submission__entrant"))
    return Counter(at_work.values_list("entrant", flat=True))


def queue_positions(runs: Sequence[Run]) -> dict[int, int]:
    """Map the id of each of `runs` that is queued to its place; 1 is next in its class of workers."""
    if not any(run.state == RunState.QUEUED for run in runs):
        return {}
    places: Counter[str] = Counter()
    positions: dict[int, int] = {}
    wanted = {run.pk for run in runs}
    for run in queue():
        places[run.resource_class] += 1
        if run.pk in wanted:
            positions[run.pk] = places[run.resource_class]
    return positions


def queue_position(run: Run) -> int | None:
    """The run's place in the queue, or None when it does not wait."""
    return queue_positions([run]).get(run.pk)


def refusal(worker: Worker, run: Run) -> str:
    """Why this worker may not take this run; empty when it may."""
    phase = run.task.phase
    if worker.resource_class != run.resource_class:
        return f"is of class {worker.resource_class}, the run needs {run.resource_class}"
    if phase.trusted_workers_only and not worker.is_trusted:
        return "is not trusted with blind phases"
    scope = {competition.pk for competition in worker.competitions.all()}
    if scope and phase.round.competition_id not in scope:
        return "serves other competitions"
    if worker.sandbox == "unconfined" and not run.submission.is_kit_code:
        return "has no sandbox"
    capacity = worker.capacity
    if capacity is not None and not capacity.fits(run.budget):
        return "has too few cores or too little memory"
    return ""


def ring() -> int:
    """Ring for as many queued runs as there are idle workers; returns how many were rung.

    Safe to call at any time and from several processes at once: a doorbell rung twice is claimed once.
    """
    now = timezone.now()
    runs = queue()
    if not runs:
        return 0
    workers = living_workers()
    busy = set(
        Attempt.objects.filter(outcome=Attempt.Outcome.OPEN, worker__in=workers).values_list("worker", flat=True)
    )
    idle = [worker for worker in workers if worker.pk not in busy]
    rung = 0
    for run in runs:
        _explain(run, workers)
        worker = next((worker for worker in idle if not refusal(worker, run)), None)
        if worker is None:
            continue
        idle.remove(worker)
        if run.rung_at is not None and now - run.rung_at < settings.DOORBELL_REPEAT:
            continue
        if Run.objects.filter(pk=run.pk, state=RunState.QUEUED, rung_at=run.rung_at).update(rung_at=now):
            trusted = run.task.phase.trusted_workers_only
            doorbell.ring_worker(run.pk, doorbell.queue_name(run.resource_class, trusted=trusted))
            rung += 1
    return rung


def _explain(run: Run, workers: list[Worker]) -> None:
    """Keep the sentence of a waiting run true: no worker at all, none that can hold it, or just its turn."""
    budget = run.budget
    if any(not refusal(worker, run) for worker in workers):
        sentence = WAITS
    elif not workers:
        sentence = "Waits: no worker is connected at the moment."
    else:
        needs = [f"of class {run.resource_class}"]
        if budget.cores:
            needs.append(f"with {budget.cores} cores")
        if budget.memory_bytes:
            needs.append(f"with {format_size(budget.memory_bytes)}")
        sentence = f"Waits: none of the connected workers can take it. It needs one {' and '.join(needs)}."
    if run.sentence != sentence:
        Run.objects.filter(pk=run.pk, state=RunState.QUEUED).update(sentence=sentence)


def after_commit() -> None:
    """Ring at once for what a request has just queued, and for results that only wait for their score."""
    ring()
    for run_id in Run.objects.filter(state=RunState.COLLECTED, rung_at=None).values_list("pk", flat=True)[:200]:
        if Run.objects.filter(pk=run_id, rung_at=None).update(rung_at=timezone.now()):
            doorbell.ring_scorer(run_id)
