"""For whom an analysis is made, and the parts of phases that are theirs to see."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from competitions.models import Competition, Phase
from leaderboards.reading import Look, look_at
from submissions import curves


@dataclass(frozen=True)
class Audience:
    """Everybody, or the organizers who see what is hidden; and the phase and part that are asked for, if any."""

    sees_hidden: bool = False
    phase: int | None = None  # its id
    part: str = ""

    def to_json(self) -> dict[str, Any]:
        """As it is kept with what was computed for it."""
        return {"sees_hidden": self.sees_hidden, "phase": self.phase, "part": self.part}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Audience":
        """What `to_json` made."""
        return cls(bool(stored["sees_hidden"]), stored["phase"], stored["part"])


def visible_parts(phase: Phase, now: dt.datetime, *, sees_hidden: bool) -> tuple[str, ...]:
    """The parts whose scores an analysis of the phase may use for this audience.

    As for learning curves: an analysis holds much more of each score than a board does, so it waits until nobody
    can submit any more. A board that is hidden or frozen has no analysis for those to whom it is so.
    """
    if sees_hidden:
        return (Phase.Part.VALID, Phase.Part.TEST)
    if phase.board != Phase.Board.SHOWN:
        return ()
    return curves.visible_parts(phase, sees_hidden=False, now=now)


def looks(competition: Competition, audience: Audience, now: dt.datetime) -> list[Look]:
    """Every board that the audience may see analysed, in the order of the phases; a phase may have two.

    The part that decides the phase's board comes first.
    """
    found = []
    for phase in competition.phases():
        phase.round.competition = competition
        parts = visible_parts(phase, now, sees_hidden=audience.sees_hidden)
        look = look_at(phase, now, sees_hidden=audience.sees_hidden)
        first = Phase.Part.TEST if phase.is_hidden else phase.feedback_part
        for part in sorted(parts, key=lambda one: one != first):
            # The look's own part follows the live board; an analysis has its own rule, above.
            found.append(Look(phase, part, parts, False, look.is_anonymous, look.is_public, frozenset()))
    return found
