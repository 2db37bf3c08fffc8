"""Who is in line for which prize: a pure rule over places and claims."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

# Open licences under which winners may publish their code, by their SPDX names.
LICENCES = (
    "Apache-2.0",
    "MIT",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MPL-2.0",
    "GPL-2.0-only",
    "GPL-2.0-or-later",
    "GPL-3.0-only",
    "GPL-3.0-or-later",
    "LGPL-2.1-or-later",
    "LGPL-3.0-only",
    "LGPL-3.0-or-later",
    "AGPL-3.0-only",
    "AGPL-3.0-or-later",
    "CC0-1.0",
    "Unlicense",
    "Zlib",
    "BSL-1.0",
    "EUPL-1.2",
)


@dataclass(frozen=True)
class InLine:
    """An entrant in line: at which place after those who were declined, for which prizes, with how many others."""

    entrant_id: int
    place: int
    prizes: tuple[int, ...]
    sharing: int = 1


def in_line(ranks: Sequence[tuple[int, int]], prizes: Collection[int], declined: Collection[int]) -> list[InLine]:
    """Who is in line for the prizes of a phase, by place.

    `ranks` are pairs of entrant and rank on the official board, `prizes` the places that have one, `declined`
    the entrants who were declined: whoever stands behind them moves up. Entrants who share a place share the
    prizes of all the places that they take up together.
    """
    left = sorted(((rank, entrant) for entrant, rank in ranks if entrant not in declined))
    found: list[InLine] = []
    taken = 0
    while taken < len(left):
        rank = left[taken][0]
        group = [entrant for other, entrant in left[taken:] if other == rank]
        places = range(taken + 1, taken + len(group) + 1)
        theirs = tuple(place for place in places if place in prizes)
        if theirs:
            found += [InLine(entrant, taken + 1, theirs, len(group)) for entrant in group]
        taken += len(group)
    return found
