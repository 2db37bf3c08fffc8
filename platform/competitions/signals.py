"""What competitions tells the apps above it. Sent inside the transaction that makes it true."""

from django.dispatch import Signal

# All dates of a competition move into the past together, as if time had passed. Keywords: competition, delta.
shifted = Signal()
