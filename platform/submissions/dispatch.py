"""Which queued runs go to the workers now, and which place the others have.

Order: live runs before re-runs, rehearsals and what the platform sent; entrants in turn (round-robin, not
first-come); within an entrant the first task of every submission before any submission's other tasks, so that code
which fails says so early.

Entrants stand in a ring, one for each class of workers: whoever starts to wait joins at its end, and whoever has
been given a worker goes to the end again. So between two turns of an entrant everybody else has one at most, the
order does not depend on how long runs take, and a place in the queue says how many runs start before.
"""

import datetime as dt
import logging
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Max
from django.utils import timezone

from competitions.models import Phase
from ingestion.budget import Budget, format_size
from submissions import doorbell, images
from submissions.models import Attempt, ReadinessCheck, Run, RunState, Submission, Worker
from submissions.models.readiness import CHECK_AT_WORKER, CheckState
from submissions.models.worker import living_workers

log = logging.getLogger(__name__)

WAITS = "Waits for a worker."
AGAIN = "Waits for a worker again"
PAUSED = "Waits: the organizers have paused the queue."
ASIDE = "Waits: the organizers have set this dataset aside for now."
FAILED_WORKER = "Its worker had a problem of its own."
IDS_A_QUERY = 500  # databases limit the parameters of a query


@dataclass(frozen=True)
class Line:
    """The runs of one entrant that wait for a turn in the same ring."""

    resource_class: str
    is_rerun: bool
    entrant_id: int


@dataclass(frozen=True)
class Waiting:
    """What the order of the queue depends on."""

    run_id: int
    line: Line
    submission_id: int
    task_order: int
    queued_at: dt.datetime
    repeat: int = 0

    def before_its_own(self) -> tuple[int, ...]:
        """The order among the runs of one entrant."""
        is_first = self.task_order == 0 and self.repeat == 0
        return (int(not is_first), self.submission_id, self.repeat, self.task_order, self.run_id)


@dataclass(frozen=True)
class Turn:
    """When an entrant was last given a worker. `number` grows from turn to turn, where the clock does not."""

    at: dt.datetime
    number: int


def fair_order(waiting: Iterable[Waiting], turns: Mapping[Line, Turn]) -> list[Waiting]:
    """Return the queue in the order in which runs are given out.

    `turns` holds the last turn of entrants, as far back as the oldest waiting run. Pure. Giving out the first run
    of a class and noting the turn leaves the order of its others as it was.
    """
    lines: dict[Line, list[Waiting]] = defaultdict(list)
    for item in waiting:
        lines[item.line].append(item)
    keyed: list[tuple[tuple[bool, int, dt.datetime, int, int], Waiting]] = []
    for line, items in lines.items():
        items.sort(key=Waiting.before_its_own)
        since, number = min(item.queued_at for item in items), 0
        turn = turns.get(line)
        if turn is not None:
            since, number = max(since, turn.at), turn.number
        place = (since, number, items[0].submission_id)
        keyed += (((line.is_rerun, turns_ahead, *place), item) for turns_ahead, item in enumerate(items))
    keyed.sort(key=lambda pair: pair[0])
    return [item for _, item in keyed]


@dataclass(frozen=True)
class Needs:
    """What a run asks of a worker. Many runs ask the same, so that is decided once for all of them.

    `aside` is why its dataset is in quarantine, None where it is not.
    """

    resource_class: str
    is_blind: bool
    competition_id: int
    is_paused: bool
    is_kit_code: bool
    cores: int | None
    memory_bytes: int | None
    image: str
    is_model: bool
    aside: str | None = None

    @property
    def is_held(self) -> bool:
        """Whether the organizers hold it back, whatever workers there are."""
        return self.is_paused or self.aside is not None


@dataclass(frozen=True)
class Queued:
    """A queued run, as far as dispatch needs to know it; or a readiness check, which comes after all runs."""

    waiting: Waiting
    needs: Needs
    sentence: str
    rung_at: dt.datetime | None
    phase_id: int
    model: type[Run] | type[ReadinessCheck] = Run


