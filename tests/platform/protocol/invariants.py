"""What must hold after every step, computed again from the rows by other code than the platform's."""

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass, field

from competitions.models import Entrant, Phase
from leaderboards import board
from submissions.models import Attempt, Handover, Run, Submission
from submissions.models.submission import quota_left
from tests.platform.protocol.world import World, now

FINAL = ("finished", "failed", "cancelled")
AT_WORKER = ("claimed", "running")


def check_owners(world: World) -> None:
    """Every run that has not ended has somebody who looks after it; what has ended is at rest."""
    held: dict[int, list[Attempt]] = defaultdict(list)
    for attempt in Attempt.objects.filter(outcome="open"):
        held[attempt.run_id].append(attempt)
    for run in Run.objects.select_related("submission").prefetch_related("scores"):
        what = (run.pk, run.state, run.reason, run.submission.state)
        if run.state in AT_WORKER:
            assert [attempt.number for attempt in held[run.pk]] == [run.attempt_number], what
            assert run.deadline is not None, what
        else:
            assert not held[run.pk], what
            assert run.deadline is None, what
        assert run.sentence, what
        if run.state == "finished":
            assert run.ended_at is not None and run.scores.all(), what
        if run.state in ("failed", "cancelled"):
            assert run.ended_at is not None and run.reason and not run.scores.all(), what


def check_submissions(world: World) -> None:
    """A submission is in progress exactly while a run of it is; a cancelled one waits for its workers at most."""
    for submission in Submission.objects.prefetch_related("runs"):
        runs = list(submission.runs.all())
        what = (submission.pk, submission.state, [run.state for run in runs])
        assert runs, what
        goes_on = [run for run in runs if run.state not in FINAL]
        if submission.state == "cancelled":
            assert all(run.cancel_asked and run.state in AT_WORKER for run in goes_on), what
        else:
            assert (submission.state == "active") == bool(goes_on), what


@dataclass
class Ledger:
    """What each submission costs of the quota, kept by the machine beside the platform."""

    costs: dict[int, bool] = field(default_factory=dict)
    refunds: dict[int, list[dt.datetime]] = field(default_factory=lambda: defaultdict(list))

    def take_in(self, *, cancelled: int | None, was_untouched: bool) -> None:
        """Follow a step: quota comes back for an untouched one that was cancelled, and for two of ours a day."""
        uploaded = Submission.objects.filter(arrival="uploaded").order_by("ended_at", "pk")
        for submission in uploaded.prefetch_related("runs"):
            if not self.costs.setdefault(submission.pk, True):
                assert not submission.uses_quota, submission.pk
                continue
            if submission.pk == cancelled and was_untouched:
                self.costs[submission.pk] = False
            elif submission.state == "lost" and not submission.uses_quota:
                since = now() - dt.timedelta(days=1)
                recent = [at for at in self.refunds[submission.entrant_id] if at >= since]
                assert len(recent) < 2, "a third refund in a day"
                self.refunds[submission.entrant_id].append(now())
                self.costs[submission.pk] = False
            assert submission.uses_quota == self.costs[submission.pk], (submission.pk, submission.state)


def check_quotas(world: World) -> None:
    """What is left is what the rules say, and nobody ever got more than there is."""
    moment = now()
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    used: dict[tuple[int, int], list[dt.datetime]] = defaultdict(list)
    for submission in Submission.objects.all():
        if submission.arrival != "uploaded":
            assert not submission.uses_quota
        elif submission.uses_quota:
            used[submission.phase_id, submission.entrant_id].append(submission.received_at)
    for phase in world.phases():
        if not phase.takes_submissions:
            continue
        for entrant in Entrant.objects.filter(competition=world.series.contest):
            times = used[phase.pk, entrant.pk]
            by_day: dict[dt.date, int] = defaultdict(int)
            for at in times:
                by_day[at.date()] += 1
            left = [phase.daily_quota - sum(at >= midnight for at in times)]
            assert all(count <= phase.daily_quota for count in by_day.values()), (phase.title, by_day)
            if phase.total_quota is not None:
                assert len(times) <= phase.total_quota
                left.append(phase.total_quota - len(times))
            assert quota_left(phase, entrant, moment) == min(left), (phase.title, entrant.name)


