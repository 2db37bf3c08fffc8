"""For whom an analysis is made, and the parts of phases that are theirs to see."""

import datetime as dt
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from typing import Any

from analysis.models import Replay
from competitions.models import Competition, Phase
from leaderboards.columns import is_programmed
from leaderboards.reading import Look, look_at
from submissions import curves

PART_LABELS: dict[str, str] = {Phase.Part.VALID: "validation scores", Phase.Part.TEST: "test scores"}
KIND_TOGETHER: dict[str, str] = {
    Phase.Kind.TWEAKATHON: "All Tweakathon phases",
    Phase.Kind.FINAL: "All Final phases",
    Phase.Kind.AUTOML: "All AutoML phases",
    Phase.Kind.OPEN: "All phases of no special kind",
}


@dataclass(frozen=True)
class Audience:
    """Everybody, or the organizers who see what is hidden; and what is asked for, if anything.

    That is a phase and part, or all phases of a kind and track together by one part.
    """

    sees_hidden: bool = False
    phase: int | None = None  # its id
    part: str = ""
    kind: str = ""
    track: str = ""

    def to_json(self) -> dict[str, Any]:
        """As it is kept with what was computed for it."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Audience":
        """What `to_json` made."""
        return cls(**stored)

    def asks_for(self, look: Look) -> bool:
        """Whether the board is one of those that are asked for."""
        phase = look.phase
        return (
            self.phase in (None, phase.pk)
            and self.part in ("", look.part)
            and (not self.kind or ((self.kind, self.track) == (phase.kind, phase.track) and not look.is_anonymous))
        )


@dataclass(frozen=True)
class Scope:
    """What sections about standings can be about: a board, or the boards of all phases of a kind together.

    `phase` and `part` are how an address names it.
    """

    phase: str
    part: str
    label: str
    looks: tuple[Look, ...]
    audience: Audience

    @property
    def is_combined(self) -> bool:
        """Whether it puts several phases together."""
        return self.audience.phase is None


def visible_parts(phase: Phase, now: dt.datetime, *, sees_hidden: bool) -> tuple[str, ...]:
    """The parts whose scores an analysis of the phase may use for this audience.

    As for learning curves: an analysis holds much more of each score than a board does, so it waits until nobody
    can submit any more. A board that is hidden or frozen has no analysis for those to whom it is so. One that
    conceals names has it of the part on the board alone: the others stand with names on the board of a Final, and
    equal values would tell whose they are.
    """
    if sees_hidden:
        return (Phase.Part.VALID, Phase.Part.TEST)
    if phase.board != Phase.Board.SHOWN:
        return ()
    found = curves.visible_parts(phase, sees_hidden=False, now=now)
    if phase.is_anonymous and not phase.is_released(now):
        return tuple(part for part in found if part == phase.public_part(now))
    return found


def looks(competition: Competition, audience: Audience, now: dt.datetime) -> list[Look]:
    """Every board that the audience may see analysed, in the order of the phases; a phase may have two.

    The part that decides the phase's board comes first.
    """
    found = []
    for phase in competition.phases():
        phase.round.competition = competition
        parts = visible_parts(phase, now, sees_hidden=audience.sees_hidden)
        look = look_at(phase, now, sees_hidden=audience.sees_hidden)
        for part in _parts_shown(phase, parts):
            # The look's own part follows the live board; an analysis has its own rule, above.
            found.append(Look(phase, part, parts, False, look.is_anonymous, look.is_public, frozenset()))
    return found


def _parts_shown(phase: Phase, parts: tuple[str, ...]) -> list[str]:
    """Those parts of a phase that have a board, the deciding one first; programs' scores know no parts."""
    first = first_part(phase)
    in_order = sorted(parts, key=lambda one: one != first)
    return in_order[:1] if is_programmed(phase) else in_order


def scopes(competition: Competition, audience: Audience, now: dt.datetime) -> list[Scope]:
    """All that the audience may choose from: every board, then all phases of a kind where there are several.

    An anonymous board is in no combination: beside other phases its rows would get their names.
    """
    seen = looks(competition, audience, now)
    single = [
        Scope(
            str(look.phase.number),
            look.part or "",
            f"{look.phase.title}, {_part_label(look.part)}",
            (look,),
            replace(audience, phase=look.phase.pk, part=look.part or "", kind="", track=""),
        )
        for look in seen
    ]
    groups: dict[tuple[str, str, str], list[Look]] = defaultdict(list)
    for look in seen:
        if not look.is_anonymous:
            groups[look.phase.kind, look.phase.track, look.part or ""].append(look)
    combined = [
        Scope(
            "-".join(filter(None, ("all", kind, track))),
            part,
            f"{KIND_TOGETHER[kind]}{f' of {track}' if track else ''}, {_part_label(part)}",
            tuple(group),
            replace(audience, phase=None, part=part, kind=kind, track=track),
        )
        for (kind, track, part), group in groups.items()
        if len(group) > 1
    ]
    return single + combined


def usual_scope(found: list[Scope], now: dt.datetime, *, both_parts: bool = False) -> Scope | None:
    """By the part that decides it the latest phase that is over, else the latest that has begun, else the last.

    `both_parts`: of a round of which validation and test scores are seen, where there is one. What was replayed
    from published results begins with all of its phases together, as its authors looked at it.
    """
    combined = [scope for scope in found if scope.is_combined]
    if combined and _is_replay(combined[0].looks[0].phase.round.competition):
        return combined[0]
    single = [scope for scope in found if not scope.is_combined]
    if both_parts:
        single = [scope for scope in single if _has_both_parts(scope, single)] or single
    deciding = [scope for scope in single if scope.looks[0].part == first_part(scope.looks[0].phase)]
    over = [scope for scope in deciding if scope.looks[0].phase.has_ended(now)]
    begun = [scope for scope in deciding if scope.looks[0].phase.has_begun(now)]
    return next(reversed(over or begun or single), None)


def _is_replay(competition: Competition) -> bool:
    """Whether it was loaded from published results; asked once for each reading of the competition."""
    known = vars(competition)
    if "is_replay" not in known:
        known["is_replay"] = Replay.objects.filter(competition=competition).exists()
    return bool(known["is_replay"])


def _has_both_parts(scope: Scope, among: list[Scope]) -> bool:
    looks = [one.looks[0] for one in among]
    parts = {look.part for look in looks if look.phase.round_id == scope.looks[0].phase.round_id}
    return parts >= {str(Phase.Part.VALID), str(Phase.Part.TEST)}


def first_part(phase: Phase) -> str:
    """The part that decides the phase's board."""
    return str(Phase.Part.TEST if phase.is_hidden else phase.feedback_part)


def _part_label(part: str | None) -> str:
    return PART_LABELS.get(part or "", "scores")
