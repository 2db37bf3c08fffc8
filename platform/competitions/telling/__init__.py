"""Telling participants something: on the site at once, and by mail where they want it."""

from competitions.telling.audience import Addressee, addressees, recipients, tell

__all__ = ["Addressee", "addressees", "recipients", "tell"]
