"""Learning curves: the scores of the predictions that an any-time run left on its way (design, section 5).

They are computed when the phase is over, by the site's own worker, and shown part by part: the feedback part
after the phase has closed for everybody, the test part after the release. Until then one run shows one score:
twenty scores of files that their author knows would be twenty questions to the hidden labels.
"""

import datetime as dt
import logging
import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

import scoring
from competitions import clock
from competitions.models import Extension, Phase
from submissions.models import Prediction, PredictionScore, Run, RunState, Score
from submissions.public import PublicScore, public_value
from submissions.scoring import score_prediction

log = logging.getLogger(__name__)

MOST_AT_ONCE = 100
SECONDS_AT_ONCE = 20.0
LONGEST_CHAIN = 20  # of copies of copies; a series has two or three hand-overs a round


@dataclass(frozen=True)
class Point:
    """One prediction: its number, the seconds at which it was complete, and its public score."""

    number: int
    seconds: float
    score: PublicScore


@dataclass(frozen=True)
class Curve:
    """The scores of one part over the time of a run, in the order of time."""

    part: str
    points: list[Point]


def is_over(phase: Phase, now: dt.datetime) -> bool:
    """Whether nobody can submit to the phase any more, also nobody who was given more time."""
    return phase.has_ended(now) and not phase.extensions.filter(closes_at__gt=now).exists()


def visible_parts(phase: Phase, *, sees_hidden: bool, now: dt.datetime) -> tuple[str, ...]:
    """The parts whose curves the viewer may see now.

    Of a phase with submissions: the feedback part when it is over, the test part when a Final that reveals it
    is released, or the phase itself is by an organizer. Of a hidden phase: the test part when it is released.
    """
    if sees_hidden:
        return ("valid", "test")
    if not phase.takes_submissions:
        return ("test",) if phase.is_released(now) else ()
    if not is_over(phase, now):
        return ()
    parts = {phase.feedback_part}
    finals = phase.children.filter(kind=Phase.Kind.FINAL)
    by_hand = phase.released_at is not None and phase.released_at <= now
    if by_hand or any(final.is_released(now) for final in finals):
        parts.add(Phase.Part.TEST)
    return tuple(part for part in ("valid", "test") if part in parts)


def due(now: dt.datetime) -> QuerySet[Prediction]:
    """The predictions that still want their score: numbered, of a finished run whose phase is over.

    `now` is our time; whether a phase is over, its competition's clock says.
    """
    more_time = Extension.objects.filter(phase=OuterRef("run__submission__phase"))
    more_time = more_time.exclude(clock.passed(now, "closes_at", "phase__round__competition"))
    phase = "run__submission__phase"
    return (
        Prediction.objects.filter(
            number__isnull=False,
            curve_score=None,
            attempt_number=F("run__attempt_number"),
            run__source=Run.Source.CODE,
            run__state=RunState.FINISHED,
        )
        .filter(clock.passed(now, f"{phase}__closes_at", f"{phase}__round__competition"))
        .exclude(Exists(more_time))
        .select_related("run__dataset_version", "run__task", "run__submission__phase")
        .order_by("run_id", "seconds", "id")
    )


def score_due(now: dt.datetime) -> int:
    """Score predictions that are due, for a bounded time; returns how many.

    Idempotent: what has its row is not scored again, and two calls at once store each row once.
    """
    until = time.monotonic() + SECONDS_AT_ONCE
    scored = 0
    for prediction in due(now)[:MOST_AT_ONCE]:
        value, stderr = _score(prediction)
        try:
            with transaction.atomic():
                PredictionScore.objects.create(prediction=prediction, value=value, stderr=stderr)
        except IntegrityError:
            continue  # another call was faster, or the run was removed or is run again
        scored += 1
        if time.monotonic() > until:
            break
    return scored


def _score(prediction: Prediction) -> tuple[float | None, float | None]:
    if prediction.counts:
        known = Score.objects.filter(run=prediction.run, part=prediction.part).first()
        if known is not None:
            return known.value, known.stderr
    try:
        found = score_prediction(prediction.run, prediction)
    except scoring.BadPredictionError:
        return None, None
    except Exception:
        # Kept as a row without a value: it would fail again, and keep all others waiting.
        log.exception("prediction %s of run %s could not be scored", prediction.pk, prediction.run_id)
        return None, None
    return (None, None) if found is None else (found.value, found.stderr)


