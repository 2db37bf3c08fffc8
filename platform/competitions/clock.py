"""What time it is in a competition: ours, but for a rehearsal, whose clock is ahead.

Whatever asks whether something of the protocol is due (a window, a quota's day, a release, what counts as the
latest) reads the time here. Leases, deadlines of runs and everything a worker measures stay with our own clock.
"""

import datetime as dt

from django.db.models import Q
from django.utils import timezone

from competitions.models import Competition

# Dates of the protocol lie in between: there is room to move them, to show them in any zone and to draw what is
# around them before a calendar ends.
EARLIEST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
LATEST = dt.datetime(2200, 1, 1, tzinfo=dt.UTC)
OUT_OF_REACH = "This date lies outside of the calendar: years from 1970 to 2199 can be chosen."


def now(competition: Competition) -> dt.datetime:
    """The moment in this competition, with its time zone."""
    return at(timezone.now(), competition)


def at(moment: dt.datetime, competition: Competition) -> dt.datetime:
    """What this competition's clock shows at a moment of ours."""
    return moment + competition.clock_offset


def is_in_reach(moment: dt.datetime) -> bool:
    """Whether something of the protocol may be due then."""
    return EARLIEST <= moment < LATEST


def can_move(moment: dt.datetime, by: dt.timedelta) -> bool:
    """Whether a date is in reach after it was moved."""
    try:
        return is_in_reach(moment + by)
    except OverflowError:
        return False


def passed(moment: dt.datetime, field: str, competition: str) -> Q:
    """Which rows of a query have a past moment in `field`, each by the clock of its own competition.

    `moment` is one of ours, `competition` the path from the row to its competition. One query where there are
    rehearsals, of which there are few.
    """
    found = Q(**{f"{field}__lte": moment})
    rehearsals = Competition.objects.exclude(clock_offset=dt.timedelta(0)).values_list("pk", "clock_offset")
    for pk, offset in rehearsals:
        found |= Q(**{competition: pk, f"{field}__lte": moment + offset})
    return found
