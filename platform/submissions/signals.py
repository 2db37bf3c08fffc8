"""What submissions tells the apps above it. Sent inside the transaction that makes it true."""

from django.dispatch import Signal

# A run got its scores. Keyword: run.
scored = Signal()
# A submission was received, changed state, or stopped being able to compete. Keyword: submission.
changed = Signal()
