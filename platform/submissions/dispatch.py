"""Which queued runs go to the workers now, and which place the others have.

Order: live runs before re-runs; entrants in turn (round-robin, not first-come); within an entrant the first
task of every submission before any submission's other tasks, so that code which fails says so early.
"""

import datetime as dt
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from competitions.models import Competition, Phase
from ingestion.budget import Budget, format_size
from submissions import doorbell
from submissions.models import Attempt, Run, RunState, Worker
from submissions.models.runs import AT_WORKER
from submissions.models.worker import living_workers

log = logging.getLogger(__name__)

WAITS = "Waits for a worker."
AGAIN = "Waits for a worker again"
FAILED_WORKER = "Its worker had a problem of its own."
IDS_A_QUERY = 500  # databases limit the parameters of a query


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


@dataclass(frozen=True)
class Needs:
    """What a run asks of a worker. Many runs ask the same, so that is decided once for all of them."""

    resource_class: str
    is_blind: bool
    competition_id: int
    is_kit_code: bool
    cores: int | None
    memory_bytes: int | None


@dataclass(frozen=True)
class Queued:
    """A queued run, as far as dispatch needs to know it."""

    waiting: Waiting
    needs: Needs
    sentence: str
    rung_at: dt.datetime | None


def needs_of(run: Run) -> Needs:
    """What a run asks of a worker; wants its submission, task, phase and round loaded."""
    phase, budget = run.task.phase, run.budget
    return Needs(
        run.resource_class,
        phase.needs_trusted_workers,
        phase.round.competition_id,
        run.submission.is_kit_code,
        budget.cores,
        budget.memory_bytes,
    )


def queued() -> list[Queued]:
    """All queued runs in the order in which they are given out: two queries, however many there are."""
    rows = Run.objects.filter(state=RunState.QUEUED).values_list(
        "pk",
        "submission__entrant",
        "order",
        "submission",
        "is_rerun",
        "resource_class",
        "task__phase__kind",
        "task__phase__trusted_workers_only",
        "task__phase__round__competition",
        "submission__is_kit_code",
        "budget_json",
        "sentence",
        "rung_at",
    )
    by_id: dict[int, Queued] = {}
    for row in rows:
        pk, entrant, order, submission, is_rerun, *asked, sentence, rung_at = row
        needs_class, kind, trusted, contest, is_kit, budget = asked
        is_blind = trusted or kind in Phase.HIDDEN_KINDS
        needs = Needs(needs_class, is_blind, contest, is_kit, budget.get("cores"), budget.get("memory_bytes"))
        by_id[pk] = Queued(Waiting(pk, entrant, order, submission, is_rerun), needs, sentence, rung_at)
    return [by_id[item.run_id] for item in fair_order((found.waiting for found in by_id.values()), _active())]


def queue(competition: Competition | None = None) -> list[Run]:
    """The queued runs, of one competition or of all, in the order in which they are given out."""
    order = [
        item.waiting.run_id
        for item in queued()
        if competition is None or item.needs.competition_id == competition.pk
    ]
    runs = Run.objects.filter(state=RunState.QUEUED).select_related(
        "submission__entrant", "task__phase__round__competition"
    )
    if competition is not None:
        runs = runs.filter(task__phase__round__competition=competition)
    big = "task__phase__round__competition__"
    by_id = {run.pk: run for run in runs.defer("log_tail", big + "overview", big + "evaluation", big + "rules")}
    return [by_id[pk] for pk in order if pk in by_id]


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
    for item in queued():
        places[item.needs.resource_class] += 1
        if item.waiting.run_id in wanted:
            positions[item.waiting.run_id] = places[item.needs.resource_class]
    return positions


def queue_position(run: Run) -> int | None:
    """The run's place in the queue, or None when it does not wait."""
    return queue_positions([run]).get(run.pk)


def refusal(worker: Worker, needs: Needs) -> str:
    """Why this worker may not take a run with these needs; empty when it may."""
    if worker.resource_class != needs.resource_class:
        return f"is of class {worker.resource_class}, the run needs {needs.resource_class}"
    if needs.is_blind and not worker.is_trusted:
        return "is not trusted with blind phases"
    scope = {competition.pk for competition in worker.competitions.all()}
    if scope and needs.competition_id not in scope:
        return "serves other competitions"
    if worker.sandbox == "unconfined" and not needs.is_kit_code:
        return "has no sandbox"
    capacity = worker.capacity
    asked = Budget(wall_seconds=1, cores=needs.cores, memory_bytes=needs.memory_bytes)
    if capacity is not None and not capacity.fits(asked):
        return "has too few cores or too little memory"
    return ""