def needs_of(run: Run) -> Needs:
    """What a run asks of a worker; wants its submission, task, phase and round loaded."""
    phase, budget = run.task.phase, run.budget
    return Needs(
        run.resource_class,
        phase.needs_trusted_workers,
        phase.round.competition_id,
        phase.round.competition.queue_paused_at is not None,
        run.submission.is_kit_code,
        budget.cores,
        budget.memory_bytes,
        run.image,
        run.submission.interface == "model",
        run.task.quarantine_reason if run.task.quarantined_at is not None else None,
    )


FIELDS = (
    "pk",
    "submission__entrant",
    "order",
    "repeat",
    "submission",
    "is_rerun",
    "queued_at",
    "sentence",
    "rung_at",
    "resource_class",
    "task__phase__kind",
    "task__phase__trusted_workers_only",
    "task__phase__round__competition",
    "task__phase__round__competition__queue_paused_at",
    "submission__is_kit_code",
    "budget_json",
    "image",
    "submission__interface",
    "task__quarantined_at",
    "task__quarantine_reason",
    "task__phase__round__competition__rehearses",
    "task__phase",
    "submission__arrival",
)


def queued() -> list[Queued]:
    """All queued runs in the order in which they are given out: two queries, however many there are."""
    by_id: dict[int, Queued] = {}
    behind: set[int] = set()
    for row in Run.objects.filter(state=RunState.QUEUED).values_list(*FIELDS):
        pk, entrant, order, repeat, submission, is_rerun, queued_at, sentence, rung_at, *asked = row
        needs_class, kind, trusted, contest, paused_at, is_kit, budget, image, interface, *aside = asked
        quarantined_at, quarantine, rehearses, phase, arrival = aside
        if rehearses is not None or arrival in Submission.OF_THE_PLATFORM:
            behind.add(entrant)
        needs = Needs(
            resource_class=needs_class,
            is_blind=trusted or kind in Phase.HIDDEN_KINDS,
            competition_id=contest,
            is_paused=paused_at is not None,
            is_kit_code=is_kit,
            cores=budget.get("cores"),
            memory_bytes=budget.get("memory_bytes"),
            image=image,
            is_model=interface == "model",
            aside=quarantine if quarantined_at is not None else None,
        )
        line = Line(needs_class, is_rerun or entrant in behind, entrant)
        by_id[pk] = Queued(
            Waiting(pk, line, submission, order, queued_at, repeat), needs, sentence, rung_at, phase
        )
    waiting = [found.waiting for found in by_id.values()]
    return [by_id[item.run_id] for item in fair_order(waiting, _turns(waiting, behind))]


def queued_checks() -> list[Queued]:
    """The queued readiness checks, first come, first served: an entrant has one at most."""
    checks = ReadinessCheck.objects.filter(state=CheckState.QUEUED).order_by("asked_at", "pk")
    return [_waiting_check(check) for check in checks.select_related("submission__phase__round__competition")]


def _waiting_check(check: ReadinessCheck) -> Queued:
    line = Line(check.resource_class, True, check.entrant_id)
    waiting = Waiting(check.pk, line, check.submission_id, 0, check.asked_at)
    return Queued(
        waiting, needs_of_check(check), check.sentence, check.rung_at, check.submission.phase_id, ReadinessCheck
    )


def needs_of_check(check: ReadinessCheck) -> Needs:
    """What a check asks of a worker: what runs of its phase ask, with all that the worker gives to a run."""
    phase = check.submission.phase
    return Needs(
        resource_class=check.resource_class,
        is_blind=phase.needs_trusted_workers,
        competition_id=phase.round.competition_id,
        is_paused=phase.round.competition.queue_paused_at is not None,
        is_kit_code=check.submission.is_kit_code,
        cores=None,
        memory_bytes=None,
        image=check.image,
        is_model=check.submission.interface == "model",
    )


