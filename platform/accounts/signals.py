"""Questions that accounts asks of the apps above it."""

from django.dispatch import Signal

# Receivers return False to close registration for now (submissions does while code runs unconfined).
registration_asked = Signal()