def resting(now: dt.datetime) -> set[int]:
    """The workers that have just failed by themselves: with a full disk, one would spoil the whole queue."""
    lost = Attempt.objects.filter(
        outcome=Attempt.Outcome.LOST,
        ended_at__gt=now - settings.REST_OF_A_FAILED_WORKER,
        note__startswith=FAILED_WORKER,
    )
    return {pk for pk in lost.values_list("worker", flat=True) if pk is not None}


def next_for(worker: Worker) -> int | None:
    """The first queued run that this worker may take."""
    if worker.pk in resting(timezone.now()):
        return None
    answers: dict[Needs, bool] = {}
    for item in queued():
        if item.needs not in answers:
            answers[item.needs] = not refusal(worker, item.needs)
        if answers[item.needs]:
            return item.waiting.run_id
    return None


def ring() -> int:
    """Ring for as many queued runs as there are idle workers; returns how many were rung.

    Safe to call at any time and from several processes at once: a doorbell rung twice is claimed once.
    """
    now = timezone.now()
    runs = queued()
    if not runs:
        return 0
    workers = living_workers()
    busy = set(
        Attempt.objects.filter(outcome=Attempt.Outcome.OPEN, worker__in=workers).values_list("worker", flat=True)
    )
    able = {
        needs: [worker for worker in workers if not refusal(worker, needs)]
        for needs in {item.needs for item in runs}
    }
    _explain(runs, able, any_worker=bool(workers))
    idle = {worker.pk for worker in workers} - busy - resting(now)
    rung = 0
    for item in runs:
        if not idle:
            break
        worker = next((worker for worker in able[item.needs] if worker.pk in idle), None)
        if worker is None:
            continue
        idle.remove(worker.pk)
        if item.rung_at is not None and now - item.rung_at < settings.DOORBELL_REPEAT:
            continue
        waits = Run.objects.filter(pk=item.waiting.run_id, state=RunState.QUEUED, rung_at=item.rung_at)
        if waits.update(rung_at=now):
            queue_name = doorbell.queue_name(item.needs.resource_class, trusted=item.needs.is_blind)
            doorbell.ring_worker(item.waiting.run_id, queue_name)
            rung += 1
    return rung


def _explain(runs: Sequence[Queued], able: Mapping[Needs, list[Worker]], *, any_worker: bool) -> None:
    """Keep the sentences of waiting runs true: no worker at all, none that can hold it, or just its turn."""
    sentences = {
        needs: WAITS if workers else _why_nobody(needs, any_worker=any_worker) for needs, workers in able.items()
    }
    changed: dict[str, list[int]] = defaultdict(list)
    for item in runs:
        sentence = sentences[item.needs]
        # "Waits for a worker again, because ..." stays until there is something else to say.
        if item.sentence != sentence and not (sentence == WAITS and item.sentence.startswith(AGAIN)):
            changed[sentence].append(item.waiting.run_id)
    for sentence, ids in changed.items():
        for start in range(0, len(ids), IDS_A_QUERY):
            some = ids[start : start + IDS_A_QUERY]
            Run.objects.filter(pk__in=some, state=RunState.QUEUED).update(sentence=sentence)


def _why_nobody(needs: Needs, *, any_worker: bool) -> str:
    if not any_worker:
        return "Waits: no worker is connected at the moment."
    asked = [f"of class {needs.resource_class}"]
    if needs.is_blind:
        asked.append("that the operator trusts")
    if needs.cores:
        asked.append(f"with {needs.cores} cores")
    if needs.memory_bytes:
        asked.append(f"with {format_size(needs.memory_bytes)}")
    return f"Waits: none of the connected workers can take it. It needs one {' and '.join(asked)}."


def after_commit() -> None:
    """Ring at once for what a request has just queued, and for results that only wait for their score."""
    ring()
    for run_id in Run.objects.filter(state=RunState.COLLECTED, rung_at=None).values_list("pk", flat=True)[:200]:
        if Run.objects.filter(pk=run_id, rung_at=None).update(rung_at=timezone.now()):
            doorbell.ring_scorer(run_id)