def _turns(waiting: Sequence[Waiting], behind: Collection[int]) -> dict[Line, Turn]:
    """The last turn of every entrant since the oldest of the waiting runs was queued.

    A run that its worker gave back has had no turn. One that was lost with its worker has: it may be the reason.
    `behind`: the entrants whose runs all go after live work.
    """
    if not waiting:
        return {}
    taken = (
        Attempt.objects.filter(claimed_at__gte=min(item.queued_at for item in waiting))
        .exclude(outcome=Attempt.Outcome.RELEASED)
        .order_by()
        .values_list("run__resource_class", "run__is_rerun", "run__submission__entrant")
        .annotate(at=Max("claimed_at"), number=Max("pk"))
    )
    turns: dict[Line, Turn] = {}
    for resource_class, is_rerun, entrant, at, number in taken.order_by("number"):
        turns[Line(resource_class, is_rerun or entrant in behind, entrant)] = Turn(at, number)
    return turns


@dataclass(frozen=True)
class Place:
    """A queued run in the order in which runs are given out. `number` is 1 for the one that starts next in its
    class of workers; None where it is held back or no worker of the class can take it.
    """

    item: Queued
    number: int | None


def places() -> Iterator[Place]:
    """All queued runs in their order, with their places: as many queries as `queued`, and one for the workers.

    A run whose queue is paused, whose dataset is set aside, or that none of the class's workers can take, has no
    place and holds nobody up.
    """
    workers = living_workers()
    served = {worker.resource_class for worker in workers}
    stuck: dict[Needs, bool] = {}
    numbers: Counter[str] = Counter()
    for item in queued():
        needs = item.needs
        if needs not in stuck:
            able = any(not refusal(worker, needs) for worker in workers)
            stuck[needs] = needs.is_held or (needs.resource_class in served and not able)
        if stuck[needs]:
            yield Place(item, None)
            continue
        numbers[needs.resource_class] += 1
        yield Place(item, numbers[needs.resource_class])


def queue_positions(runs: Sequence[Run]) -> dict[int, int]:
    """Map the id of each of `runs` that is queued and has a place to that place."""
    if not any(run.state == RunState.QUEUED for run in runs):
        return {}
    wanted = {run.pk for run in runs}
    found = ((place.item.waiting.run_id, place.number) for place in places())
    return {run_id: number for run_id, number in found if number is not None and run_id in wanted}


def queue_position(run: Run) -> int | None:
    """The run's place in the queue, or None when it does not wait."""
    return queue_positions([run]).get(run.pk)


def refusal(worker: Worker, needs: Needs) -> str:
    """Why this worker may not take a run with these needs; empty when it may."""
    if needs.is_paused:
        return "has to wait: the organizers have paused the queue"
    if needs.aside is not None:
        return "has to wait: the organizers have set the dataset aside"
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
    return images.refusal(worker, needs.image, for_model=needs.is_model)


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
    return _first_for(worker, queued())


def next_check_for(worker: Worker) -> int | None:
    """The first queued readiness check that this worker may take, as long as no run waits for it."""
    return None if next_for(worker) is not None else _first_for(worker, queued_checks())


def _first_for(worker: Worker, items: Iterable[Queued]) -> int | None:
    if worker.pk in resting(timezone.now()):
        return None
    answers: dict[Needs, bool] = {}
    for item in items:
        if item.needs not in answers:
            answers[item.needs] = not refusal(worker, item.needs)
        if answers[item.needs]:
            return item.waiting.run_id
    return None


def must_give_way(worker: Worker) -> bool:
    """Whether a check at this worker stops because a run waits that the worker may take.

    A run that an idle worker may take, too, is left to that one, but not for long: workers that share a machine
    may wait for each other's cores.
    """
    now = timezone.now()
    wanted: dict[Needs, dt.datetime] = {}
    for item in queued():
        wanted[item.needs] = min(item.waiting.queued_at, wanted.get(item.needs, item.waiting.queued_at))
    wanted = {needs: since for needs, since in wanted.items() if not refusal(worker, needs)}
    if not wanted:
        return False
    workers = living_workers()
    idle = _idle(workers, now)
    others = [other for other in workers if other.pk in idle]
    too_long = now - 2 * settings.DOORBELL_REPEAT
    return any(
        since < too_long or all(refusal(other, needs) for other in others) for needs, since in wanted.items()
    )


