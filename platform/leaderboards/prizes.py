"""Who is in line for the prizes of a phase, by its official board."""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from competitions.models import Entrant, Phase, Prize, PrizeClaim
from competitions.prizes import InLine, in_line
from leaderboards.columns import is_programmed
from leaderboards.entries import board_part
from leaderboards.models import ColumnRow, LeaderboardRow


@dataclass(frozen=True)
class Winner:
    """An entrant in line, with the prizes' titles and the state of the claim."""

    line: InLine
    entrant: Entrant
    titles: list[str]
    claim: PrizeClaim
    submission_id: int

    @property
    def published(self) -> int | None:
        """The submission that everybody may download; None where its entrant did not agree to that."""
        is_there = self.claim.state in (PrizeClaim.State.PUBLISHED, PrizeClaim.State.CONFIRMED)
        return self.submission_id if self.claim.publishes_code and is_there else None


def official_rows(phase: Phase) -> QuerySet[LeaderboardRow]:
    """The rows that decide the prizes: of the part that decides the board, as it is now."""
    return LeaderboardRow.objects.filter(board__phase=phase, board__part=board_part(phase), board__is_frozen=False)


def _official(phase: Phase) -> list[tuple[int, int | None, int]]:
    """Entrant, place and submission, each entrant once.

    Where programs score, the competition's first board decides; of several rows of an entrant the best, and the
    others keep no place from anybody.
    """
    if not is_programmed(phase):
        return list(official_rows(phase).values_list("entrant", "rank", "submission"))
    first = phase.competition.column_boards.first()
    rows = ColumnRow.objects.filter(board=first, phase=phase, is_frozen=False).order_by("position")
    best: dict[int, tuple[int | None, int]] = {}
    for entrant, rank, submission in rows.values_list("entrant", "rank", "submission"):
        best.setdefault(entrant, (rank, submission))
    ladder = {rank: place for place, rank in _competition_places([rank for rank, _ in best.values()])}
    return [
        (entrant, None if rank is None else ladder[rank], submission)
        for entrant, (rank, submission) in best.items()
    ]


def _competition_places(ranks: Iterable[int | None]) -> Iterator[tuple[int, int]]:
    """Places 1, 2, 2, 4 for rising ranks that may leave some out, as pairs of place and rank."""
    counted = Counter(rank for rank in ranks if rank is not None)
    place = 1
    for rank in sorted(counted):
        yield place, rank
        place += counted[rank]


def lines(phase: Phase, now: dt.datetime) -> list[InLine]:
    """Who is in line; nobody while the phase is not released, because it would tell the places."""
    if not phase.is_released(now):
        return []
    places = set(phase.prizes.values_list("place", flat=True))
    if not places:
        return []
    ranks = [(entrant, rank) for entrant, rank, _ in _official(phase) if rank is not None]
    declined = phase.claims.filter(state=PrizeClaim.State.DECLINED).values_list("entrant", flat=True)
    return in_line(ranks, places, set(declined))


def line_of(phase: Phase, entrant: Entrant, now: dt.datetime) -> InLine | None:
    """The entrant's own place in line, if any."""
    return next((line for line in lines(phase, now) if line.entrant_id == entrant.pk), None)


def winners(phase: Phase, now: dt.datetime) -> Sequence[Winner]:
    """The entrants in line with their claims, by place."""
    found = lines(phase, now)
    if not found:
        return []
    entrants = Entrant.objects.in_bulk([line.entrant_id for line in found])
    claims = {claim.entrant_id: claim for claim in phase.claims.all()}
    submissions = {entrant: submission for entrant, _, submission in _official(phase)}
    titles = {prize.place: prize.title for prize in Prize.objects.filter(phase=phase)}
    return [
        Winner(
            line,
            entrants[line.entrant_id],
            [titles[place] for place in line.prizes],
            claims.get(line.entrant_id) or PrizeClaim(phase=phase, entrant_id=line.entrant_id),
            submissions[line.entrant_id],
        )
        for line in found
    ]