def check_boards(world: World) -> None:
    """The stored rows are those that come out from scratch, and those that the plain rules give."""
    for phase in world.phases():
        stored = board.stored(phase)
        assert stored == board.recomputed(phase), phase.title
        part = phase.feedback_part if phase.takes_submissions else "test"
        rows = {entrant: row for (of, entrant), row in stored.items() if of == part}
        expected = plain_board(phase, part)
        assert rows.keys() == expected.keys(), phase.title
        for entrant, (submission, scores, mean, place) in expected.items():
            row = rows[entrant]
            assert row["submission_id"] == submission.pk, phase.title
            assert [cell["value"] for cell in row["stored_cells"]] == scores, phase.title
            assert abs(row["mean_rank"] - mean) < 1e-9, phase.title
            assert row["rank"] == place, phase.title


def standing(phase: Phase, own: list[Submission], *, interim: bool) -> Submission | None:
    """The submission that stands for an entrant, by the words of the rules; `own` are those of the phase."""
    competing = [one for one in own if one.disqualified_at is None and one.state not in ("cancelled", "lost")]
    competing.sort(key=lambda one: (one.received_at, one.pk))
    if interim:
        ended = [one for one in competing if one.state != "active" or one.ended_at is not None]
        competing = ended or competing[-1:]
    if not competing:
        return None
    if phase.counts == "chosen":
        chosen = [one for one in competing if one.is_chosen]
        return (chosen or competing)[-1]
    if phase.counts == "best":
        return _best(phase, competing)
    return competing[-1]


def _best(phase: Phase, competing: list[Submission]) -> Submission:
    """The one with the lowest mean rank among the entrant's own, then the highest mean score, then the first."""
    tasks = list(phase.tasks.all())
    table = [[shown_score(one, task.pk, phase.feedback_part) for task in tasks] for one in competing]

    def mean_rank(row):
        ranks = []
        for column, value in enumerate(row):
            better = {other[column] for other in table if other[column] is not None}
            ranks.append(1 + (len(better) if value is None else sum(other > value for other in better)))
        return sum(ranks) / len(ranks)

    keys = [(mean_rank(row), -sum(value or 0.0 for value in row) / len(row)) for row in table]
    return competing[keys.index(min(keys))]


