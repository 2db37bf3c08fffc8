"""`./podium manage lifecycle`: what the clock does every minute, now."""

from typing import Any

from django.core.management.base import CommandParser

from accounts.refusals import Refused
from operations.commands import OK, PodiumCommand
from submissions.handover import tick


class Command(PodiumCommand):
    """Hand entries over and reveal datasets wherever that is due; it may be repeated at any time."""

    help = "Do what is due by the calendar in every competition. The site's worker does the same every minute."

    def options(self, parser: CommandParser) -> None:
        """There are none beside --json."""

    def act(self, **options: Any) -> tuple[dict[str, Any], int]:
        """One tick."""
        return {"ok": True, "handed_over": tick()}, OK

    def explain(self, result: dict[str, Any]) -> str:
        """Return how many entrants were handed over."""
        return f"{result['handed_over']} entrants were handed over."

    def refused(self, refusal: Refused) -> dict[str, Any]:
        """Return the refusal as an object."""
        return {"ok": False, "handed_over": 0, "message": str(refusal)}
