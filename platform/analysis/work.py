"""Computing sections once for the same inputs, by the site's own worker, and keeping what came out."""

import datetime as dt
import logging
import time
from dataclasses import dataclass
from typing import Any

from celery.exceptions import SoftTimeLimitExceeded
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from accounts.beats import prolonged
from analysis import bell
from analysis.drawing import pictures
from analysis.inputs.audience import Audience
from analysis.inputs.boards import Loaded
from analysis.kept import fingerprint_of, forget_older, of_inputs, packed, unpacked
from analysis.models import Computed
from analysis.report import REPORT
from analysis.results import Result
from analysis.sections import BY_KEY
from analysis.sections.base import Section, Tell, nothing, quiet
from competitions import clock
from competitions.models import Competition

log = logging.getLogger(__name__)

State = Computed.State
OUR_FAULT = "Podium could not compute this because of a fault of its own; the operator finds it in the site's log."
LOST = "The site lost this computation twice, most likely for want of memory."
TOO_SLOW = "This took longer than the site allows."
KEPT_FOR_DAYS = 30  # after the last look


@dataclass(frozen=True)
class Outcome:
    """What there is of a section now: its result, or the row that will hold it; neither where nothing is seen."""

    section: Section
    loaded: Loaded
    result: Result | None = None
    row: Computed | None = None

    @property
    def is_empty(self) -> bool:
        """Whether the audience sees nothing that could be analysed."""
        return self.result is None and self.row is None

    @property
    def percent(self) -> int:
        """How much of the work is done."""
        return round(100 * self.row.share) if self.row is not None else 0


def known(competition: Competition, section: Section, audience: Audience) -> Outcome:
    """What there is for the inputs of now, without asking for it to be computed."""
    loaded = section.load(competition, audience, clock.now(competition))
    if nothing(loaded):
        return Outcome(section, loaded)
    row = of_inputs(competition.pk, section, fingerprint_of(section, loaded)).first()
    if row is None:
        return Outcome(section, loaded, None, Computed(section=section.key))
    return _outcome(section, loaded, row)


def wanted(competition: Competition, section: Section, audience: Audience) -> Outcome:
    """The result for the inputs of now; where it is not kept, its computation is asked for."""
    loaded = section.load(competition, audience, clock.now(competition))
    if nothing(loaded):
        return Outcome(section, loaded)
    return _outcome(section, loaded, _row(competition, section, audience, loaded))


def _outcome(section: Section, loaded: Loaded, row: Computed) -> Outcome:
    if row.state == State.READY and row.content is not None:
        Computed.objects.filter(pk=row.pk).update(used_at=timezone.now())
        return Outcome(section, loaded, unpacked(row.content), row)
    return Outcome(section, loaded, None, row)


def _row(competition: Competition, section: Section, audience: Audience, loaded: Loaded) -> Computed:
    fingerprint = fingerprint_of(section, loaded)
    same = of_inputs(competition.pk, section, fingerprint)
    found = same.first()
    if found is not None:
        return found
    try:
        with transaction.atomic():
            row = Computed.objects.create(
                competition=competition,
                section=section.key,
                fingerprint=fingerprint,
                audience=audience.to_json(),
                deadline=timezone.now() + bell.REPEAT,
                sentence="Waits for the site's worker.",
            )
            transaction.on_commit(lambda: bell.ring(bell.COMPUTE, row.pk), robust=True)
    except IntegrityError:  # two looked at once
        return same.get()
    return row


def compute_now(
    competition: Competition, section: Section, audience: Audience, tell: Tell = quiet
) -> Result | None:
    """The result, computed here where it is not kept: for commands and reports. None: nothing to analyse."""
    outcome = wanted(competition, section, audience)
    if outcome.result is not None or outcome.row is None:
        return outcome.result
    result = section.build(outcome.loaded, tell)
    Computed.objects.filter(pk=outcome.row.pk).update(
        state=State.READY, content=packed(result), sentence="", deadline=None, share=1.0
    )
    return result


def process(computed_id: int) -> None:
    """Compute one that waits; compare-and-set decides who does."""
    won = Computed.objects.filter(pk=computed_id, state=State.WAITING).update(
        state=State.COMPUTING,
        tries=F("tries") + 1,
        sentence="Is being computed.",
        deadline=timezone.now() + bell.LEASE,
    )
    if not won:
        return
    row = Computed.objects.select_related("competition").get(pk=computed_id)
    mine = Computed.objects.filter(pk=row.pk, state=State.COMPUTING, tries=row.tries)

    def prolong() -> None:
        mine.update(deadline=timezone.now() + bell.LEASE)

    def tell(share: float, what: str) -> None:
        mine.update(share=min(max(share, 0.0), 1.0), sentence=what[:300])

    def end(state: str, sentence: str, **more: Any) -> None:
        mine.update(state=state, sentence=sentence, deadline=None, **more)

    try:
        with prolonged(prolong, every=bell.LEASE.total_seconds() / 8, what=f"analysis {computed_id}"):
            _compute(row, tell, end)
    except SoftTimeLimitExceeded:
        end(State.FAILED, TOO_SLOW)
    except Exception:
        log.exception("analysis %s could not be computed", computed_id)
        end(State.FAILED, OUR_FAULT)


def _compute(row: Computed, tell: Tell, end: Any) -> None:
    section, audience = {**BY_KEY, REPORT.key: REPORT}.get(row.section), Audience.from_json(row.audience)
    if section is None:
        end(State.FAILED, "There is no such analysis any more.")
        return
    loaded = section.load(row.competition, audience, clock.now(row.competition))
    if fingerprint_of(section, loaded) != row.fingerprint:
        # Something changed since it was asked for: who looks now asks for what is there now.
        row.delete()
        return
    began = time.monotonic()
    result = section.build(loaded, tell)
    end(State.READY, "", content=packed(result), share=1.0, seconds=time.monotonic() - began)
    forget_older(row)


def again(computed: Computed | None) -> None:
    """Forget it if it is a failure, so that the next look asks for it anew."""
    if computed is not None and computed.pk is not None:
        Computed.objects.filter(pk=computed.pk, state=State.FAILED).delete()


def reconcile() -> None:
    """Ring again for what waits, and begin anew what a worker lost."""
    now = timezone.now()
    due = Computed.objects.filter(deadline__lte=now)
    lost = due.filter(state=State.COMPUTING)
    lost.filter(tries__gte=bell.MOST_TRIES).update(state=State.FAILED, sentence=LOST, deadline=None)
    lost.filter(tries__lt=bell.MOST_TRIES).update(
        state=State.WAITING, sentence="Waits to be computed again: its worker was lost.", deadline=now
    )
    for row in due.filter(state=State.WAITING):
        bell.ring(bell.COMPUTE, row.pk)
    due.filter(state=State.WAITING).update(deadline=now + bell.REPEAT)


def sweep() -> None:
    """Remove results at which nobody has looked for long, and failures, so that they may be tried again."""
    now = timezone.now()
    Computed.objects.filter(used_at__lt=now - dt.timedelta(days=KEPT_FOR_DAYS)).delete()
    Computed.objects.filter(state=State.FAILED, asked_at__lt=now - dt.timedelta(hours=1)).delete()
    pictures.sweep()