def shown_score(submission: Submission, task_id: int, part: str) -> float | None:
    """The rounded score that stands on a task: the lower median of the repeats that have ended."""
    values: list[float] = []
    for run in submission.runs.all():
        if run.task_id != task_id:
            continue
        own = [score.value for score in run.scores.all() if score.part == part]
        if own and run.state not in ("failed", "cancelled"):
            values.append(own[0])
        elif run.state in FINAL:
            values.append(float("-inf"))
    if not values:
        return None
    median = sorted(values)[(len(values) - 1) // 2]
    return None if median == float("-inf") else round(median, submission.phase.score_digits) + 0.0


def plain_board(phase: Phase, part: str) -> dict[int, tuple[Submission, list[float | None], float, int]]:
    """Entry, scores, mean rank and place of everybody on a board."""
    by_entrant: dict[int, list[Submission]] = defaultdict(list)
    for one in phase.submissions.select_related("phase").prefetch_related("runs__scores"):
        by_entrant[one.entrant_id].append(one)
    tasks = [task.pk for task in phase.tasks.order_by("order")]
    listed: dict[int, tuple[Submission, list[float | None]]] = {}
    for entrant, own in by_entrant.items():
        entry = standing(phase, own, interim=True)
        if entry is None:
            continue
        scores = [shown_score(entry, task, part) for task in tasks]
        if entry.state != "active" or entry.ended_at is not None or any(value is not None for value in scores):
            listed[entrant] = (entry, scores)
    means: dict[int, float] = {}
    for entrant, (_, scores) in listed.items():
        ranks = []
        for column, value in enumerate(scores):
            others = {row[column] for _, row in listed.values() if row[column] is not None}
            ranks.append(1 + (len(others) if value is None else sum(other > value for other in others)))
        means[entrant] = sum(ranks) / len(ranks)
    order = sorted(listed, key=lambda entrant: (round(means[entrant], 9), listed[entrant][0].received_at))
    places: dict[int, int] = {}
    for position, entrant in enumerate(order, start=1):
        before = order[position - 2] if position > 1 else None
        tied = before is not None and abs(means[before] - means[entrant]) < 1e-9 and phase.tie_rule == "shared"
        places[entrant] = places[before] if tied else position
    return {entrant: (*listed[entrant], means[entrant], places[entrant]) for entrant in order}


def check_copies(world: World) -> None:
    """Each entrant is handed over to a phase once; copies keep the time of receipt and cost nothing."""
    for submission in Submission.objects.exclude(arrival="uploaded").select_related("origin__phase", "phase"):
        assert submission.origin is not None and submission.origin.phase_id == submission.phase.parent_id
        assert submission.received_at == submission.origin.received_at
        assert submission.archive.name == submission.origin.archive.name
        assert submission.entrant_id == submission.origin.entrant_id
        own = {task.dataset_id for task in submission.phase.tasks.all()}
        assert {run.dataset_version.dataset_id for run in submission.runs.all()} <= own
    for row in Handover.objects.select_related("submission", "source", "phase"):
        others = [
            one
            for one in Submission.objects.filter(phase=row.phase, entrant=row.entrant, origin__isnull=False)
            if one.state != "cancelled" and one.disqualified_at is None
        ]
        assert len(others) <= 1, (row.phase.title, row.entrant_id)


def check_handovers(world: World) -> None:
    """After a beat everybody whose entry is settled has gone forward with it, and nobody else."""
    moment = now()
    for phase in world.phases():
        parent = phase.parent
        if parent is None or not phase.takes_over or phase.opens_at > moment or not parent.has_ended(moment):
            assert not phase.handovers.exists() or phase.opens_at <= moment
            continue
        if not phase.is_hidden and has_secret(phase):
            continue
        for entrant in Entrant.objects.filter(competition=world.series.contest):
            _check_handover(phase, parent, entrant, moment)


def has_secret(phase: Phase) -> bool:
    """Whether a blind phase that was not revealed uses one of its datasets."""
    datasets = [task.dataset_id for task in phase.tasks.all()]
    blind = Phase.objects.filter(kind="automl", tasks__dataset__in=datasets, tasks__revealed_at=None)
    return blind.exclude(pk=phase.pk).exists()


def _check_handover(phase: Phase, parent: Phase, entrant: Entrant, moment: dt.datetime) -> None:
    own = list(parent.submissions.filter(entrant=entrant).select_related("phase").prefetch_related("runs__scores"))
    extra = parent.extensions.filter(entrant=entrant, closes_at__gt=moment).exists()
    row = phase.handovers.filter(entrant=entrant).select_related("submission", "source").first()
    entry = standing(parent, own, interim=False)
    what = (phase.title, entrant.name, row, entry and (entry.pk, entry.state))
    if entry is None:
        assert row is None or extra or row.source_id is None, what
        return
    running = [one for one in own if one.disqualified_at is None and one.state == "active"]
    waits = extra or (running if parent.counts == "best" else entry.state == "active")
    if waits:
        return
    assert row is not None, what
    if parent.counts != "best":
        assert row.source_id == entry.pk, what
    assert row.source is not None and row.source.entrant_id == entrant.pk, what
    if phase.kind == "automl" and row.source.kind == "results":
        assert (row.outcome, row.submission) == ("no_code", None), what
    else:
        assert row.submission is not None and row.submission.origin_id == row.source_id, what
        tasks = {run.task_id for run in row.submission.runs.all()}
        assert tasks == {task.pk for task in phase.tasks.all()}, what
        if phase.kind == "automl":
            assert {run.source for run in row.submission.runs.all()} == {"code"}, what
