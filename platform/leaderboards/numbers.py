"""Neutral numbers: what stands for a name on an anonymous board.

Drawn at random, so that they tell nothing of who came first, and kept, so that "Entrant 57" stays the same.
Every phase draws its own: a number learned on one board says nothing about another.
"""

import secrets
from collections.abc import Collection

from competitions.models import Phase
from leaderboards.models import NeutralNumber

FEWEST = 99  # numbers to draw from on a small board


def numbers_of(phase: Phase, entrants: Collection[int]) -> dict[int, int]:
    """The number of each of these entrants; those who have none get one. Call inside a transaction."""
    if not entrants:
        return {}
    taken = dict(NeutralNumber.objects.filter(phase=phase).values_list("entrant_id", "number"))
    new = [entrant for entrant in dict.fromkeys(entrants) if entrant not in taken]
    most = max(FEWEST, 2 * (len(taken) + len(new)))
    free = sorted(set(range(1, most + 1)) - set(taken.values()))
    secrets.SystemRandom().shuffle(free)
    drawn = dict(zip(new, free, strict=False))
    NeutralNumber.objects.bulk_create(
        NeutralNumber(phase=phase, entrant_id=entrant, number=number) for entrant, number in drawn.items()
    )
    return {entrant: drawn.get(entrant) or taken[entrant] for entrant in entrants}


def neutral_name(number: int | None) -> str:
    """The name on an anonymous board."""
    return f"Entrant {number}" if number else "An entrant"
