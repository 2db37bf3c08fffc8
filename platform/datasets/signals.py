"""Questions that datasets asks of the apps above it."""

from django.dispatch import Signal

# Receivers get `user` and return True where the person organizes, and so may send datasets.
upload_asked = Signal()
