"""The way of a prize: provisional, fact sheet in, code published under an open licence, confirmed; or declined.

Who is in line is known only above, from the official board; it comes as `place`, or None for nobody's.
"""

import datetime as dt
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from django.db import transaction

from accounts.models import User
from accounts.refusals import Refused
from competitions import clock, policy
from competitions.actions.base import Preview, record
from competitions.actions.release import OfPhase
from competitions.models import Entrant, Phase, PrizeClaim
from competitions.prizes import LICENCES, InLine

State = PrizeClaim.State
LONGEST_SHEET = 20_000


def claim_of(phase: Phase, entrant: Entrant) -> PrizeClaim:
    """The entrant's claim, or a provisional one that is not kept yet."""
    found = PrizeClaim.objects.filter(phase=phase, entrant=entrant).first()
    return found or PrizeClaim(phase=phase, entrant=entrant)


def hand_in(
    phase: Phase,
    entrant: Entrant,
    *,
    by: User,
    line: InLine | None,
    fact_sheet: str,
    code_url: str = "",
    licence: str = "",
    publishes_code: bool = False,
) -> PrizeClaim:
    """What a winner hands in: the fact sheet, and where the code is published or that the site may publish it."""
    if not policy.own_entrants(by).filter(pk=entrant.pk).exists():
        raise Refused("Only the entrant hands in for a prize.", status=403)
    if line is None:
        raise Refused(f"No prize of {phase.title} is in reach of {entrant.name}.", status=409)
    claim = claim_of(phase, entrant)
    if claim.state in (State.CONFIRMED, State.DECLINED):
        raise Refused(f"The organizers have decided: {claim.get_state_display()}.", status=409)
    if not fact_sheet.strip():
        raise Refused("The fact sheet is empty.", mend="Say in a page how the entry works, and on what machine.")
    if len(fact_sheet) > LONGEST_SHEET:
        raise Refused(f"The fact sheet has more than {LONGEST_SHEET} characters.")
    is_published = bool(code_url.strip()) or publishes_code
    if is_published:
        _check_publication(code_url.strip(), licence)
    now = clock.now(phase.competition)
    with transaction.atomic():
        claim.fact_sheet, claim.code_url = fact_sheet.strip(), code_url.strip()
        claim.licence = licence if is_published else ""
        claim.publishes_code = publishes_code
        claim.state = State.PUBLISHED if is_published else State.FACT_SHEET
        claim.save()
        text = f"{entrant.name} handed in for place {line.place} of {phase.title}: {claim.get_state_display()}."
        record(phase.competition, by=by, action="hand_in", text=text, at=now, phase=phase.number)
    return claim


def _check_publication(url: str, licence: str) -> None:
    if licence not in LICENCES:
        raise Refused(
            f"{licence or 'No licence'} is not one of the open licences.", mend=f"Choose {', '.join(LICENCES)}."
        )
    if url:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or len(url) > 200:
            raise Refused("The address of the code must begin with https:// or http://.")


@dataclass
class Confirm(OfPhase):
    """Confirm a prize: the conditions are met."""

    entrant: Entrant
    line: InLine | None

    name: ClassVar[str] = "confirm_prize"

    def check(self, now: dt.datetime) -> None:
        """In line, released, and the code is published."""
        if self.line is None or not self.phase.is_released(now):
            raise Refused(f"No prize of {self.phase.title} waits for {self.entrant.name}.", status=409)
        claim = claim_of(self.phase, self.entrant)
        if claim.state != State.PUBLISHED:
            raise Refused(
                f"The claim of {self.entrant.name} is {claim.get_state_display()}",
                status=409,
                mend="A prize is confirmed once fact sheet and code are there.",
            )

    def preview(self, now: dt.datetime) -> Preview:
        """What everybody reads."""
        claim = claim_of(self.phase, self.entrant)
        place = self.line.place if self.line else ""
        return Preview(
            [
                f"Everybody will read that {self.entrant.name} won place {place} of {self.phase.title}.",
                f"The code is published under {claim.licence}: {claim.code_url or 'on this site'}.",
            ]
        )

    def change(self, now: dt.datetime) -> str:
        """Set the state."""
        claim = claim_of(self.phase, self.entrant)
        claim.state = State.CONFIRMED
        claim.save()
        return f"The prize of {self.entrant.name} in {self.phase.title} was confirmed."


@dataclass
class Decline(OfPhase):
    """Decline a prize: the next in line moves up. The ranks on the board stay."""

    entrant: Entrant
    line: InLine | None
    note: str = ""

    name: ClassVar[str] = "decline_prize"

    def check(self, now: dt.datetime) -> None:
        """In line, and with a reason."""
        if self.line is None or not self.phase.is_released(now):
            raise Refused(f"No prize of {self.phase.title} waits for {self.entrant.name}.", status=409)
        if claim_of(self.phase, self.entrant).state == State.CONFIRMED:
            raise Refused(f"The prize of {self.entrant.name} is confirmed already.", status=409)
        if not self.note.strip():
            raise Refused("Say why; the entrant reads it.")

    def preview(self, now: dt.datetime) -> Preview:
        """Who moves up is seen on the page then."""
        return Preview(
            [
                f"{self.entrant.name} gets no prize in {self.phase.title}; whoever is next in line moves up.",
                "The leaderboard does not change.",
            ]
        )

    def change(self, now: dt.datetime) -> str:
        """Set the state."""
        claim = claim_of(self.phase, self.entrant)
        claim.state, claim.note = State.DECLINED, self.note.strip()[:300]
        claim.save()
        return f"The prize of {self.entrant.name} in {self.phase.title} was declined: {self.note.strip()}"
