"""What time it is in a competition: ours, but for a rehearsal, whose clock is ahead.

Whatever asks whether something of the protocol is due (a window, a quota's day, a release, what counts as the
latest) reads the time here. Leases, deadlines of runs and everything a worker measures stay with our own clock.
"""

import datetime as dt

from django.utils import timezone

from competitions.models import Competition


def now(competition: Competition) -> dt.datetime:
    """The moment in this competition, with its time zone."""
    return timezone.now() + competition.clock_offset