def _idle(workers: Sequence[Worker], now: dt.datetime) -> set[int]:
    """Those of the workers that hold neither a run nor a check and have not just failed."""
    attempts = Attempt.objects.filter(outcome=Attempt.Outcome.OPEN, worker__in=workers)
    checks = ReadinessCheck.objects.filter(state__in=CHECK_AT_WORKER, worker__in=workers)
    busy = {*attempts.values_list("worker", flat=True), *checks.values_list("worker", flat=True)}
    return {worker.pk for worker in workers} - busy - resting(now)


def ring() -> int:
    """Ring for as many queued runs as there are idle workers, then for checks; returns how many were rung.

    Safe to call at any time and from several processes at once: a doorbell rung twice is claimed once.
    """
    now = timezone.now()
    items = [*queued(), *queued_checks()]
    if not items:
        return 0
    workers = living_workers()
    able = {
        needs: [worker for worker in workers if not refusal(worker, needs)]
        for needs in {item.needs for item in items}
    }
    _explain(items, able, workers)
    idle = _idle(workers, now)
    rung = 0
    for item in items:
        if not idle:
            break
        worker = next((worker for worker in able[item.needs] if worker.pk in idle), None)
        if worker is None:
            continue
        idle.remove(worker.pk)
        if item.rung_at is not None and now - item.rung_at < settings.DOORBELL_REPEAT:
            continue
        waits = item.model.objects.filter(pk=item.waiting.run_id, state=RunState.QUEUED, rung_at=item.rung_at)
        if waits.update(rung_at=now):
            queue_name = doorbell.queue_name(item.needs.resource_class, trusted=item.needs.is_blind)
            if item.model is Run:
                doorbell.ring_worker(item.waiting.run_id, queue_name)
            else:
                doorbell.ring_worker_for_check(item.waiting.run_id, queue_name)
            rung += 1
    return rung


def _explain(items: Sequence[Queued], able: Mapping[Needs, list[Worker]], living: Sequence[Worker]) -> None:
    """Keep the sentences of waiting runs true: no worker at all, none that can hold it, or just its turn."""
    sentences = {needs: WAITS if workers else _why_nobody(needs, living) for needs, workers in able.items()}
    changed: dict[tuple[type[Run] | type[ReadinessCheck], str], list[int]] = defaultdict(list)
    for item in items:
        sentence = sentences[item.needs]
        # "Waits for a worker again, because ..." stays until there is something else to say.
        if item.sentence != sentence and not (sentence == WAITS and item.sentence.startswith(AGAIN)):
            changed[item.model, sentence].append(item.waiting.run_id)
    for (model, sentence), ids in changed.items():
        for start in range(0, len(ids), IDS_A_QUERY):
            some = ids[start : start + IDS_A_QUERY]
            model.objects.filter(pk__in=some, state=RunState.QUEUED).update(sentence=sentence)


def _why_nobody(needs: Needs, workers: Sequence[Worker]) -> str:
    if needs.aside is not None:
        return f"{ASIDE} {needs.aside}".strip()
    if needs.is_paused:
        return PAUSED
    if not workers:
        return "Waits: no worker is connected at the moment."
    about_image = images.why_nobody(workers, needs.image, for_model=needs.is_model)
    if about_image:
        return f"Waits. {about_image}"
    asked = [f"of class {needs.resource_class}"]
    if needs.is_blind:
        asked.append("that the operator trusts")
    if needs.cores:
        asked.append(f"with {needs.cores} cores")
    if needs.memory_bytes:
        asked.append(f"with {format_size(needs.memory_bytes)}")
    if needs.image:
        asked.append(f"with the image {needs.image}")
    return f"Waits: none of the connected workers can take it. It needs one {' and '.join(asked)}."


def after_commit() -> None:
    """Ring at once for what a request has just queued, and for results that only wait for their score."""
    ring()
    for run_id in Run.objects.filter(state=RunState.COLLECTED, rung_at=None).values_list("pk", flat=True)[:200]:
        if Run.objects.filter(pk=run_id, rung_at=None).update(rung_at=timezone.now()):
            doorbell.ring_scorer(run_id)
