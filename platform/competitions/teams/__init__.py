"""Teams: several people who compete as one entrant.

Every change takes the lock of the competition first, so that two of them at once follow each other: nobody ends
up in two teams, and no team grows past its size. What a team submitted stays with the team. Who leaves it
afterwards has competed in the phases in which it submitted (`Departure`): there they compete for nobody else
alone or in another team, since a person who could change sides would have two quotas and two entries.
"""

from competitions.teams.changes import (
    accept,
    create,
    decline,
    hand_on,
    invite,
    leave,
    rename,
    take_back,
)
from competitions.teams.leaving import departed_from, part
from competitions.teams.links import join_by_link, link_of, make_link, revoke_link
from competitions.teams.rules import changing, check_is_captain, closing_sentence, team_of

__all__ = [
    "accept",
    "changing",
    "check_is_captain",
    "closing_sentence",
    "create",
    "decline",
    "departed_from",
    "hand_on",
    "invite",
    "join_by_link",
    "leave",
    "link_of",
    "make_link",
    "part",
    "rename",
    "revoke_link",
    "take_back",
    "team_of",
]
