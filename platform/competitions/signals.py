"""What competitions tells the apps above it. Sent inside the transaction that makes it true."""

from django.dispatch import Signal

# All dates of a competition move into the past together, as if time had passed. Keywords: competition, delta.
shifted = Signal()

# Two teams became one. Sent before the entrant that goes is deleted. Keywords: staying, going.
merged = Signal()

# Which entrants of a competition take a place may have changed for several at once. Keyword: competition.
places_changed = Signal()