def forget(run: Run) -> None:
    """Drop the scores of a run's predictions: it was scored by another rule or solution, or is run again."""
    PredictionScore.objects.filter(prediction__run=run).delete()


def curves(runs: Sequence[Run], *, sees_hidden: bool, now: dt.datetime) -> dict[int, list[Curve]]:
    """The curves of each of the runs that the viewer may see, by the id of the run; wants their phases loaded.

    A copy shares the curve of the run that it stands for, where both are scored alike. A curve of one point is
    none.
    """
    parts = {
        phase: visible_parts(phase, sees_hidden=sees_hidden, now=now)
        for phase in {run.submission.phase for run in runs}
    }
    shown = [run for run in runs if parts[run.submission.phase]]
    roots = _roots(shown)
    kept: dict[int, list[Prediction]] = {}
    wanted = Prediction.objects.filter(
        run__in=set(roots.values()),
        run__state=RunState.FINISHED,
        attempt_number=F("run__attempt_number"),
        number__isnull=False,
        seconds__isnull=False,
        curve_score__value__isnull=False,
    )
    for prediction in wanted.select_related("curve_score", "run").order_by("seconds", "number"):
        kept.setdefault(prediction.run_id, []).append(prediction)
    return {
        run.pk: [
            curve
            for part in parts[run.submission.phase]
            if len((curve := _curve(run, part, kept.get(roots[run.pk], ()))).points) > 1
        ]
        for run in shown
    }


def _curve(run: Run, part: str, predictions: Iterable[Prediction]) -> Curve:
    points = []
    for prediction in predictions:
        root, stored = prediction.run, prediction.curve_score
        if prediction.part != part or (root.metric, root.convention) != (run.metric, run.convention):
            continue
        if stored.value is None:
            continue
        score = public_value(stored.value, stored.stderr, part=part, metric=run.metric, phase=run.submission.phase)
        points.append(Point(int(prediction.number or 0), float(prediction.seconds or 0.0), score))
    return Curve(part, points)


@dataclass
class Points:
    """The points of a run's curve by time: seconds and public values. `unscored` predictions cannot be scored,
    `waiting` ones are not scored yet. `only` is when the prediction of a run was complete that wrote one file
    without a number; its score is the run's.
    """

    seconds: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    unscored: int = 0
    waiting: int = 0
    only: float | None = None


def points(runs: Collection[int], part: str, *, digits: int) -> dict[tuple[int, str, str], Points]:
    """The points of many runs' curves by run, metric and convention, rounded as their phase does; one query.

    For analyses, which decide what their audience may see by `visible_parts` before they ask. Unlike a page's
    curve, one point is a curve here.
    """
    wanted = Prediction.objects.filter(
        run__in=runs,
        run__state=RunState.FINISHED,
        part=part,
        attempt_number=F("run__attempt_number"),
        seconds__isnull=False,
    )
    wanted = wanted.filter(Q(number__isnull=False) | Q(counts=True)).order_by("seconds", "number")
    columns = ("run", "run__metric", "run__convention", "number", "seconds", "curve_score", "curve_score__value")
    found: dict[tuple[int, str, str], Points] = {}
    for run, metric, convention, number, seconds, scored, value in wanted.values_list(*columns):
        own = found.setdefault((run, metric, convention), Points())
        if number is None:
            own.only = seconds
        elif value is None:
            own.unscored += scored is not None
            own.waiting += scored is None
        else:
            own.seconds.append(seconds)
            own.values.append(round(value, digits) + 0.0)
    return found


def _roots(runs: Iterable[Run]) -> dict[int, int]:
    """Map each run's id to that of the run whose predictions it shows."""
    roots = {run.pk: run.copied_from_id or run.pk for run in runs}
    for _ in range(LONGEST_CHAIN):
        copies = Run.objects.filter(pk__in=set(roots.values()), copied_from__isnull=False)
        further = {run.pk: run.copied_from_id or run.pk for run in copies.only("pk", "copied_from")}
        if not further:
            break
        roots = {pk: further.get(root, root) for pk, root in roots.items()}
    return roots
